#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stop_token>

#include "drift/error.h"
#include "engine/cuda/cuda_engine.h"
#include "engine/cuda/cuda_testing.h"
#include "engine/cuda/device_data.h"
#include "engine/cuda/run_groups.h"

namespace drift::cuda {
namespace {

// The fused kernels divide their sums by how many members there are: another order of additions, whose roundings to tf32 grow
// with the steps.
constexpr double kOtherDivision = 2e-3;

// Runs of one case that differ in all that may differ within a launch.
struct Runs {
  std::vector<Trained> trained;
  std::vector<Recipe> recipes;

  Runs(const Case& a_case, std::size_t count, std::size_t members = 2) {
    for (std::size_t i = 0; i < count; ++i) {
      const double factor = 1.0 + 0.3 * static_cast<double>(i);
      Case own = a_case;
      const bool fixed = !a_case.recipe.train_lengthscales && !a_case.recipe.train_amplitudes;
      if (fixed) {
        for (ChainSpec* chain : {&own.spec.spatial, &own.spec.temporal, &own.spec.joint}) {
          for (double& lengthscale : chain->lengthscales) lengthscale *= factor;
          chain->hidden_lengthscale *= factor;
          chain->amplitude *= 1.0 / factor;
          chain->hidden_amplitude *= 2.0 - 0.5 * factor;
        }
      }
      own.recipe.rate *= factor;
      own.recipe.muon_rate *= factor;
      own.recipe.hyper_rate *= factor;
      own.recipe.noise_sd = 0.1 * factor;
      trained.push_back({.ensemble = drawn(own, members), .state = {}});
      Ensemble& ensemble = trained.back().ensemble;
      const Ensemble other = draw_ensemble(own.spec, 30 + i, members);
      ensemble.seed = other.seed;
      for (std::size_t m = 0; m < members; ++m) {
        ensemble.members[m].fixed = other.members[m].fixed;
        ensemble.members[m].parameters = other.members[m].parameters;
      }
      recipes.push_back(own.recipe);
    }
  }
  std::vector<TrainingRun> all(bool states = true) {
    std::vector<TrainingRun> runs;
    for (std::size_t i = 0; i < trained.size(); ++i)
      runs.push_back({.ensemble = &trained[i].ensemble, .state = states ? &trained[i].state : nullptr, .recipe = recipes[i]});
    return runs;
  }
};

void expect_same_bits(const Trained& a, const Trained& b) {
  for (std::size_t i = 0; i < a.ensemble.members.size(); ++i) {
    EXPECT_EQ(a.ensemble.members[i].parameters, b.ensemble.members[i].parameters);
    EXPECT_EQ(a.ensemble.members[i].log_sd, b.ensemble.members[i].log_sd);
    EXPECT_EQ(a.state.members[i].moment1, b.state.members[i].moment1);
    EXPECT_EQ(a.state.members[i].moment2, b.state.members[i].moment2);
    EXPECT_EQ(a.state.members[i].losses, b.state.members[i].losses);
  }
}

// Within what another division of sums does.
void expect_alike(const Trained& a, const Trained& b) {
  for (std::size_t i = 0; i < a.ensemble.members.size(); ++i) {
    EXPECT_LT(distance(a.ensemble.members[i].parameters, b.ensemble.members[i].parameters), kOtherDivision);
    EXPECT_LT(distance(a.state.members[i].losses, b.state.members[i].losses), kOtherDivision);
  }
}

Runs separately(Engine& engine, const Case& a_case, const Observations& observations, std::size_t count) {
  Runs runs(a_case, count);
  for (std::size_t i = 0; i < count; ++i) {
    engine.advance(runs.trained[i].ensemble, runs.trained[i].state, observations.set(a_case.weighted), runs.recipes[i], up_to(9),
                   {});
  }
  return runs;
}

class EveryCaseTogether : public testing::TestWithParam<Case> {};

TEST_P(EveryCaseTogether, TrainsEachRunAsIfItWereAlone) {
  DRIFT_NEEDS_GPU();
  const Case& a_case = GetParam();
  const Observations observations(a_case.spec, 1500);
  const auto engine = gpu();
  const Runs alone = separately(*engine, a_case, observations, 3);
  Runs together(a_case, 3);
  EXPECT_THAT(engine->advance_together(together.all(), observations.set(a_case.weighted), up_to(4), {}), testing::Each(""));
  EXPECT_THAT(engine->advance_together(together.all(), observations.set(a_case.weighted), up_to(9), {}), testing::Each(""));
  for (std::size_t i = 0; i < 3; ++i) expect_same_bits(alone.trained[i], together.trained[i]);
  EXPECT_NE(alone.trained[0].state.members[0].losses, alone.trained[1].state.members[0].losses);
}

INSTANTIATE_TEST_SUITE_P(Cuda, EveryCaseTogether, testing::ValuesIn(cases()),
                         [](const auto& a_case) { return a_case.param.name; });

std::vector<Case> wide_cases() {
  std::vector<Case> all;
  for (const Optimiser optimiser : {Optimiser::adam, Optimiser::muon}) {
    for (const Space space : {Space::plane, Space::sphere}) {
      Case& a_case = all.emplace_back(Case{.name = "wide", .spec = small(space, 3, 1, 0), .recipe = short_recipe(optimiser)});
      a_case.spec.features = 200;
      a_case.spec.bottleneck = 128;
      a_case.spec.frequencies = Frequencies::structured;
    }
  }
  return all;
}

TEST(TrainingTogether, ByTheFusedKernelsTrainsEachRunAsIfItWereAlone) {
  DRIFT_NEEDS_GPU();
  for (const Case& a_case : wide_cases()) {
    const Observations observations(a_case.spec, 1500);
    const auto engine = gpu(Precision::tf32);
    const Runs alone = separately(*engine, a_case, observations, 3);
    Runs together(a_case, 3);
    EXPECT_THAT(engine->advance_together(together.all(), observations.set(false), up_to(9), {}), testing::Each(""));
    for (std::size_t i = 0; i < 3; ++i) expect_alike(alone.trained[i], together.trained[i]);
    // What the tolerance can tell apart: another run's rates, decay and lengthscales.
    EXPECT_GT(distance(alone.trained[0].state.members[0].losses, alone.trained[1].state.members[0].losses), 10 * kOtherDivision);
  }
}

TEST(TrainingTogether, WithoutStatesGivesTheSameWeights) {
  DRIFT_NEEDS_GPU();
  const Case a_case = cases()[1];
  const Observations observations(a_case.spec, 1500);
  Runs with(a_case, 2), without(a_case, 2);
  gpu()->advance_together(with.all(), observations.set(false), up_to(9), {});
  gpu()->advance_together(without.all(false), observations.set(false), up_to(9), {});
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t m = 0; m < 2; ++m)
      EXPECT_EQ(with.trained[i].ensemble.members[m].parameters, without.trained[i].ensemble.members[m].parameters);
  }
}

TEST(TrainingTogether, SaysWhichRunDivergedAndFinishesTheOthers) {
  DRIFT_NEEDS_GPU();
  for (const Optimiser optimiser : {Optimiser::adam, Optimiser::muon}) {
    Case a_case = wide_cases().front();
    a_case.recipe.optimiser = optimiser;
    const Observations observations(a_case.spec, 1500);
    const auto engine = gpu(Precision::tf32);
    const Runs alone = separately(*engine, a_case, observations, 3);
    Runs together(a_case, 3);
    together.recipes[1].rate = 1e30;
    const auto failures = engine->advance_together(together.all(), observations.set(false), up_to(9), {});
    EXPECT_THAT(failures, testing::ElementsAre("", testing::HasSubstr("training diverged: the loss of member"), ""));
    for (const std::size_t i : {0U, 2U}) expect_alike(alone.trained[i], together.trained[i]);
  }
}

TEST(TrainingTogether, OfDifferentShapesAndRefusedRunsGoesInGroups) {
  DRIFT_NEEDS_GPU();
  const Case first = cases()[0], second = cases()[1];  // Adam and Muon, four layers and three
  const Observations observations(first.spec, 1500);
  const auto engine = gpu();
  const Runs one = separately(*engine, first, observations, 2), other = separately(*engine, second, observations, 2);
  Runs a(first, 2), b(second, 2), refused(first, 1);
  refused.recipes[0].rate = -1.0;
  std::vector<TrainingRun> runs = {a.all()[0], b.all()[0], refused.all()[0], a.all()[1], b.all()[1]};
  const auto failures = engine->advance_together(runs, observations.set(false), up_to(9), {});
  EXPECT_THAT(failures, testing::ElementsAre("", "", testing::HasSubstr("rate"), "", ""));
  for (std::size_t i = 0; i < 2; ++i) {
    expect_same_bits(one.trained[i], a.trained[i]);
    expect_same_bits(other.trained[i], b.trained[i]);
  }
  double last = 0.0;
  const Control control{.progress = [&](double share, const std::string&) { last = share; }};
  engine->advance_together(runs, observations.set(false), 100, control);
  EXPECT_EQ(last, 1.0) << "of the runs that did not fail";
}

TEST(RunGroups, HaveTheSameShapesAndRules) {
  Runs runs(cases()[0], 2);
  std::vector<TrainingRun> pair = runs.all();
  EXPECT_TRUE(go_together(pair[0], pair[1]));
  const auto with = [&](auto change) {
    TrainingRun changed = pair[1];
    Ensemble ensemble = *changed.ensemble;
    changed.ensemble = &ensemble;
    change(changed);
    return go_together(pair[0], changed);
  };
  EXPECT_FALSE(with([](TrainingRun& run) { run.recipe.batch = 100; }));
  EXPECT_FALSE(with([](TrainingRun& run) { run.recipe.loss = LossKind::huber; }));
  EXPECT_FALSE(with([](TrainingRun& run) { run.recipe.epochs = 1.5; }));
  EXPECT_FALSE(with([](TrainingRun& run) { run.ensemble->spec.features = 76; }));
  EXPECT_FALSE(with([](TrainingRun& run) { run.ensemble->spec.head_scale = 1.0; }));
  EXPECT_FALSE(with([](TrainingRun& run) { run.ensemble->spec.spatial.lengthscales = {1.0, 2.0}; }));
  EXPECT_FALSE(with([](TrainingRun& run) { run.ensemble->members[0].log_sd.resize(3); }));
  EXPECT_TRUE(with([](TrainingRun& run) { run.recipe.beta = 0.5; }));
  pair[0].recipe.train_amplitudes = pair[1].recipe.train_amplitudes = true;
  EXPECT_FALSE(go_together(pair[0], pair[1]));
  EXPECT_EQ(groups_of(pair, {0, 0}), (std::vector<std::vector<std::size_t>>{{0}, {1}}));
  pair = runs.all();
  EXPECT_EQ(groups_of(pair, {0, 0}), (std::vector<std::vector<std::size_t>>{{0, 1}}));
  EXPECT_EQ(groups_of(pair, {0, 1}), (std::vector<std::vector<std::size_t>>{{0}, {1}}));
  EXPECT_EQ(groups_of(pair, {-1, 0}), (std::vector<std::vector<std::size_t>>{{1}}));
}

// The same GPU, named twice, is two of them as far as the engine can tell.
std::unique_ptr<Engine> two_devices(Precision precision, std::size_t members_at_once = 0) {
  return make_engine_on(
      CudaOptions{.devices = {0, 0}, .precision = precision, .members_at_once = members_at_once, .rows_of_a_device = 100});
}

TEST(TwoDevices, ShareTheMembersOfARun) {
  DRIFT_NEEDS_GPU();
  for (const std::size_t which : {0U, 1U, 11U}) {  // Adam, Muon, the sphere
    const Case a_case = cases()[which];
    const Observations observations(a_case.spec, 1500);
    for (const std::size_t members : {1U, 2U, 3U, 5U}) {
      const Trained one = trained(*gpu(), a_case, observations, {9}, members);
      expect_same_bits(one, trained(*two_devices(Precision::float32), a_case, observations, {3, 9}, members));
      expect_same_bits(one, trained(*two_devices(Precision::float32, 1), a_case, observations, {9}, members));
    }
  }
}

TEST(TwoDevices, ShareTheMembersOfSeveralRunsByTheFusedKernelsToo) {
  DRIFT_NEEDS_GPU();
  for (const Case& a_case : wide_cases()) {
    const Observations observations(a_case.spec, 1500);
    const auto engine = gpu(Precision::tf32);
    const Runs alone = separately(*engine, a_case, observations, 3);
    Runs together(a_case, 3);
    together.recipes[2].muon_rate = together.recipes[2].rate = 1e30;
    const auto failures = two_devices(Precision::tf32)->advance_together(together.all(), observations.set(false), up_to(9), {});
    EXPECT_THAT(failures, testing::ElementsAre("", "", testing::HasSubstr("training diverged")));
    for (std::size_t i = 0; i < 2; ++i) expect_alike(alone.trained[i], together.trained[i]);
  }
}

TEST(TwoDevices, ShareThePointsOfAPrediction) {
  DRIFT_NEEDS_GPU();
  const Case a_case = cases()[1];
  const Ensemble ensemble = drawn(a_case);
  const std::size_t columns = 3, inputs = head_input_count(a_case.spec);
  for (const std::size_t count : {1U, 99U, 301U}) {
    const Observations points(a_case.spec, count);
    const MatrixView<const float> coordinates = points.set(false).coordinates;
    std::vector<std::vector<float>> found[2];
    for (const bool two : {false, true}) {
      const auto engine = two ? two_devices(Precision::float32) : gpu();
      std::vector<float> mean(count), variance(count), members(count * 3), gradient(count * columns), head(count * inputs);
      engine->predict(
          ensemble, coordinates,
          {.mean = {mean.data(), count, 1}, .variance = {variance.data(), count, 1}, .members = {members.data(), count, 3}});
      engine->input_gradient(ensemble, coordinates, {gradient.data(), count, columns});
      engine->head_inputs(ensemble, 1, coordinates, {head.data(), count, inputs});
      found[two ? 1 : 0] = {mean, variance, members, gradient, head};
    }
    EXPECT_EQ(found[0], found[1]) << count;
  }
}

TEST(TwoDevices, StopWhenAskedAndTellOfProgressOneAtATime) {
  DRIFT_NEEDS_GPU();
  Case a_case = cases()[0];
  a_case.recipe.epochs = 4000;
  const Observations observations(a_case.spec, 1500);
  Trained result{.ensemble = drawn(a_case, 4), .state = {}};
  std::stop_source source;
  int inside = 0, told = 0;
  const Control control{.progress =
                            [&](double share, const std::string&) {
                              EXPECT_EQ(++inside, 1);
                              EXPECT_LE(share, 1.0);
                              if (++told == 2) source.request_stop();
                              --inside;
                            },
                        .stop = source.get_token()};
  two_devices(Precision::float32)
      ->advance(result.ensemble, result.state, observations.set(false), a_case.recipe, 100000, control);
  EXPECT_GE(told, 2);
  for (const MemberProgress& member : result.state.members) {
    EXPECT_GT(member.step, 0U);
    EXPECT_LT(member.step, 12000U);
    EXPECT_EQ(member.losses.size(), member.step);
  }
}

TEST(TwoDevices, EndTogetherWhenOneMeetsAnError) {
  DRIFT_NEEDS_GPU();
  Case a_case = cases()[0];
  a_case.recipe.epochs = 1000;
  const Observations observations(a_case.spec, 1500);
  Trained result{.ensemble = drawn(a_case, 2), .state = {}};
  const Control control{.progress = [](double, const std::string&) { throw Error("enough"); }};
  EXPECT_THROW(two_devices(Precision::float32)
                   ->advance(result.ensemble, result.state, observations.set(false), a_case.recipe, 100000, control),
               Error);
}

TEST(TwoDevices, ReadObservationsThatStayWithTheHost) {
  DRIFT_NEEDS_GPU();
  const Case a_case = cases()[0];
  const Observations observations(a_case.spec, 1500);
  const Stream stream;
  const DeviceData first(observations.set(false), 0, stream);
  {
    const DeviceData second(observations.set(false), 0, stream);
    EXPECT_TRUE(second.on_host());
  }
  EXPECT_TRUE(first.on_host());
}

}  // namespace
}  // namespace drift::cuda
