#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random.h"
#include "drift/calibration.h"
#include "drift/error.h"

namespace drift {
namespace {

// Tracks of residuals: the field's error is an autoregression along the track, exp(-1/4) from one observation to the next, of
// standard deviation `error` times a spread that varies; noise, and outliers of ten times its size, are each observation's own.
struct Residuals {
  std::vector<double> residual, sd_epistemic, sd_total, error;
  std::vector<Neighbours> pairs;
  std::vector<Between> triples;
};

Residuals make(double scale, double noise, double outliers, std::size_t n = 20000) {
  constexpr std::size_t kTrack = 100;
  RandomStream stream({.seed = 5, .member = 0, .purpose = Purpose::simulation});
  Residuals out;
  double state = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double keep = i % kTrack == 0 ? 0.0 : std::exp(-0.25);
    state = keep * state + std::sqrt(1.0 - keep * keep) * stream.normal();
    const double spread = 0.1 + 0.05 * std::sin(0.01 * static_cast<double>(i));
    const double own = noise * stream.normal() * (stream.uniform() < outliers ? 10.0 : 1.0);
    out.error.push_back(scale * spread * state);
    out.residual.push_back(out.error.back() + own);
    out.sd_epistemic.push_back(spread);
    out.sd_total.push_back(std::hypot(scale * spread, noise));
    for (const std::size_t lag : {1, 2}) {
      if (i % kTrack >= lag) out.pairs.push_back({i - lag, i, static_cast<double>(lag)});
      if (i % kTrack >= 2 * lag) out.triples.push_back({i - lag, i - 2 * lag, i, static_cast<double>(lag)});
    }
  }
  return out;
}

double scale_of(const Residuals& r) { return spread_scale_of_neighbours(r.residual, r.sd_epistemic, r.sd_total, r.pairs); }

TEST(SharedError, FindsTheScaleUnderNoiseOfAnySize) {
  for (const double scale : {0.5, 1.0, 2.0}) {
    EXPECT_NEAR(scale_of(make(scale, 0.0, 0.0)), scale, 0.1 * scale);
    EXPECT_NEAR(scale_of(make(scale, 0.1, 0.0)), scale, 0.1 * scale);
    EXPECT_NEAR(scale_of(make(scale, 0.3, 0.0)), scale, 0.2 * scale);
  }
}

TEST(SharedError, TakesOutliersForNoise) { EXPECT_NEAR(scale_of(make(1.0, 0.1, 0.05)), 1.0, 0.15); }

// Why neighbours are asked at all: the total size of residuals is the same.
TEST(SharedError, SeesNoneBetweenStrangers) {
  Residuals r = make(2.0, 0.1, 0.0);
  for (Neighbours& pair : r.pairs) pair.second = (pair.second + 5000) % r.residual.size();
  EXPECT_LT(scale_of(r), 0.5);
}

TEST(SharedError, LeavesTheSpreadWhereThereIsNothingToLearn) {
  Residuals r = make(2.0, 0.1, 0.0);
  EXPECT_EQ(spread_scale_of_neighbours(r.residual, r.sd_epistemic, r.sd_total, {}), 1.0);
  EXPECT_NEAR(scale_of(make(2.0, 100.0, 0.0)), 1.0, 0.05);
}

TEST(SharedError, RefusesSpreadsOfAnotherNumber) {
  Residuals r = make(1.0, 0.1, 0.0, 100);
  r.sd_total.pop_back();
  EXPECT_THROW(scale_of(r), UsageError);
}

TEST(Nugget, IsTheNoise) {
  for (const double noise : {0.05, 0.1, 0.5}) {
    const Residuals r = make(1.0, noise, 0.0);
    std::vector<double> value;
    for (std::size_t i = 0; i < r.residual.size(); ++i) {
      value.push_back(r.residual[i] - r.error[i] + std::cos(0.02 * static_cast<double>(i)));
    }
    EXPECT_NEAR(nugget_sd(value, r.pairs, r.triples), noise, 0.05 * noise);
  }
}

TEST(Nugget, CountsOutliersLittle) {
  const Residuals r = make(1.0, 0.1, 0.05);
  std::vector<double> noise;
  for (std::size_t i = 0; i < r.residual.size(); ++i) noise.push_back(r.residual[i] - r.error[i]);
  EXPECT_NEAR(nugget_sd(noise, r.pairs, r.triples), 0.1, 0.015);
}

TEST(Nugget, IsNextToNothingForAFieldWithoutNoise) {
  const Residuals r = make(1.0, 0.0, 0.0);
  std::vector<double> smooth;
  for (std::size_t i = 0; i < r.residual.size(); ++i) smooth.push_back(std::cos(0.02 * static_cast<double>(i)));
  EXPECT_LT(nugget_sd(smooth, r.pairs, r.triples), 1e-3);
  // A rough field is told from noise by the growth of its differences.
  EXPECT_LT(nugget_sd(r.error, r.pairs, r.triples), 0.04);
  EXPECT_EQ(nugget_sd(smooth, {}, {}), 0.0);
}

TEST(OutlierShare, CountsOutliersAndNotNoise) {
  const auto share = [](double noise, double outliers) {
    const Residuals r = make(1.0, noise, outliers);
    std::vector<double> value;
    for (std::size_t i = 0; i < r.residual.size(); ++i) {
      value.push_back(r.residual[i] - r.error[i] + std::cos(0.02 * static_cast<double>(i)));
    }
    return outlier_share(value, r.triples, nugget_sd(value, r.pairs, r.triples));
  };
  EXPECT_LT(share(0.1, 0.0), 1e-3);
  EXPECT_LT(share(0.5, 0.0), 1e-3);
  EXPECT_GT(share(0.1, 0.05), 0.02);
  EXPECT_LT(share(0.1, 0.05), 0.08);
  const std::vector<double> value = {0.0, 9.0, 0.0, 0.1, 0.0};
  const std::vector<Between> triples = {{1, 0, 2, 1.0}, {2, 1, 3, 1.0}, {2, 0, 4, 2.0}, {3, 2, 4, 1.0}};
  EXPECT_DOUBLE_EQ(outlier_share(value, triples, 0.1), 1.0 / 3.0) << "one beside an outlier fits by its other neighbours";
  EXPECT_EQ(outlier_share(value, triples, 0.0), 0.0);
  EXPECT_EQ(outlier_share(value, {}, 0.1), 0.0);
}

}  // namespace
}  // namespace drift
