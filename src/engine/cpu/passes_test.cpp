// Every gradient of the passes against central finite differences, in double, on the code that trains in float.

#include "engine/cpu/passes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "drift/ensemble.h"
#include "train/loss.h"

namespace drift::cpu {
namespace {

// Central differences with step h have an error of h^2 f'''/6 + 1e-16 f / h, below 1e-7 of the gradient's size or of one here.
constexpr double kStep = 1e-5;
constexpr double kTolerance = 2e-7;
double tolerance(double gradient) { return kTolerance * (1 + std::abs(gradient)); }

NetworkSpec small(Space space, int spatial, int temporal, int joint) {
  NetworkSpec spec = default_spec(space, space == Space::plane ? 2 : 3, temporal > 0);
  spec.spatial.layers = spatial;
  spec.temporal.layers = temporal;
  spec.joint.layers = joint;
  spec.features = 14;
  spec.bottleneck = 4;
  spec.spatial.lengthscales = {space == Space::plane ? 0.8 : 0.6};
  spec.spatial.amplitude = 0.9;
  spec.spatial.hidden_amplitude = 1.2;
  spec.temporal.lengthscales = {0.7};
  spec.joint.hidden_lengthscale = 1.3;
  return spec;
}

struct Case {
  std::string name;
  NetworkSpec spec;
  Loss loss = {};
};

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"paper_like", small(Space::plane, 4, 1, 0)});
  all.push_back({"huber", small(Space::plane, 2, 1, 0), {LossKind::huber, 0.4}});
  all.push_back({"no_skip", small(Space::plane, 3, 2, 0)});
  all.back().spec.skip = false;
  all.push_back({"deep_time", small(Space::plane, 1, 3, 0)});
  all.push_back({"joint", small(Space::plane, 2, 1, 2)});
  all.push_back({"space_only", small(Space::plane, 2, 0, 0)});
  all.push_back({"one_layer", small(Space::plane, 1, 0, 0)});
  all.push_back({"time_only", small(Space::plane, 0, 2, 0)});
  all.push_back({"two_outputs", small(Space::plane, 2, 1, 0)});
  all.back().spec.outputs = 2;
  all.push_back({"own_lengthscales", small(Space::plane, 2, 1, 0)});
  all.back().spec.spatial.lengthscales = {0.5, 1.1};
  all.push_back({"squared_exponential", small(Space::plane, 2, 1, 0)});
  all.back().spec.spatial.covariance.family = Family::squared_exponential;
  all.back().spec.spatial.hidden_covariance.family = Family::squared_exponential;
  all.push_back({"structured", small(Space::plane, 3, 2, 1)});
  all.back().spec.frequencies = Frequencies::structured;
  all.push_back({"structured_and_padded", small(Space::plane, 3, 1, 0)});
  all.back().spec.frequencies = Frequencies::structured;
  all.back().spec.bottleneck = 5;
  all.push_back({"sphere", small(Space::sphere, 3, 1, 0)});
  all.push_back({"sphere_no_skip", small(Space::sphere, 2, 1, 0)});
  all.back().spec.skip = false;
  all.push_back({"heat_joint", small(Space::sphere, 2, 1, 1), {LossKind::huber, 0.5}});
  all.back().spec.spatial.covariance.family = Family::squared_exponential;
  all.push_back({"sphere_one_layer", small(Space::sphere, 1, 0, 0)});
  return all;
}

// A network in double with made-up observations: everything a gradient depends on, open to small changes.
class Problem {
 public:
  explicit Problem(const Case& a_case) : resolver_(make_plan(a_case.spec)), loss_(a_case.loss) {
    const Ensemble ensemble = draw_ensemble(a_case.spec, 7, 1);
    fixed.assign(ensemble.members[0].fixed.begin(), ensemble.members[0].fixed.end());
    parameters.assign(ensemble.members[0].parameters.begin(), ensemble.members[0].parameters.end());
    for (std::size_t i = 0; i < plan().hyperparameters.size(); ++i) {
      parameters[plan().hyper + i] = 0.1 * std::sin(3.0 * static_cast<double>(i + 1));  // as if partly trained
    }
    const auto columns = static_cast<std::size_t>(plan().coordinates);
    for (std::size_t i = 0; i < kRows * columns; ++i) coordinates.push_back(std::sin(1.7 * static_cast<double>(i) + 0.3));
    if (a_case.spec.space == Space::sphere && a_case.spec.spatial.layers > 0) {
      for (std::size_t row = 0; row < kRows; ++row) normalise(&coordinates[row * columns]);
    }
    for (std::size_t i = 0; i < kRows * outputs(); ++i) values.push_back(std::cos(0.9 * static_cast<double>(i)));
    for (std::size_t i = 0; i < kRows; ++i) weights.push_back(0.5 + 0.25 * static_cast<double>(i));
  }

  const Plan& plan() const { return resolver_.plan(); }
  std::size_t outputs() const { return static_cast<std::size_t>(plan().spec.outputs); }
  static void normalise(double* s) {
    const double length = std::hypot(s[0], s[1], s[2]);
    for (int i = 0; i < 3; ++i) s[i] /= length;
  }

  double objective() { return run(nullptr, {}).first; }

  // Gradient of the parameters, and of the coordinates.
  std::pair<double, std::vector<double>> run(std::vector<double>* gradient, Wanted wanted) {
    const Network<double> network(resolver_, fixed.data(), parameters.data());
    wanted.backward = true;
    Workspace<double> ws(plan(), kRows, wanted);
    std::copy(coordinates.begin(), coordinates.end(), ws.coordinates(kRows).data);
    forward(network, ws, kRows);
    const MatrixView<const double> target(values.data(), kRows, outputs());
    const double loss =
        loss_and_gradient<double>(loss_, ws.output(kRows), target, weights, 1.0 / kRows, ws.output_gradient(kRows)) / kRows;
    if (gradient != nullptr) gradient->assign(plan().parameter_size, 0.0);
    backward(network, ws, kRows, gradient == nullptr ? nullptr : gradient->data(), false);
    const MatrixView<double> slope = ws.coordinate_gradient(kRows);
    return {loss, std::vector<double>(slope.data, slope.data + coordinates.size())};
  }

  double difference(double& parameter) {
    const double before = parameter;
    parameter = before + kStep;
    const double up = objective();
    parameter = before - kStep;
    const double down = objective();
    parameter = before;
    return (up - down) / (2 * kStep);
  }

  static constexpr std::size_t kRows = 5;
  std::vector<double> fixed, parameters, coordinates, values, weights;

 private:
  ScaleResolver resolver_;
  Loss loss_;
};

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
  const std::size_t at = problem.plan().layers[1].bottleneck;
  std::size_t steepest = at;
  for (std::size_t i = at; i < at + 14; ++i) {
    if (std::abs(gradient[i]) > std::abs(gradient[steepest])) steepest = i;
  }
  const double truth = problem.difference(problem.parameters[steepest]);
  EXPECT_NEAR(gradient[steepest], truth, tolerance(truth));
  EXPECT_GT(std::abs(-gradient[steepest] - truth), tolerance(truth));
  EXPECT_GT(std::abs(1.0001 * gradient[steepest] - truth), tolerance(truth));
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
  for (std::size_t i = 0; i < twice.size(); ++i) ASSERT_NEAR(twice[i], 2 * once[i], 1e-12);
}

}  // namespace
}  // namespace drift::cpu
