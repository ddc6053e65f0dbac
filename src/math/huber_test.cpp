#include "math/huber.h"

#include <gtest/gtest.h>

#include <cmath>

namespace drift {
namespace {

TEST(Huber, IsSquaredInTheMiddleAndLinearBeyond) {
  EXPECT_EQ(huber_value(0.5, 1.0), 0.125);
  EXPECT_EQ(huber_value(-0.5, 1.0), 0.125);
  EXPECT_EQ(huber_value(3.0, 1.0), 2.5);
  EXPECT_EQ(huber_value(-3.0, 1.0), 2.5);
  EXPECT_EQ(huber_slope(-3.0, 1.0), -1.0);
  EXPECT_EQ(huber_slope(0.25, 1.0), 0.25);
}

TEST(Huber, HasTheSlopeOfItsValueAndNoStepAtDelta) {
  constexpr double kStep = 1e-6, kError = 1e-9;  // central differences of a parabola and of a line
  for (const double residual : {-4.0, -0.7, 0.0, 0.3, 2.5}) {
    const double difference = (huber_value(residual + kStep, 0.8) - huber_value(residual - kStep, 0.8)) / (2.0 * kStep);
    EXPECT_NEAR(huber_slope(residual, 0.8), difference, kError);
  }
  EXPECT_NEAR(huber_value(0.8, 0.8), huber_value(0.8 + 1e-12, 0.8), 1e-11);
}

TEST(Huber, KeepsWhatIsNotANumber) {
  EXPECT_TRUE(std::isnan(huber_value(NAN, 1.0F)));
  EXPECT_TRUE(std::isnan(huber_slope(NAN, 1.0F)));
  EXPECT_EQ(huber_slope(INFINITY, 1.0F), 1.0F);
}

}  // namespace
}  // namespace drift
