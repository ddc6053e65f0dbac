#pragma once

#include <cstddef>
#include <string>

#include "drift/field_model.h"

namespace drift {

// Throws UsageError unless positions are of the model's kind: plain x and y, or longitudes and latitudes. `whose`: "the data
// set", a file.
void check_positions(const FieldModel& model, bool on_plane, const std::string& whose);

// Throws UsageError unless there are as many latitudes as longitudes, and one time for all or as many times; none where the model
// has no time.
void check_lengths(const FieldModel& model, std::size_t longitudes, std::size_t latitudes, std::size_t times);

}  // namespace drift
