#pragma once

// For tests: a smooth field seen with noise on the plane with time, or on the sphere.

#include <cmath>
#include <string>
#include <vector>

#include "core/random.h"
#include "drift/interpolator.h"

namespace drift {

class SmallField {
 public:
  SmallField(Space space, bool time, std::size_t count, std::uint64_t seed = 3)
      : space_(space), columns_(space == Space::sphere ? 3 : 2) {
    const std::size_t all = columns_ + (time ? 1 : 0);
    RandomStream random({.seed = seed});
    for (std::size_t row = 0; row < count; ++row) {
      std::vector<double> x(all);
      double length = 0.0;
      for (double& entry : x) entry = random.normal();
      for (std::size_t i = 0; i < 3 && space == Space::sphere; ++i) length += x[i] * x[i];
      for (std::size_t i = 0; i < 3 && space == Space::sphere; ++i) x[i] /= std::sqrt(length);
      for (const double entry : x) coordinates.push_back(static_cast<float>(entry));
      const double time_part = time ? 0.4 * std::sin(x.back()) : 0.0;
      truth.push_back(std::sin(2.0 * x[0]) * std::cos(1.5 * x[1]) + time_part);
      values.push_back(static_cast<float>(truth.back() + kNoise * random.normal()));
    }
    data_.training = {{coordinates.data(), count, all}, {values.data(), count, 1}};
    data_.space = space;
    data_.space_coordinates = static_cast<int>(columns_);
  }
  SmallField(const SmallField&) = delete;
  SmallField& operator=(const SmallField&) = delete;

  const InterpolatorData& data() const { return data_; }
  MatrixView<const float> points() const { return data_.training.coordinates; }
  Domain domain() const { return space_ == Space::sphere ? sphere_domain() : xy_domain("km"); }
  // Of a forecast against the noise-free field, over the field's own standard deviation.
  double error(const std::vector<double>& mean) const {
    double squares = 0.0, average = 0.0, variance = 0.0;
    for (const double value : truth) average += value / static_cast<double>(truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i) {
      squares += std::pow(mean[i] - truth[i], 2);
      variance += std::pow(truth[i] - average, 2);
    }
    return std::sqrt(squares / variance);
  }

  static constexpr double kNoise = 0.1;
  std::vector<float> coordinates, values;
  std::vector<double> truth;

 private:
  Space space_;
  std::size_t columns_;
  InterpolatorData data_;
};

// Relative error of a method, by its text, on points it has not seen.
inline double error_of(const std::string& text, Space space, bool time) {
  const SmallField training(space, time, 2000), fresh(space, time, 500, 8);
  const auto method = make_interpolator(text, training.domain());
  method->fit(training.data(), {.seed = 1, .threads = 2});
  std::vector<double> mean(500), sd(500);
  method->predict(fresh.points(), {.mean = mean, .sd_epistemic = sd});
  for (const double spread : sd) {
    if (!(spread >= 0.0 && std::isfinite(spread))) return INFINITY;
  }
  return fresh.error(mean);
}

}  // namespace drift
