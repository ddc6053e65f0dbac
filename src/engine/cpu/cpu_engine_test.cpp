#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "drift/engine.h"
#include "drift/error.h"
#include "engine/cpu/engine_testing.h"
#include "network/plan.h"

namespace drift {
namespace {

using namespace engine_testing;

std::vector<float> predict(const Ensemble& ensemble, const Observations& points, int threads = 2) {
  std::vector<float> mean(points.values.size());
  make_cpu_engine({.threads = threads})
      ->predict(ensemble, points.set().coordinates, {.mean = {mean.data(), mean.size(), 1}, .variance = {}, .members = {}});
  return mean;
}

double rms_error(const std::vector<float>& mean, const Observations& points) {
  double sum = 0;
  for (std::size_t i = 0; i < mean.size(); ++i) sum += std::pow(mean[i] - points.values[i], 2);
  return std::sqrt(sum / static_cast<double>(mean.size()));
}

TEST(Training, GivesTheSameBitsForAnyNumberOfThreads) {
  const Observations observations(Space::plane, 1500);
  for (const Optimiser optimiser : {Optimiser::adam, Optimiser::muon}) {
    Recipe recipe = small_recipe(optimiser);
    recipe.train_lengthscales = recipe.train_amplitudes = true;
    const Trained one = trained(small_spec(), observations, recipe, 1);
    for (const int threads : {2, 3, 7}) expect_same_bits(one, trained(small_spec(), observations, recipe, threads));
  }
}

TEST(Training, WithDropoutGivesTheSameBitsForAnyNumberOfThreads) {
  const Observations observations(Space::plane, 1500);
  Recipe recipe = small_recipe(Optimiser::muon);
  const Trained certain = trained(small_spec(), observations, recipe, 2);
  recipe.dropout = 0.1;
  const Trained one = trained(small_spec(), observations, recipe, 1);
  for (const int threads : {2, 5}) expect_same_bits(one, trained(small_spec(), observations, recipe, threads));
  expect_same_bits(one, trained(small_spec(), observations, recipe, 2, 3, {1, 4, 5}));
  EXPECT_NE(one.ensemble.members[0].parameters, certain.ensemble.members[0].parameters);
}

TEST(Training, WithDropoutStillLearns) {
  const Observations observations(Space::plane, 6000);
  Recipe recipe = default_recipe();
  recipe.batch = 200;
  recipe.epochs = 10;
  recipe.dropout = 0.05;
  const Trained result = trained(small_spec(), observations, recipe, 2, 2);
  EXPECT_LT(rms_error(predict(result.ensemble, observations), observations), 0.15);  // the values' own sd is 0.5
}

TEST(Training, OnTheSphereGivesTheSameBitsForAnyNumberOfThreads) {
  const Observations observations(Space::sphere, 1500);
  const Recipe recipe = small_recipe(Optimiser::muon);
  const Trained one = trained(small_spec(Space::sphere), observations, recipe, 1);
  expect_same_bits(one, trained(small_spec(Space::sphere), observations, recipe, 4));
}

TEST(Training, TakenUpAgainEqualsAnUninterruptedRun) {
  const Observations observations(Space::plane, 1500);
  for (const Optimiser optimiser : {Optimiser::adam, Optimiser::muon}) {
    Recipe recipe = small_recipe(optimiser);
    recipe.train_lengthscales = true;
    const Trained whole = trained(small_spec(), observations, recipe, 2);
    expect_same_bits(whole, trained(small_spec(), observations, recipe, 2, 3, {1, 4, 5}));
  }
}

TEST(Training, StopsBetweenStepsAndGoesOnToTheSameResult) {
  const Observations observations(Space::plane, 1500);
  const Recipe recipe = small_recipe(Optimiser::adam);
  const std::uint64_t steps = total_steps(recipe, observations.values.size());
  const Trained whole = trained(small_spec(), observations, recipe, 2);

  Trained stopped{.ensemble = draw_ensemble(small_spec(), 11, 3), .state = {}};
  const auto engine = make_cpu_engine({.threads = 2});
  std::stop_source stop;
  stop.request_stop();
  engine->advance(stopped.ensemble, stopped.state, observations.set(true), recipe, steps, {.stop = stop.get_token()});
  for (const MemberProgress& member : stopped.state.members) {
    EXPECT_LT(member.step, steps);
    EXPECT_EQ(member.losses.size(), member.step);
  }
  engine->advance(stopped.ensemble, stopped.state, observations.set(true), recipe, steps, {});
  expect_same_bits(whole, stopped);
}

TEST(Training, DrawsTheSameMemberInAnyEnsemble) {
  const Observations observations(Space::plane, 1000);
  const Recipe recipe = small_recipe(Optimiser::adam);
  const Trained two = trained(small_spec(), observations, recipe, 2, 2), four = trained(small_spec(), observations, recipe, 2, 4);
  EXPECT_EQ(two.ensemble.members[1].parameters, four.ensemble.members[1].parameters);
  EXPECT_NE(four.ensemble.members[1].parameters, four.ensemble.members[2].parameters);
}

TEST(Training, LearnsASmoothFieldOnThePlaneAndOnTheSphere) {
  for (const Space space : {Space::plane, Space::sphere}) {
    const Observations observations(space, 6000);
    Recipe recipe = default_recipe();
    recipe.batch = 200;
    recipe.epochs = 10;
    NetworkSpec spec = small_spec(space);
    spec.spatial.lengthscales = {2.0};  // deep chains of space and time want long ones
    spec.temporal.lengthscales = {4.0};
    const Trained result = trained(spec, observations, recipe, 2, 2);
    EXPECT_LT(rms_error(predict(result.ensemble, observations), observations), 0.05);  // the values' own sd is 0.5
    NetworkSpec two_chains = small_spec(space);
    two_chains.coupling = Coupling::additive;
    EXPECT_LT(rms_error(predict(trained(two_chains, observations, recipe, 2, 2).ensemble, observations), observations), 0.05);
  }
}

TEST(Training, WithLengthscalesAndAmplitudesMovesThemAndLowersTheLoss) {
  const Observations observations(Space::plane, 3000);
  NetworkSpec spec = small_spec();
  spec.spatial.layers = 1;
  spec.spatial.lengthscales = {5.0};  // ten times too long
  Recipe recipe = small_recipe(Optimiser::adam);
  recipe.epochs = 300;
  recipe.hyper_rate = 0.05;
  const Trained fixed = trained(spec, observations, recipe, 2, 1);
  recipe.train_lengthscales = recipe.train_amplitudes = true;
  const Trained free = trained(spec, observations, recipe, 2, 1);
  EXPECT_LT(free.state.members[0].losses.back(), 0.1 * fixed.state.members[0].losses.back());
}

TEST(Training, ThatDivergesNamesMemberStepAndRate) {
  const Observations observations(Space::plane, 500);
  Recipe recipe = small_recipe(Optimiser::adam);
  recipe.rate = 1e30;
  try {
    trained(small_spec(), observations, recipe, 2);
    FAIL() << "did not diverge";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("member"), testing::HasSubstr("step"), testing::HasSubstr("rate"),
                                             testing::HasSubstr("1e+30")));
  }
}

TEST(Training, ReportsProgressUpToTheLastStep) {
  const Observations observations(Space::plane, 1500);
  const Recipe recipe = small_recipe(Optimiser::adam);
  const std::uint64_t steps = total_steps(recipe, observations.values.size());
  Ensemble ensemble = draw_ensemble(small_spec(), 1, 2);
  TrainingState state;
  std::vector<std::pair<double, std::string>> reports;
  make_cpu_engine({.threads = 2})
      ->advance(ensemble, state, observations.set(), recipe, steps,
                {.progress = [&](double share, const std::string& what) { reports.emplace_back(share, what); }});
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back().first, 1.0);
  EXPECT_THAT(reports.back().second, testing::MatchesRegex("[1-9][0-9,]* observations/s, loss [0-9]+\\.[0-9]{4}"));
}

TEST(Training, RefusesShapesThatDoNotFit) {
  const Observations observations(Space::sphere, 100);
  Ensemble ensemble = draw_ensemble(small_spec(), 1, 2);
  TrainingState state;
  try {
    make_cpu_engine()->advance(ensemble, state, observations.set(), default_recipe(), 1, {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("[100,4]"), testing::HasSubstr("[100,3]")));
  }
}

TEST(Prediction, IsTheSameForAnyNumberOfPointsThreadsAndOutputsAskedFor) {
  const Ensemble ensemble = draw_ensemble(small_spec(), 3, 3);
  const Observations points(Space::plane, 2100);
  const auto all = predict(ensemble, points, 1);
  EXPECT_EQ(all, predict(ensemble, points, 3));
  for (const std::size_t count : {1, 255, 256, 257, 1025}) {
    std::vector<float> mean(count), variance(count), members(3 * count);
    make_cpu_engine({.threads = 2})
        ->predict(
            ensemble, points.set().coordinates.middle_rows(0, count),
            {.mean = {mean.data(), count, 1}, .variance = {variance.data(), count, 1}, .members = {members.data(), count, 3}});
    for (std::size_t i = 0; i < count; ++i) {
      // Products of another height may round differently: sums of 60 terms of size one.
      ASSERT_NEAR(mean[i], all[i], 2e-5) << count << " points, row " << i;
      const float* m = &members[3 * i];
      const double average = (static_cast<double>(m[0]) + m[1] + m[2]) / 3;
      ASSERT_NEAR(mean[i], average, 1e-6);
      ASSERT_NEAR(variance[i], (std::pow(m[0] - average, 2) + std::pow(m[1] - average, 2) + std::pow(m[2] - average, 2)) / 2,
                  1e-6);
    }
  }
  predict(ensemble, Observations(Space::plane, 0));  // no points: nothing to do
}

TEST(Prepared, PredictsTheBitsOfItsEngine) {
  const Ensemble ensemble = draw_ensemble(small_spec(), 3, 3);
  const Observations points(Space::plane, 700);
  const auto engine = make_cpu_engine({.threads = 2});
  const std::unique_ptr<Predictor> prepared = engine->prepare(ensemble);
  for (const std::size_t count : {300, 700, 1}) {
    const auto rows = points.set().coordinates.middle_rows(0, count);
    std::vector<float> mean(count), variance(count), members(3 * count), gradient(3 * count);
    prepared->predict(
        rows, {.mean = {mean.data(), count, 1}, .variance = {variance.data(), count, 1}, .members = {members.data(), count, 3}});
    prepared->input_gradient(rows, {gradient.data(), count, 3});
    std::vector<float> mean_once(count), variance_once(count), members_once(3 * count), gradient_once(3 * count);
    engine->predict(ensemble, rows,
                    {.mean = {mean_once.data(), count, 1},
                     .variance = {variance_once.data(), count, 1},
                     .members = {members_once.data(), count, 3}});
    engine->input_gradient(ensemble, rows, {gradient_once.data(), count, 3});
    EXPECT_EQ(mean, mean_once);
    EXPECT_EQ(variance, variance_once);
    EXPECT_EQ(members, members_once);
    EXPECT_EQ(gradient, gradient_once);
  }
}

TEST(Prepared, RefusesAnEnsembleThatDoesNotFitItsSpec) {
  Ensemble ensemble = draw_ensemble(small_spec(), 3, 2);
  ensemble.members[1].parameters.pop_back();
  EXPECT_THROW(make_cpu_engine()->prepare(ensemble), UsageError);
}

TEST(Prediction, OfOneMemberHasNoVariance) {
  const Ensemble ensemble = draw_ensemble(small_spec(), 3, 1);
  const Observations points(Space::plane, 10);
  std::vector<float> variance(10, 7.0F);
  make_cpu_engine()->predict(ensemble, points.set().coordinates,
                             {.mean = {}, .variance = {variance.data(), 10, 1}, .members = {}});
  for (const float value : variance) EXPECT_EQ(value, 0.0F);
}

TEST(HeadInputs, TimesTheLastMatrixAreThePrediction) {
  NetworkSpec joint = small_spec(), alone = default_spec(Space::sphere, 3, false);
  joint.coupling = Coupling::additive;
  const NetworkSpec two_chains = joint;
  joint.joint.layers = 1;
  alone.features = 50;
  for (const NetworkSpec& spec : {small_spec(), two_chains, joint, small_spec(Space::sphere), alone}) {
    const Ensemble ensemble = draw_ensemble(spec, 3, 2);
    Observations points(spec.space, 1100);
    const auto columns = static_cast<std::size_t>(spec.coordinates());
    const MatrixView<const float> coordinates(points.coordinates.data(), 1100, columns, points.columns);
    const std::size_t inputs = head_input_count(spec);
    std::vector<float> head(1100 * inputs), members(2200);
    const auto engine = make_cpu_engine({.threads = 3});
    engine->head_inputs(ensemble, 1, coordinates, {head.data(), 1100, inputs});
    engine->predict(ensemble, coordinates, {.mean = {}, .variance = {}, .members = {members.data(), 1100, 2}});
    std::vector<float> both(1100 * 2 * inputs);
    engine->prepare(ensemble)->head_inputs(coordinates, {both.data(), 1100, 2 * inputs});
    for (std::size_t row = 0; row < 1100; ++row) {
      const auto second = both.begin() + static_cast<std::ptrdiff_t>((2 * row + 1) * inputs);
      ASSERT_TRUE(std::equal(second, second + static_cast<std::ptrdiff_t>(inputs),
                             head.begin() + static_cast<std::ptrdiff_t>(row * inputs)));
    }
    EXPECT_THROW(engine->prepare(ensemble)->head_inputs(coordinates, {both.data(), 1100, inputs}), UsageError);
    const Plan plan = make_plan(spec);
    const float* matrix = ensemble.members[1].parameters.data() + (plan.has_head ? plan.head : plan.layers.back().bottleneck);
    for (std::size_t row = 0; row < 1100; ++row) {
      double sum = 0;
      for (std::size_t i = 0; i < inputs; ++i) sum += static_cast<double>(head[row * inputs + i]) * matrix[i];
      ASSERT_NEAR(sum, members[2 * row + 1], 1e-5) << row;
    }
  }
}

TEST(InputGradient, MatchesDifferencesOfThePrediction) {
  NetworkSpec spec = small_spec();
  spec.outputs = 2;
  for (ChainSpec* chain : {&spec.spatial, &spec.temporal}) {  // smooth enough for differences in float
    chain->covariance.family = chain->hidden_covariance.family = Family::squared_exponential;
  }
  const Ensemble ensemble = draw_ensemble(spec, 3, 2);
  Observations points(Space::plane, 300);
  const auto engine = make_cpu_engine({.threads = 2});
  std::vector<float> gradient(300 * 6), up(600), down(600);
  engine->input_gradient(ensemble, points.set().coordinates, {gradient.data(), 300, 6});
  constexpr float kStep = 2e-3F;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t row = 0; row < 300; ++row) points.coordinates[row * 3 + i] += kStep;
    engine->predict(ensemble, points.set().coordinates, {.mean = {up.data(), 300, 2}, .variance = {}, .members = {}});
    for (std::size_t row = 0; row < 300; ++row) points.coordinates[row * 3 + i] -= 2 * kStep;
    engine->predict(ensemble, points.set().coordinates, {.mean = {down.data(), 300, 2}, .variance = {}, .members = {}});
    for (std::size_t row = 0; row < 300; ++row) points.coordinates[row * 3 + i] += kStep;
    double error = 0, size = 0;
    for (std::size_t row = 0; row < 300; ++row) {
      for (std::size_t o = 0; o < 2; ++o) {
        const double expected = (static_cast<double>(up[row * 2 + o]) - down[row * 2 + o]) / (2 * kStep);
        error += std::pow(gradient[row * 6 + o * 3 + i] - expected, 2);
        size += expected * expected;
      }
    }
    EXPECT_LT(std::sqrt(error / size), 0.02) << "coordinate " << i;  // differences in float; passes_test checks to 2e-7
  }
}

}  // namespace
}  // namespace drift
