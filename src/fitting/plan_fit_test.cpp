#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/fit.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string refusal(const RunSettings& settings, const Dataset& data) {
  try {
    plan_fit(settings, data);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PlanFit, RefusesDataThatNoFieldCanBeMadeOf) {
  EXPECT_THAT(refusal({}, small_dataset(3, 20)), HasSubstr("only 60 observations are left, and a field needs at least 100"));
  Dataset constant = small_dataset();
  std::fill(constant.observations.value.begin(), constant.observations.value.end(), 3.5);
  EXPECT_THAT(refusal({}, constant), HasSubstr("all 2,400 values are 3.5"));
}

TEST(PlanFit, HoldsOutWholeTracksWhereTheyAreKnown) {
  const Dataset data = small_dataset();
  const FitPlan plan = plan_fit({}, data, Judging::held_out);
  std::set<std::int32_t> trained;
  for (const std::size_t row : plan.split.training) trained.insert(data.observations.track[row]);
  ASSERT_FALSE(plan.split.held_out.empty());
  for (const std::size_t row : plan.split.held_out) EXPECT_FALSE(trained.contains(data.observations.track[row]));
}

// The groups of held-out rows and of those that train have none in common.
void expect_no_leak(const FitPlan& plan, const Observations& o) {
  const auto& [training, held_out] = plan.split;
  std::vector<std::size_t> all = training;
  all.insert(all.end(), held_out.begin(), held_out.end());
  const SplitOptions& groups = plan.split_options;
  EXPECT_GT(count_groups(o, groups, held_out), 1u);
  EXPECT_EQ(count_groups(o, groups, training) + count_groups(o, groups, held_out), count_groups(o, groups, all));
}

TEST(PlanFit, HoldsOutBlocksWithoutTracksAndRefusesTracksThatAreNotThere) {
  Dataset data = small_dataset();
  data.observations.track.clear();
  data.tracks = 0;
  const FitPlan plan = plan_fit({}, data, Judging::held_out);
  EXPECT_EQ(plan.split_options.method, SplitMethod::block);
  expect_no_leak(plan, data.observations);
  EXPECT_NEAR(static_cast<double>(plan.split.held_out.size()), 240.0, 100.0);
  EXPECT_THAT(plan.choices.front(), HasSubstr("in blocks of"));
  RunSettings settings;
  settings.split.method = SplitMethod::track;
  EXPECT_THAT(refusal(settings, data), HasSubstr("no tracks"));
}

// An image of one day with clouds in it: its pixels are not held out singly.
TEST(PlanFit, HoldsOutBlocksOfAGrid) {
  Dataset data;
  Observations& o = data.observations;
  for (int i = 0; i < 8000; ++i) {
    const double x = i % 100, y = i / 100;
    if (std::hypot(std::fmod(x, 30.0) - 15.0, std::fmod(y, 30.0) - 15.0) < 8.0) continue;
    o.lon_deg.push_back(0.1 * x);
    o.lat_deg.push_back(40.0 + 0.1 * y);
    o.value.push_back(smooth_field(o.lon_deg.back(), o.lat_deg.back(), 0.0));
  }
  data.layout = DataLayout::grid;
  const FitPlan plan = plan_fit({}, data, Judging::held_out);
  EXPECT_EQ(plan.split_options.method, SplitMethod::block);
  EXPECT_NEAR(plan.split_options.block, 1.37 * 8.0 * 9.6, 25.0);  // km: the clouds have a radius of eight pixels
  expect_no_leak(plan, o);
  EXPECT_THAT(plan.choices.front(), HasSubstr("as large as the gaps to be filled"));
  RunSettings settings;
  set_from_flag(settings, "--split", {"block"});
  set_from_flag(settings, "--block", {"70"});
  EXPECT_EQ(plan_fit(settings, data).split_options.block, 70.0);
  settings = {};
  set_from_flag(settings, "--block", {"70"});
  const FitPlan folds = plan_fit(settings, data);
  EXPECT_TRUE(folds.out_of_fold);
  EXPECT_EQ(folds.split_options.block, 70.0);
  EXPECT_EQ(count_groups(o, folds.split_options, folds.split.training),
            *std::max_element(folds.folds.group.begin(), folds.folds.group.end()) + std::size_t{1});
}

// Folds of single observations would leak between neighbours: not what was asked for, and not without a word.
TEST(PlanFit, RefusesBlocksThatAllObservationsLieInAndWarnsOfFoldsAtRandom) {
  Dataset data;
  Observations& o = data.observations;
  for (int i = 0; i < 900; ++i) {
    o.lon_deg.push_back(0.1 * (i % 30));
    o.lat_deg.push_back(40.0 + 0.1 * (i / 30));
    o.value.push_back(smooth_field(o.lon_deg.back(), o.lat_deg.back(), 0.0));
  }
  RunSettings settings;
  settings.split.block = 100000.0;
  EXPECT_THAT(refusal(settings, data),
              AllOf(HasSubstr("folds in blocks of 100000 km: all training observations are of one block"), HasSubstr("--block")));
  settings.split.block = 70.0;
  std::vector<std::string> warnings;
  const Control control = {.warning = [&](const std::string& sentence) { warnings.push_back(sentence); }};
  plan_fit(settings, data, Judging::automatic, control);
  EXPECT_THAT(warnings, IsEmpty());
  // A mooring: all at one place, at no time. Whatever else is wrong with such data, this comes first.
  std::fill(o.lon_deg.begin(), o.lon_deg.end(), 5.003);
  std::fill(o.lat_deg.begin(), o.lat_deg.end(), 40.003);
  try {
    plan_fit({}, data, Judging::automatic, control);
  } catch (const Error&) {
  }
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("of one block, so folds are of single observations at random")));
}

TEST(PlanFit, HoldsOutAPlatformOfTwo) {
  RunSettings settings;
  set_from_flag(settings, "--split", {"platform"});
  EXPECT_EQ(plan_fit(settings, small_dataset()).split.held_out.size(), 1200u);
}

TEST(PlanFit, MakesAFieldOfSpaceAloneWithoutTimes) {
  Dataset data = small_dataset();
  data.observations.time_days.clear();
  EXPECT_EQ(plan_fit({}, data).spec.temporal.layers, 0);
  data.observations.time_days.assign(data.observations.size(), 7.0);
  EXPECT_EQ(plan_fit({}, data).spec.temporal.layers, 0);
}

TEST(PlanFit, ChoosesPlaneSphereOrPlainCoordinates) {
  Dataset data = small_dataset();
  EXPECT_EQ(plan_fit({}, data).domain.kind, DomainKind::plane);
  RunSettings settings;
  settings.domain.kind = DomainKind::sphere;
  EXPECT_EQ(plan_fit(settings, data).domain.kind, DomainKind::sphere);
  settings.domain = {.kind = DomainKind::plane, .crs = "", .unit = ""};
  EXPECT_THAT(refusal(settings, data), HasSubstr("needs --crs"));
  settings.domain = {.kind = {}, .crs = "EPSG:3395", .unit = ""};
  EXPECT_EQ(plan_fit(settings, data).domain.crs, "EPSG:3395");
  data.on_plane = true;
  EXPECT_THAT(refusal(settings, data), HasSubstr("plain x and y"));
  EXPECT_EQ(plan_fit({}, data).domain.kind, DomainKind::xy);
}

TEST(PlanFit, TakesLengthscalesInKilometresAndDays) {
  RunSettings settings;
  settings.model.lengthscale = 250.0;
  settings.model.time_lengthscale_days = 4.0;
  const FitPlan plan = plan_fit(settings, small_dataset());
  EXPECT_NEAR(lengthscale_from_engine(plan.domain, plan.spec.spatial.lengthscales[0]), 250.0, 1e-9);
  EXPECT_NEAR(time_lengthscale_from_engine(plan.domain, plan.spec.temporal.lengthscales[0]), 4.0, 1e-9);
}

TEST(PlanFit, CouplesSpaceAndTimeUnlessToldOtherwise) {
  Dataset data = small_dataset();
  const auto coupling = [&](const RunSettings& settings) { return plan_fit(settings, data).spec.coupling; };
  RunSettings additive, paper;
  additive.model.coupling = Coupling::additive;
  paper.recipe = RecipeName::paper;
  EXPECT_EQ(coupling({}), Coupling::product);
  EXPECT_EQ(coupling(additive), Coupling::additive);
  EXPECT_EQ(coupling(paper), Coupling::additive);
  paper.model.coupling = Coupling::product;
  EXPECT_EQ(coupling(paper), Coupling::product);
  data.observations.time_days.clear();
  EXPECT_EQ(coupling({}), Coupling::additive) << "nothing to couple";
}

TEST(PlanFit, TakesLongerLengthscalesTheDeeperAChainOfSpaceAndTimeIs) {
  const Dataset data = small_dataset();
  RunSettings settings;
  settings.model.layers = 1;
  const NetworkSpec shallow = plan_fit(settings, data).spec;
  settings.model.layers = 3;
  const NetworkSpec deep = plan_fit(settings, data).spec;
  EXPECT_NEAR(deep.spatial.lengthscales[0], 3.0 * shallow.spatial.lengthscales[0], 1e-12);
  EXPECT_NEAR(deep.temporal.lengthscales[0], 3.0 * shallow.temporal.lengthscales[0], 1e-12);
}

TEST(PlanFit, GivesFewObservationsMoreEpochsThanMany) {
  const FitPlan small = plan_fit({}, small_dataset());
  const FitPlan large = plan_fit({}, small_dataset(400, 300));
  EXPECT_GT(small.recipe.epochs, large.recipe.epochs);
  EXPECT_LE(small.recipe.batch, large.recipe.batch);
  // Fewer epochs are less work, not the same number of steps on smaller batches.
  RunSettings shorter;
  shorter.fit.method = FitMethod::network;
  const Dataset many = small_dataset(40, 600);
  const std::size_t usual = plan_fit(shorter, many).recipe.batch;
  shorter.train.epochs = 1.0;
  EXPECT_EQ(plan_fit(shorter, many).recipe.batch, usual);
  EXPECT_GT(usual, 64u);
}

TEST(PlanFit, FollowsThePapersRecipeWhenAsked) {
  RunSettings settings;
  settings.recipe = RecipeName::paper;
  settings.model.bottleneck = 8;
  const FitPlan plan = plan_fit(settings, small_dataset());
  EXPECT_EQ(plan.recipe.optimiser, Optimiser::adam);
  EXPECT_EQ(plan.recipe.schedule, Schedule::constant);
  // One lengthscale for coordinates and hidden layers, whatever the bottleneck's width.
  EXPECT_NEAR(plan.spec.spatial.hidden_lengthscale * std::sqrt(8.0), plan.spec.spatial.lengthscales[0], 1e-12);
}

TEST(PlanFit, GivesEachNetworkOfAnEnsembleNoiseOfItsOwn) {
  const Dataset data = small_dataset(80, 60, 0.3);
  const auto value_noise = [&](const RunSettings& settings) {
    const FitPlan plan = plan_fit(settings, data);
    return plan.recipe.value_noise * plan.domain.value.sd;
  };
  RunSettings settings;
  EXPECT_NEAR(value_noise(settings), 0.3, 0.05);
  settings.uncertainty.noise_sd = 0.2;
  EXPECT_NEAR(value_noise(settings), 0.2, 1e-9);
  settings.train.value_noise_sd = 0.1;
  EXPECT_NEAR(value_noise(settings), 0.1, 1e-9);
  settings.train.value_noise_sd = 0.0;
  EXPECT_EQ(value_noise(settings), 0.0);
}

TEST(PlanFit, LeavesValuesAsTheyAreWhereTheSpreadIsNotThatOfNetworks) {
  const Dataset data = small_dataset(80, 60, 0.3);
  RunSettings alone, paper;
  alone.model.members = 1;
  EXPECT_EQ(plan_fit(alone, data).recipe.value_noise, 0.0);
  paper.recipe = RecipeName::paper;
  EXPECT_EQ(plan_fit(paper, data).recipe.value_noise, 0.0);
  for (const auto method : {UncertaintyMethod::dropout, UncertaintyMethod::variational, UncertaintyMethod::last_layer}) {
    RunSettings settings;
    settings.uncertainty.method = method;
    EXPECT_EQ(plan_fit(settings, data).recipe.value_noise, 0.0) << word_of(method);
  }
}

TEST(PlanFit, SaysThatThereAreOutliersAndWhatToDo) {
  const auto said = [](const RunSettings& settings, const Dataset& data) {
    std::string all;
    for (const std::string& choice : plan_fit(settings, data).choices) all += choice;
    return all;
  };
  Dataset data = small_dataset(80, 60, 0.1);
  EXPECT_THAT(said({}, data), Not(HasSubstr("Outliers")));
  for (std::size_t i = 0; i < data.observations.value.size(); i += 25) data.observations.value[i] += 8.0;
  EXPECT_THAT(said({}, data), Not(HasSubstr("Outliers"))) << "the process of a blend replaces them, and the fit reports it";
  RunSettings robust;
  robust.fit.method = FitMethod::network;
  EXPECT_THAT(said(robust, data), HasSubstr("--loss huber"));
  robust.train.loss = LossKind::huber;
  EXPECT_THAT(said(robust, data), Not(HasSubstr("Outliers")));
}

TEST(PlanFit, RefusesWhatTheMachineHasNoMemoryFor) {
  RunSettings settings;
  settings.model.members = 1000;
  settings.model.features = 1000000;
  settings.model.bottleneck = 128;
  EXPECT_THAT(refusal(settings, small_dataset()), HasSubstr("training needs"));
}

TEST(PlanFit, TellsRunsApartByEveryColumnOfTheData) {
  Dataset data = small_dataset();
  data.observations.sigma.assign(data.observations.size(), 0.1F);
  const std::string print = plan_fit({}, data).fingerprint;
  EXPECT_EQ(plan_fit({}, data).fingerprint, print);
  const auto print_with = [&](auto change) {
    Dataset other = data;
    change(other.observations);
    return plan_fit({}, other).fingerprint;
  };
  EXPECT_NE(print_with([](Observations& o) { o.value[5] += 1e-9; }), print);
  EXPECT_NE(print_with([](Observations& o) { o.time_days[5] += 1e-6; }), print);
  EXPECT_NE(print_with([](Observations& o) { o.sigma[5] = 0.2F; }), print);
  EXPECT_NE(print_with([](Observations& o) { o.sigma.clear(); }), print);
  EXPECT_NE(print_with([](Observations& o) { o.platform[5] ^= 1U; }), print);
  EXPECT_NE(print_with([](Observations& o) { o.platform_names[0] = "C"; }), print);
}

TEST(PlanFit, TellsRunsApartByEverySettingThatBearsOnTheModel) {
  const Dataset data = small_dataset();
  const auto print_with = [&](auto change) {
    RunSettings settings;
    settings.model.members = 1;
    change(settings);
    return plan_fit(settings, data).fingerprint;
  };
  const std::string print = print_with([](RunSettings&) {});
  EXPECT_NE(print_with([](RunSettings& s) { s.seed = 2; }), print);
  EXPECT_NE(print_with([](RunSettings& s) { s.uncertainty.method = UncertaintyMethod::variational; }), print);
  EXPECT_NE(print_with([](RunSettings& s) { s.uncertainty.method = UncertaintyMethod::last_layer; }), print);
  EXPECT_NE(print_with([](RunSettings& s) { s.uncertainty.calibrate = CalibrationMethod::none; }), print);
  EXPECT_NE(print_with([](RunSettings& s) { s.precision = Precision::float32; }), print);
  EXPECT_EQ(print_with([](RunSettings& s) { s.threads = 3; }), print);
  EXPECT_EQ(print_with([](RunSettings& s) { s.backend = Backend::cpu; }), print) << "another machine may finish it";
  EXPECT_EQ(print_with([](RunSettings& s) { s.train.checkpoint_every_s = 7.0; }), print);
  EXPECT_EQ(print_with([](RunSettings& s) { s.output.model = "other", s.data.files = {"here.nc"}; }), print);
}

}  // namespace
}  // namespace drift
