// Models of other methods than drift's own, and given test sets, from plan to file.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/interpolator.h"
#include "drift/predict.h"
#include "fitting/fitting_testing.h"
#include "network/model_file.h"
#include "network/safetensors_testing.h"

namespace drift {
namespace {

using testing::Contains;
using testing::HasSubstr;

RunSettings settings_with(const std::string& method, std::optional<DomainKind> domain = {}) {
  RunSettings settings = small_settings();
  settings.train = {};  // for this method too, where they are given
  settings.model.members.reset();
  settings.fit.method = fit_choice(method);
  settings.domain.kind = domain;
  return settings;
}

FitResult fitted(const RunSettings& settings, const Dataset& data) { return fit(plan_fit(settings, data), data); }

struct Places {
  std::vector<double> lon, lat, time;
  Places() {
    for (int i = 0; i < 40; ++i) lon.push_back(-15.0 + 0.7 * i), lat.push_back(12.0 + 0.6 * i), time.push_back(20001.0 + 0.2 * i);
  }
};

TEST(OtherMethods, AreSavedAndPredictTheSameBits) {
  const Dataset data = small_dataset();
  const ScratchFolder folder;
  const Places at;
  for (const char* text : {"nngp:subset=200,neighbours=16,nu=1.5,mean=global",
                           "mlp:width=16,layers=2,steps=50,epochs=1,members=2", "cnp:width=16,depth=2,steps=50,epochs=1"}) {
    for (const DomainKind domain : {DomainKind::sphere, DomainKind::plane}) {
      RunSettings settings = settings_with(text, domain);
      if (domain == DomainKind::plane) settings.domain.crs = "EPSG:3035";
      const FitResult result = fitted(settings, data);
      ASSERT_TRUE(result.held_out);
      save_field_model(folder / "model.safetensors", result.model);
      const FieldModel back = load_field_model(folder / "model.safetensors");
      EXPECT_EQ(back.method_text, text);
      const auto engine = make_cpu_engine();
      const PredictWants wants = {.gradient = true};
      const FieldPrediction before = predict_field(*engine, result.model, at.lon, at.lat, at.time, wants);
      const FieldPrediction after = predict_field(*engine, back, at.lon, at.lat, at.time, wants);
      EXPECT_EQ(before.mean, after.mean) << text;
      EXPECT_EQ(before.sd_epistemic, after.sd_epistemic) << text;
      EXPECT_EQ(before.sd_total, after.sd_total) << text;
      for (std::size_t i = 0; i < at.lon.size(); ++i) EXPECT_EQ(before.gradient[i].east, after.gradient[i].east) << text;
      EXPECT_THROW(predict_field(*engine, back, at.lon, at.lat, at.time, {.members = true}), UsageError);
    }
  }
}

// As in compare: its options are settings of the run.
TEST(OwnMethod, MeansTheSettingsThatItsOptionsAre) {
  const Dataset data = small_dataset();
  RunSettings spelled = small_settings(), named = small_settings();
  spelled.fit.method = FitMethod::network;
  spelled.model.members = 3;
  spelled.train.epochs = 2.0;
  named.fit.method = fit_choice("drift:parts=network,members=3,epochs=2");
  EXPECT_EQ(plan_fit(named, data).fingerprint, plan_fit(spelled, data).fingerprint);
  named.fit.method = fit_choice("drift");
  EXPECT_EQ(plan_fit(named, data).method, FitMethod::blend);
  named.fit.method = fit_choice("drift:trials=7");
  const FitPlan searches = plan_fit(named, data);
  EXPECT_EQ(searches.settings.tune.method, TuneMethod::bayes);
  EXPECT_EQ(searches.settings.tune.trials, 7u);
  EXPECT_THROW(fit_choice("drift:member=3"), UsageError);
  EXPECT_THROW(fit_choice("drift:members=0"), UsageError);
}

TEST(OtherMethods, TakeMembersAndTrainingFromTheRunWhereTheyHaveSuchOptions) {
  const Dataset data = small_dataset();
  RunSettings settings = settings_with("mlp:width=16,layers=2,steps=50,epochs=1");
  settings.model.members = 2;
  settings.train.epochs = 9.0;  // the method's own text comes first
  settings.train.loss = LossKind::huber;
  const FitPlan plan = plan_fit(settings, data);
  EXPECT_EQ(text_of(*plan.settings.fit.method), "mlp:width=16,layers=2,steps=50,epochs=1,members=2,loss=huber");
  EXPECT_EQ(fit(plan, data).model.method_text, text_of(*plan.settings.fit.method));
  settings.fit.method = fit_choice("nngp");
  EXPECT_EQ(text_of(*plan_fit(settings, data).settings.fit.method), "nngp");
  settings.fit.method = fit_choice("mlp");
  settings.train.batch = 2'000'000;
  EXPECT_THROW(plan_fit(settings, data), UsageError) << "more than the method takes";
}

// As a map shows it: the difference of two predictions a few kilometres apart.
TEST(OtherMethods, HaveTheGradientOfTheirMean) {
  const FitResult result = fitted(settings_with("exact:subset=200", DomainKind::sphere), small_dataset(20, 30));
  const auto engine = make_cpu_engine();
  const double lon = 3.0, lat = 24.0, time = 20005.0;
  const FieldPrediction here = predict_field(*engine, result.model, std::vector{lon}, std::vector{lat}, std::vector{time},
                                             {.gradient = true, .gradient_scale = 0.0});
  const double step = 0.05, km = 6371.0 * step * 3.14159265358979 / 180.0;
  const auto mean = [&](double x, double y, double t) {
    return static_cast<double>(predict_field(*engine, result.model, std::vector{x}, std::vector{y}, std::vector{t}).mean[0]);
  };
  const double east =
      (mean(lon + step, lat, time) - mean(lon - step, lat, time)) / (2.0 * km * std::cos(lat * 3.14159265358979 / 180.0));
  const double north = (mean(lon, lat + step, time) - mean(lon, lat - step, time)) / (2.0 * km);
  EXPECT_NEAR(here.gradient[0].east, east, 0.05 * std::hypot(east, north));
  EXPECT_NEAR(here.gradient[0].north, north, 0.05 * std::hypot(east, north));
}

TEST(OtherMethods, AreNamedInThePlanAndCheckedInTheSettings) {
  const Dataset data = small_dataset();
  const FitPlan plan = plan_fit(settings_with("nngp:neighbours=48"), data);
  EXPECT_EQ(plan.method, FitMethod::other);
  EXPECT_FALSE(plan.out_of_fold);
  EXPECT_FALSE(plan.split.held_out.empty()) << "a tenth calibrates, as in compare";
  EXPECT_THAT(plan.choices, Contains(HasSubstr("nngp:neighbours=48, Nearest-neighbour GP")));
  EXPECT_THAT(plan.choices, Contains(HasSubstr("Checkpoints: none")));
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      fit_choice(text);
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(refusal("nnpg"), HasSubstr("did you mean 'nngp'?"));
  EXPECT_THAT(refusal("bland"), HasSubstr("did you mean 'blend'?"));
  EXPECT_THAT(refusal("nngp:neighbors=4"), HasSubstr("did you mean 'neighbours'?"));
  EXPECT_THAT(refusal("nngp:neighbours=0"), HasSubstr("neighbours"));
  EXPECT_THAT(refusal("blend:members=3"), HasSubstr("no method"));
  for (const char* text : {"blend", "network", "process", "nngp", "svgp:inducing=30,steps=10"})
    EXPECT_EQ(text_of(fit_choice(text)), text);
  RunSettings settings = settings_with("svgp:inducing=30,steps=10");
  EXPECT_EQ(run_settings_from_toml(to_toml(settings), "settings").fit.method, settings.fit.method);
  settings.fit.method->name = "svpg";
  EXPECT_THROW(plan_fit(settings, data), UsageError);
  settings = settings_with("nngp");
  settings.tune.method = TuneMethod::bayes;
  EXPECT_THROW(plan_fit(settings, data), UsageError);
}

TEST(OtherMethods, ACorruptFileIsAnErrorWithItsPath) {
  const Dataset data = small_dataset();
  const ScratchFolder folder;
  const std::filesystem::path path = folder / "model.safetensors";
  const FitResult result = fitted(settings_with("nngp:subset=200,neighbours=16,nu=1.5,mean=global"), data);
  save_field_model(path, result.model);
  std::string bytes;
  {
    std::ifstream file(path, std::ios::binary);
    // Its checksums would notice any change before the checks behind them do.
    bytes = without_checksums({std::istreambuf_iterator<char>(file), {}});
  }
  const auto refusal = [&](const std::string& from, const std::string& to) -> std::string {
    std::string changed = bytes;
    const std::size_t at = changed.find(from);
    if (at == std::string::npos || from.size() != to.size()) return "the test looks for what is not there";
    std::copy(to.begin(), to.end(), changed.begin() + static_cast<std::ptrdiff_t>(at));
    std::ofstream(path, std::ios::binary) << changed;
    try {
      load_field_model(path);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"nngp:subset", "nmgp:subset"},
                                                        {"neighbours\\\\\\\":16", "neighbours\\\\\\\":-6"},
                                                        {"method.values", "method.valuez"},
                                                        {"\\\"own_noise\\\":false", "\\\"own_noise\\\":12345"}}) {
    const std::string said = refusal(from, to);
    EXPECT_THAT(said, HasSubstr(path.string())) << from;
    EXPECT_THAT(said, HasSubstr("is corrupt")) << from;
  }
}

// Rows of the second platform judge, and what they hold changes nothing but the scores.
TEST(GivenTestSet, ScoresAndNeverTrains) {
  Dataset data = with_test_platforms(small_dataset(24, 20), {"B"});
  for (const char* method : {"process", "network", "nngp:subset=200,neighbours=16,nu=1.5,mean=global"}) {
    const RunSettings settings = settings_with(method);
    const FitPlan plan = plan_fit(settings, data);
    EXPECT_EQ(plan.test, data.test);
    for (const std::size_t row : plan.split.training) EXPECT_EQ(data.observations.platform[row], 0);
    for (const std::size_t row : plan.split.held_out) EXPECT_EQ(data.observations.platform[row], 0);
    const FitResult result = fit(plan, data);
    ASSERT_TRUE(result.held_out);
    EXPECT_GT(result.calibrated_on, 0u);
    EXPECT_FALSE(result.scores_calibrated);
    Dataset changed = data;
    Dataset test = data;
    test.test.clear(), test.observations = {};
    for (const std::size_t row : data.test) {
      test.observations.lon_deg.push_back(data.observations.lon_deg[row]);
      test.observations.lat_deg.push_back(data.observations.lat_deg[row]);
      test.observations.time_days.push_back(data.observations.time_days[row]);
      test.observations.value.push_back(data.observations.value[row]);
      changed.observations.value[row] += 1.0;
    }
    const auto engine = make_cpu_engine();
    EXPECT_NEAR(result.held_out->rmse, score_model(*engine, result.model, test, ScoreGroups::none).all.rmse, 1e-9) << method;
    const FitResult other = fit(plan_fit(settings, changed), changed);
    EXPECT_EQ(other.model.info.noise_sd, result.model.info.noise_sd) << method;
    EXPECT_EQ(other.model.info.conformal, result.model.info.conformal) << method;
    EXPECT_GT(other.held_out->rmse, 0.5) << method;
    const Places at;
    EXPECT_EQ(predict_field(*engine, other.model, at.lon, at.lat, at.time).mean,
              predict_field(*engine, result.model, at.lon, at.lat, at.time).mean)
        << method;
  }
}

TEST(GivenTestSet, BelongsToTheFingerprint) {
  const Dataset data = small_dataset();
  const RunSettings settings = small_settings();
  EXPECT_NE(plan_fit(settings, with_test_platforms(data, {"B"})).fingerprint, plan_fit(settings, data).fingerprint);
}

TEST(GivenTestSet, FilesAreJoinedWithPlatformsAndTracksOfTheirOwn) {
  Dataset training = small_dataset(12, 20), test = small_dataset(3, 10);
  test.observations.platform_names = {"B", "C"};
  const std::size_t n = training.observations.size();
  const Dataset both = with_test(training, test);
  ASSERT_EQ(both.test.size(), 30u);
  EXPECT_EQ(both.test.front(), n);
  EXPECT_EQ(both.observations.size(), n + 30);
  EXPECT_EQ(both.observations.platform_names, (std::vector<std::string>{"A", "B", "C"}));
  for (std::size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(both.observations.platform_names[both.observations.platform[n + i]],
              test.observations.platform_names[test.observations.platform[i]]);
    EXPECT_GE(both.observations.track[n + i], 12);
  }
  test.observations.time_days.clear();
  EXPECT_THROW(with_test(training, test), Error);
  EXPECT_THROW(with_test_platforms(training, {"nobody"}), UsageError);
}

// By a condition on a column, by a platform's name, and as files: the same rows. A row without the column's value is none of the
// test's.
TEST(GivenTestSet, IsReadByConditionByPlatformOrFromFiles) {
  const ScratchFolder folder;
  std::ofstream all(folder / "all.csv"), first(folder / "first.csv"), second(folder / "second.csv");
  for (std::ofstream* file : {&all, &first, &second}) *file << "lon,lat,time,ssh,platform,leg\n";
  for (int i = 0; i < 60; ++i) {
    const std::string leg = i == 7 ? "" : std::to_string(i / 10);
    const bool test = i != 7 && i / 10 >= 4;
    const std::string row = fmt::format("{},{},2020-01-{:02}T00:00:{:02}Z,{},{},{}\n", 0.1 * i, 40.0 + 0.1 * (i % 10), 1 + i / 10,
                                        i % 10, std::sin(i), test ? "late" : "early", leg);
    all << row;
    (test ? second : first) << row;
  }
  all.close(), first.close(), second.close();
  RunSettings settings;
  settings.data.roles.value = "ssh";
  settings.data.files = {(folder / "all.csv").string()};
  const auto read = [&](const std::function<void(RunSettings&)>& change) {
    RunSettings changed = settings;
    change(changed);
    const Reading data = read_run(changed);
    std::vector<double> values;
    for (const std::size_t row : data.test) values.push_back(data.observations.value[row]);
    EXPECT_EQ(data.observations.size(), 60u);
    return values;
  };
  const std::vector<double> wanted = read([&](RunSettings& s) {
    s.data.files = {(folder / "first.csv").string()};
    s.split.test = {(folder / "second.csv").string()};
  });
  ASSERT_EQ(wanted.size(), 20u);
  EXPECT_EQ(read([](RunSettings& s) { s.split.test_where = "leg >= 4"; }), wanted);
  EXPECT_EQ(read([](RunSettings& s) { s.split.test_where = "leg in 4,5"; }), wanted);
  EXPECT_EQ(read([](RunSettings& s) { s.split.test_where = "platform == late"; }), wanted);
  EXPECT_EQ(read([](RunSettings& s) { s.split.test_where = "platform != early"; }), wanted);
  EXPECT_TRUE(read([](RunSettings&) {}).empty());
  settings.split.test = {"a.csv"};
  settings.split.test_where = "leg >= 4";
  EXPECT_THROW(read_run(settings), UsageError);
}

}  // namespace
}  // namespace drift
