#include "process/outliers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/random.h"
#include "process/process.h"

namespace drift {
namespace {

// Tracks across a plane, one after the other in time, with values sin(3 x) cos(2 y) and noise.
struct Tracks {
  std::vector<float> coordinates, values;
  std::vector<std::int32_t> track;

  explicit Tracks(int tracks = 40, int length = 100) {
    RandomStream stream({.seed = 71, .purpose = Purpose::simulation});
    for (int line = 0; line < tracks; ++line) {
      const double offset = 4.0 * stream.uniform() - 2.0, slope = 2.0 * stream.uniform() - 1.0;
      for (int i = 0; i < length; ++i) {
        const double along = 4.0 * i / length - 2.0, x = offset + slope * along, y = along, t = line + 1e-3 * i;
        coordinates.insert(coordinates.end(), {static_cast<float>(x), static_cast<float>(y), static_cast<float>(0.05 * t)});
        values.push_back(static_cast<float>(std::sin(3.0 * x) * std::cos(2.0 * y) + 0.02 * stream.normal()));
        track.push_back(line);
      }
    }
  }
  PlaceData data(bool with_tracks = true) const {
    PlaceData out = {.coordinates = {coordinates.data(), values.size(), 3}, .values = values};
    if (with_tracks) out.track = track;
    return out;
  }
  // A share of the values is off by up to two either way.
  std::vector<std::size_t> spoil(double share) {
    RandomStream stream({.seed = 72, .purpose = Purpose::simulation});
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (stream.uniform() > share) continue;
      values[i] += static_cast<float>(stream.uniform() < 0.5 ? -1.0 - stream.uniform() : 1.0 + stream.uniform());
      rows.push_back(i);
    }
    return rows;
  }
};

TEST(Outliers, AreReplacedByTheirNeighboursMedianAndNothingElseIsTouched) {
  for (const bool with_tracks : {true, false}) {
    Tracks tracks(with_tracks ? 20 : 60, 400);
    const std::vector<float> clean = tracks.values;
    const std::vector<std::size_t> spoilt = tracks.spoil(0.02);
    const Despiked found = without_outliers(true, tracks.data(with_tracks), 1);
    std::size_t mended = 0, changed = 0;
    for (std::size_t i = 0; i < clean.size(); ++i) {
      const bool bad = std::binary_search(spoilt.begin(), spoilt.end(), i);
      changed += found.values[i] != tracks.values[i];
      mended += bad && std::abs(found.values[i] - clean[i]) < 0.5F;
      if (!bad) {
        EXPECT_EQ(found.values[i], clean[i]) << i;
      }
    }
    EXPECT_EQ(found.outliers, changed);
    EXPECT_GT(mended, 0.8 * static_cast<double>(spoilt.size())) << with_tracks;
  }
}

// A coast or a front: the values on each side agree with those further on.
TEST(Outliers, AStepIsNone) {
  Tracks tracks;
  for (std::size_t i = 0; i < tracks.values.size(); ++i) tracks.values[i] += i % 100 >= 47 ? 3.0F : 0.0F;
  EXPECT_EQ(without_outliers(true, tracks.data(), 1).outliers, 0U);
}

TEST(Outliers, ARoughStretchAmongSmoothOnesHasNextToNone) {
  Tracks tracks;
  RandomStream stream({.seed = 73, .purpose = Purpose::simulation});
  for (std::size_t i = 0; i < 400; ++i) tracks.values[i] += static_cast<float>(0.6 * stream.normal());
  EXPECT_LE(without_outliers(true, tracks.data(), 1).outliers, 4U);  // of 400; most would be, against the others alone
}

// Values of a plateau are all the same: the usual distance between neighbours is not nought for that.
TEST(Outliers, ABumpOnAPlateauIsNone) {
  Tracks tracks;
  for (std::size_t i = 0; i < tracks.values.size(); ++i) {
    const double along = static_cast<double>(i % 100) - 50.0;
    tracks.values[i] = std::abs(along) < 10.0 ? static_cast<float>(1.0 - along * along / 100.0) : 0.0F;
  }
  EXPECT_EQ(without_outliers(true, tracks.data(), 1).outliers, 0U);
}

TEST(Outliers, AfterAGapTheOtherSideDecides) {
  Tracks tracks(1, 60);
  for (std::size_t i = 30; i < 60; ++i) tracks.coordinates[3 * i + 1] += 5.0F, tracks.values[i] += 4.0F;
  EXPECT_EQ(without_outliers(true, tracks.data(), 1).outliers, 0U);
  tracks.values[30] += 4.0F;
  EXPECT_EQ(without_outliers(true, tracks.data(), 1).outliers, 1U);
  tracks.values[0] += 4.0F;  // the first of its track
  EXPECT_EQ(without_outliers(true, tracks.data(), 1).outliers, 2U);
}

TEST(Outliers, AreTheSameForAnyNumberOfThreadsAndNoneAmongAHandful) {
  Tracks tracks;
  tracks.spoil(0.02);
  EXPECT_EQ(without_outliers(true, tracks.data(), 1).values, without_outliers(true, tracks.data(), 3).values);
  for (const int length : {1, 2, 6}) {
    const Tracks few(1, length);
    EXPECT_EQ(without_outliers(true, few.data(), 1).outliers, 0U);
    EXPECT_EQ(without_outliers(true, few.data(false), 1).outliers, 0U);
  }
}

// Against the field at points between the tracks.
TEST(Outliers, LeaveNoMarkOnAProcess) {
  Tracks tracks;
  tracks.spoil(0.03);
  const auto error = [&](std::span<const float> values) {
    PlaceData data = tracks.data();
    data.values = values;
    const Process process = make_process(Space::plane, true, data, {.nu = 1.5, .targets = 300});
    RandomStream stream({.seed = 74, .purpose = Purpose::simulation});
    std::vector<float> points;
    std::vector<double> truth, mean(300);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const double x = 3.0 * stream.uniform() - 1.5, y = 3.0 * stream.uniform() - 1.5;
      points.insert(points.end(), {static_cast<float>(x), static_cast<float>(y), 1.0F});
      truth.push_back(std::sin(3.0 * x) * std::cos(2.0 * y));
    }
    process.predict({points.data(), mean.size(), 3}, {.mean = mean}, 1);
    double sum = 0.0;
    for (std::size_t i = 0; i < mean.size(); ++i) sum += std::pow(mean[i] - truth[i], 2);
    return std::sqrt(sum / static_cast<double>(mean.size()));
  };
  const double with = error(tracks.values), without = error(without_outliers(true, tracks.data(), 1).values);
  EXPECT_LT(without, 0.6 * with) << without << " " << with;
}

}  // namespace
}  // namespace drift
