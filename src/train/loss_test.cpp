#include "train/loss.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace drift {
namespace {

constexpr std::size_t kRows = 7;
constexpr std::size_t kOutputs = 2;
constexpr double kDelta = 0.3;

// Residuals on both sides of delta, none within the finite difference's step of it.
struct Block {
  std::vector<double> prediction, target, weights;

  Block() : prediction(kRows * kOutputs), target(kRows * kOutputs), weights(kRows) {
    for (std::size_t i = 0; i < prediction.size(); ++i) {
      target[i] = std::cos(2.0 * static_cast<double>(i));
      prediction[i] = target[i] + 0.9 * std::sin(1.0 + 1.7 * static_cast<double>(i));
    }
    for (std::size_t row = 0; row < kRows; ++row) weights[row] = 0.25 * static_cast<double>(row);  // the first is zero
  }

  double evaluate(const Loss& loss, double scale, std::vector<double>& gradient) const {
    gradient.resize(prediction.size());
    return loss_and_gradient<double>(loss, {prediction.data(), kRows, kOutputs}, {target.data(), kRows, kOutputs}, weights, scale,
                                     {gradient.data(), kRows, kOutputs});
  }
};

// The largest difference between `gradient` and central differences of scale * loss.
double gradient_error(const Loss& loss, double scale, const std::vector<double>& gradient) {
  constexpr double kStep = 1e-6;
  Block block;
  std::vector<double> unused;
  double greatest = 0.0;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double kept = block.prediction[i];
    block.prediction[i] = kept + kStep;
    const double above = block.evaluate(loss, scale, unused);
    block.prediction[i] = kept - kStep;
    const double below = block.evaluate(loss, scale, unused);
    block.prediction[i] = kept;
    greatest = std::max(greatest, std::abs(gradient[i] - scale * (above - below) / (2.0 * kStep)));
  }
  return greatest;
}

// Central differences of a quadratic are exact but for rounding: 1e-16 * loss / step.
constexpr double kDifferenceTolerance = 1e-8;

class LossGradient : public testing::TestWithParam<LossKind> {};

TEST_P(LossGradient, AgreesWithFiniteDifferences) {
  const Loss loss{GetParam(), kDelta};
  std::vector<double> gradient;
  Block().evaluate(loss, 0.125, gradient);
  EXPECT_LT(gradient_error(loss, 0.125, gradient), kDifferenceTolerance);
}

TEST_P(LossGradient, CheckRejectsAFlippedSign) {
  const Loss loss{GetParam(), kDelta};
  std::vector<double> gradient;
  Block().evaluate(loss, 0.125, gradient);
  gradient[5] = -gradient[5];
  EXPECT_GT(gradient_error(loss, 0.125, gradient), 1e-3);
}

TEST_P(LossGradient, OfAnObservationWithoutWeightIsZero) {
  std::vector<double> gradient;
  Block().evaluate({GetParam(), kDelta}, 1.0, gradient);
  for (std::size_t output = 0; output < kOutputs; ++output) EXPECT_EQ(gradient[output], 0.0);
}

// By the trapezoidal rule over all residuals that matter.
TEST_P(LossGradient, NormaliserIsTheIntegralOfTheLikelihood) {
  const Loss loss{GetParam(), kDelta};
  for (const double t : {0.1, 0.5, 2.0}) {
    const double step = 1e-3 * t, far = 40.0 * t * (1.0 + t / kDelta);
    double sum = 0.0;
    for (double r = -far; r < far; r += step) sum += step * std::exp(-loss_value(loss, r) / (2.0 * t * t));
    EXPECT_NEAR(log_normaliser(loss, t), std::log(sum), 1e-6) << t;
  }
}

// Every loss that has a word; an enumerator that has none is refused, and taken for no other.
std::vector<LossKind> all_losses() {
  std::vector<LossKind> kinds;
  for (const std::string_view word : words_of<LossKind>()) kinds.push_back(*from_word<LossKind>(word));
  return kinds;
}
INSTANTIATE_TEST_SUITE_P(Kinds, LossGradient, testing::ValuesIn(all_losses()),
                         [](const auto& kind) { return std::string(word_of(kind.param)); });

TEST(Loss, OfAnUnknownKindIsRefused) {
  const Loss none{static_cast<LossKind>(9), kDelta};
  EXPECT_THROW(loss_value(none, 1.0), UsageError);
  EXPECT_THROW(log_normaliser(none, 1.0), UsageError);
}

double one_loss(const Loss& loss, double residual, double* slope = nullptr) {
  const double target = 0.0;
  double gradient = 0.0;
  const double value = loss_and_gradient<double>(loss, {&residual, 1, 1}, {&target, 1, 1}, {}, 1.0, {&gradient, 1, 1});
  if (slope != nullptr) *slope = gradient;
  return value;
}

TEST(Huber, ValueAndSlopeJoinAtDelta) {
  const Loss loss{LossKind::huber, kDelta};
  for (const double sign : {-1.0, 1.0}) {
    double inside = 0.0, outside = 0.0;
    const double value_inside = one_loss(loss, sign * kDelta * (1.0 - 1e-12), &inside);
    const double value_outside = one_loss(loss, sign * kDelta * (1.0 + 1e-12), &outside);
    EXPECT_NEAR(value_inside, value_outside, 1e-12);
    EXPECT_NEAR(inside, outside, 1e-12);
    EXPECT_NEAR(outside, sign * kDelta, 1e-15);
  }
}

TEST(Huber, IsHalfTheSquareInsideAndALineBeyond) {
  const Loss loss{LossKind::huber, 0.5};
  EXPECT_DOUBLE_EQ(one_loss(loss, 0.4), 0.08);
  EXPECT_DOUBLE_EQ(one_loss(loss, -2.0), 0.5 * (2.0 - 0.25));
}

TEST(Squared, SumsOverOutputsAndWeighsObservations) {
  const std::vector<float> prediction = {1, 2, 3, 4}, target = {0, 0, 1, 1}, weights = {2, 0.5F};
  std::vector<float> gradient(4);
  const double sum =
      loss_and_gradient<float>({}, {prediction.data(), 2, 2}, {target.data(), 2, 2}, weights, 0.5F, {gradient.data(), 2, 2});
  EXPECT_DOUBLE_EQ(sum, 2.0 * 5.0 + 0.5 * 13.0);
  EXPECT_EQ(gradient, (std::vector<float>{2, 4, 1, 1.5F}));
}

TEST(LossAndGradient, MayWriteTheGradientOverThePredictionAndHonoursStrides) {
  std::vector<float> prediction = {1, 9, 3, 9};  // one output, rows two apart; the nines must stay
  const std::vector<float> target = {0, 1};
  const double sum =
      loss_and_gradient<float>({}, {prediction.data(), 2, 1, 2}, {target.data(), 2, 1}, {}, 1.0F, {prediction.data(), 2, 1, 2});
  EXPECT_DOUBLE_EQ(sum, 1.0 + 4.0);
  EXPECT_EQ(prediction, (std::vector<float>{2, 9, 4, 9}));
}

}  // namespace
}  // namespace drift
