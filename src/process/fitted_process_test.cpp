#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "core/random.h"
#include "drift/error.h"
#include "process/process.h"
#include "process/process_testing.h"

namespace drift {
namespace {

// Random waves, all carried along by the same velocity: f(x - u t, y).
class TravellingField {
 public:
  explicit TravellingField(double velocity, double length) : velocity_(velocity) {
    RandomStream stream({.seed = 21, .purpose = Purpose::simulation});
    for (Wave& wave : waves_) {
      wave = {stream.normal() / length, stream.normal() / length, 2.0 * std::numbers::pi * stream.uniform()};
    }
  }
  double operator()(double x, double y, double t) const {
    double sum = 0.0;
    for (const Wave& wave : waves_) sum += std::cos(wave.kx * (x - velocity_ * t) + wave.ky * y + wave.phase);
    return std::sqrt(2.0 / static_cast<double>(waves_.size())) * sum;
  }

 private:
  struct Wave {
    double kx, ky, phase;
  };
  double velocity_;
  std::array<Wave, 40> waves_ = {};
};

// Straight tracks in two crossing directions, each over within a hundredth of the time.
template <class Field>
Observed along_tracks(int tracks, int rows, const Field& field, double noise_sd) {
  RandomStream stream({.seed = 22, .purpose = Purpose::simulation});
  Observed all;
  for (int track = 0; track < tracks; ++track) {
    const double begin = 2.0 * stream.uniform() - 1.0, x0 = 2.0 * stream.uniform() - 1.0;
    const double slope = track % 2 == 0 ? 0.4 : -0.4;
    for (int i = 0; i < rows; ++i) {
      const double along = 2.0 * (i + stream.uniform()) / rows - 1.0;  // y, from south to north
      const double x = x0 + slope * along, t = begin + 0.01 * along;
      all.add({x, along, t}, field(x, along, t) + noise_sd * stream.normal(), track);
    }
  }
  std::fill(all.platform.begin(), all.platform.end(), std::uint8_t{0});
  return all;
}

double rms_error(const Process& process, const TravellingField& field, std::size_t count) {
  RandomStream stream({.seed = 23, .purpose = Purpose::simulation});
  std::vector<float> points;
  std::vector<double> truth;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = 1.6 * stream.uniform() - 0.8, y = 1.6 * stream.uniform() - 0.8, t = 1.6 * stream.uniform() - 0.8;
    for (const double c : {x, y, t}) points.push_back(static_cast<float>(c));
    truth.push_back(field(x, y, t));
  }
  const std::vector<double> mean = predicted(process, points, 2).mean;
  double sum = 0.0;
  for (std::size_t i = 0; i < count; ++i) sum += (mean[i] - truth[i]) * (mean[i] - truth[i]);
  return std::sqrt(sum / static_cast<double>(count));
}

Process fitted(const Observed& all, std::size_t targets) {
  ProcessSettings settings;
  settings.nu = 1.5;
  settings.targets = targets;
  settings.threads = 2;
  PlaceData data = all.data();
  data.fold = {};
  return make_process(Space::plane, true, data, settings);
}

class DriftRecovery : public testing::TestWithParam<double> {};

TEST_P(DriftRecovery, FindsTheVelocityAndPredictsBetterForIt) {
  const double velocity = GetParam();
  const TravellingField field(velocity, 0.3);
  const Process process = fitted(along_tracks(60, 40, field, 0.1), 300);
  const ProcessParameters& p = process.parameters();
  EXPECT_NEAR(p.drift_x * p.length_x / p.time_length, velocity, 0.3 * std::abs(velocity));
  EXPECT_NEAR(p.drift_y * p.length_y / p.time_length, 0.0, 0.3 * std::abs(velocity));
  ProcessParameters at_rest = p;
  at_rest.drift_x = at_rest.drift_y = 0.0;
  const double moving = rms_error(process, field, 400);
  const double still = rms_error(Process(Space::plane, true, at_rest, process.places(), process.neighbours()), field, 400);
  EXPECT_LT(moving, 0.4 * still);
  EXPECT_LT(moving, 0.1);  // of a field of variance one, seen with noise of sd 0.1
}

INSTANTIATE_TEST_SUITE_P(Process, DriftRecovery, testing::Values(0.5, -0.5),
                         [](const auto& velocity) { return velocity.param > 0 ? "eastwards" : "westwards"; });

TEST(FittedProcess, FindsNoVelocityInAFieldAtRest) {
  const ProcessParameters p = fitted(along_tracks(60, 40, TravellingField(0.0, 0.3), 0.1), 300).parameters();
  EXPECT_NEAR(p.drift_x * p.length_x / p.time_length, 0.0, 0.05);
  EXPECT_NEAR(p.drift_y * p.length_y / p.time_length, 0.0, 0.05);
}

TEST(FittedProcess, FindsTheNoiseOfASmoothField) {
  for (const double noise_sd : {0.1, 1.0}) {
    const ProcessParameters p = fitted(along_tracks(60, 40, TravellingField(0.2, 0.3), noise_sd), 300).parameters();
    EXPECT_NEAR(std::sqrt(p.nugget), noise_sd, 0.3 * noise_sd);
  }
}

Observed white_noise() {
  return along_tracks(
      60, 25, [](double, double, double) { return 0.0; }, 1.0);
}

double mean_square(const auto& numbers) {
  double sum = 0.0;
  for (const auto number : numbers) sum += static_cast<double>(number) * static_cast<double>(number);
  return sum / static_cast<double>(numbers.size());
}

TEST(FittedProcess, OfWhiteNoisePredictsTheMeanBetweenObservationsAndTheVarianceOfANewOne) {
  const Observed all = white_noise();
  const double variance = mean_square(all.values);
  const Process process = fitted(all, 400);
  RandomStream stream({.seed = 24, .purpose = Purpose::simulation});
  std::vector<float> points;
  for (int i = 0; i < 3 * 300; ++i) points.push_back(static_cast<float>(1.6 * stream.uniform() - 0.8));
  const Forecast found = predicted(process, points, 2);
  EXPECT_LT(mean_square(found.mean), 0.05 * variance);
  const double of_field = std::accumulate(found.variance.begin(), found.variance.end(), 0.0) / 300.0;
  EXPECT_NEAR(of_field + process.observation_variance(), variance, 0.25 * variance);
  // A process of the same observations that takes them for a smooth field follows the noise.
  ProcessParameters trusting = process.parameters();
  trusting.sill = variance, trusting.nugget = 1e-3 * variance, trusting.track_variance = 0.0;
  trusting.length_x = trusting.length_y = 0.3, trusting.time_length = 0.5;
  EXPECT_GT(mean_square(predicted(process_of(Space::plane, trusting, all.data(), 60), points, 2).mean), 0.2 * variance);
}

// Known defect: white noise is taken for a field with a lengthscale of a hundredth of the extent (sill near the variance, a
// tenth of it nugget), which predicts as well between tracks but reproduces the noise at the observations.
TEST(FittedProcess, OfWhiteNoiseIsNuggetAndDoesNotFollowTheObservations) {
  const Observed all = white_noise();
  const double variance = mean_square(all.values);
  const Process process = fitted(all, 400);
  EXPECT_GT(process.observation_variance(), 0.8 * variance);
  EXPECT_LT(process.observation_variance(), 1.2 * variance);
  EXPECT_LT(mean_square(predicted(process, all.coordinates, 2).mean), 0.1 * variance);
}

TEST(FittedProcess, DoesNotDependOnTheNumberOfThreads) {
  const Observed all = along_tracks(20, 15, TravellingField(0.3, 0.3), 0.1);
  ProcessSettings settings;
  settings.nu = 0.5;
  settings.targets = 60;
  settings.threads = 1;
  const ProcessFit one = fit_process(Space::plane, true, all.data(), settings);
  settings.threads = 3;
  const ProcessFit three = fit_process(Space::plane, true, all.data(), settings);
  EXPECT_EQ(one.parameters, three.parameters);
  EXPECT_EQ(one.score, three.score);
}

TEST(FittedProcess, RefusesTooFewObservations) {
  EXPECT_THROW(fit_process(Space::plane, true, on_the_plane(19).data(), {}), Error);
  EXPECT_THROW(make_process(Space::plane, true, on_the_plane(19).data(), {}), Error);
  ProcessSettings settings;
  settings.nu = 0.5;
  EXPECT_NO_THROW(fit_process(Space::plane, true, on_the_plane(20).data(), settings));
}

}  // namespace
}  // namespace drift
