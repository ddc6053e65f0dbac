#include "engine/observation_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drift/error.h"

namespace drift {
namespace {

constexpr double kUnitTolerance = 1e-3;  // of a position's length; float32 rounding is 1e-7, a forgotten scaling far more

void check_finite(const char* what, MatrixView<const float> matrix, std::size_t row) {
  const float* entries = matrix.row(row);
  for (std::size_t col = 0; col < matrix.cols; ++col) {
    if (std::isfinite(entries[col])) continue;
    throw Error(fmt::format("observation {} (counted from 0): {} {} is {}; remove or correct the observation", row, what, col,
                            entries[col]));
  }
}

void check_weight(float weight, std::size_t row) {
  if (std::isfinite(weight) && weight >= 0.0F) return;
  throw Error(fmt::format("observation {} (counted from 0): its weight is {} but must be finite and at least 0", row, weight));
}

bool takes_unit_vectors(const NetworkSpec& spec) { return spec.space == Space::sphere && spec.spatial.layers > 0; }

void check_unit_vector(const char* what, const float* position, std::size_t row) {
  double square = 0.0;
  for (int i = 0; i < 3; ++i) square += static_cast<double>(position[i]) * static_cast<double>(position[i]);
  if (std::abs(square - 1.0) <= 2.0 * kUnitTolerance) return;  // not for NaN
  throw Error(fmt::format(
      "{} {} (counted from 0): its position ({}, {}, {}) has length {:.7g} but on the sphere it must be a unit vector", what, row,
      position[0], position[1], position[2], std::sqrt(square)));
}

}  // namespace

void check_observations(const NetworkSpec& spec, const TrainingSet& data) {
  const bool sphere = takes_unit_vectors(spec);
  for (std::size_t row = 0; row < data.values.rows; ++row) {
    check_finite("coordinate", data.coordinates, row);
    check_finite("value", data.values, row);
    if (sphere) check_unit_vector("observation", data.coordinates.row(row), row);
    if (!data.weights.empty()) check_weight(data.weights[row], row);
  }
  const auto positive = [](float weight) { return weight > 0.0F; };
  if (!data.weights.empty() && std::none_of(data.weights.begin(), data.weights.end(), positive)) {
    throw Error("every observation has weight 0");
  }
}

void check_points(const NetworkSpec& spec, MatrixView<const float> coordinates) {
  if (!takes_unit_vectors(spec)) return;
  for (std::size_t row = 0; row < coordinates.rows; ++row) check_unit_vector("point", coordinates.row(row), row);
}

}  // namespace drift
