// A map shows the observations and not how its neighbours are chosen.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "process/process.h"

namespace drift {
namespace {

// Parallel tracks three lengths apart, each one dense. Cells as a fit has them, a fifth of a length, opened into sixths; or none.
Process parallel_tracks(double nu, double half_length = 5.0, double spacing = 0.01, double cell = 0.2,
                        std::size_t neighbours = 80, std::size_t far = 32) {
  RandomStream stream({.seed = 51, .purpose = Purpose::simulation});
  std::vector<float> coordinates, values;
  std::vector<std::int32_t> track;
  for (int line = -2; line <= 2; ++line) {
    const int half = static_cast<int>(half_length / spacing);
    for (int i = -half; i < half; ++i) {
      coordinates.push_back(3.0F * static_cast<float>(line));
      coordinates.push_back(static_cast<float>(spacing * (i + stream.uniform())));
      values.push_back(static_cast<float>(std::sin(1.3 * line + spacing * i) + 0.1 * stream.normal()));
      track.push_back(line + 2);
    }
  }
  const PlaceData data = {.coordinates = {coordinates.data(), values.size(), 2}, .values = values, .track = track};
  const ProcessParameters parameters = {.nu = nu, .length_x = 1.0, .length_y = 1.0, .sill = 1.0, .nugget = 0.01};
  return Process(Space::plane, false, parameters, gather_places(Space::plane, false, data, {.space = cell}), neighbours, far);
}

// Tracks a twentieth of a length apart, the easternmost along x = 0, and none beyond.
Process dense_edge(double nu, std::size_t neighbours, std::size_t far) {
  RandomStream stream({.seed = 52, .purpose = Purpose::simulation});
  std::vector<float> coordinates, values;
  std::vector<std::int32_t> track;
  for (int line = 0; line < 30; ++line) {
    for (int i = -40; i < 40; ++i) {
      coordinates.insert(coordinates.end(), {-0.05F * static_cast<float>(line), 0.05F * static_cast<float>(i)});
      values.push_back(static_cast<float>(stream.normal()));
      track.push_back(line);
    }
  }
  const PlaceData data = {.coordinates = {coordinates.data(), values.size(), 2}, .values = values, .track = track};
  const ProcessParameters parameters = {.nu = nu, .length_x = 1.0, .length_y = 1.0, .sill = 1.0, .nugget = 1.0};
  return Process(Space::plane, false, parameters, gather_places(Space::plane, false, data, {.space = 0.2}), neighbours, far);
}

struct Line {
  std::vector<double> mean, variance;
};
// From the middle track towards the next, at some y.
Line across(const Process& process, double y, int steps) {
  std::vector<float> points;
  for (int i = 0; i < steps; ++i) {
    points.push_back(1.4F * static_cast<float>(i) / static_cast<float>(steps));
    points.push_back(static_cast<float>(y));
  }
  Line line{std::vector<double>(points.size() / 2), std::vector<double>(points.size() / 2)};
  process.predict({points.data(), line.mean.size(), 2}, {.mean = line.mean, .variance = line.variance}, 1);
  return line;
}

class Seams : public testing::TestWithParam<double> {};

// The larger the distance from a track, the less is known; where its cells are opened, drawn together or taken whole too.
TEST_P(Seams, SpreadGrowsSteadilyAwayFromATrack) {
  const Process process = parallel_tracks(GetParam());
  for (const double y : {0.0, 0.07, 0.33, -0.6}) {
    const Line line = across(process, y, 140);
    double highest = 0.0, worst = 0.0;
    for (const double variance : line.variance) {
      worst = std::max(worst, highest - variance);
      highest = std::max(highest, variance);
    }
    EXPECT_LT(worst, 1e-3) << "at y = " << y;  // of the sill
    EXPECT_GT(highest, 0.3);
  }
}

// Against kriging from every observation: cells, and the ways they are opened and left out, cost next to nothing. Places that
// fade while their cell appears, or one that is forgotten, cost 5 to 30 %.
TEST_P(Seams, KnowsAsMuchAsKrigingFromAllObservations) {
  const Process all = parallel_tracks(GetParam(), 1.5, 0.04, 0.0, 1000, 0), process = parallel_tracks(GetParam(), 1.5, 0.04);
  const Line wanted = across(all, 0.07, 70), found = across(process, 0.07, 70);
  double worst = 0.0, mean = 0.0;
  for (std::size_t i = 0; i < wanted.mean.size(); ++i) {
    worst = std::max(worst, std::abs(std::sqrt(found.variance[i] / wanted.variance[i]) - 1.0));
    mean = std::max(mean, std::abs(found.mean[i] - wanted.mean[i]) / std::sqrt(wanted.variance[i]));
  }
  EXPECT_LT(worst, 0.01);
  EXPECT_LT(mean, 0.015);
}

// Neither mean nor spread has a step between points a three-thousandth of a length apart.
TEST_P(Seams, NeitherMeanNorSpreadHasAStep) {
  const Process process = parallel_tracks(GetParam());
  for (const double y : {0.0, 0.07}) {
    const Line line = across(process, y, 4200);
    double step = 0.0;
    for (std::size_t i = 1; i < line.mean.size(); ++i) {
      step = std::max({step, std::abs(line.mean[i] - line.mean[i - 1]), std::abs(line.variance[i] - line.variance[i - 1])});
    }
    EXPECT_LT(step, 2e-3) << "at y = " << y;  // slopes of up to six per length
  }
}

// Half a length to one length beyond the edge of dense tracks: how much larger the spread is than what all observations leave.
double spread_beyond(double nu, std::size_t neighbours, std::size_t far) {
  const Process all = dense_edge(nu, 2400, 0), process = dense_edge(nu, neighbours, far);
  double worst = 0.0;
  for (const float x : {0.5F, 0.75F, 1.0F}) {
    const std::vector<float> point = {x, 0.1F};
    std::vector<double> wanted(1), found(1);
    all.predict({point.data(), 1, 2}, {.variance = wanted}, 1);
    process.predict({point.data(), 1, 2}, {.variance = found}, 1);
    worst = std::max(worst, std::sqrt(found[0] / wanted[0]) - 1.0);
  }
  return worst;
}

TEST_P(Seams, FarNeighboursTellWhatNearOnesBeyondAnEdgeCannot) {
  const double without = spread_beyond(GetParam(), 112, 0), with = spread_beyond(GetParam(), 80, 32);
  EXPECT_GT(without, 0.03);
  EXPECT_LT(with, 0.65 * without);
}

INSTANTIATE_TEST_SUITE_P(Process, Seams, testing::Values(0.5, 1.5),
                         [](const auto& nu) { return nu.param == 0.5 ? "nu_1_2" : "nu_3_2"; });

}  // namespace
}  // namespace drift
