#include "process/latitudes.h"

#include <cmath>

namespace drift {

EnginePosition position_of(const float* row, std::size_t columns) {
  EnginePosition at = {};
  for (std::size_t d = 0; d < columns; ++d) at.at(d) = static_cast<double>(row[d]);
  return at;
}

LatitudeTerms latitude_terms(double sin_lat) {
  const double square = sin_lat * sin_lat;
  return {sin_lat, 1.5 * square - 0.5, (35.0 * square * square - 30.0 * square + 3.0) / 8.0};
}

ProcessParameters at_latitude(const ProcessParameters& parameters, const LatitudeTerms& terms) {
  std::array<double, kFrameNumbers> added = {};
  for (std::size_t i = 0; i < parameters.by_latitude.size(); ++i) {
    added.at(i / kLatitudeTerms) += parameters.by_latitude.at(i) * terms.at(i % kLatitudeTerms);
  }
  ProcessParameters out = parameters;
  out.length_x *= std::exp(added[0]);
  out.length_y *= std::exp(added[1]);
  out.time_length *= std::exp(added[2]);
  out.drift_x += added[3];
  out.drift_y += added[4];
  return out;
}

ProcessParameters at_target(const ProcessParameters& parameters, Space space, const EnginePosition& target) {
  if (space != Space::sphere) return parameters;
  constexpr double kFades = 0.05;  // cosine of the latitude at which half is left
  const double cosine = std::hypot(target[0], target[1]);
  const double left = cosine * cosine / (cosine * cosine + kFades * kFades);
  ProcessParameters out = at_latitude(parameters, latitude_terms(target[2]));
  const double both = std::sqrt(out.length_x * out.length_y);
  out.length_x = both * std::pow(out.length_x / both, left);
  out.length_y = both * std::pow(out.length_y / both, left);
  out.shear *= left;
  out.drift_x *= left, out.drift_y *= left;
  return out;
}

// By differences: the parameters are smooth in the latitude, and what they are made of is said in one place.
Frames frame_motion(const ProcessParameters& parameters, Space space, const EnginePosition& target) {
  if (space != Space::sphere) return {Eigen::Matrix3d::Zero(), Eigen::Matrix3d::Zero()};
  constexpr double kStep = 1e-5;
  const auto at = [&](double step) {
    const double cosine = std::hypot(target[0], target[1]);
    const EnginePosition moved = {cosine * std::cos(step) - target[2] * std::sin(step), 0.0,
                                  target[2] * std::cos(step) + cosine * std::sin(step), 0.0};
    return frames_of(at_target(parameters, space, moved));
  };
  const Frames north = at(kStep), south = at(-kStep);
  return {(north[0] - south[0]) / (2.0 * kStep), (north[1] - south[1]) / (2.0 * kStep)};
}

}  // namespace drift
