// Passes with dropout and with variational weights: gradients against finite differences, the random numbers held fixed; and that
// those numbers are what they should be.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/every_instruction_set.h"
#include "engine/cpu/passes_testing.h"
#include "train/variational.h"

namespace drift::cpu {
namespace {

// As if partly trained: sds from 0.05 to 0.4.
std::vector<double> some_log_sds(const Plan& plan) {
  std::vector<double> log_sds(plan.parameter_size, 0.0);
  for (const MatrixPlace& place : trained_matrices(plan)) {
    for (std::size_t i = place.offset; i < place.offset + place.size(); ++i) {
      log_sds[i] = -2.0 + std::sin(0.7 * static_cast<double>(i));
    }
  }
  return log_sds;
}

class RandomGradientCheck : public testing::TestWithParam<Case> {};

void expect_parameter_gradients(Problem& problem, const std::vector<double>& gradient) {
  for (const TensorInfo& tensor : problem.plan().parameter_tensors) {
    for (std::size_t i = tensor.offset; i < tensor.offset + tensor.size(); ++i) {
      ASSERT_NEAR(gradient[i], problem.difference(problem.parameters[i]), tolerance(gradient[i]))
          << tensor.name << "[" << i - tensor.offset << "]";
    }
  }
}

TEST_P(RandomGradientCheck, WithDropoutMatchesFiniteDifferences) {
  Problem problem(GetParam());
  std::vector<double> certain, gradient;
  problem.run(&certain, {.hyper = true});
  problem.dropout = 0.3;
  problem.run(&gradient, {.hyper = true});
  expect_parameter_gradients(problem, gradient);
  EXPECT_NE(gradient, certain) << "nothing was dropped";
}

TEST_P(RandomGradientCheck, WithVariationalWeightsMatchesFiniteDifferences) {
  Problem problem(GetParam());
  problem.log_sds = some_log_sds(problem.plan());
  std::vector<double> gradient;
  problem.run(&gradient, {.hyper = true});
  expect_parameter_gradients(problem, gradient);
  double largest = 0;
  for (const MatrixPlace& place : trained_matrices(problem.plan())) {
    for (std::size_t i = place.offset; i < place.offset + place.size(); ++i) {
      const double by_log_sd = 2 * std::exp(2 * problem.log_sds[i]) * gradient[problem.plan().parameter_size + i];
      ASSERT_NEAR(by_log_sd, problem.difference(problem.log_sds[i]), tolerance(by_log_sd)) << i;
      largest = std::max(largest, std::abs(by_log_sd));
    }
  }
  EXPECT_GT(largest, 1e3 * kTolerance) << "the gradient is too small for this check to mean anything";
}

INSTANTIATE_TEST_SUITE_P(Networks, RandomGradientCheck, testing::ValuesIn(cases()),
                         [](const auto& instance) { return instance.param.name; });

TEST(RandomGradientCheckItself, RejectsAFlippedSignAndASmallError) {
  Problem problem(cases()[0]);
  problem.log_sds = some_log_sds(problem.plan());
  std::vector<double> gradient;
  problem.run(&gradient, {});
  const std::size_t behind = problem.plan().parameter_size;
  std::size_t steepest = 0;
  for (std::size_t i = 0; i < problem.plan().hyper; ++i) {
    if (std::abs(gradient[behind + i]) > std::abs(gradient[behind + steepest])) steepest = i;
  }
  const double by_log_sd = 2 * std::exp(2 * problem.log_sds[steepest]) * gradient[behind + steepest];
  const double truth = problem.difference(problem.log_sds[steepest]);
  EXPECT_NEAR(by_log_sd, truth, tolerance(truth));
  EXPECT_GT(std::abs(-by_log_sd - truth), tolerance(truth));
  EXPECT_GT(std::abs(1.0001 * by_log_sd - truth), tolerance(truth));
}

// The first `rows` outputs of a one-layer network under noise, for many steps: [steps][rows].
std::vector<std::vector<double>> outputs_of_steps(double dropout, double sd, std::size_t steps) {
  NetworkSpec spec = small(Space::plane, 1, 0, 0);
  const ScaleResolver resolver(make_plan(spec));
  const Ensemble ensemble = draw_ensemble(spec, 7, 1);
  const std::vector<double> fixed(ensemble.members[0].fixed.begin(), ensemble.members[0].fixed.end());
  const std::vector<double> parameters(ensemble.members[0].parameters.begin(), ensemble.members[0].parameters.end());
  const std::vector<double> variances(parameters.size(), sd * sd);
  Network<double> network(resolver, fixed.data(), parameters.data());
  if (sd > 0) network.variances = variances.data();
  constexpr std::size_t kRows = 2;
  Workspace<double> ws(resolver.plan(), kRows, {.backward = true, .dropout = dropout > 0, .variational = sd > 0});
  std::vector<std::vector<double>> all;
  for (std::size_t step = 0; step < steps; ++step) {
    const PassNoise noise{.numbers = StepNoise(5, 0, step), .first_row = 0, .dropout = dropout};
    const std::vector<double> points = {0.3, -0.2, 0.3, -0.2};  // twice the same
    std::copy(points.begin(), points.end(), ws.coordinates(kRows).data);
    forward(network, ws, kRows, dropout > 0 || sd > 0 ? &noise : nullptr);
    all.emplace_back(ws.output(kRows).data, ws.output(kRows).data + kRows);
  }
  return all;
}

struct Moments {
  double mean, variance, covariance;  // the last between the two rows
};
Moments moments_of(const std::vector<std::vector<double>>& outputs) {
  const auto n = static_cast<double>(outputs.size());
  Moments m{};
  for (const auto& row : outputs) m.mean += (row[0] + row[1]) / (2 * n);
  for (const auto& row : outputs) {
    m.variance += (std::pow(row[0] - m.mean, 2) + std::pow(row[1] - m.mean, 2)) / (2 * n);
    m.covariance += (row[0] - m.mean) * (row[1] - m.mean) / n;
  }
  return m;
}

// Features of the point above, times the scale: what the output's exact moments are made of.
double sum_of_squares(bool times_weights) {
  NetworkSpec spec = small(Space::plane, 1, 0, 0);
  const ScaleResolver resolver(make_plan(spec));
  const Ensemble ensemble = draw_ensemble(spec, 7, 1);
  const std::vector<double> fixed(ensemble.members[0].fixed.begin(), ensemble.members[0].fixed.end());
  const std::vector<double> parameters(ensemble.members[0].parameters.begin(), ensemble.members[0].parameters.end());
  const Network<double> network(resolver, fixed.data(), parameters.data());
  Workspace<double> ws(resolver.plan(), 1, {});
  ws.coordinates(1)(0, 0) = 0.3;
  ws.coordinates(1)(0, 1) = -0.2;
  forward(network, ws, 1);
  double sum = 0;
  for (std::size_t i = 0; i < ws.last_input(1).cols; ++i) {
    const double term = network.scales.layers[0].output * ws.last_input(1)(0, i);
    sum += std::pow(times_weights ? term * parameters[i] : term, 2);
  }
  return sum;
}

constexpr std::size_t kSteps = 20000;
const double kMomentError =
    5.0 / std::sqrt(2.0 * kSteps);  // five standard errors, in units of the sd; of a variance, times sqrt 2

TEST(Dropout, KeepsTheMeanAndAddsTheVarianceOfItsMasks) {
  // output = sum_i mask_i a_i, mask = 1 / (1 - p) with probability 1 - p: mean sum a_i, variance p / (1 - p) sum a_i^2.
  const double certain = outputs_of_steps(0, 0, 1)[0][0];
  for (const double rate : {0.05, 0.5}) {
    const Moments m = moments_of(outputs_of_steps(rate, 0, kSteps));
    const double expected = rate / (1 - rate) * sum_of_squares(true);
    EXPECT_NEAR(m.mean, certain, kMomentError * std::sqrt(expected)) << rate;
    EXPECT_NEAR(m.variance / expected, 1, 2 * kMomentError) << rate;
    EXPECT_NEAR(m.covariance / expected, 0, 2 * kMomentError) << "rows share masks";
  }
}

TEST(LocalReparameterisation, HasTheMomentsOfDrawnWeights) {
  // output = sum_i a_i w_i, w_i ~ N(m_i, s^2): mean sum a_i m_i, variance s^2 sum a_i^2.
  const double certain = outputs_of_steps(0, 0, 1)[0][0];
  const Moments m = moments_of(outputs_of_steps(0, 0.3, kSteps));
  const double expected = 0.09 * sum_of_squares(false);
  EXPECT_NEAR(m.mean, certain, kMomentError * std::sqrt(expected));
  EXPECT_NEAR(m.variance / expected, 1, 2 * kMomentError);
  EXPECT_NEAR(m.covariance / expected, 0, 2 * kMomentError);
}

TEST(StepNoise, DoesNotDependOnHowABatchIsCut) {
  const StepNoise noise(1, 2, 3);
  std::vector<float> whole(20 * 13), part(20 * 13);
  noise.mask<float>(4, 0, 0.4, {whole.data(), 20, 13});
  noise.mask<float>(4, 0, 0.4, {part.data(), 7, 13});
  noise.mask<float>(4, 7, 0.4, {part.data() + 7 * 13, 13, 13});
  EXPECT_EQ(whole, part);
  noise.normal<float>(4, 0, {whole.data(), 20, 13});
  noise.normal<float>(4, 0, {part.data(), 7, 13});
  noise.normal<float>(4, 7, {part.data() + 7 * 13, 13, 13});
  EXPECT_EQ(whole, part);
}

TEST(StepNoise, IsTheSameOnEveryInstructionSetAndInDouble) {
  const StepNoise noise(1, 2, 3);
  for (const std::size_t columns : {1, 15, 16, 17, 128, 129, 300, 1000}) {
    std::vector<double> exact(3 * columns), exact_mask(3 * columns);
    noise.normal<double>(4, 9, {exact.data(), 3, columns});
    noise.mask<double>(4, 9, 0.3, {exact_mask.data(), 3, columns});
    for_every_instruction_set([&] {
      std::vector<float> found(3 * columns), mask(3 * columns);
      noise.normal<float>(4, 9, {found.data(), 3, columns});
      noise.mask<float>(4, 9, 0.3, {mask.data(), 3, columns});
      for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_NEAR(found[i], exact[i], 2e-6) << i;
        ASSERT_FLOAT_EQ(mask[i], static_cast<float>(exact_mask[i])) << i;
      }
    });
  }
}

TEST(StepNoise, ChangesWithSeedMemberStepMatrixAndRow) {
  const auto numbers = [](const StepNoise& noise, std::size_t matrix, std::size_t first_row) {
    std::vector<double> all(8);
    noise.normal<double>(matrix, first_row, {all.data(), 1, 8});
    return all;
  };
  const auto reference = numbers(StepNoise(1, 2, 3), 4, 5);
  EXPECT_EQ(numbers(StepNoise(1, 2, 3), 4, 5), reference);
  EXPECT_NE(numbers(StepNoise(2, 2, 3), 4, 5), reference);
  EXPECT_NE(numbers(StepNoise(1, 3, 3), 4, 5), reference);
  EXPECT_NE(numbers(StepNoise(1, 2, 4), 4, 5), reference);
  EXPECT_NE(numbers(StepNoise(1, 2, 3 + (std::uint64_t{1} << 32)), 4, 5), reference);
  EXPECT_NE(numbers(StepNoise(1, 2, 3), 5, 5), reference);
  EXPECT_NE(numbers(StepNoise(1, 2, 3), 4, 6), reference);
}

TEST(StepNoise, IsNormalAndItsNeighboursAreIndependent) {
  constexpr std::size_t kCount = 400000;
  std::vector<float> x(kCount);
  StepNoise(9, 0, 0).normal<float>(0, 0, {x.data(), 1000, kCount / 1000});
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, lag = 0, beyond = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    m1 += static_cast<double>(x[i]) / kCount;
    m2 += static_cast<double>(x[i]) * x[i] / kCount;
    m3 += std::pow(static_cast<double>(x[i]), 3) / kCount;
    m4 += std::pow(static_cast<double>(x[i]), 4) / kCount;
    if (i > 0) lag += static_cast<double>(x[i]) * x[i - 1] / kCount;
    beyond += std::abs(x[i]) > 3 ? 1.0 / kCount : 0;
  }
  const double error = 5 / std::sqrt(static_cast<double>(kCount));
  EXPECT_NEAR(m1, 0, error);
  EXPECT_NEAR(m2, 1, std::sqrt(2.0) * error);
  EXPECT_NEAR(m3, 0, std::sqrt(15.0) * error);
  EXPECT_NEAR(m4, 3, std::sqrt(96.0) * error);
  EXPECT_NEAR(lag, 0, error);
  EXPECT_NEAR(beyond, 0.0026998, std::sqrt(0.0027) * error);
}

}  // namespace
}  // namespace drift::cpu
