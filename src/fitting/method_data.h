#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "drift/fit.h"
#include "drift/interpolator.h"
#include "fitting/training_rows.h"

namespace drift {

// A plan's training observations as every method takes them (drift/interpolator.h), with all that is known of each: drift's own
// parts, and their rivals in `fit` and `compare`.
struct MethodData {
  TrainingRows rows;  // with the plan's folds
  std::vector<float> noise_sd = {};
  std::vector<std::int32_t> track = {};
  std::vector<std::uint8_t> platform = {};
  Space space = Space::plane;
  int space_coordinates = 2;
  std::optional<double> given_noise_sd = {};

  InterpolatorData view() const;  // of this object's vectors
};

InterpolatorOptions interpolator_options(const RunSettings& settings);

MethodData method_data(const FitPlan& plan, const Observations& observations);

}  // namespace drift
