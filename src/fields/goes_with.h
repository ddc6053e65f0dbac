#pragma once

#include <string>

#include "drift/field_model.h"

namespace drift {

// Throws UsageError unless positions are of the model's kind: plain x and y, or longitudes and latitudes. `whose`: "the data
// set", a file.
void check_positions(const FieldModel& model, bool on_plane, const std::string& whose);

}  // namespace drift
