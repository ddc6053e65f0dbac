#pragma once

#include <array>
#include <string>

#include "drift/predict.h"

namespace drift {

// Lengthscales of a model's correlation along x and y (east and north), in the domain's unit; zeros: unknown.
std::array<double, 2> lengthscales_of(const FieldModel& model);

// Slopes over this scale come with standard deviations.
bool has_slope_sd(const FieldModel& model, double gradient_scale);
// Why they do not, a clause; empty where they do, and for a scale of 0, which asks for none.
std::string why_no_slope_sd(const FieldModel& model, double gradient_scale);

}  // namespace drift
