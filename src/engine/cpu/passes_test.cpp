// Every gradient of the passes against central finite differences, in double, on the code that trains in float.

#include "engine/cpu/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/cpu/passes_testing.h"

namespace drift::cpu {
namespace {

class GradientCheck : public testing::TestWithParam<Case> {};

TEST_P(GradientCheck, OfEveryTrainedNumberMatchesFiniteDifferences) {
  Problem problem(GetParam());
  std::vector<double> gradient;
  problem.run(&gradient, {.hyper = true});
  double largest = 0;
  for (const TensorInfo& tensor : problem.plan().parameter_tensors) {
    for (std::size_t i = tensor.offset; i < tensor.offset + tensor.size(); ++i) {
      ASSERT_NEAR(gradient[i], problem.difference(problem.parameters[i]), tolerance(gradient[i]))
          << tensor.name << "[" << i - tensor.offset << "]";
      largest = std::max(largest, std::abs(gradient[i]));
    }
  }
  EXPECT_GT(largest, 1e3 * kTolerance) << "the gradient is too small for this check to mean anything";
}

TEST_P(GradientCheck, OfTheBottlenecksIsTheSameWithAndWithoutHyperparameters) {
  Problem problem(GetParam());
  std::vector<double> with, without;
  problem.run(&with, {.hyper = true});
  problem.run(&without, {});
  for (std::size_t i = 0; i < problem.plan().hyper; ++i) ASSERT_EQ(with[i], without[i]);
}

TEST_P(GradientCheck, OfTheCoordinatesMatchesFiniteDifferences) {
  Problem problem(GetParam());
  const auto slope = problem.run(nullptr, {.coordinates = true}).second;
  const NetworkSpec& spec = problem.plan().spec;
  const bool sphere = spec.space == Space::sphere && spec.spatial.layers > 0;
  const auto columns = static_cast<std::size_t>(problem.plan().coordinates);
  for (std::size_t row = 0; row < Problem::kRows; ++row) {
    double* x = &problem.coordinates[row * columns];
    const double* g = &slope[row * columns];
    for (std::size_t i = sphere ? 3 : 0; i < columns; ++i) ASSERT_NEAR(g[i], problem.difference(x[i]), tolerance(g[i]));
    if (!sphere) continue;
    // Along the sphere: move in two tangent directions and come back to it.
    EXPECT_NEAR(g[0] * x[0] + g[1] * x[1] + g[2] * x[2], 0.0, 1e-12) << "not tangent";
    const std::vector<double> s(x, x + 3);
    for (const auto& direction : {std::vector{-s[1], s[0], 0.0}, std::vector{s[0] * s[2], s[1] * s[2], s[2] * s[2] - 1.0}}) {
      double sides[2];
      for (const int side : {0, 1}) {
        for (std::size_t i = 0; i < 3; ++i) x[i] = s[i] + (side == 0 ? -kStep : kStep) * direction[i];
        Problem::normalise(x);
        sides[side] = problem.objective();
      }
      std::copy(s.begin(), s.end(), x);
      const double along = g[0] * direction[0] + g[1] * direction[1] + g[2] * direction[2];
      EXPECT_NEAR(along, (sides[1] - sides[0]) / (2 * kStep), tolerance(along));
    }
  }
}

TEST_P(GradientCheck, FloatAgreesWithDouble) {
  Problem problem(GetParam());
  std::vector<double> expected;
  const double expected_loss = problem.run(&expected, {.hyper = true}).first;

  const ScaleResolver resolver(make_plan(GetParam().spec));
  const std::vector<float> fixed(problem.fixed.begin(), problem.fixed.end());
  const std::vector<float> parameters(problem.parameters.begin(), problem.parameters.end());
  const std::vector<float> values(problem.values.begin(), problem.values.end());
  const std::vector<float> weights(problem.weights.begin(), problem.weights.end());
  const Network<float> network(resolver, fixed.data(), parameters.data());
  const std::size_t rows = Problem::kRows;
  Workspace<float> ws(resolver.plan(), rows, {.backward = true, .hyper = true});
  std::copy(problem.coordinates.begin(), problem.coordinates.end(), ws.coordinates(rows).data);
  forward(network, ws, rows);
  const MatrixView<const float> target(values.data(), rows, problem.outputs());
  const double loss = loss_and_gradient<float>(GetParam().loss, ws.output(rows), target, weights, 1.0F / static_cast<float>(rows),
                                               ws.output_gradient(rows)) /
                      static_cast<double>(rows);
  std::vector<float> gradient(resolver.plan().parameter_size);
  backward(network, ws, rows, gradient.data(), false);
  if (folds_head(resolver.plan(), ws.wanted())) unfold_gradient(network, gradient.data());
  // Phases reach tens of turns: 6e-8 of that, through a few layers.
  EXPECT_NEAR(loss, expected_loss, 1e-4 * (1 + expected_loss));
  const double scale =
      std::abs(*std::max_element(expected.begin(), expected.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  for (std::size_t i = 0; i < gradient.size(); ++i) ASSERT_NEAR(gradient[i], expected[i], 1e-3 * scale) << i;
}

INSTANTIATE_TEST_SUITE_P(Networks, GradientCheck, testing::ValuesIn(cases()),
                         [](const auto& instance) { return instance.param.name; });

TEST(GradientCheckItself, RejectsAFlippedSignAndASmallError) {
  Problem problem(cases()[0]);
  std::vector<double> gradient;
  problem.run(&gradient, {});
  // A bottleneck, one with the head folded into it, and the head.
  const Plan& plan = problem.plan();
  for (const std::size_t at : {plan.layers[1].bottleneck, plan.layers[3].bottleneck, plan.head}) {
    std::size_t steepest = at;
    for (std::size_t i = at; i < at + 8; ++i) {
      if (std::abs(gradient[i]) > std::abs(gradient[steepest])) steepest = i;
    }
    const double truth = problem.difference(problem.parameters[steepest]);
    EXPECT_NEAR(gradient[steepest], truth, tolerance(truth));
    EXPECT_GT(std::abs(-gradient[steepest] - truth), tolerance(truth));
    EXPECT_GT(std::abs(1.0001 * gradient[steepest] - truth), tolerance(truth));
  }
}

TEST(GradientCheckItself, RejectsAFlippedSignOfTimeBesideTheUnitVector) {
  Problem problem({"space_time_sphere", small_space_time(Space::sphere, 3)});
  std::vector<double> gradient;
  const auto slope = problem.run(&gradient, {.hyper = true, .coordinates = true}).second;
  const double along_time = slope[3], truth = problem.difference(problem.coordinates[3]);
  EXPECT_NEAR(along_time, truth, tolerance(truth));
  EXPECT_GT(std::abs(-along_time - truth), tolerance(truth));
  const std::size_t lengthscale = problem.plan().hyper + static_cast<std::size_t>(problem.plan().coordinate_lengthscale[3]);
  const double by_lengthscale = problem.difference(problem.parameters[lengthscale]);
  EXPECT_NEAR(gradient[lengthscale], by_lengthscale, tolerance(by_lengthscale));
  EXPECT_GT(std::abs(-gradient[lengthscale] - by_lengthscale), tolerance(by_lengthscale));
}

TEST(Backward, AddsToTheGradientWhenAsked) {
  Problem problem(cases()[0]);
  std::vector<double> once;
  problem.run(&once, {.hyper = true});
  const ScaleResolver resolver(make_plan(cases()[0].spec));
  const Network<double> network(resolver, problem.fixed.data(), problem.parameters.data());
  Workspace<double> ws(resolver.plan(), Problem::kRows, {.backward = true, .hyper = true});
  std::copy(problem.coordinates.begin(), problem.coordinates.end(), ws.coordinates(Problem::kRows).data);
  forward(network, ws, Problem::kRows);
  const MatrixView<const double> target(problem.values.data(), Problem::kRows, 1);
  loss_and_gradient<double>({}, ws.output(Problem::kRows), target, problem.weights, 1.0 / Problem::kRows,
                            ws.output_gradient(Problem::kRows));
  std::vector<double> twice(resolver.plan().parameter_size, 0.0);
  backward(network, ws, Problem::kRows, twice.data(), false);
  backward(network, ws, Problem::kRows, twice.data(), true);
  unfold_gradient(network, twice.data());
  for (std::size_t i = 0; i < twice.size(); ++i) ASSERT_NEAR(twice[i], 2 * once[i], 1e-12);
}

}  // namespace
}  // namespace drift::cpu
