#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "drift/matrix_view.h"

namespace drift {

// Inverse distance weighting (Shepard 1968), the baseline that every model has to beat: the mean of the nearest observations,
//
//   f(x) = sum_i v_i / d_i^2  /  sum_i 1 / d_i^2,     d^2 = |x - x_i|^2 in space / s^2 + w^2 (t - t_i)^2 / u^2
//
// with s and u the observations' root-mean-square extents in space and time. w, how much a distance in time counts, is the one of
// a few that forecasts best.

struct DistanceData {
  MatrixView<const float> coordinates;      // [n, columns] engine's rows: space, then time
  bool has_time = false;                    // the last column is the time
  std::span<const double> values;           // [n]
  std::span<const std::uint8_t> fold = {};  // [n]; empty: none
};

struct DistanceTargets {
  MatrixView<const float> coordinates;      // [m, columns]
  std::span<const double> values;           // [m] by which w is chosen
  std::span<const std::uint8_t> fold = {};  // [m] observations of this fold do not take part; empty: all do
};

struct DistanceForecast {
  std::vector<double> mean;     // [m]
  std::vector<double> nearest;  // [m] distance d of the nearest observation that took part
  double rmse = 0.0;
};

// Targets without an observation outside their fold get the mean of all. The same for any number of threads (0: one per core).
DistanceForecast forecast_by_distance(const DistanceData& data, const DistanceTargets& targets, int threads = 0);

}  // namespace drift
