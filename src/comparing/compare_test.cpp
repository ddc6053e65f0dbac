#include "drift/compare.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "comparing/compare_parts.h"
#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/field_file.h"
#include "fitting/fitting_testing.h"
#include "netcdf/netcdf_reader.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A method of a test's own: says the same everywhere, in the engine's units, and counts its fits.
struct Fake : Interpolator {
  double mean = 0.0, sd_epistemic = 0.5, sd_total = 0.5;
  bool noise = false;
  std::string failure;
  int* fits = nullptr;
  std::function<void(const InterpolatorData&)> seen;

  void fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) override {
    if (fits != nullptr) ++*fits;
    if (seen) seen(data);
    if (!failure.empty()) throw Error(failure);
    control.report(1.0, "done");
    mean += 0.01 * static_cast<double>(options.seed);
    control.check_stop();
  }
  void predict(MatrixView<const float> points, const PointForecast& out, const Workers&) const override {
    for (std::size_t i = 0; i < points.rows; ++i) {
      out.mean[i] = mean, out.sd_epistemic[i] = sd_epistemic, out.sd_total[i] = sd_total;
    }
  }
  bool knows_noise() const override { return noise; }
  std::vector<std::pair<std::string, std::string>> findings(const Domain&) const override { return {{"value", "0"}}; }
};

// "flat", "off" (worse), "broken", "nan", "noisy" (knows its noise); all others are drift's.
MethodMaker fakes(int* fits = nullptr) {
  return [fits](const std::string& text, const FitPlan& plan, const Dataset& data) -> std::unique_ptr<Interpolator> {
    auto fake = std::make_unique<Fake>();
    fake->fits = fits;
    if (text == "flat") return fake;
    if (text == "off") return fake->mean = 0.7, std::move(fake);
    if (text == "broken") return fake->failure = "the matrix is not positive definite", std::move(fake);
    if (text == "nan") return fake->mean = NAN, std::move(fake);
    if (text == "noisy") return fake->noise = true, fake->sd_total = 2.0, std::move(fake);
    return make_compared_method(text, plan, data);
  };
}

RunSettings settings_with(std::vector<std::string> methods, const ScratchFolder& folder, std::size_t seeds = 2) {
  RunSettings settings = small_settings();
  settings.train.epochs = 5.0;
  settings.compare.methods = std::move(methods);
  settings.compare.seeds = seeds;
  settings.compare.folder = (folder / "results").string();
  settings.compare.grid = "bbox:-20,10,20,40:5";
  return settings;
}

// Measures that do not depend on the clock.
std::map<std::string, double> scores_of(const ComparedMethod& row) {
  std::map<std::string, double> scores;
  for (const CompareMeasure& measure : compare_measures()) {
    const auto found = row.measures.find(measure.name);
    if (measure.kind != CompareMeasure::Kind::cost && found != row.measures.end()) scores[measure.name] = found->second.mean;
  }
  return scores;
}

void expect_scores_as_of_fit(const Dataset& data) {
  const ScratchFolder folder;
  const RunSettings settings = settings_with({"drift"}, folder, 1);
  const ComparePlan plan = plan_compare(settings, data);
  const Comparison comparison = compare(plan, data);
  const FitResult result = fit(plan_fit(settings, data, Judging::held_out), data);
  const auto& measures = comparison.rows.at(0).measures;
  constexpr double kRounding = 1e-6;  // fit() has its predictions in single precision
  EXPECT_NEAR(measures.at("rmse").mean, result.held_out->rmse, kRounding);
  EXPECT_NEAR(measures.at("crps").mean, *result.held_out->crps, kRounding);
  EXPECT_NEAR(measures.at("nlpd").mean, *result.held_out->nll, 100.0 * kRounding);
  EXPECT_NEAR(measures.at("interval_score95").mean, *result.held_out->interval_score95, 100.0 * kRounding);
  // All 36 rows both calibrate and score, and one lies on the interval's very edge.
  EXPECT_NEAR(measures.at("coverage90").mean, result.held_out->intervals[2].share, 1.01 / 36.0);
  EXPECT_NEAR(measures.at("noise_sd").mean, result.model.info.noise_sd, kRounding);
  for (const char* cost : {"fit_s", "fit_core_s", "predict_s", "points_per_s", "peak_mib"})
    EXPECT_GT(measures.at(cost).mean, 0.0) << cost;
}

TEST(Compare, ScoresDriftAsFitDoes) {
  Dataset data = small_dataset(30, 12);
  expect_scores_as_of_fit(data);
  // Standard errors of their own are part of the noise.
  for (std::size_t i = 0; i < data.observations.size(); ++i) data.observations.sigma.push_back(i % 2 == 0 ? 0.2F : 0.1F);
  expect_scores_as_of_fit(data);
}

TEST(Compare, WritesNoFitOverWhatItReads) {
  const ScratchFolder folder;
  const Dataset data = small_dataset();
  for (const char* ending : {".json", ".nc"}) {
    RunSettings settings = settings_with({"flat"}, folder);
    settings.data.files = {(folder / "observations.csv").string()};
    write_bytes(folder / "observations.csv", "precious");
    const ComparePlan plan = plan_compare(settings, data, fakes());
    std::filesystem::create_directories(plan.folder / "fits");
    const std::filesystem::path output = fit_stem(plan, "flat", 2).string() + ending;
    std::filesystem::remove(output);
    std::filesystem::create_hard_link(folder / "observations.csv", output);
    EXPECT_THROW(compare(plan, data), UsageError) << ending;
    EXPECT_THROW(save_compare_run(plan), UsageError) << ending;
    EXPECT_EQ(read_bytes(output), "precious");
    std::filesystem::remove(output);
  }
}

TEST(Compare, KeepsNothingWithoutAFolder) {
  const ScratchFolder folder;
  const Dataset data = small_dataset();
  RunSettings settings = settings_with({"flat"}, folder, 1);
  settings.compare.folder = "";
  const Comparison comparison = compare(plan_compare(settings, data, fakes()), data);
  EXPECT_TRUE(comparison.finished);
  EXPECT_EQ(comparison.rows.at(0).fits, 1u);
  EXPECT_EQ(folder.files(), 0u);
}

TEST(Compare, AFailingMethodLeavesTheRestIntact) {
  const Dataset data = small_dataset();
  const ScratchFolder with, without;
  int fits = 0;
  const Comparison some = compare(plan_compare(settings_with({"flat", "broken", "nan", "off"}, with), data, fakes(&fits)), data);
  const Comparison all = compare(plan_compare(settings_with({"flat", "off"}, without), data, fakes()), data);
  ASSERT_EQ(some.rows.size(), 4u);
  EXPECT_TRUE(some.finished);
  EXPECT_EQ(fits, 6) << "what failed with the first seed is not tried with the next";
  EXPECT_EQ(scores_of(some.rows[0]), scores_of(all.rows[0]));
  EXPECT_EQ(scores_of(some.rows[3]), scores_of(all.rows[1]));
  EXPECT_EQ(some.rows[1].failure, "the matrix is not positive definite");
  EXPECT_THAT(some.rows[2].failure, HasSubstr("is not a number"));
  EXPECT_EQ(some.rows[1].fits, 0u);
  EXPECT_TRUE(some.rows[1].measures.empty());
  for (const std::string& text : {comparison_text(some, false), comparison_markdown(some), comparison_csv(some)}) {
    EXPECT_THAT(text, HasSubstr("the matrix is not positive definite"));
    EXPECT_THAT(text, HasSubstr("flat"));
  }
}

TEST(Compare, DoesNotRepeatWhatTheFolderHolds) {
  const Dataset data = small_dataset();
  const ScratchFolder folder;
  int fits = 0;
  const auto run = [&](std::size_t seeds, bool fresh, CalibrationMethod calibrate = CalibrationMethod::conformal) {
    RunSettings settings = settings_with({"flat", "off"}, folder, seeds);
    settings.uncertainty.calibrate = calibrate;
    return compare(plan_compare(settings, data, fakes(&fits)), data, {.fresh = fresh});
  };
  const Comparison first = run(2, false);
  EXPECT_EQ(fits, 4);
  const Comparison again = run(2, false);
  EXPECT_EQ(fits, 4);
  EXPECT_EQ(comparison_json(first), comparison_json(again)) << "times included";
  run(3, false);
  EXPECT_EQ(fits, 6) << "another seed is two more fits";
  run(2, true);
  EXPECT_EQ(fits, 10) << "all anew";
  run(2, false, CalibrationMethod::scale);
  EXPECT_EQ(fits, 14) << "other settings are another comparison";
  run(2, false);
  EXPECT_EQ(fits, 14) << "and the first is still there";
}

TEST(Compare, FitsAgainWhereSigmasTracksOrPlatformsChanged) {
  Dataset data = small_dataset();
  const ScratchFolder folder;
  int fits = 0;
  const auto fits_of_a_run = [&] {
    const int before = fits;
    compare(plan_compare(settings_with({"flat"}, folder, 1), data, fakes(&fits)), data);
    return fits - before;
  };
  EXPECT_EQ(fits_of_a_run(), 1);
  EXPECT_EQ(fits_of_a_run(), 0);
  data.observations.sigma.assign(data.observations.size(), 0.1F);
  EXPECT_EQ(fits_of_a_run(), 1) << "sigmas";
  data.observations.sigma[7] = 0.2F;
  EXPECT_EQ(fits_of_a_run(), 1) << "one sigma";
  data.observations.platform[7] ^= 1U;
  EXPECT_EQ(fits_of_a_run(), 1) << "one platform";
  data.observations.platform_names[1] = "C";
  EXPECT_EQ(fits_of_a_run(), 1) << "a platform's name";
  EXPECT_EQ(fits_of_a_run(), 0);
}

// Rivals choose their settings by the plan's folds, and calibration and scores take from the plan too.
TEST(Compare, KeepsRivalsOnlyWhereNothingOfTheirsChanges) {
  const Dataset data = small_dataset();
  const ScratchFolder folder;
  const auto stem = [&](const char* method, auto change) {
    RunSettings settings = settings_with({"flat"}, folder, 1);
    change(settings);
    return fit_stem(plan_compare(settings, data, fakes()), method, 1);
  };
  const auto nothing = [](RunSettings&) {};
  const auto members = [](RunSettings& s) { s.model.members = 3; };
  const auto trials = [](RunSettings& s) { s.tune.trials = 30; };
  const auto training = [](RunSettings& s) { s.train.epochs = 7.0, s.train.rate = 0.02, s.model.features = 32; };
  const auto backend = [](RunSettings& s) { s.backend = Backend::cpu; };
  const auto paths = [](RunSettings& s) { s.threads = 1, s.output.model = "m", s.data.files = {"other.nc"}; };
  EXPECT_NE(stem("drift", members), stem("drift", nothing));
  EXPECT_NE(stem("drift", trials), stem("drift", nothing));
  EXPECT_NE(stem("drift", training), stem("drift", nothing));
  EXPECT_EQ(stem("flat", trials), stem("flat", nothing));
  EXPECT_EQ(stem("flat", training), stem("flat", nothing));
  EXPECT_NE(stem("flat", members), stem("flat", nothing)) << "three networks share three folds";
  EXPECT_NE(stem("flat", [](RunSettings& s) { s.fit.folds = 3; }), stem("flat", nothing));
  EXPECT_NE(stem("flat", [](RunSettings& s) { s.recipe = RecipeName::paper; }), stem("flat", nothing)) << "no folds";
  EXPECT_NE(
      stem("flat", [](RunSettings& s) { s.fit.method = FitMethod::network, s.uncertainty.method = UncertaintyMethod::dropout; }),
      stem("flat", nothing))
      << "no folds";
  EXPECT_NE(stem("flat", [](RunSettings& s) { s.train.huber_delta = 2.0; }), stem("flat", nothing)) << "the Huber NLPD";
  EXPECT_NE(stem("flat", [](RunSettings& s) { s.model.lengthscale = 700.0; }), stem("flat", nothing))
      << "calibration takes neighbours in its units";
  EXPECT_NE(stem("flat", backend), stem("flat", nothing)) << "its times are another backend's";
  EXPECT_EQ(stem("drift", paths), stem("drift", nothing));
}

TEST(Compare, GoesOnWhereItWasStopped) {
  const Dataset data = small_dataset();
  const ScratchFolder part, whole;
  std::stop_source stop;
  CompareHooks hooks;
  Comparison stopped;
  hooks.done = [&](const ComparedFit& fit, bool, const Comparison& so_far) {
    stopped = so_far;
    if (fit.method == "flat") stop.request_stop();
  };
  const ComparePlan plan = plan_compare(settings_with({"flat", "off"}, part), data, fakes());
  EXPECT_THROW(compare(plan, data, {.stop = stop.get_token()}, hooks), Stopped);
  EXPECT_FALSE(stopped.finished);
  EXPECT_EQ(stopped.rows[0].fits, 1u);
  EXPECT_EQ(stopped.rows[1].fits, 0u);
  EXPECT_THAT(comparison_text(stopped, false), HasSubstr("not done"));
  const Comparison resumed = compare(plan, data);
  const Comparison straight = compare(plan_compare(settings_with({"flat", "off"}, whole), data, fakes()), data);
  EXPECT_TRUE(resumed.finished);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(scores_of(resumed.rows[i]), scores_of(straight.rows[i]));
}

TEST(Compare, TakesAMethodsOwnNoiseOnlyWhereNothingIsCalibrated) {
  const Dataset data = small_dataset();
  const ScratchFolder folder;
  const auto noise_of = [&](CalibrationMethod calibrate, std::optional<double> given) {
    RunSettings settings = settings_with({"noisy"}, folder, 1);
    settings.uncertainty.calibrate = calibrate;
    settings.uncertainty.noise_sd = given;
    const ComparePlan plan = plan_compare(settings, data, fakes());
    const auto measures = compare(plan, data).rows.at(0).measures;
    return std::pair(measures.at("noise_sd").mean / plan.fit.domain.value.sd, measures.at("nlpd").mean);
  };
  const auto [own, own_nlpd] = noise_of(CalibrationMethod::none, {});
  EXPECT_NEAR(own, std::sqrt(2.0 * 2.0 - 0.5 * 0.5), 1e-9);
  const auto [fitted, fitted_nlpd] = noise_of(CalibrationMethod::scale, {});
  EXPECT_LT(fitted, 1.5);
  EXPECT_LT(fitted_nlpd, own_nlpd) << "a noise twice too large costs density";
  EXPECT_NEAR(noise_of(CalibrationMethod::none, 0.25).first * plan_fit({}, data, Judging::held_out).domain.value.sd, 0.25, 1e-9)
      << "what is given goes first";
}

TEST(Compare, ScoresAgainstATruthOnTheGridAtTheTimeOfTheMaps) {
  // A flat forecast of the truth has its standard deviation as error, and the mean on the grid as bias.
  SimulateOptions simulation;
  simulation.days = 1.0;
  simulation.rate_hz = 0.05;
  const SyntheticFieldOptions moving = {.seed = 3, .evolution_days = 0.5, .velocity = {50.0, 0.0}};
  const NamedTruth truth = synthetic_truth(moving);
  Dataset data;
  data.observations = simulate(truth.truth, simulation);
  data.tracks = 100;
  const ScratchFolder folder;
  RunSettings settings = settings_with({"flat"}, folder, 1);
  settings.compare.truth = to_text(moving);
  settings.compare.grid = "bbox:-40,68,40,80:1";
  const ComparePlan plan = plan_compare(settings, data, fakes());
  ASSERT_LT(plan.info.extent[1], 68.0);
  ASSERT_GT(plan.info.extent[3], 80.0);
  const Comparison comparison = compare(plan, data);
  EXPECT_TRUE(comparison.has_truth);
  const double flat = plan.fit.domain.value.from_engine(0.01);
  const SyntheticField field(moving);
  double sum = 0.0;
  for (double lat = 68.5; lat < 80.0; lat += 1.0) {
    for (double lon = -39.5; lon < 40.0; lon += 1.0) sum += std::pow(field(unit_vector({lon, lat}), *plan.map_time) - flat, 2.0);
  }
  // Detail is what neighbours within 200 km do not share: of a smooth field less than the whole.
  const auto& measures = comparison.rows[0].measures;
  EXPECT_GT(measures.at("truth_detail_rmse").mean, 0.0);
  EXPECT_LT(measures.at("truth_detail_rmse").mean, 0.9 * measures.at("truth_rmse").mean);
  const double count = 12.0 * 80.0;
  EXPECT_NEAR(comparison.rows[0].measures.at("truth_rmse").mean, std::sqrt(sum / count), 1e-6);
  EXPECT_THAT(comparison_text(comparison, false), HasSubstr("Against the truth"));
}

// Land of the truth is land of the maps.
TEST(Compare, MapsHaveNoValueWhereTheTruthHasNone) {
  const Dataset data = small_dataset();
  const ScratchFolder folder;
  FieldHeader header = {.grid = parse_grid("bbox:-40,0,40,50:1"), .layers = {{.info = {"ssh", "Height", "", "m"}}}};
  FieldFileWriter truth(folder / "truth.nc", header);
  std::vector<double> values(header.grid.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double lon = header.grid.x.at(i % header.grid.x.count);
    values[i] = lon > 0.0 ? std::nan("") : 0.1 * lon;
  }
  truth.write(0, 0, 0, values);
  truth.finish();
  RunSettings settings = settings_with({"flat"}, folder, 1);
  settings.compare.truth = (folder / "truth.nc").string();
  settings.compare.grid = "bbox:-10,15,10,35:2";
  const ComparePlan plan = plan_compare(settings, data, fakes());
  compare(plan, data);
  const NcReader map(fit_stem(plan, "flat", 1).string() + ".nc");
  const std::vector<double> mean = map.read(*map.find("ssh"));
  ASSERT_EQ(mean.size(), 100u);
  for (std::size_t i = 0; i < mean.size(); ++i) EXPECT_EQ(std::isnan(mean[i]), i % 10 >= 5) << i;  // -9, -7, ..., 9
}

TEST(Compare, HuberNlpdTakesTheNetworksAsDrawsOfTheField) {
  struct Two : Fake {
    std::size_t members() const override { return 2; }
    void predict(MatrixView<const float> points, const PointForecast& out, const Workers& workers) const override {
      Fake::predict(points, out, workers);
      for (std::size_t i = 0; i < out.members.size(); ++i)
        out.members[i] = static_cast<float>(mean + (i % 2 == 0 ? -2.0 : 2.0) * sd_epistemic);
    }
  };
  const Dataset data = small_dataset(30, 16);
  const ScratchFolder folder;
  RunSettings settings = settings_with({"two", "one"}, folder, 1);
  settings.uncertainty.calibrate = CalibrationMethod::none;
  const MethodMaker make = [](const std::string& text, const FitPlan&, const Dataset&) -> std::unique_ptr<Interpolator> {
    if (text == "two") return std::make_unique<Two>();
    return std::make_unique<Fake>();
  };
  const ComparePlan plan = plan_compare(settings, data, make);
  const Domain& domain = plan.fit.domain;
  const Comparison comparison = compare(plan, data);
  const auto huber_of = [&](std::size_t row) { return comparison.rows[row].measures.at("huber_nlpd").mean; };
  // Whatever is scored, draws two standard deviations away cost more than a Gaussian's, by less than delta times that distance.
  const double delta = 0.1 * domain.value.sd, sd = sd_from_engine(domain, 0.5);
  EXPECT_GT(huber_of(0), huber_of(1));
  EXPECT_LT(huber_of(0), huber_of(1) + delta * 2.0 * sd);
}

TEST(Compare, MethodsAreToldOfTracksPlatformsErrorsAndFolds) {
  Dataset data = small_dataset();
  for (std::size_t i = 0; i < data.observations.size(); ++i)
    data.observations.sigma.push_back(0.1F + 0.001F * static_cast<float>(i % 7));
  const ScratchFolder folder;
  bool told = false;
  ComparePlan plan;
  const MethodMaker maker = [&](const std::string&, const FitPlan&, const Dataset&) {
    auto fake = std::make_unique<Fake>();
    fake->seen = [&](const InterpolatorData& told_data) {
      told = true;
      const std::vector<std::size_t>& rows = plan.fit.split.training;
      ASSERT_EQ(told_data.track.size(), rows.size());
      ASSERT_EQ(told_data.platform.size(), rows.size());
      ASSERT_EQ(told_data.noise_sd.size(), rows.size());
      ASSERT_EQ(told_data.fold.size(), rows.size());
      EXPECT_EQ(told_data.fold_count, 4);
      EXPECT_EQ(told_data.training.fold_count, 0) << "a rival's networks see all observations";
      std::map<std::int32_t, std::uint8_t> fold_of;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(told_data.track[i], data.observations.track[rows[i]]);
        EXPECT_EQ(told_data.platform[i], data.observations.platform[rows[i]]);
        EXPECT_NEAR(sd_from_engine(plan.fit.domain, static_cast<double>(told_data.noise_sd[i])),
                    static_cast<double>(data.observations.sigma[rows[i]]), 1e-6);
        EXPECT_EQ(fold_of.emplace(told_data.track[i], told_data.fold[i]).first->second, told_data.fold[i])
            << "a track in two folds";
      }
    };
    return fake;
  };
  RunSettings settings = settings_with({"fake"}, folder, 1);
  plan = plan_compare(settings, data, maker);
  compare(plan, data);
  EXPECT_TRUE(told);
}

TEST(DriftInterpolator, SearchesFirstWhenAsked) {
  const Dataset data = small_dataset(30, 16);
  const ScratchFolder folder;
  const ComparePlan plan = plan_compare(settings_with({"drift", "drift:trials=2,members=2"}, folder, 1), data);
  std::vector<std::string> told;
  double last = 0.0;
  const Control control = {.progress = [&](double share, const std::string& what) {
    EXPECT_GE(share, last);
    EXPECT_LE(share, 1.0);
    last = share;
    told.push_back(what);
  }};
  const Comparison comparison = compare(plan, data, control);
  EXPECT_THAT(told, testing::Contains("trial 2"));
  const auto& found = comparison.rows[1].findings;
  EXPECT_THAT(found, testing::Contains(testing::Pair("search", "2 trials, in the fit's time")));
  EXPECT_THAT(found, testing::Contains(testing::Pair("networks", HasSubstr("2 of 2 layers"))));
  EXPECT_LT(comparison.rows[1].measures.at("rmse").mean, 1.0);
}

TEST(Compare, TheBlendIsHardlyWorseThanItsBetterPart) {
  const Dataset data = small_dataset(40, 24, 0.1);
  const ScratchFolder folder;
  const RunSettings settings = settings_with({"drift", "drift:parts=network", "drift:parts=process"}, folder, 1);
  const Comparison comparison = compare(plan_compare(settings, data), data);
  std::vector<double> rmse;
  for (const auto& row : comparison.rows) {
    ASSERT_EQ(row.failure, "") << row.method;
    rmse.push_back(row.measures.at("rmse").mean);
  }
  EXPECT_LT(rmse[0], 1.05 * std::min(rmse[1], rmse[2]));
  EXPECT_NE(rmse[1], rmse[2]) << "parts that are the same show nothing";
}

TEST(PlanCompare, ChoosesMethodsAndRefusesWhatCannotBe) {
  const Dataset data = small_dataset();
  const ScratchFolder folder;
  const auto refusal = [&](const std::function<void(RunSettings&)>& change) -> std::string {
    RunSettings settings = settings_with({"drift"}, folder);
    change(settings);
    try {
      plan_compare(settings, data);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal([](auto& s) { s.compare.methods = {"drfit"}; }), HasSubstr("did you mean 'drift'?"));
  EXPECT_THAT(refusal([](auto& s) { s.compare.methods = {"drift:epoch=2"}; }), HasSubstr("did you mean 'epochs'?"));
  EXPECT_THAT(refusal([](auto& s) { s.compare.methods = {"drift:members=0"}; }), HasSubstr("from 1 to 1000"));
  EXPECT_THAT(refusal([](auto& s) { s.split.method = SplitMethod::none; }), HasSubstr("hold some out"));
  EXPECT_THAT(refusal([](auto& s) { s.uncertainty.noise = NoiseSource::sigma; }), HasSubstr("name its variable with --sigma"));
  EXPECT_THAT(refusal([](auto& s) { s.compare.truth = "geiod"; }), HasSubstr("did you mean 'geoid'?"));
  EXPECT_THAT(refusal([](auto& s) { s.compare.truth = "synthetic:x"; }), HasSubstr("whole number"));
  EXPECT_THAT(refusal([](auto& s) { s.compare.grid = "xy:0,0,1,1:0.1"; }), HasSubstr("plain x and y"));
  EXPECT_THAT(refusal([](auto& s) { s.compare.map_time = "noon"; }), HasSubstr("map_time"));
  RunSettings settings = settings_with({"all", "drift"}, folder);
  EXPECT_EQ(plan_compare(settings, data).methods.size(), compare_methods().size()) << "each once";
  settings.compare.methods.clear();
  EXPECT_EQ(plan_compare(settings, data).methods.front(), "drift");
}

TEST(PlanCompare, RefusesATruthThatMovesForAFieldThatCannot) {
  Dataset data = small_dataset();
  data.observations.time_days.clear();
  const ScratchFolder folder;
  RunSettings settings = settings_with({"drift"}, folder);
  settings.compare.truth = "synthetic:3";
  EXPECT_NO_THROW(plan_compare(settings, data));
  settings.compare.truth = "synthetic:3,evolution=2";
  try {
    plan_compare(settings, data);
    FAIL() << "a truth at which time?";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("changes with time, but the fitted field does not"));
  }
}

ComparedFit fit_with(const std::string& method, std::uint64_t seed, double rmse, double coverage) {
  return {.method = method, .seed = seed, .measures = {{"rmse", rmse}, {"coverage90", coverage}, {"fit_s", rmse}}};
}

TEST(Summarise, TakesMeanSpreadAndRanks) {
  const std::vector<ComparedMethod> rows = summarise({"a", "b", "c", "d", "e"}, 2,
                                                     {fit_with("a", 1, 1.0, 0.99),
                                                      fit_with("a", 2, 3.0, 0.99),
                                                      fit_with("b", 1, 1.5, 0.8),
                                                      fit_with("c", 1, 2.0, 0.91),
                                                      fit_with("d", 1, 9.0, 0.2),
                                                      {.method = "e", .seed = 1, .failure = "no"}});
  EXPECT_DOUBLE_EQ(rows[0].measures.at("rmse").mean, 2.0);
  EXPECT_DOUBLE_EQ(rows[0].measures.at("rmse").sd, std::sqrt(2.0));
  EXPECT_EQ(rows[0].fits, 2u);
  EXPECT_EQ(rows[1].fits, 1u);
  std::vector<int> rmse, coverage;
  for (std::size_t i = 0; i < 4; ++i) {
    rmse.push_back(rows[i].measures.at("rmse").rank);
    coverage.push_back(rows[i].measures.at("coverage90").rank);
    EXPECT_EQ(rows[i].measures.at("fit_s").rank, 0) << "costs are not ranked";
  }
  EXPECT_THAT(rmse, ElementsAre(2, 1, 2, 0)) << "equal means share a rank, the fourth has none";
  EXPECT_THAT(coverage, ElementsAre(2, 3, 1, 0)) << "by the distance from 90 %";
  EXPECT_EQ(summarise({"a"}, 1, {fit_with("a", 1, 1.0, 0.9)})[0].measures.at("rmse").rank, 0) << "nothing to compare with";
}

TEST(ComparisonTable, SaysTheSameInAllForms) {
  Comparison comparison = {.finished = true, .variable = "ssh", .unit = "m", .training = 12345, .held_out = 678};
  comparison.split = "whole tracks";
  comparison.calibrate = CalibrationMethod::scale;
  comparison.threads = 2;
  comparison.rows = summarise({"a:k=1,l=2", "b"}, 2,
                              {fit_with("a:k=1,l=2", 1, 0.1234, 0.9), fit_with("a:k=1,l=2", 2, 0.1236, 0.9),
                               fit_with("b", 1, 0.2, 0.8), fit_with("b", 2, 0.2, 0.8)});
  const std::string text = comparison_text(comparison, false), markdown = comparison_markdown(comparison);
  EXPECT_THAT(text, HasSubstr("12,345 observations train, 678 held out (whole tracks)"));
  EXPECT_THAT(text, HasSubstr("0.123 ± 0.000 1st"));
  EXPECT_THAT(text, HasSubstr("0.200 ± 0.000 2nd"));
  EXPECT_THAT(text, HasSubstr("RMSE [m]"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(comparison_text(comparison, true), HasSubstr("\033[1;32m0.123"));
  EXPECT_THAT(markdown, HasSubstr("| `a:k=1,l=2` | **0.123 ± 0.000** |"));
  EXPECT_THAT(markdown, HasSubstr("0.200 ± 0.000 (2nd)"));
  const nlohmann::json json = nlohmann::json::parse(comparison_json(comparison));
  EXPECT_DOUBLE_EQ(json["methods"][0]["measures"]["rmse"]["mean"].get<double>(), 0.1235);
  EXPECT_EQ(json["methods"][0]["measures"]["rmse"]["rank"], 1);
  std::istringstream lines(comparison_csv(comparison));
  std::string head, row;
  std::getline(lines, head), std::getline(lines, row);
  EXPECT_THAT(head, HasSubstr("method,title,fits,seeds,failure,rmse,rmse_sd,rmse_rank,mae"));
  EXPECT_THAT(row, HasSubstr("\"a:k=1,l=2\","));
  EXPECT_THAT(row, HasSubstr(",2,2,,0.1235,"));
}

TEST(ComparisonTable, MarksScoresOfObservationsThatAlsoCalibrated) {
  ComparedFit fit = fit_with("a", 1, 0.1, 0.9);
  Comparison comparison;
  for (const bool calibrated : {false, true}) {
    fit.measures["scores_calibrated"] = calibrated ? 1.0 : 0.0;
    comparison.rows = summarise({"a"}, 1, {fit});
    EXPECT_EQ(nlohmann::json::parse(comparison_json(comparison))["scores_also_calibrated"], calibrated);
    EXPECT_THAT(comparison_text(comparison, false), HasSubstr(calibrated ? "scores are optimistic" : "the second half gives"));
    EXPECT_THAT(comparison_markdown(comparison), HasSubstr(calibrated ? "scores are optimistic" : "the second half gives"));
  }
}

TEST(ComparedFit, ComesBackFromJson) {
  const ComparedFit fit = {.method = "nngp:neighbours=64",
                           .seed = 7,
                           .failure = "",
                           .measures = {{"rmse", 0.1}},
                           .findings = {{"lengthscale", "3 km"}}};
  const ComparedFit back = compared_fit_from_json(to_json(fit));
  EXPECT_EQ(back.method, fit.method);
  EXPECT_EQ(back.seed, fit.seed);
  EXPECT_EQ(back.measures, fit.measures);
  EXPECT_EQ(back.findings, fit.findings);
  EXPECT_THROW(compared_fit_from_json("{\"method\": 3}"), Error);
  for (const char* seed : {"1e300", "-1", "2.5", "18446744073709551616", "\"7\"", "null"}) {
    const std::string text =
        fmt::format(R"({{"method": "m", "seed": {}, "failure": "", "measures": {{}}, "findings": []}})", seed);
    EXPECT_THAT(
        [&] { compared_fit_from_json(text); },
        testing::ThrowsMessage<Error>("the saved result of a fit: its \"seed\" is not a whole number; --fresh repeats the fit"));
  }
  EXPECT_THAT(
      [] { compared_fit_from_json(std::string(300'000, '[')); },
      testing::ThrowsMessage<Error>("the saved result of a fit: the JSON is nested more than 16 deep; --fresh repeats the fit"));
}

TEST(CompareFolder, HoldsTablesRunFileAndMaps) {
  const Dataset data = small_dataset();
  const ScratchFolder folder;
  // A run file names methods that there are.
  const MethodMaker named = [make = fakes()](const std::string& text, const FitPlan& fit, const Dataset& observations) {
    return make(text == "exact" ? "flat" : "off", fit, observations);
  };
  const ComparePlan plan = plan_compare(settings_with({"exact", "nngp:nu=1.5"}, folder), data, named);
  const std::filesystem::path run = save_compare_run(plan);
  EXPECT_EQ(read_run_file(run).compare.methods, plan.methods);
  const Comparison comparison = compare(plan, data);
  write_comparison(plan, comparison);
  EXPECT_EQ(read_bytes(folder / "results/table.md"), comparison_markdown(comparison));
  EXPECT_EQ(read_bytes(folder / "results/table.csv"), comparison_csv(comparison));
  EXPECT_EQ(read_bytes(folder / "results/table.json"), comparison_json(comparison));
  std::size_t maps = 0, results = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "results/fits")) {
    maps += entry.path().extension() == ".nc" ? 1 : 0;
    results += entry.path().extension() == ".json" ? 1 : 0;
  }
  EXPECT_EQ(maps, 2u) << "of the first seed";
  EXPECT_EQ(results, 4u);
}

}  // namespace
}  // namespace drift
