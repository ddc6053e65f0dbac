#include "process/latitudes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/random.h"
#include "process/kriging.h"
#include "process/process.h"

namespace drift {
namespace {

TEST(LatitudeTerms, HaveAMeanOfZeroOverTheSphereAndTellTheHemispheresApart) {
  constexpr int kSteps = 2000;
  LatitudeTerms sum = {};
  for (int i = 0; i < kSteps; ++i) {  // equal areas have equal shares of sin lat
    const LatitudeTerms terms = latitude_terms(2.0 * (i + 0.5) / kSteps - 1.0);
    for (std::size_t k = 0; k < terms.size(); ++k) sum.at(k) += terms.at(k) / kSteps;
  }
  for (const double mean : sum) EXPECT_NEAR(mean, 0.0, 1e-6);
  EXPECT_NE(latitude_terms(0.5), latitude_terms(-0.5));
}

TEST(AtLatitude, ScalesLengthsAndAddsVelocities) {
  ProcessParameters p;
  p.by_latitude = {0.1, 0.2, 0.3, 0.0, 0.5, 0.0, -0.4, 0.0, 0.0, 0.7, 0.0, 0.0, 0.0, 0.0, 0.8};
  const LatitudeTerms terms = {0.5, -0.2, 0.4};
  const ProcessParameters here = at_latitude(p, terms);
  EXPECT_DOUBLE_EQ(here.length_x, p.length_x * std::exp(0.05 - 0.04 + 0.12));
  EXPECT_DOUBLE_EQ(here.length_y, p.length_y * std::exp(-0.1));
  EXPECT_DOUBLE_EQ(here.time_length, p.time_length * std::exp(-0.2));
  EXPECT_DOUBLE_EQ(here.drift_x, p.drift_x + 0.35);
  EXPECT_DOUBLE_EQ(here.drift_y, p.drift_y + 0.32);
}

TEST(AtTarget, IsTheSameEverywhereOnThePlane) {
  ProcessParameters p;
  p.by_latitude.fill(0.3);
  EXPECT_EQ(at_target(p, Space::plane, {0.1, 0.2, 0.3, 0.0}), p);
}

// Waves around the globe that run east at high latitudes and west at low ones, seen along meridians with noise.
struct Globe {
  std::vector<float> coordinates, values, truth;
  std::vector<std::int32_t> track;
  PlaceData data() const { return {.coordinates = {coordinates.data(), values.size(), 4}, .values = values, .track = track}; }
};

double velocity(double sin_lat) { return 0.5 * latitude_terms(sin_lat)[1]; }  // radians of longitude per unit of time

Globe observed(int tracks, int rows, std::uint64_t seed) {
  RandomStream stream({.seed = seed, .purpose = Purpose::simulation});
  Globe all;
  for (int track = 0; track < tracks; ++track) {
    const double lon = 2.0 * std::numbers::pi * stream.uniform(), t = 2.0 * stream.uniform() - 1.0;
    for (int i = 0; i < rows; ++i) {
      const double lat = (130.0 * (i + stream.uniform()) / rows - 65.0) * std::numbers::pi / 180.0;
      const double at = lon - velocity(std::sin(lat)) * t;
      const double value = std::cos(5.0 * at) + std::sin(3.0 * at) + std::cos(7.0 * at + 1.0);
      for (const double c : {std::cos(lat) * std::cos(lon), std::cos(lat) * std::sin(lon), std::sin(lat), t})
        all.coordinates.push_back(static_cast<float>(c));
      all.truth.push_back(static_cast<float>(value));
      all.values.push_back(static_cast<float>(value + 0.1 * stream.normal()));
      all.track.push_back(track);
    }
  }
  return all;
}

double rms_error(const Process& process, const Globe& at) {
  std::vector<double> mean(at.truth.size());
  process.predict(at.data().coordinates, {.mean = mean}, 2);
  double sum = 0.0;
  for (std::size_t i = 0; i < mean.size(); ++i) sum += std::pow(mean[i] - static_cast<double>(at.truth[i]), 2);
  return std::sqrt(sum / static_cast<double>(mean.size()));
}

TEST(FittedProcess, FindsVelocitiesThatDifferByLatitudeAndPredictsBetterForIt) {
  const Globe seen = observed(60, 30, 1), others = observed(20, 20, 2);
  ProcessSettings settings;
  settings.nu = 1.5;
  settings.targets = 400;
  settings.fit_neighbours = 40;
  settings.threads = 2;
  const Process process = make_process(Space::sphere, true, seen.data(), settings);
  const auto eastward = [&](double sin_lat) {  // radians of longitude per unit of time
    const ProcessParameters here = at_latitude(process.parameters(), latitude_terms(sin_lat));
    return (here.drift_x - here.shear * here.drift_y) * here.length_x / here.time_length / std::sqrt(1.0 - sin_lat * sin_lat);
  };
  for (const double sin_lat : {-0.8, 0.0, 0.8}) EXPECT_NEAR(eastward(sin_lat), velocity(sin_lat), 0.15) << sin_lat;
  ProcessParameters uniform = process.parameters();
  uniform.by_latitude = {};
  EXPECT_LT(rms_error(process, others),
            0.8 * rms_error(Process(Space::sphere, true, uniform, process.places(), process.neighbours()), others));
}

}  // namespace
}  // namespace drift
