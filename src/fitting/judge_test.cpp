#include "fitting/judge.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "fitting/fitting_testing.h"

namespace drift {
namespace {

// Halves of what is held out: those that calibrate and those that score.
struct Halved {
  std::vector<std::size_t> calibrated, scored;
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
        (calls++ == 0 ? parts.calibrated : parts.scored).assign(rows.begin(), rows.end());
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

}  // namespace
}  // namespace drift
