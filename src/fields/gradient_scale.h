#pragma once

#include <string>

#include "drift/predict.h"

namespace drift {

// Slopes over this scale come with standard deviations.
bool has_slope_sd(const FieldModel& model, double gradient_scale);
// Why they do not, a clause; empty where they do, and for a scale of 0, which asks for none.
std::string why_no_slope_sd(const FieldModel& model, double gradient_scale);

}  // namespace drift
