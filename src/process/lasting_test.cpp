// A lasting structure beside one that moves: where tracks cross the same places at several times the search tells them apart.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "core/random.h"
#include "process/kriging.h"
#include "process/process.h"

namespace drift {
namespace {

struct Drawn {
  std::vector<float> coordinates, values;
  std::vector<std::int32_t> track;
  PlaceData data() const { return {.coordinates = {coordinates.data(), values.size(), 3}, .values = values, .track = track}; }
};

// One draw along 60 straight tracks of 20 places across a square of side 2, at times from -1 to 1.
Drawn drawn(const ProcessParameters& p, std::uint64_t seed) {
  RandomStream stream({.seed = seed, .purpose = Purpose::simulation});
  Drawn out;
  std::vector<Eigen::Vector3d> at;
  for (int track = 0; track < 60; ++track) {
    const double time = 2.0 * stream.uniform() - 1.0, x = 2.4 * stream.uniform() - 1.2, slope = track % 2 == 0 ? 0.4 : -0.4;
    for (int i = 0; i < 20; ++i) {
      const double y = (i + stream.uniform()) / 10.0 - 1.0;
      at.emplace_back(x + slope * y, y, time);
      for (const double c : {at.back()[0], y, time}) out.coordinates.push_back(static_cast<float>(c));
      out.track.push_back(track);
    }
  }
  const auto count = static_cast<Eigen::Index>(at.size());
  const Frames frames = frames_of(p);
  Eigen::MatrixXd k(count, count);
  Eigen::VectorXd white(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      const Eigen::Vector3d apart = at[static_cast<std::size_t>(i)] - at[static_cast<std::size_t>(j)];
      k(i, j) = p.sill * ((1.0 - p.second_share) * std::exp(-(frames[0] * apart).norm()) +
                          p.second_share * std::exp(-(frames[1] * apart).norm()));
    }
    k(i, i) += p.nugget;
    white[i] = stream.normal();
  }
  const Eigen::VectorXd values = k.llt().matrixL() * white;
  out.values.assign(values.data(), values.data() + count);
  return out;
}

ProcessParameters fitted(const Drawn& drawn) {
  ProcessSettings settings;
  settings.nu = 0.5;
  settings.targets = 600;
  settings.fit_neighbours = 40;
  return fit_process(Space::plane, true, drawn.data(), settings).parameters;
}

const ProcessParameters kOne = {.nu = 0.5, .length_x = 0.5, .length_y = 0.5, .time_length = 0.5, .nugget = 0.01};

TEST(FittedProcess, FindsALastingStructureOnlyWhereThereIsOne) {
  ProcessParameters two = kOne;
  two.time_length = 0.15, two.second_share = 0.6, two.second_length = 1.5, two.second_time = 100.0;
  EXPECT_EQ(fitted(drawn(kOne, 41)).second_share, 0.0);
  const ProcessParameters found = fitted(drawn(two, 42));
  EXPECT_GT(found.second_share, 0.3);
  EXPECT_GT(found.second_time * found.time_length, 2.0) << "the lasting part outlives the observations";
  EXPECT_LT(found.time_length, 0.6);
}

TEST(SearchParameters, LieBetweenTheTwoStructures) {
  ProcessParameters p = kOne;
  p.drift_x = 0.4;
  EXPECT_EQ(search_parameters(p), p);
  p.second_share = 1e-9, p.second_length = 2.0, p.second_time = 8.0;
  EXPECT_NEAR(search_parameters(p).time_length, p.time_length, 1e-6);
  EXPECT_NEAR(search_parameters(p).drift_x, p.drift_x, 1e-6);
  p.second_share = 1.0 - 1e-9;
  EXPECT_NEAR(search_parameters(p).time_length, 8.0 * p.time_length, 1e-6);
  EXPECT_NEAR(search_parameters(p).length_y, 2.0 * p.length_y, 1e-6);
  EXPECT_NEAR(search_parameters(p).drift_x, 0.0, 1e-6) << "what lasts is at rest";
  p.second_time = 0.0;  // a fine structure has no neighbours of its own
  EXPECT_EQ(search_parameters(p), p);
}

}  // namespace
}  // namespace drift
