// What is done to the observations must show in the predictions, and nothing else: no truth is needed to see whether it does.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "core/scratch_folder.h"
#include "drift/predict.h"
#include "drift/read_observations.h"
#include "fitting/fitting_testing.h"
#include "netcdf/netcdf_testing.h"

namespace drift {
namespace {

// In units of a prediction's own sd_total. Another rounding of float32 rows lets the search for a process's parameters stop
// elsewhere within its tolerance, and a network's training go another way by rounding alone.
constexpr double kRounding = 0.05;

struct Points {
  std::vector<double> lon, lat, time;
};

Points some_points() {
  Points points;
  for (int i = 0; i < 30; ++i) {
    points.lon.push_back(-15.0 + 1.1 * i);
    points.lat.push_back(12.0 + 0.8 * i);
    points.time.push_back(20001.0 + 0.25 * i);
  }
  return points;
}

struct Said {
  std::vector<double> mean, sd;
};

class Metamorphic : public testing::TestWithParam<std::string> {
 protected:
  static Dataset data_of(const Observations& observations) { return make_dataset(observations, small_dataset(2).value); }

  static RunSettings settings(int threads = 2) {
    RunSettings settings = small_settings();
    settings.fit.method = fit_choice(GetParam());
    settings.model.members = 2;
    settings.train.epochs = 4.0;
    settings.threads = threads;
    settings.domain.kind = DomainKind::sphere;
    return settings;
  }

  static Said predict(const Observations& observations, const Points& at, int threads = 2) {
    const Dataset data = data_of(observations);
    const FitResult result = fit(plan_fit(settings(threads), data), data);
    const auto engine = make_cpu_engine({.threads = threads});
    const FieldPrediction said = predict_field(*engine, result.model, at.lon, at.lat, at.time);
    return {{said.mean.begin(), said.mean.end()}, {said.sd_total.begin(), said.sd_total.end()}};
  }

  static const Observations& observations() {
    static const Observations all = small_dataset(12, 10).observations;
    return all;
  }
  // Once per method: the tests of a program that runs all of them share it.
  static const Said& base() {
    static std::map<std::string, Said> kept;
    auto found = kept.find(GetParam());
    if (found == kept.end()) found = kept.emplace(GetParam(), predict(observations(), some_points())).first;
    return found->second;
  }

  // mean = factor * the base's + shift, sd = factor * the base's, within `tolerance` sds.
  static void expect_said(const Said& said, double factor, double shift, double tolerance) {
    ASSERT_EQ(said.mean.size(), base().mean.size());
    for (std::size_t i = 0; i < said.mean.size(); ++i) {
      const double sd = factor * base().sd[i];
      EXPECT_NEAR(said.mean[i], factor * base().mean[i] + shift, tolerance * sd + 1e-6 * std::abs(shift)) << "point " << i;
      EXPECT_NEAR(said.sd[i], sd, tolerance * sd) << "point " << i;
    }
  }
};

TEST_P(Metamorphic, AnotherUnitOfTheValuesIsAnotherUnitOfThePredictions) {
  Observations scaled = observations();
  for (double& value : scaled.value) value *= 1024.0;  // a power of two: no number is rounded otherwise
  expect_said(predict(scaled, some_points()), 1024.0, 0.0, 1e-6);
}

TEST_P(Metamorphic, MillimetresInPlaceOfMetresAreAThousandTimesThePredictions) {
  Observations scaled = observations();
  for (double& value : scaled.value) value *= 1000.0;  // which rounds the standardised values otherwise
  expect_said(predict(scaled, some_points()), 1000.0, 0.0, kRounding);
}

TEST_P(Metamorphic, AConstantAddedToTheValuesIsAddedToThePredictions) {
  Observations shifted = observations();
  for (double& value : shifted.value) value += 100.0;
  expect_said(predict(shifted, some_points()), 1.0, 100.0, kRounding);
}

TEST_P(Metamorphic, AFullTurnOfTheLongitudesChangesNothing) {
  Observations turned = observations();
  for (std::size_t i = 0; i < turned.size(); i += 2) turned.lon_deg[i] += 360.0;
  Points points = some_points();
  for (double& lon : points.lon) lon += lon < 0.0 ? 360.0 : -360.0;
  expect_said(predict(turned, points), 1.0, 0.0, 1e-4);
}

TEST_P(Metamorphic, ATurnOfTheGlobeTurnsTheMap) {
  if (GetParam() == "network" || GetParam() == "blend") GTEST_SKIP() << "random features are drawn in fixed directions";
  Observations turned = observations();
  for (double& lon : turned.lon_deg) lon += 90.0;
  Points points = some_points();
  for (double& lon : points.lon) lon += 90.0;
  expect_said(predict(turned, points), 1.0, 0.0, kRounding);
}

TEST_P(Metamorphic, LaterObservationsMakeLaterPredictions) {
  Observations later = observations();
  for (double& time : later.time_days) time += 512.0;
  Points points = some_points();
  for (double& time : points.time) time += 512.0;
  expect_said(predict(later, points), 1.0, 0.0, kRounding);
}

TEST_P(Metamorphic, TheNumberOfThreadsChangesNotABit) {
  for (const int threads : {1, 3}) {
    const Said said = predict(observations(), some_points(), threads);
    EXPECT_EQ(said.mean, base().mean) << threads;
    EXPECT_EQ(said.sd, base().sd) << threads;
  }
}

Observations rows_of(const Observations& all, const std::vector<std::size_t>& rows) {
  Observations some;
  some.platform_names = all.platform_names;
  for (const std::size_t row : rows) {
    some.lon_deg.push_back(all.lon_deg[row]);
    some.lat_deg.push_back(all.lat_deg[row]);
    some.time_days.push_back(all.time_days[row]);
    some.value.push_back(all.value[row]);
    some.track.push_back(all.track[row]);
    some.platform.push_back(all.platform[row]);
  }
  return some;
}

// Groups come in the order in which they came, so splits and folds are the same; only sums are rounded otherwise.
TEST_P(Metamorphic, RowsShuffledWithinTheirTracksChangeNothing) {
  if (GetParam() == "network" || GetParam() == "blend") GTEST_SKIP() << "batches are drawn by row: another order is another seed";
  std::vector<std::size_t> order(observations().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(5);
  const std::vector<std::int32_t>& track = observations().track;
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && track[last] == track[first]) ++last;
    std::shuffle(order.begin() + static_cast<std::ptrdiff_t>(first), order.begin() + static_cast<std::ptrdiff_t>(last), random);
  }
  expect_said(predict(rows_of(observations(), order), some_points()), 1.0, 0.0, 1e-5);
}

// Tracks, times and positions are as they were; only the rows come in another order. Splits and folds are drawn from groups in
// the order in which they come, so forecasts differ as those of another seed do, and agree within their own spread.
TEST_P(Metamorphic, ShuffledTracksAgreeWithinTheSpread) {
  std::vector<std::size_t> order(observations().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937 random(5);
  std::shuffle(order.begin(), order.end(), random);
  const Said said = predict(rows_of(observations(), order), some_points());
  double squares = 0.0;
  for (std::size_t i = 0; i < said.mean.size(); ++i) {
    const double z = (said.mean[i] - base().mean[i]) / base().sd[i];
    squares += z * z;
  }
  // One of the twelve tracks is held out from nngp, and here it is another.
  EXPECT_LT(std::sqrt(squares / static_cast<double>(said.mean.size())), GetParam() == "nngp" ? 1.0 : 0.5);
}

// Differential: arrays, a table with as many digits as doubles have, and a NetCDF file of the same numbers.
TEST_P(Metamorphic, ArraysATableAndANetcdfFileMakeTheSameModelToTheBit) {
  const ScratchFolder folder;
  const Observations& o = observations();
  const std::vector<double> track(o.track.begin(), o.track.end());
  std::string table = "lon,lat,time,ssh,track,platform\n";
  std::vector<double> platform;
  for (std::size_t i = 0; i < o.size(); ++i) {
    const std::string& name = o.platform_names[o.platform[i]];
    table += fmt::format("{},{},{},{},{},{}\n", o.lon_deg[i], o.lat_deg[i], o.time_days[i], o.value[i], o.track[i], name);
    platform.push_back(o.platform[i]);
  }
  write_bytes(folder / "t.csv", table);
  {
    NcTestFile file(folder / "t.nc");
    const int n = file.dimension("time", o.size());
    file.variable("time", NC_DOUBLE, {n}, o.time_days, "days since 1950-01-01", "time");
    file.variable("lon", NC_DOUBLE, {n}, o.lon_deg, "degrees_east", "longitude");
    file.variable("lat", NC_DOUBLE, {n}, o.lat_deg, "degrees_north", "latitude");
    file.variable("track", NC_INT, {n}, track);
    file.variable("ssh", NC_DOUBLE, {n}, o.value, "m");
    const int satellite = file.variable("platform", NC_BYTE, {n}, platform);
    file.attribute(satellite, "flag_meanings", "A B");
    file.attribute(satellite, "flag_values", NC_BYTE, {0, 1});
  }
  for (const char* name : {"t.csv", "t.nc"}) {
    const Observations read =
        read_observations({(folder / name).string()}, {.roles = {.value = "ssh", .track = "track", .platform = "platform"},
                                                       .time_units = "days since 1950-01-01"})
            .observations;
    ASSERT_EQ(read.time_days, o.time_days) << name;
    EXPECT_EQ(read.platform_names, o.platform_names) << name;
    const Said said = predict(read, some_points());
    EXPECT_EQ(said.mean, base().mean) << name;
    EXPECT_EQ(said.sd, base().sd) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Metamorphic, testing::Values("blend", "process", "network", "nngp"),
                         [](const auto& method) { return method.param.substr(0, method.param.find(':')); });

}  // namespace
}  // namespace drift
