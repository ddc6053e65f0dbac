#include "fitting/judge.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "core/random.h"
#include "drift/calibration.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

// Halves of what is held out: those that calibrate and those that score; and what calibrates the model that is kept.
struct Halved {
  std::vector<std::size_t> calibrated, scored, kept;
  Judgement judgement;
};

Halved halved(const RunSettings& settings, const Dataset& data) {
  const FitPlan plan = plan_fit(settings, data, Judging::held_out);
  Halved parts;
  int calls = 0;
  FieldInfo info;
  parts.judgement = judge(
      plan, data.observations, plan.split.held_out,
      [&](std::span<const std::size_t> rows) {
        (calls == 0 ? parts.calibrated : calls == 1 ? parts.scored : parts.kept).assign(rows.begin(), rows.end());
        ++calls;
        Forecast forecast;
        for (const std::size_t row : rows) {
          forecast.y.push_back(data.observations.value[row]);
          forecast.mean.push_back(0.0);
          forecast.sd_epistemic.push_back(1.0);
          forecast.noise_sd.push_back(0.1);
        }
        return forecast;
      },
      info);
  return parts;
}

TEST(Judge, NeverScoresATrackThatCalibrated) {
  const Dataset data = small_dataset(200, 30);
  for (const char* method : {"auto", "track", "platform", "time", "random"}) {
    RunSettings settings;
    set_from_flag(settings, "--split", {method});
    const Halved parts = halved(settings, data);
    EXPECT_FALSE(parts.judgement.scores_calibrated) << method;
    EXPECT_EQ(parts.kept.size(), parts.calibrated.size() + parts.scored.size()) << method;
    std::set<std::int32_t> calibrated;
    for (const std::size_t row : parts.calibrated) calibrated.insert(data.observations.track[row]);
    for (const std::size_t row : parts.scored) EXPECT_FALSE(calibrated.contains(data.observations.track[row])) << method;
  }
}

TEST(Judge, HalvesByBlocksWithoutTracks) {
  Dataset data = small_dataset(200, 30);
  data.observations.track.clear();
  data.tracks = 0;
  for (const char* method : {"auto", "platform", "time"}) {
    RunSettings settings;
    set_from_flag(settings, "--split", {method});
    const Halved parts = halved(settings, data);
    ASSERT_FALSE(parts.judgement.scores_calibrated) << method;
    SplitOptions blocks = plan_fit(settings, data, Judging::held_out).split_options;
    blocks.method = SplitMethod::block;
    std::vector<std::size_t> all = parts.calibrated;
    all.insert(all.end(), parts.scored.begin(), parts.scored.end());
    const Observations& o = data.observations;
    EXPECT_EQ(count_groups(o, blocks, parts.calibrated) + count_groups(o, blocks, parts.scored), count_groups(o, blocks, all));
  }
}

TEST(Judge, TellsWhereTheScoredAlsoCalibrated) {
  const Halved one_track = halved({}, small_dataset(10, 300));  // one of ten is held out
  EXPECT_TRUE(one_track.judgement.scores_calibrated);
  EXPECT_EQ(one_track.calibrated, one_track.scored);
  EXPECT_EQ(one_track.judgement.calibrated_on, 0u);
  EXPECT_TRUE(halved({}, small_dataset(20, 60)).judgement.scores_calibrated);  // 120 are held out
  EXPECT_FALSE(halved({}, small_dataset(20, 300)).judgement.scores_calibrated);
}

// The noise that maps tell is all of it, whether sigmas explain it or the process finds it by itself; none of it is the field's.
TEST(Judge, NoiseOfAProcessHoldsTheSigmasThatItWasGiven) {
  Dataset data = small_dataset(40, 60, 0.4);
  RunSettings settings = small_settings();
  settings.fit.method = FitMethod::process;
  const FieldInfo found = fit(plan_fit(settings, data), data).model.info;
  data.observations.sigma.assign(data.observations.size(), 0.4F);
  const FieldInfo given = fit(plan_fit(settings, data), data).model.info;
  EXPECT_NEAR(found.noise_sd, 0.4, 0.06);
  EXPECT_NEAR(given.noise_sd, 0.4, 0.06);
  EXPECT_NEAR(given.spread_scale, found.spread_scale, 0.5 * found.spread_scale);
}

// A noise that says more than the residuals may be at fault itself: the field's spread is not all that shrinks, which would leave
// a map without error bars. A noise that the user gives stays.
TEST(Judge, ANoiseThatIsTooLargeDoesNotTakeTheFieldsSpreadAway) {
  const Dataset data = small_dataset(200, 30);
  const auto calibrated = [&](const RunSettings& settings) {
    const FitPlan plan = plan_fit(settings, data, Judging::held_out);
    FieldInfo info;
    info.noise_sd = 0.14;
    const Forecaster forecaster = [&](std::span<const std::size_t> rows) {
      Forecast forecast;
      RandomStream stream({.seed = 5, .purpose = Purpose::simulation});
      for (std::size_t i = 0; i < rows.size(); ++i) {
        forecast.y.push_back(0.05 * stream.normal() + 0.1 * stream.normal());
        forecast.mean.push_back(0.0);
        forecast.sd_epistemic.push_back(0.05 * info.spread_scale);
        forecast.noise_sd.push_back(info.noise_sd);
      }
      return forecast;
    };
    judge(plan, data.observations, plan.split.held_out, forecaster, info, NoiseKnown::by_process);
    return info;
  };
  const FieldInfo found = calibrated({});
  EXPECT_NEAR(found.spread_scale, 0.75, 0.05);  // 0.112 in place of 0.149
  EXPECT_NEAR(found.noise_sd, 0.75 * 0.14, 0.007);
  RunSettings given;
  given.uncertainty.noise_sd = 0.14;
  EXPECT_LT(calibrated(given).spread_scale, 0.1);
  EXPECT_EQ(calibrated(given).noise_sd, 0.14);
}

// Forecasts whose errors are three times as large as their spread says; the conformal factors know it.
TEST(Scores, OfAConformalModelAreThoseOfItsIntervals) {
  Forecast forecast;
  for (int i = 0; i < 1000; ++i) {
    forecast.y.push_back(3.0 * normal_quantile((i + 0.5) / 1000.0));
    forecast.mean.push_back(0.0);
    forecast.sd_epistemic.push_back(1.0);
    forecast.noise_sd.push_back(0.0);
  }
  FieldModel model;
  const Scores gaussian = score(model, forecast);
  EXPECT_LT(gaussian.reliability[17].share, 0.6) << "90 %";
  for (std::size_t i = 0; i < 5; ++i) {
    model.info.conformal.at(i) = 3.0 * normal_quantile(0.5 + 0.5 * ConformalCalibration::kLevels.at(i));
  }
  const Scores conformal = score(model, forecast);
  ASSERT_EQ(conformal.reliability.size(), 19U);
  for (const Scores::Interval& interval : conformal.reliability) EXPECT_NEAR(interval.share, interval.level, 2e-3);
  EXPECT_NEAR(conformal.intervals[3].share, 0.95, 2e-3);
  double expected = 0.0;
  const double reach = model.info.conformal[3];
  for (const double y : forecast.y) expected += interval_score(y, -reach, reach, 0.05) / 1000.0;
  EXPECT_NEAR(*conformal.interval_score95, expected, 1e-9);
  EXPECT_LT(*conformal.interval_score95, *gaussian.interval_score95);
  EXPECT_EQ(conformal.crps, gaussian.crps);
}

// Levels without a factor, as models of earlier versions may have them, go on from their neighbours.
TEST(Scores, OfAConformalModelAreKnownBeyondItsLevels) {
  Forecast forecast{.y = {1.0}, .mean = {0.0}, .sd_epistemic = {1.0}, .noise_sd = {0.0}};
  FieldModel model;
  model.info.conformal = {0.5, 1.2, -1.0, -1.0, -1.0};
  const Scores scores = score(model, forecast);
  double before = 0.0;
  for (const Scores::Interval& interval : scores.reliability) {
    EXPECT_GT(interval.mean_width, before) << "they nest";
    before = interval.mean_width;
  }
  EXPECT_NEAR(scores.intervals[4].mean_width, 2.0 * 1.2 * normal_quantile(0.995) / normal_quantile(0.9), 1e-9);
}

}  // namespace
}  // namespace drift
