// Scores of a saved model on other observations, and the refusal of those that do not go with it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/fit.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

FieldModel networks_of(const Dataset& data) {
  RunSettings settings = small_settings();
  settings.train.epochs = 2.0;
  settings.fit.method = FitMethod::network;
  return fit(plan_fit(settings, data), data).model;
}

Dataset on_plane(Dataset data) {
  data.on_plane = true;
  data.plane_unit = "km";
  return data;
}

TEST(ScoreModel, ScoresPlatformsApart) {
  const Dataset data = small_dataset(20, 20);
  const FieldModel model = networks_of(data);
  const auto engine = make_cpu_engine();
  const ModelScores scores = score_model(*engine, model, data);
  ASSERT_EQ(scores.groups.size(), 2u);
  EXPECT_EQ(scores.groups[0].second.count + scores.groups[1].second.count, scores.all.count);
  const double mean_square = 0.5 * (std::pow(scores.groups[0].second.rmse, 2) + std::pow(scores.groups[1].second.rmse, 2));
  EXPECT_NEAR(std::sqrt(mean_square), scores.all.rmse, 1e-9);
  Dataset timeless = data;
  timeless.observations.time_days.clear();
  EXPECT_THROW(score_model(*engine, model, timeless), UsageError);
}

TEST(ScoreModel, RefusesObservationsOfAnotherKind) {
  const Dataset data = small_dataset(20, 20), plane = on_plane(data);
  const auto engine = make_cpu_engine();
  const FieldModel on_earth = networks_of(data), on_xy = networks_of(plane);
  const auto refusal = [&](const FieldModel& model, Dataset other, const std::function<void(Dataset&)>& change) {
    change(other);
    try {
      score_model(*engine, model, other);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const auto none = [](Dataset&) {};
  EXPECT_EQ(refusal(on_earth, data, none), "accepted");
  EXPECT_EQ(refusal(on_xy, plane, none), "accepted");
  EXPECT_THAT(refusal(on_earth, plane, none), HasSubstr("defined on longitudes and latitudes, but the data set has"));
  EXPECT_THAT(refusal(on_xy, data, none), HasSubstr("defined on plain x and y, but the data set has longitudes"));
  EXPECT_THAT(refusal(on_xy, plane, [](Dataset& d) { d.plane_unit = "m"; }), HasSubstr("x and y are in km, those of"));
  EXPECT_THAT(refusal(on_earth, data, [](Dataset& d) { d.value.unit = "cm"; }), HasSubstr("values are in m, those of"));
  EXPECT_THAT(refusal(on_earth, data, [](Dataset& d) { d.calendar_time = false; }), HasSubstr("times are dates, those of"));
  EXPECT_THAT(refusal(on_earth, data, [](Dataset& d) { d.observations.time_days.clear(); }), HasSubstr("have no times"));
  EXPECT_EQ(refusal(on_earth, data, [](Dataset& d) { d.value.unit = ""; }), "accepted") << "a unit that is not known";
  Dataset numbers = data;
  numbers.calendar_time = false;
  EXPECT_THAT(refusal(networks_of(numbers), data, none), HasSubstr("times are plain numbers, those of the observations dates"));
}

TEST(ScoreModel, TellsOfObservationsBeyondTheModels) {
  const Dataset data = small_dataset(20, 20);
  const FieldModel model = networks_of(data);
  const auto engine = make_cpu_engine();
  const ModelScores inside = score_model(*engine, model, data, ScoreGroups::none);
  EXPECT_EQ(inside.furthest_days, 0.0);
  EXPECT_EQ(inside.far.count, 0u);
  Dataset beyond = data;
  beyond.observations.time_days[3] = model.info.first_time_days - 9000.0;
  beyond.observations.time_days[4] = model.info.last_time_days + 5.0;
  beyond.observations.lon_deg[5] = -170.0;
  const ModelScores outside = score_model(*engine, model, beyond, ScoreGroups::none);
  EXPECT_NEAR(outside.furthest_days, -9000.0, 1e-9);
  EXPECT_EQ(outside.far.count, 1u);
}

// Too few tracks to halve: the observations that score also calibrate.
TEST(ScoresOfAModel, StayMarkedInItsFile) {
  const auto saved = [](const Dataset& data, FitMethod method) {
    RunSettings settings = small_settings();
    settings.train.epochs = 2.0;
    settings.fit.method = method;
    const FitResult result = fit(plan_fit(settings, data), data);
    const ScratchFolder folder;
    save_field_model(folder / "m.safetensors", result.model);
    const auto scores = nlohmann::json::parse(load_field_model(folder / "m.safetensors").scores);
    EXPECT_EQ(scores.at("scores_also_calibrated").get<bool>(), result.scores_calibrated);
    return scores;
  };
  const auto few = saved(small_dataset(10, 20), FitMethod::network), many = saved(small_dataset(), FitMethod::network);
  EXPECT_TRUE(few.at("scores_also_calibrated").get<bool>());
  EXPECT_FALSE(many.at("scores_also_calibrated").get<bool>());
  EXPECT_FALSE(many.at("out_of_fold").get<bool>());
  EXPECT_TRUE(saved(small_dataset(), FitMethod::process).at("out_of_fold").get<bool>());
}

}  // namespace
}  // namespace drift
