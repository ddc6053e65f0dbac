#include "fitting/neighbours.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "fitting/fitting_testing.h"
#include "fitting/judge.h"

namespace drift {
namespace {

std::vector<std::size_t> all_rows(const Observations& observations) {
  std::vector<std::size_t> rows(observations.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

// Straight tracks side by side, `gap` apart, with an observation at every `step`.
Observations parallel_tracks(double gap, double step) {
  Observations o;
  for (int track = 0; track < 10; ++track) {
    for (int i = 0; i < 200; ++i) {
      o.lon_deg.push_back(gap * track);
      o.lat_deg.push_back(step * i);
      o.value.push_back(std::sin(0.3 * i) + track);
      o.track.push_back(track);
    }
  }
  return o;
}

TEST(GapBetweenTracks, LooksPastItsOwnTrack) {
  for (const double gap : {1.0, 30.0}) {
    Observations o = parallel_tracks(gap, 0.5);
    const Domain domain = fit_domain(xy_domain("km"), o);
    const double unit = lengthscale_to_engine(domain, 1.0);
    EXPECT_NEAR(gap_between_tracks(domain, o, all_rows(o)), gap * unit, 1e-5 * gap * unit);
    o.track.clear();  // then the nearest is the next on the line
    EXPECT_NEAR(gap_between_tracks(domain, o, all_rows(o)), 0.5 * unit, 1e-4 * unit);
  }
}

TEST(GapBetweenTracks, IsFiniteWhereThereIsNoOtherTrack) {
  Observations o = parallel_tracks(1.0, 0.5);
  std::fill(o.track.begin(), o.track.end(), 0);
  const double gap = gap_between_tracks(fit_domain(xy_domain("km"), o), o, all_rows(o));
  EXPECT_GT(gap, 0.0);
  EXPECT_TRUE(std::isfinite(gap));
}

TEST(PlanFit, TellsTheNoiseAndHoldsTrainingBackByIt) {
  for (const double noise : {0.05, 0.3}) {
    const FitPlan plan = plan_fit({}, small_dataset(40, 600, noise));
    EXPECT_NEAR(plan.nugget_sd, noise, 0.15 * noise);
    EXPECT_NEAR(plan.recipe.noise_sd, plan.nugget_sd / plan.domain.value.sd, 1e-12);
  }
  RunSettings paper;
  paper.recipe = RecipeName::paper;
  EXPECT_EQ(plan_fit(paper, small_dataset()).recipe.noise_sd, paper_recipe().noise_sd);
}

TEST(PlanFit, TakesLongerLengthscalesForSparserTracks) {
  const auto lengthscale = [](std::size_t tracks) {
    return plan_fit({}, small_dataset(tracks, 2400 / tracks)).spec.spatial.lengthscales[0];
  };
  EXPECT_GT(lengthscale(24), 1.2 * lengthscale(240));
}

// A method whose mean is off by a smooth error of 0.2, and which says that it is off by `said`.
FieldInfo judged(double said, double noise) {
  const Dataset data = small_dataset(200, 60, noise);
  const Observations& o = data.observations;
  RunSettings settings;
  settings.split.held_out = 0.5;
  const FitPlan plan = plan_fit(settings, data, Judging::held_out);
  const auto forecaster = [&](std::span<const std::size_t> rows) {
    Forecast out;
    for (const std::size_t i : rows) {
      const double error = 0.2 * std::sqrt(2.0) * std::sin(o.lon_deg[i] + 1.3 * o.lat_deg[i] + 2.0 * o.track[i]);
      out.y.push_back(o.value[i]);
      out.mean.push_back(smooth_field(o.lon_deg[i], o.lat_deg[i], o.time_days[i]) + error);
      out.sd_epistemic.push_back(said);
      out.noise_sd.push_back(0.0);
    }
    return out;
  };
  FieldInfo info;
  judge(plan, o, plan.split.held_out, forecaster, info);
  return info;
}

TEST(Judge, DoesNotTakeTheFieldsErrorForNoise) {
  for (const double noise : {0.02, 0.2, 0.5}) {
    for (const double said : {0.1, 0.2}) {
      const FieldInfo info = judged(said, noise);
      EXPECT_NEAR(info.spread_scale * said, 0.2, 0.06) << noise;
      EXPECT_NEAR(info.noise_sd, noise, 0.1) << noise;
    }
  }
  // A spread that all residuals together do not reach is made smaller.
  EXPECT_LT(judged(2.0, 0.02).spread_scale, 0.2);
}

}  // namespace
}  // namespace drift
