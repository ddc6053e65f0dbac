#include "drift/simulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "drift/error.h"
#include "drift/synthetic_field.h"

namespace drift {
namespace {

const Truth kZero = [](std::span<const UnitVector>, std::span<const double>, std::span<double> values) {
  std::fill(values.begin(), values.end(), 0.0);
};

SimulateOptions one_day() {
  SimulateOptions options;
  options.days = 1.0;
  options.rate_hz = 0.5;
  return options;
}

TEST(Simulate, GivesTheExperimentsNumberOfObservationsByDefault) {
  // METHOD: nine days of the three satellites north of 62 N, about 1.16 million observations.
  const Observations observations = simulate(kZero);
  EXPECT_NEAR(static_cast<double>(observations.size()), 1.16e6, 0.005e6);
  EXPECT_EQ(observations.platform_names, simulated_platforms());
  EXPECT_GE(*std::min_element(observations.lat_deg.begin(), observations.lat_deg.end()), 62.0);
  EXPECT_NEAR(*std::max_element(observations.lat_deg.begin(), observations.lat_deg.end()), 88.0, 0.001);
  EXPECT_LT(*std::max_element(observations.time_days.begin(), observations.time_days.end()), 9.0);
}

TEST(Simulate, MeetsTheNumberThatTheRateWasChosenFor) {
  SimulateOptions options;
  options.rate_hz = rate_for(100000, options);
  EXPECT_NEAR(static_cast<double>(simulate(kZero, options).size()), 100000.0, 500.0);  // passes cut off at start and end
  options.south_deg = -40.0;
  options.north_deg = 70.0;
  options.rate_hz = rate_for(100000, options);
  EXPECT_NEAR(static_cast<double>(simulate(kZero, options).size()), 100000.0, 500.0);
}

TEST(Simulate, AddsNoiseOfTheGivenSpreadThatTheSeedFixes) {
  SimulateOptions options = one_day();
  options.noise_sd = 0.25;
  const Observations first = simulate(kZero, options), again = simulate(kZero, options);
  double sum = 0.0, squares = 0.0;
  for (double value : first.value) sum += value, squares += value * value;
  const double n = static_cast<double>(first.size());
  EXPECT_NEAR(sum / n, 0.0, 4.0 * 0.25 / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n), 0.25, 4.0 * 0.25 / std::sqrt(2.0 * n));
  EXPECT_EQ(first.value, again.value);
  options.seed = 2;
  EXPECT_NE(first.value, simulate(kZero, options).value);
}

TEST(Simulate, DoesNotDependOnTheNumberOfThreads) {
  const SyntheticField field;
  const Truth truth = [&](auto points, auto times, auto values) { field.evaluate(points, times, values); };
  SimulateOptions options = one_day();
  options.threads = 1;
  const Observations one = simulate(truth, options);
  options.threads = 3;
  EXPECT_EQ(one.value, simulate(truth, options).value);
}

TEST(Simulate, ObservesTheTruthAtItsOwnPositionsAndTimes) {
  const Truth truth = [](auto points, auto times, auto values) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = points[i][2] + 10.0 * times[i];
  };
  SimulateOptions options = one_day();
  options.noise_sd = 0.0;
  const Observations observations = simulate(truth, options);
  for (std::size_t i = 0; i < observations.size(); i += 97) {
    const double expected = std::sin(observations.lat_deg[i] * 3.14159265358979323846 / 180.0) + 10.0 * observations.time_days[i];
    EXPECT_NEAR(observations.value[i], expected, 1e-12);
  }
}

TEST(Simulate, NumbersPassesFromPoleToPole) {
  const Observations observations = simulate(kZero, one_day());
  std::map<std::int32_t, std::vector<std::size_t>> passes;
  for (std::size_t i = 0; i < observations.size(); ++i) passes[observations.track[i]].push_back(i);
  EXPECT_NEAR(static_cast<double>(passes.size()), 2 * (14.26 + 14.26 + 14.51), 4.0);  // two a revolution
  for (const auto& [track, rows] : passes) {
    std::set<std::uint8_t> platforms;
    bool rises = true, falls = true;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      platforms.insert(observations.platform[rows[i]]);
      if (i == 0) continue;
      EXPECT_LT(observations.time_days[rows[i]] - observations.time_days[rows[i - 1]], 3.0 / 86400.0)
          << "a gap in pass " << track;
      rises = rises && observations.lat_deg[rows[i]] > observations.lat_deg[rows[i - 1]];
      falls = falls && observations.lat_deg[rows[i]] < observations.lat_deg[rows[i - 1]];
    }
    EXPECT_EQ(platforms.size(), 1u) << "pass " << track;
    EXPECT_TRUE(rises || falls || rows.size() == 1) << "pass " << track;
  }
}

TEST(Simulate, StaysInItsBox) {
  SimulateOptions options = one_day();
  options.south_deg = -90.0;
  options.days = 20.0;
  options.box = {170.0, -20.0, -160.0, 10.0};
  const Observations across = simulate(kZero, options);
  ASSERT_GT(across.size(), 100u);
  bool west = false, east = false;
  for (std::size_t i = 0; i < across.size(); ++i) {
    EXPECT_TRUE(across.lon_deg[i] >= 170.0 || across.lon_deg[i] <= -160.0) << across.lon_deg[i];
    EXPECT_TRUE(across.lat_deg[i] >= -20.0 && across.lat_deg[i] <= 10.0) << across.lat_deg[i];
    west = west || across.lon_deg[i] < 0.0;
    east = east || across.lon_deg[i] > 0.0;
  }
  EXPECT_TRUE(west && east);
  // All around the Earth the box is the belt; a box of half the longitudes has about half of it.
  options.box = {0.0, -20.0, 360.0, 10.0};
  const std::size_t around = simulate(kZero, options).size();
  options.box.reset();
  options.south_deg = -20.0;
  options.north_deg = 10.0;
  EXPECT_EQ(around, simulate(kZero, options).size());
  options.box = {0.0, -20.0, 180.0, 10.0};
  EXPECT_NEAR(static_cast<double>(simulate(kZero, options).size()), 0.5 * static_cast<double>(around),
              0.05 * static_cast<double>(around));
}

TEST(Simulate, MeetsTheNumberInABoxWithinAFewPerCent) {
  SimulateOptions options;
  options.south_deg = -90.0;
  options.days = 27.0;
  options.box = {-30.0, 30.0, 10.0, 60.0};
  options.rate_hz = rate_for(20000, options);
  EXPECT_NEAR(static_cast<double>(simulate(kZero, options).size()), 20000.0, 400.0);
}

TEST(Simulate, LeavesOutWhereTheTruthHasNoValue) {
  const Truth half = [](auto points, auto, auto values) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = points[i][1] > 0.0 ? points[i][1] : std::nan("");
  };
  SimulateOptions options = one_day();
  options.noise_sd = 0.0;
  SimulateReport report;
  const Observations observations = simulate(half, options, &report);
  EXPECT_EQ(observations.size() + report.without_truth, simulate(kZero, options).size());
  EXPECT_GT(report.without_truth, 0u);
  ASSERT_EQ(observations.lon_deg.size(), observations.size());
  for (std::size_t i = 0; i < observations.size(); ++i) {
    EXPECT_NEAR(observations.value[i], unit_vector({observations.lon_deg[i], observations.lat_deg[i]})[1], 1e-12);
  }
}

TEST(Simulate, MakesTheShareOfOutliersThatIsAskedForAndLeavesTheOthersAlone) {
  SimulateOptions options = one_day();
  const Observations clean = simulate(kZero, options);
  options.outlier_share = 0.05;
  options.outlier_sd = 2.0;
  SimulateReport report;
  const Observations dirty = simulate(kZero, options, &report);
  ASSERT_EQ(clean.size(), dirty.size());
  const double n = static_cast<double>(clean.size());
  std::size_t changed = 0;
  double squares = 0.0;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const double error = dirty.value[i] - clean.value[i];
    changed += error != 0.0 ? 1 : 0;
    squares += error * error;
  }
  EXPECT_EQ(changed, report.outliers);
  EXPECT_NEAR(static_cast<double>(changed) / n, 0.05, 4.0 * std::sqrt(0.05 * 0.95 / n));
  EXPECT_NEAR(std::sqrt(squares / static_cast<double>(changed)), 2.0, 4.0 * 2.0 / std::sqrt(2.0 * static_cast<double>(changed)));
}

TEST(Simulate, StartsWhenItIsToldTo) {
  SimulateOptions options = one_day();
  options.start_days = 25627.25;
  const Observations observations = simulate(kZero, options);
  EXPECT_GE(*std::min_element(observations.time_days.begin(), observations.time_days.end()), 25627.25);
  EXPECT_LT(*std::max_element(observations.time_days.begin(), observations.time_days.end()), 25628.25);
  EXPECT_NE(observations.lon_deg, simulate(kZero, one_day()).lon_deg) << "another day, other tracks";
}

TEST(Simulate, RefusesWrongSettingsAndNamesThem) {
  const auto message = [](auto change) -> std::string {
    SimulateOptions options = one_day();
    change(options);
    try {
      simulate(kZero, options);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_NE(message([](SimulateOptions& o) { o.rate_hz = 0.0; }).find("rate_hz is 0"), std::string::npos);
  EXPECT_NE(message([](SimulateOptions& o) { o.noise_sd = -1.0; }).find("noise_sd"), std::string::npos);
  EXPECT_NE(message([](SimulateOptions& o) { o.days = std::nan(""); }).find("days"), std::string::npos);
  EXPECT_NE(message([](SimulateOptions& o) { o.south_deg = 91.0; }).find("south_deg"), std::string::npos);
  EXPECT_NE(message([](SimulateOptions& o) { o.platforms = {"Jason-9"}; }).find("'Jason-9'; choose from Sentinel-3A"),
            std::string::npos);
  EXPECT_NE(message([](SimulateOptions& o) { o.outlier_share = 1.5; }).find("outlier_share is 1.5"), std::string::npos);
  EXPECT_NE(message([](SimulateOptions& o) { o.outlier_sd = 0.0; }).find("outlier_sd"), std::string::npos);
  EXPECT_NE(message([](SimulateOptions& o) {
              o.box = {0.0, 50.0, 10.0, 40.0};
            }).find("southern latitude is 50"),
            std::string::npos);
  EXPECT_NE(message([](SimulateOptions& o) {
              o.days = 1e6;
              o.rate_hz = 1e3;
            }).find("at most 4e9"),
            std::string::npos);
  EXPECT_NE(message([](SimulateOptions& o) { o.platforms = {"CryoSat-2", "CryoSat-2"}; }).find("given twice"), std::string::npos);
  EXPECT_THROW(rate_for(10, {.south_deg = 89.0}), UsageError);
}

}  // namespace
}  // namespace drift
