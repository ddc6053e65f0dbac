#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "baselines/methods.h"
#include "core/random.h"
#include "drift/domain.h"
#include "drift/interpolator.h"

namespace drift {

// A smooth field seen with noise at random places, on the plane or the sphere, with time: for tests of methods end to end.
struct SimulatedField {
  bool sphere;
  double noise = 0.2;
  std::vector<float> rows, values;          // to train on
  std::vector<float> new_rows, new_values;  // held out, with noise
  std::vector<double> new_field;            // without
  std::size_t dimensions;

  SimulatedField(bool on_sphere, std::size_t n, std::size_t held_out) : sphere(on_sphere), dimensions(on_sphere ? 4 : 3) {
    RandomStream random({.seed = 17, .purpose = Purpose::simulation});
    for (std::size_t i = 0; i < n + held_out; ++i) {
      std::vector<double> x(dimensions);
      double square = 0.0;
      for (std::size_t d = 0; d + 1 < dimensions; ++d)
        square += std::pow(x[d] = sphere ? random.normal() : 3.4 * random.uniform() - 1.7, 2);
      for (std::size_t d = 0; d + 1 < dimensions && sphere; ++d) x[d] /= std::sqrt(square);
      x.back() = 3.4 * random.uniform() - 1.7;
      const double field = std::sin(3.0 * x[0] + 0.4 * x.back()) + std::cos(2.5 * x[1]) * std::sin(1.0 + 2.0 * x[sphere ? 2 : 0]);
      const double value = field + noise * random.normal();
      auto& to = i < n ? rows : new_rows;
      for (const double coordinate : x) to.push_back(static_cast<float>(coordinate));
      (i < n ? values : new_values).push_back(static_cast<float>(value));
      if (i >= n) new_field.push_back(field);
    }
  }

  InterpolatorData data() const {
    InterpolatorData out;
    out.training.coordinates = {rows.data(), values.size(), dimensions};
    out.training.values = {values.data(), values.size(), 1};
    out.space = sphere ? Space::sphere : Space::plane;
    out.space_coordinates = sphere ? 3 : 2;
    return out;
  }
  MatrixView<const float> points() const { return {new_rows.data(), new_values.size(), dimensions}; }
  Domain domain() const {
    if (sphere) return sphere_domain();
    Domain plane = xy_domain("km");
    plane.scale = 500.0;
    return plane;
  }
};

struct Forecast {
  std::vector<double> mean, sd_epistemic, sd_total;

  Forecast(const Interpolator& method, MatrixView<const float> points)
      : mean(points.rows), sd_epistemic(points.rows), sd_total(points.rows) {
    method.predict(points, {.mean = mean, .sd_epistemic = sd_epistemic, .sd_total = sd_total});
  }
};

inline std::unique_ptr<Interpolator> made(const Method& method, const std::string& text, const Domain& domain) {
  return method.make(MethodSettings(method.info, text), domain);
}

// RMSE to the field below `share` of the noise-free field's spread, and the share of held-out observations inside mean +- 1.645
// sd_total, which should be 0.9, inside a band around it.
inline void expect_good(const Method& method, const std::string& text, const SimulatedField& field, double share) {
  const auto interpolator = made(method, text, field.domain());
  interpolator->fit(field.data(), {.seed = 1, .threads = 2});
  const Forecast forecast(*interpolator, field.points());
  double square = 0.0;
  double spread = 0.0;
  double inside = 0.0;
  const auto n = static_cast<double>(field.new_values.size());
  for (std::size_t i = 0; i < field.new_values.size(); ++i) {
    square += std::pow(forecast.mean[i] - field.new_field[i], 2) / n;
    spread += std::pow(field.new_field[i], 2) / n;
    inside += (std::abs(forecast.mean[i] - field.new_values[i]) < 1.645 * forecast.sd_total[i] ? 1.0 : 0.0) / n;
    EXPECT_GE(forecast.sd_total[i], forecast.sd_epistemic[i]);
  }
  EXPECT_LT(std::sqrt(square / spread), share) << method.info.name << (field.sphere ? " sphere" : " plane");
  // 400 observations: three standard deviations are 0.045, and the fit is not exact.
  EXPECT_GT(inside, 0.83) << method.info.name;
  EXPECT_LT(inside, 0.96) << method.info.name;
  EXPECT_TRUE(interpolator->knows_noise());
  EXPECT_FALSE(interpolator->findings(field.domain()).empty());
}

// On the plane, of the field's time nothing is told.
inline void expect_good_without_time(const Method& method, const std::string& text) {
  const SimulatedField field(false, 300, 200);
  const auto interpolator = made(method, text, field.domain());
  InterpolatorData data = field.data();
  data.training.coordinates.cols = 2;
  MatrixView<const float> points = field.points();
  points.cols = 2;
  interpolator->fit(data, {.seed = 1, .threads = 2});
  const Forecast forecast(*interpolator, points);
  double square = 0.0;
  double spread = 0.0;
  for (std::size_t i = 0; i < field.new_field.size(); ++i) {
    square += std::pow(forecast.mean[i] - field.new_field[i], 2);
    spread += std::pow(field.new_field[i], 2);
  }
  EXPECT_LT(std::sqrt(square / spread), 0.5);
}

inline void expect_same_on_any_threads(const Method& method, const std::string& text, const SimulatedField& field) {
  std::vector<double> before;
  for (const int threads : {1, 3}) {
    const auto interpolator = made(method, text, field.domain());
    interpolator->fit(field.data(), {.seed = 1, .threads = threads});
    const Forecast forecast(*interpolator, field.points());
    if (threads > 1) {
      EXPECT_EQ(forecast.mean, before);
    }
    before = forecast.mean;
  }
}

}  // namespace drift
