#pragma once

#include <cmath>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/random.h"
#include "process/process.h"

namespace drift {

// Observations, their places and what they were made of.
struct Observed {
  std::size_t columns = 3;
  std::vector<float> coordinates, values;
  std::vector<std::int32_t> track;
  std::vector<std::uint8_t> platform, fold;

  std::size_t size() const { return values.size(); }
  PlaceData data() const {
    return {.coordinates = {coordinates.data(), size(), columns},
            .values = values,
            .error_variance = {},
            .track = track,
            .platform = platform,
            .fold = fold};
  }
  void add(std::initializer_list<double> at, double value, int on_track, int in_fold = 0) {
    for (const double c : at) coordinates.push_back(static_cast<float>(c));
    values.push_back(static_cast<float>(value));
    track.push_back(on_track);
    platform.push_back(static_cast<std::uint8_t>(on_track % 2));
    fold.push_back(static_cast<std::uint8_t>(in_fold));
  }
};

// Whole tracks belong to one fold of three.
inline Observed on_the_plane(std::size_t count, std::size_t tracks = 6) {
  RandomStream stream({.seed = 7, .purpose = Purpose::simulation});
  Observed all;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = stream.normal(), y = stream.normal(), t = stream.normal();
    const auto track = static_cast<int>(i % tracks);
    all.add({x, y, t}, std::sin(2.0 * x) + std::cos(1.5 * y) + 0.5 * t + 0.1 * stream.normal(), track, track % 3);
  }
  return all;
}

inline ProcessParameters some_parameters(double nu, double length) {
  return {.nu = nu,
          .length_x = 1.2 * length,
          .length_y = 0.8 * length,
          .time_length = 0.9,
          .drift_x = 0.6,
          .drift_y = -0.3,
          .sill = 1.4,
          .nugget = 0.1,
          .track_variance = 0.15,
          .track_time = 0.5,
          .platform_variance = 0.08,
          .trend = {0.4, 0.0, 0.0}};
}

struct Forecast {
  std::vector<double> mean, variance, gradient;
};
inline Forecast predicted(const Process& process, const std::vector<float>& points, int threads = 1,
                          std::span<const int> left_out = {}) {
  const std::size_t columns = process.places().columns, n = points.size() / columns;
  Forecast out{std::vector<double>(n), std::vector<double>(n), std::vector<double>(3 * n)};
  process.predict({points.data(), n, columns}, {out.mean, out.variance, {out.gradient.data(), n, 3}}, threads, left_out);
  return out;
}

inline Process process_of(Space space, const ProcessParameters& parameters, const PlaceData& data, std::size_t neighbours,
                          const CellSides& sides = {}) {
  return Process(space, true, parameters, gather_places(space, true, data, sides), neighbours);
}

}  // namespace drift
