#include "engine/cpu/folded_head.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/cpu/engine_testing.h"
#include "engine/cpu/passes_testing.h"

namespace drift::cpu {
namespace {

// Everything that a pass there and back gives, one after the other.
template <class Real>
std::vector<Real> passes(const Problem& problem, Wanted wanted) {
  const std::vector<Real> fixed(problem.fixed.begin(), problem.fixed.end());
  const std::vector<Real> parameters(problem.parameters.begin(), problem.parameters.end());
  const ScaleResolver resolver(problem.plan());
  const Plan& plan = resolver.plan();
  const Network<Real> network(resolver, fixed.data(), parameters.data());
  constexpr std::size_t kRows = Problem::kRows;
  wanted.backward = wanted.hyper = wanted.coordinates = true;
  Workspace<Real> ws(plan, kRows, wanted);
  std::copy(problem.coordinates.begin(), problem.coordinates.end(), ws.coordinates(kRows).data);
  forward(network, ws, kRows);
  const std::size_t outputs = kRows * problem.outputs();
  for (std::size_t i = 0; i < outputs; ++i) ws.output_gradient(kRows).data[i] = static_cast<Real>(problem.values[i]);
  std::vector<Real> all(plan.parameter_size);
  backward(network, ws, kRows, all.data(), false);
  if (folds_head(plan, wanted)) unfold_gradient(network, all.data());
  all.insert(all.end(), ws.output(kRows).data, ws.output(kRows).data + outputs);
  all.insert(all.end(), ws.coordinate_gradient(kRows).data, ws.coordinate_gradient(kRows).data + problem.coordinates.size());
  return all;
}

template <class Real>
void expect_near(const std::vector<Real>& found, const std::vector<Real>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  double largest = 0;
  for (const Real value : expected) largest = std::max(largest, std::abs(static_cast<double>(value)));
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], tolerance * largest) << i;
}

std::vector<Case> folded_cases() {
  std::vector<Case> all = cases();
  std::erase_if(all, [](const Case& one) { return !folds_head(make_plan(one.spec), {}); });
  return all;
}

class FoldedHead : public testing::TestWithParam<Case> {};

TEST_P(FoldedHead, GivesWhatTheHeadApartGives) {
  const Problem problem(GetParam());
  const auto folded = passes<double>(problem, {}), apart = passes<double>(problem, {.head_inputs = true});
  expect_near(folded, apart, 1e-13);  // sums of some ten terms in another order
  EXPECT_NE(folded, apart) << "the same sums: nothing was folded";
  expect_near(passes<float>(problem, {}), passes<float>(problem, {.head_inputs = true}), 2e-6);
}

INSTANTIATE_TEST_SUITE_P(Networks, FoldedHead, testing::ValuesIn(folded_cases()),
                         [](const auto& instance) { return instance.param.name; });

TEST(FoldsHead, WhereThereIsOneOfFewOutputsThatIsCertainAndNotAskedFor) {
  const auto folds = [](NetworkSpec spec, int outputs, Wanted wanted) {
    spec.outputs = outputs;
    return folds_head(make_plan(spec), wanted);
  };
  const NetworkSpec paper = paper_spec(1.0, 1.0, 1.0);
  EXPECT_TRUE(folds(paper, 1, {}));
  EXPECT_TRUE(folds(paper, 32, {.backward = true, .hyper = true, .coordinates = true}));
  EXPECT_FALSE(folds(paper, 33, {})) << "a quarter of the bottleneck's 128";
  EXPECT_FALSE(folds(paper, 1, {.dropout = true}));
  EXPECT_FALSE(folds(paper, 1, {.variational = true}));
  EXPECT_FALSE(folds(paper, 1, {.head_inputs = true}));
  EXPECT_FALSE(folds(small(Space::plane, 2, 0, 0), 1, {})) << "no head";
  EXPECT_FALSE(folds(small(Space::plane, 2, 1, 1), 1, {})) << "no head";
  EXPECT_FALSE(folds(small_dense(Space::plane, true, {.layers = 2}), 1, {})) << "no head";
}

// The gradient of one batch as the engine's first moment has it after one step of Adam, and by one pass in double.
struct BatchGradients {
  std::vector<double> engine, reference;
};

BatchGradients batch_gradients(const NetworkSpec& spec, std::size_t count) {
  const engine_testing::Observations observations(spec.space, count);
  Recipe recipe = paper_recipe();
  recipe.batch = count;
  recipe.beta = 0.0;
  Ensemble ensemble = draw_ensemble(spec, 11, 1);
  const std::vector<double> fixed(ensemble.members[0].fixed.begin(), ensemble.members[0].fixed.end());
  const std::vector<double> parameters(ensemble.members[0].parameters.begin(), ensemble.members[0].parameters.end());
  TrainingState state;
  make_cpu_engine({.threads = 2})->advance(ensemble, state, observations.set(), recipe, 1, {});
  BatchGradients result;
  for (const float moment : state.members[0].moment1) result.engine.push_back(moment / (1.0 - recipe.adam_beta1));

  const ScaleResolver resolver(make_plan(spec));
  const Network<double> network(resolver, fixed.data(), parameters.data());
  Workspace<double> ws(resolver.plan(), count, {.backward = true, .head_inputs = true});
  std::copy(observations.coordinates.begin(), observations.coordinates.end(), ws.coordinates(count).data);
  forward(network, ws, count);
  const std::vector<double> values(observations.values.begin(), observations.values.end());
  loss_and_gradient<double>(loss_of(recipe), ws.output(count), {values.data(), count, 1}, {}, 1.0 / static_cast<double>(count),
                            ws.output_gradient(count));
  result.reference.resize(resolver.plan().parameter_size);
  backward(network, ws, count, result.reference.data(), false);
  return result;
}

TEST(FoldedHeadInTraining, GivesTheWholeBatchsGradientHoweverItIsCut) {
  // One slice; three, the last one short; eight of two blocks each.
  for (const std::size_t count : {100U, 700U, 2500U}) {
    for (const Space space : {Space::plane, Space::sphere}) {
      SCOPED_TRACE(count);
      const BatchGradients gradients = batch_gradients(engine_testing::small_spec(space), count);
      expect_near(gradients.engine, gradients.reference, 1e-5);  // float's phases reach tens of turns
    }
  }
}

TEST(FoldedHeadInTraining, WouldBeNoticedIfASliceWereMissing) {
  const BatchGradients whole = batch_gradients(engine_testing::small_spec(), 700);
  const BatchGradients first = batch_gradients(engine_testing::small_spec(), 467);  // two of its three slices
  const std::size_t at = make_plan(engine_testing::small_spec()).head;
  double apart = 0, largest = 0;
  for (std::size_t i = 0; i < whole.reference.size(); ++i) largest = std::max(largest, std::abs(whole.reference[i]));
  for (std::size_t i = at; i < at + 24; ++i) apart = std::max(apart, std::abs(whole.engine[i] - first.reference[i] * 467 / 700));
  EXPECT_GT(apart, 1e-3 * largest);
}

}  // namespace
}  // namespace drift::cpu
