#pragma once

#include <optional>
#include <string>

#include "drift/field_model.h"
#include "drift/run_settings.h"

namespace drift {

// The settings of the run that made the model; none: it has none, or those of a version that had others.
std::optional<RunSettings> settings_of(const FieldModel& model);

// The parts or the method of a model, as in "from 2,000 observations by ...".
std::string parts_text(const FieldModel& model);

// Publications that describe them; empty: there is none.
std::string references_of(const FieldModel& model);

}  // namespace drift
