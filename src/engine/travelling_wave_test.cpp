// A wave that travels, sin(k x - omega t), seen along tracks: networks of product coupling follow it from one time to another,
// those of additive coupling, f = g(x) + h(t), cannot.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "drift/engine.h"

namespace drift {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kWaveNumber = 2.0, kFrequency = 2.0;  // the wave travels one unit of x in one of time
constexpr double kFirst = -0.3, kSecond = 0.3;         // times of the two maps
constexpr double kDisplacement = kFrequency / kWaveNumber * (kSecond - kFirst);

double wave(double x, double t) { return std::sin(kWaveNumber * x - kFrequency * t); }

// x and y are plain coordinates, or longitude and latitude in radians.
void add_point(Space space, double x, double y, double t, std::vector<float>& coordinates) {
  std::vector<double> point = {x, y, t};
  if (space == Space::sphere) point = {std::cos(y) * std::cos(x), std::cos(y) * std::sin(x), std::sin(y), t};
  coordinates.insert(coordinates.end(), point.begin(), point.end());
}

// 300 tracks of 16 observations, each at a time of its own.
struct Tracks {
  std::vector<float> coordinates, values;

  explicit Tracks(Space space) {
    const auto part = [](double step, int i) { return 2.0 * std::fmod(step * (i + 1), 1.0) - 1.0; };
    for (int track = 0; track < 300; ++track) {
      const double from = kPi * part(0.754877666, track), t = part(0.569840291, track);
      for (int i = 0; i < 16; ++i) {
        const double y = -0.6 + 0.08 * i, x = from + 0.5 * y;
        add_point(space, x, y, t, coordinates);
        values.push_back(static_cast<float>(wave(x, t)));
      }
    }
  }
};

NetworkSpec spec_of(Space space, Coupling coupling) {
  NetworkSpec spec = default_spec(space, space == Space::plane ? 2 : 3, true);
  spec.coupling = coupling;
  spec.spatial.layers = 2;
  spec.features = 200;
  spec.bottleneck = 16;
  spec.spatial.lengthscales = {1.0};
  spec.temporal.lengthscales = {1.0};
  return spec;
}

// The means of three networks along y = 0 at one time, [points].
constexpr int kMapPoints = 120;
double map_x(int i) { return -2.0 + 4.0 * i / (kMapPoints - 1); }

class Fitted {
 public:
  Fitted(Space space, Coupling coupling) : space_(space), ensemble_(draw_ensemble(spec_of(space, coupling), 3, 3)) {
    const Tracks tracks(space);
    const auto columns = static_cast<std::size_t>(ensemble_.spec.coordinates());
    const std::size_t rows = tracks.values.size();
    Recipe recipe = default_recipe();
    recipe.batch = 128;
    recipe.epochs = 8;
    TrainingState state;
    engine_->advance(ensemble_, state,
                     {.coordinates = {tracks.coordinates.data(), rows, columns}, .values = {tracks.values.data(), rows, 1}},
                     recipe, total_steps(recipe, rows), {});
  }

  std::vector<float> map(double t, double shift = 0.0) const {
    std::vector<float> coordinates, mean(kMapPoints);
    for (int i = 0; i < kMapPoints; ++i) add_point(space_, map_x(i) + shift, 0.0, t, coordinates);
    engine_->predict(ensemble_, {coordinates.data(), kMapPoints, static_cast<std::size_t>(ensemble_.spec.coordinates())},
                     {.mean = {mean.data(), kMapPoints, 1}, .variance = {}, .members = {}});
    return mean;
  }

 private:
  Space space_;
  Ensemble ensemble_;
  std::unique_ptr<Engine> engine_ = make_cpu_engine({.threads = 2});
};

double rms_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

std::vector<float> true_map(double t) {
  std::vector<float> values;
  for (int i = 0; i < kMapPoints; ++i) values.push_back(static_cast<float>(wave(map_x(i), t)));
  return values;
}

// By how much the second map has to be moved back to be most like the first, to 0.02.
double displacement(const Fitted& fitted) {
  const std::vector<float> first = fitted.map(kFirst);
  double best = 0, least = INFINITY;
  for (double shift = -0.8; shift < 0.81; shift += 0.02) {
    const double difference = rms_difference(first, fitted.map(kSecond, shift));
    if (difference < least) least = difference, best = shift;
  }
  return best;
}

class TravellingWave : public testing::TestWithParam<Space> {};
INSTANTIATE_TEST_SUITE_P(Spaces, TravellingWave, testing::Values(Space::plane, Space::sphere),
                         [](const auto& space) { return space.param == Space::plane ? "plane" : "sphere"; });

TEST_P(TravellingWave, IsFollowedByOneChainOfSpaceAndTime) {
  const Fitted fitted(GetParam(), Coupling::product);
  EXPECT_NEAR(displacement(fitted), kDisplacement, 0.05);
  EXPECT_LT(rms_difference(fitted.map(kFirst), true_map(kFirst)), 0.15);
  EXPECT_LT(rms_difference(fitted.map(kSecond), true_map(kSecond)), 0.15);
}

// The negative control: what the test above would find in a field that stands still.
TEST_P(TravellingWave, StandsStillWhereSpaceAndTimeAreAdded) {
  const Fitted fitted(GetParam(), Coupling::additive);
  EXPECT_NEAR(displacement(fitted), 0.0, 0.021);
  EXPECT_GT(rms_difference(fitted.map(kSecond), true_map(kSecond)), 0.3);
}

}  // namespace
}  // namespace drift
