#include "drift/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/random.h"
#include "drift/error.h"
#include "drift/score.h"

namespace drift {
namespace {

struct Forecasts {
  std::vector<double> y, mean, sd;
};

// Truth: y = sin(4 x) + s(x) e with s growing tenfold over [0, 1] and e heavy-tailed. Forecast: a biased mean and a spread that
// is wrong in size (a fifth) and in shape (it falls where the true one grows).
Forecasts wrong_forecasts(std::size_t count, std::uint64_t seed, double shift = 0.0) {
  RandomStream random({.seed = seed, .purpose = Purpose::simulation});
  Forecasts result;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = random.uniform();
    const double spread = (0.1 + 0.9 * x) * (1.0 + shift);
    const double heavy = random.normal() / std::sqrt(random.gamma(2.0) / 2.0);
    result.y.push_back(std::sin(4.0 * x) + spread * heavy);
    result.mean.push_back(std::sin(4.0 * x) + 0.2);
    result.sd.push_back(0.2 * (1.2 - x));
  }
  return result;
}

double share_inside(const ConformalCalibration& calibration, const Forecasts& test, double level) {
  double inside = 0.0;
  for (std::size_t i = 0; i < test.y.size(); ++i) {
    const Interval interval = calibration.interval(test.mean[i], test.sd[i], level);
    if (test.y[i] >= interval.lower && test.y[i] <= interval.upper) inside += 1.0;
  }
  return inside / static_cast<double>(test.y.size());
}

TEST(ConformalIntervals, CoverExchangeableObservationsHoweverWrongTheForecast) {
  // Over 200 repetitions of 200 + 200 observations, the mean coverage has an error near sqrt(0.09 / 200 * 2) / sqrt(200) = 0.002.
  for (const double level : ConformalCalibration::kLevels) {
    double sum = 0.0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const Forecasts validation = wrong_forecasts(200, 2 * seed), test = wrong_forecasts(200, 2 * seed + 1);
      sum += share_inside(fit_conformal(validation.y, validation.mean, validation.sd), test, level) / 200.0;
    }
    EXPECT_NEAR(sum, level, 0.01) << level;
  }
}

TEST(ConformalIntervals, WithoutCalibrationWouldNotCover) {
  const Forecasts test = wrong_forecasts(4000, 5);
  EXPECT_LT(coverage(test.y, test.mean, test.sd, 0.9), 0.5);
}

TEST(ConformalIntervals, FailOnObservationsFromElsewhere) {
  double sum = 0.0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Forecasts validation = wrong_forecasts(200, 2 * seed), test = wrong_forecasts(200, 2 * seed + 1, 2.0);
    sum += share_inside(fit_conformal(validation.y, validation.mean, validation.sd), test, 0.9) / 50.0;
  }
  EXPECT_LT(sum, 0.8) << "three times the error, and yet 90 % are covered";
}

TEST(ConformalFactor, IsTheRankOfTheTheorem) {
  const std::vector<double> y = {4.0, 1.0, 3.0, 2.0, 9.0, 5.0, 8.0, 6.0, 7.0}, mean(9, 0.0), sd(9, 0.5);  // n + 1 = 10
  const ConformalCalibration calibration = fit_conformal(y, mean, sd);
  EXPECT_EQ(calibration.factor(0.5), 10.0);  // the 5th of 2, 4, ... 18
  EXPECT_EQ(calibration.factor(0.9), 18.0);  // the 9th, the last
  EXPECT_TRUE(std::isinf(calibration.factor(0.95)));
  EXPECT_EQ(calibration.observations, 9u);
  EXPECT_EQ(calibration.interval(1.0, 2.0, 0.5).lower, -19.0);
  EXPECT_EQ(calibration.interval(1.0, 2.0, 0.5).upper, 21.0);
}

TEST(ConformalFactor, RefusesWhatCannotBe) {
  const std::vector<double> two = {1.0, 2.0}, zero = {1.0, 0.0}, one = {1.0}, none;
  EXPECT_THROW(fit_conformal(two, two, zero), UsageError);
  EXPECT_THROW(fit_conformal(two, one, two), UsageError);
  EXPECT_THROW(fit_conformal(none, none, none), UsageError);
  EXPECT_THROW(fit_conformal(two, two, two).factor(0.7), UsageError);
}

// Tracks whose observations share an error of sd 1 and have one of 0.2 of their own; forecasts of mean 0 and sd 1.
struct Tracks {
  Forecasts forecasts;
  std::vector<std::uint32_t> of;
};
Tracks tracks_with_shared_errors(std::uint32_t tracks, std::size_t rows, RandomStream& random) {
  Tracks result;
  for (std::uint32_t track = 0; track < tracks; ++track) {
    const double shared = random.normal();
    for (std::size_t i = 0; i < rows; ++i) {
      result.forecasts.y.push_back(shared + 0.2 * random.normal());
      result.forecasts.mean.push_back(0.0);
      result.forecasts.sd.push_back(1.0);
      result.of.push_back(track);
    }
  }
  return result;
}

TEST(GroupedConformalIntervals, CoverANewTrackWhereIntervalsByRowsDoNot) {
  // A new track's share inside has an sd near 0.4, since its observations lie inside or outside nearly together: over 8000
  // repetitions the mean is known to 0.0045. By rows, coverage is about that of the 10th of 12 tracks, 10/13.
  constexpr int kRepetitions = 8000;
  constexpr double kMonteCarlo = 3 * 0.0045;
  RandomStream random({.seed = 31, .purpose = Purpose::simulation});
  double by_tracks = 0.0, by_rows = 0.0;
  for (int i = 0; i < kRepetitions; ++i) {
    const Tracks seen = tracks_with_shared_errors(12, 20, random);
    const Forecasts fresh = tracks_with_shared_errors(1, 20, random).forecasts;
    const auto& [y, mean, sd] = seen.forecasts;
    by_tracks += share_inside(fit_conformal(y, mean, sd, seen.of), fresh, 0.8) / kRepetitions;
    by_rows += share_inside(fit_conformal(y, mean, sd), fresh, 0.8) / kRepetitions;
  }
  EXPECT_GT(by_tracks, 0.8 - kMonteCarlo);
  EXPECT_LT(by_tracks, 11.0 / 13.0 + kMonteCarlo);  // not merely wide
  EXPECT_LT(by_rows, 0.8 - kMonteCarlo);
  EXPECT_GT(by_tracks - by_rows, 0.02);
}

TEST(GroupedConformalIntervals, OfTracksOfManySizesCoverANewTrack) {
  constexpr int kRepetitions = 4000;
  RandomStream random({.seed = 32, .purpose = Purpose::simulation});
  double inside = 0.0;
  for (int i = 0; i < kRepetitions; ++i) {
    Tracks seen;
    for (std::uint32_t track = 0; track < 12; ++track) {
      const Tracks one = tracks_with_shared_errors(1, 1 + static_cast<std::size_t>(40.0 * random.uniform()), random);
      for (std::size_t row = 0; row < one.of.size(); ++row) {
        seen.forecasts.y.push_back(one.forecasts.y[row]);
        seen.forecasts.mean.push_back(0.0);
        seen.forecasts.sd.push_back(1.0);
        seen.of.push_back(track);
      }
    }
    const Forecasts fresh = tracks_with_shared_errors(1, 20, random).forecasts;
    const auto& [y, mean, sd] = seen.forecasts;
    inside += share_inside(fit_conformal(y, mean, sd, seen.of), fresh, 0.8) / kRepetitions;
  }
  EXPECT_GT(inside, 0.8 - 3 * 0.4 / std::sqrt(kRepetitions));
}

TEST(GroupedConformalIntervals, OfGroupsOfOneAreThoseByRows) {
  for (const std::size_t count : {1U, 4U, 9U, 19U, 99U, 100U, 257U}) {  // (n + 1) level is a whole number for some of these
    const Forecasts forecasts = wrong_forecasts(count, count);
    std::vector<std::uint32_t> groups(count);
    for (std::size_t i = 0; i < count; ++i) groups[i] = static_cast<std::uint32_t>(count - 1 - i);
    const ConformalCalibration by_rows = fit_conformal(forecasts.y, forecasts.mean, forecasts.sd);
    EXPECT_EQ(fit_conformal(forecasts.y, forecasts.mean, forecasts.sd, groups).factors, by_rows.factors) << count;
  }
}

TEST(GroupedConformalIntervals, OfCopiesAreThoseOfOneEach) {
  for (const std::size_t count : {9U, 19U, 99U, 257U}) {
    const Forecasts once = wrong_forecasts(count, count);
    Forecasts thrice;
    std::vector<std::uint32_t> groups;
    for (std::size_t i = 0; i < 3 * count; ++i) {
      thrice.y.push_back(once.y[i / 3]);
      thrice.mean.push_back(once.mean[i / 3]);
      thrice.sd.push_back(once.sd[i / 3]);
      groups.push_back(static_cast<std::uint32_t>(i / 3));
    }
    EXPECT_EQ(fit_conformal(thrice.y, thrice.mean, thrice.sd, groups).factors, fit_conformal(once.y, once.mean, once.sd).factors);
    if (count < 100) continue;
    EXPECT_NE(fit_conformal(thrice.y, thrice.mean, thrice.sd).factors, fit_conformal(once.y, once.mean, once.sd).factors);
  }
}

TEST(GroupedConformalIntervals, OfIndependentErrorsAreHardlyWiderThanByRows) {
  const Forecasts forecasts = wrong_forecasts(4000, 7);
  std::vector<std::uint32_t> groups(4000);
  for (std::uint32_t i = 0; i < 4000; ++i) groups[i] = i / 250;  // 16 tracks, too few for 95 % if they shared their errors
  const ConformalCalibration by_rows = fit_conformal(forecasts.y, forecasts.mean, forecasts.sd);
  const ConformalCalibration by_tracks = fit_conformal(forecasts.y, forecasts.mean, forecasts.sd, groups);
  EXPECT_GE(by_tracks.factor(0.95), by_rows.factor(0.95));
  EXPECT_LT(by_tracks.factor(0.95), 1.2 * by_rows.factor(0.95));
}

TEST(GroupedConformalIntervals, AreInfiniteWhereThereAreTooFewGroupsForTheLevel) {
  RandomStream random({.seed = 33, .purpose = Purpose::simulation});
  const Tracks twelve = tracks_with_shared_errors(12, 30, random);  // 12/13 = 0.923
  const auto& [y, mean, sd] = twelve.forecasts;
  const ConformalCalibration grouped = fit_conformal(y, mean, sd, twelve.of), rows = fit_conformal(y, mean, sd);
  EXPECT_TRUE(std::isfinite(grouped.factor(0.9)));
  EXPECT_TRUE(std::isinf(grouped.factor(0.95)));
  EXPECT_TRUE(std::isinf(grouped.factor(0.99)));
  EXPECT_TRUE(std::isfinite(rows.factor(0.99)));  // though there are rows enough
  EXPECT_EQ(grouped.observations, 360U);
}

TEST(GroupedConformalIntervals, RefuseAnotherNumberOfGroupsThanOfObservations) {
  const std::vector<double> y = {1.0, 2.0, 3.0}, mean(3, 0.0), sd(3, 1.0), zero(3, 0.0);
  const std::vector<std::uint32_t> two = {0, 1}, three = {0, 1, 1}, four = {0, 1, 1, 2};
  EXPECT_THROW(fit_conformal(y, mean, sd, two), UsageError);
  EXPECT_THROW(fit_conformal(y, mean, sd, four), UsageError);
  EXPECT_THROW(fit_conformal(y, mean, zero, three), UsageError);
  EXPECT_NO_THROW(fit_conformal(y, mean, sd, three));
}

// Errors of sd factor * sd and noise.
Forecasts scaled_forecasts(std::size_t count, double factor, double noise, std::uint64_t seed) {
  RandomStream random({.seed = seed, .purpose = Purpose::simulation});
  Forecasts result;
  for (std::size_t i = 0; i < count; ++i) {
    const double sd = std::exp(random.normal());
    result.mean.push_back(random.normal());
    result.sd.push_back(sd);
    result.y.push_back(result.mean.back() + factor * sd * random.normal() + noise * random.normal());
  }
  return result;
}

TEST(SpreadScale, RecoversAKnownFactor) {
  for (const double factor : {0.05, 0.5, 1.0, 1.4, 30.0}) {
    for (const double noise : {0.0, 0.02}) {
      const Forecasts forecasts = scaled_forecasts(20000, factor, noise, 3);
      const std::vector<double> noise_sd = {noise};
      // The factor is known to about sqrt(1 / (2 n)) = 0.5 %, somewhat less from the CRPS; five of those.
      EXPECT_NEAR(fit_spread_scale(forecasts.y, forecasts.mean, forecasts.sd, noise_sd) / factor, 1.0, 0.025) << factor;
    }
  }
}

TEST(SpreadScale, HasTheLeastCrps) {
  const Forecasts forecasts = wrong_forecasts(300, 1);
  const std::vector<double> noise(300, 0.05);
  const double best = fit_spread_scale(forecasts.y, forecasts.mean, forecasts.sd, noise);
  const auto crps = [&](double scale) {
    std::vector<double> sd;
    for (const double epistemic : forecasts.sd) sd.push_back(total_sd(epistemic, 0.05, scale));
    return mean_crps(forecasts.y, forecasts.mean, sd);
  };
  for (double scale = 0.02; scale < 90.0; scale *= 1.01) ASSERT_LE(crps(best), crps(scale) + 1e-12) << scale;
}

TEST(SpreadScale, OfNoSpreadIsOne) {
  const std::vector<double> y = {1.0, 2.0}, zero = {0.0, 0.0}, noise = {0.1};
  EXPECT_EQ(fit_spread_scale(y, zero, zero, noise), 1.0);
  const std::vector<double> negative = {0.1, -0.1};
  EXPECT_THROW(fit_spread_scale(y, zero, negative, noise), UsageError);
}

}  // namespace
}  // namespace drift
