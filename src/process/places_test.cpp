#include "process/places.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "core/random.h"

namespace drift {
namespace {

// Observations of several owners (track, platform, fold) scattered over the same region, the owners' rows interleaved.
struct Scattered {
  std::size_t columns = 0;
  std::vector<float> coordinates, values, error_variance;
  std::vector<std::int32_t> track;
  std::vector<std::uint8_t> platform, fold;

  std::size_t size() const { return values.size(); }
  const float* row(std::size_t i) const { return coordinates.data() + i * columns; }
  PlaceData data() const {
    return {.coordinates = {coordinates.data(), size(), columns},
            .values = values,
            .error_variance = error_variance,
            .track = track,
            .platform = platform,
            .fold = fold};
  }
};

Scattered scattered(Space space, std::size_t count) {
  RandomStream stream({.seed = 3, .purpose = Purpose::simulation});
  Scattered all;
  all.columns = space == Space::sphere ? 4 : 3;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = stream.uniform() - 0.5, y = stream.uniform() - 0.5, t = stream.uniform() - 0.5;
    if (space == Space::sphere) {
      const double norm = std::hypot(1.0, x, y);
      for (const double c : {1.0 / norm, x / norm, y / norm}) all.coordinates.push_back(static_cast<float>(c));
    } else {
      for (const double c : {x, y}) all.coordinates.push_back(static_cast<float>(c));
    }
    all.coordinates.push_back(static_cast<float>(t));
    all.values.push_back(static_cast<float>(stream.normal()));
    all.error_variance.push_back(static_cast<float>(0.1 + stream.uniform()));
    all.track.push_back(static_cast<std::int32_t>(i % 3));
    all.platform.push_back(static_cast<std::uint8_t>((i / 3) % 2));
    all.fold.push_back(static_cast<std::uint8_t>((i / 6) % 2));
  }
  return all;
}

constexpr CellSides kSides = {.space = 0.6, .time = 0.6, .finer = 3};

using Owner = std::tuple<int, int, int>;
using Cell = std::array<long, 4>;

Cell cell_of(const float* row, std::size_t columns, const CellSides& sides, int divide) {
  Cell cell = {};
  for (std::size_t d = 0; d < columns; ++d) {
    const double side = (d + 1 == columns ? sides.time : sides.space) / divide;
    cell.at(d) = std::lround(std::floor(static_cast<double>(row[d]) / side));
  }
  return cell;
}

// The same superobservations gathered in a map: sums of position, value and error variance, and their count.
struct Sums {
  std::array<double, 4> position = {};
  double value = 0.0, error_variance = 0.0, count = 0.0;
};
using Table = std::map<std::pair<Owner, Cell>, Sums>;

Table tabulated(const Scattered& all, const CellSides& sides, int divide) {
  Table table;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Sums& sums = table[{{all.track[i], all.platform[i], all.fold[i]}, cell_of(all.row(i), all.columns, sides, divide)}];
    for (std::size_t d = 0; d < all.columns; ++d) sums.position.at(d) += static_cast<double>(all.row(i)[d]);
    sums.value += static_cast<double>(all.values[i]);
    sums.error_variance += static_cast<double>(all.error_variance[i]);
    sums.count += 1.0;
  }
  return table;
}

Owner owner_of(const Places& places, std::size_t i) { return {places.track[i], places.platform[i], places.fold[i]}; }

// Every value is the number of its owner, so that a mean over two owners would be neither's.
Scattered numbered_by_owner() {
  Scattered all = scattered(Space::plane, 600);
  for (std::size_t i = 0; i < all.size(); ++i) {
    all.values[i] = static_cast<float>(100 * all.track[i] + 10 * all.platform[i] + all.fold[i]);
  }
  return all;
}

std::size_t places_that_mix(const Places& places, const std::set<float>& owners) {
  std::size_t mixed = 0;
  for (const float value : places.value) mixed += owners.contains(value) ? 0 : 1;
  return mixed;
}

TEST(GatheredPlaces, NeverMixTracksPlatformsOrFolds) {
  const Scattered all = numbered_by_owner();
  const std::set<float> owners(all.values.begin(), all.values.end());
  ASSERT_EQ(owners.size(), 12U);
  const Places places = gather_places(Space::plane, true, all.data(), kSides);
  ASSERT_LT(places.size(), all.size()) << "no two observations share a cell, so that nothing could mix";
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(places.value[i], static_cast<float>(100 * places.track[i] + 10 * places.platform[i] + places.fold[i])) << i;
  }
  const Places groups = groups_of(places, Space::plane);
  ASSERT_LT(groups.size(), places.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    EXPECT_EQ(groups.value[i], static_cast<float>(100 * groups.track[i] + 10 * groups.platform[i] + groups.fold[i])) << i;
  }
}

TEST(GatheredPlaces, MixOwnersThatTheyAreNotToldOf) {
  const Scattered all = numbered_by_owner();
  const std::set<float> owners(all.values.begin(), all.values.end());
  EXPECT_EQ(places_that_mix(gather_places(Space::plane, true, all.data(), kSides), owners), 0U);
  for (const int untold : {0, 1, 2}) {
    PlaceData data = all.data();
    if (untold == 0) data.track = {};
    if (untold == 1) data.platform = {};
    if (untold == 2) data.fold = {};
    const Places places = gather_places(Space::plane, true, data, kSides);
    EXPECT_GT(places_that_mix(places, owners), places.size() / 10) << untold;
    EXPECT_EQ(untold == 0   ? places.track[0]
              : untold == 1 ? places.platform[0]
                            : places.fold[0],
              untold == 0   ? -1
              : untold == 1 ? 0
                            : kNoFold);
  }
}

TEST(GatheredPlaces, AreTheMeansOfTheObservationsInTheirCells) {
  const Scattered all = scattered(Space::plane, 700);
  const Places places = gather_places(Space::plane, true, all.data(), kSides);
  const Table wanted = tabulated(all, kSides, kSides.finer);
  ASSERT_EQ(places.size(), wanted.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    // A mean lies in the cell of what it is the mean of.
    const auto found = wanted.find({owner_of(places, i), cell_of(places.rows().row(i), 3, kSides, kSides.finer)});
    ASSERT_NE(found, wanted.end()) << i;
    const Sums& sums = found->second;
    EXPECT_EQ(places.count[i], static_cast<float>(sums.count));
    EXPECT_FLOAT_EQ(places.value[i], static_cast<float>(sums.value / sums.count));
    EXPECT_FLOAT_EQ(places.error_variance[i], static_cast<float>(sums.error_variance / (sums.count * sums.count)));
    for (std::size_t d = 0; d < 3; ++d) {
      EXPECT_FLOAT_EQ(places.rows()(i, d), static_cast<float>(sums.position.at(d) / sums.count)) << i << " " << d;
    }
  }
}

TEST(GatheredPlaces, OnTheSphereHaveLengthOneAndTheDirectionOfTheMean) {
  const Scattered all = scattered(Space::sphere, 700);
  const Places places = gather_places(Space::sphere, true, all.data(), kSides);
  const Table wanted = tabulated(all, kSides, kSides.finer);
  ASSERT_EQ(places.size(), wanted.size());
  double shortest = 1.0;  // of the means before they are put back on the sphere
  std::map<std::pair<Owner, float>, Sums> by_value;
  for (const auto& [key, sums] : wanted) by_value[{key.first, static_cast<float>(sums.value / sums.count)}] = sums;
  ASSERT_EQ(by_value.size(), wanted.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto at = [&](std::size_t d) { return static_cast<double>(places.rows()(i, d)); };
    EXPECT_NEAR(std::hypot(at(0), at(1), at(2)), 1.0, 2e-7) << i;
    const auto found = by_value.find({owner_of(places, i), places.value[i]});
    ASSERT_NE(found, by_value.end()) << i;
    const Sums& sums = found->second;
    const double norm = std::hypot(sums.position[0], sums.position[1], sums.position[2]);
    for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(at(d), sums.position.at(d) / norm, 2e-7) << i << " " << d;
    EXPECT_NEAR(at(3), sums.position[3] / sums.count, 1e-7) << i;  // time is not part of the direction
    shortest = std::min(shortest, norm / sums.count);
  }
  EXPECT_LT(shortest, 0.999) << "cells so small that the plain means have length one too";
}

TEST(GatheredPlaces, WithoutSidesAreTheObservationsInTheirOrder) {
  const Scattered all = scattered(Space::plane, 50);
  const Places places = gather_places(Space::plane, true, all.data(), {});
  ASSERT_EQ(places.size(), all.size());
  EXPECT_EQ(places.coordinates, all.coordinates);
  EXPECT_EQ(places.value, all.values);
  EXPECT_EQ(places.error_variance, all.error_variance);
  EXPECT_EQ(places.track, all.track);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(places.count[i], 1.0F);
    EXPECT_EQ(places.platform[i], all.platform[i]);
    EXPECT_EQ(places.fold[i], all.fold[i]);
    EXPECT_EQ(places.group[i], static_cast<std::int32_t>(i));
  }
  EXPECT_NE(gather_places(Space::plane, true, all.data(), kSides).value, all.values);
}

TEST(GatheredPlaces, LieTogetherInGroupsThatAscendFromZero) {
  const Scattered all = scattered(Space::plane, 700);
  const Places places = gather_places(Space::plane, true, all.data(), kSides);
  ASSERT_EQ(places.group.size(), places.size());
  EXPECT_EQ(places.group.front(), 0);
  std::set<std::pair<Owner, Cell>> begun;
  for (std::size_t i = 0; i < places.size(); ++i) {
    // Side by side in one group exactly where the owner and the coarse cell are the same, and a group never begins twice.
    const std::pair<Owner, Cell> coarse = {owner_of(places, i), cell_of(places.rows().row(i), 3, kSides, 1)};
    const bool first = begun.insert(coarse).second;
    if (i > 0) {
      EXPECT_EQ(places.group[i], places.group[i - 1] + (first ? 1 : 0)) << i;
    }
  }
  EXPECT_EQ(begun.size(), static_cast<std::size_t>(places.group.back()) + 1);
  EXPECT_LT(begun.size(), places.size());
}

TEST(GroupsOfPlaces, KeepTheCountTheMeanAndTheErrorOfTheirObservations) {
  for (const Space space : {Space::plane, Space::sphere}) {
    const Scattered all = scattered(space, 700);
    const Places places = gather_places(space, true, all.data(), kSides), groups = groups_of(places, space);
    ASSERT_EQ(groups.size(), static_cast<std::size_t>(places.group.back()) + 1);
    ASSERT_LT(groups.size(), places.size());
    double count = 0.0, sum = 0.0, wanted = 0.0, unweighted = 0.0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      EXPECT_EQ(groups.group[i], static_cast<std::int32_t>(i));
      count += static_cast<double>(groups.count[i]);
      sum += static_cast<double>(groups.count[i]) * static_cast<double>(groups.value[i]);
    }
    for (const float value : all.values) wanted += static_cast<double>(value);
    for (const float value : places.value) unweighted += static_cast<double>(value) / static_cast<double>(places.size());
    EXPECT_EQ(count, static_cast<double>(all.size()));
    EXPECT_NEAR(sum / count, wanted / count, 1e-7);
    EXPECT_GT(std::abs(unweighted - wanted / count), 1e-4) << "places of equal counts: the weights are not put to the test";
  }
}

TEST(GroupsOfPlaces, AreTheMeansOfTheObservationsInTheCoarseCells) {
  const Scattered all = scattered(Space::plane, 700);
  const Places groups = groups_of(gather_places(Space::plane, true, all.data(), kSides), Space::plane);
  const Table wanted = tabulated(all, kSides, 1);
  ASSERT_EQ(groups.size(), wanted.size());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto found = wanted.find({owner_of(groups, i), cell_of(groups.rows().row(i), 3, kSides, 1)});
    ASSERT_NE(found, wanted.end()) << i;
    const Sums& sums = found->second;
    EXPECT_EQ(groups.count[i], static_cast<float>(sums.count));
    EXPECT_NEAR(groups.value[i], sums.value / sums.count, 1e-6);
    EXPECT_NEAR(groups.error_variance[i], sums.error_variance / (sums.count * sums.count), 1e-6);
    for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(groups.rows()(i, d), sums.position.at(d) / sums.count, 1e-6) << i << " " << d;
  }
}

}  // namespace
}  // namespace drift
