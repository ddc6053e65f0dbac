#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/gp_adapter_testing.h"
#include "drift/error.h"

namespace drift {
namespace {

TEST(NearestGpMethod, RecoversAFieldWithAnHonestSpread) {
  expect_good(nearest_gp_method(), "subset=200", SimulatedField(false, 500, 400), 0.2);
  expect_good(nearest_gp_method(), "subset=200", SimulatedField(true, 500, 400), 0.3);
  expect_good(nearest_gp_method(), "subset=200,covariance=product,nu=2.5,lengthscale=300", SimulatedField(false, 500, 400), 0.2);
}

TEST(NearestGpMethod, GivesTheSameOnAnyNumberOfThreads) {
  expect_same_on_any_threads(nearest_gp_method(), "subset=100,neighbours=8", SimulatedField(true, 300, 600));
}

TEST(NearestGpMethod, UsesTheErrorsThatAreKnown) {
  const SimulatedField field(false, 300, 300);
  std::vector<float> sd(300, 0.0F);
  std::vector<float> spoilt = field.values;
  for (std::size_t i = 0; i < 300; i += 3) {  // a third is worthless, and said to be
    spoilt[i] += i % 2 == 0 ? 5.0F : -5.0F;
    sd[i] = 5.0F;
  }
  const auto error = [&](bool told) {
    InterpolatorData data = field.data();
    data.training.values.data = spoilt.data();
    if (told) data.noise_sd = sd;
    const auto method = made(nearest_gp_method(), "", field.domain());
    method->fit(data, {});
    const Forecast forecast(*method, field.points());
    double square = 0.0;
    for (std::size_t i = 0; i < 300; ++i) square += std::pow(forecast.mean[i] - field.new_field[i], 2);
    return std::sqrt(square / 300.0);
  };
  EXPECT_LT(error(true), 0.6 * error(false));
}

TEST(NearestGpMethod, WorksOnOneRepeatedPlace) {
  SimulatedField field(false, 50, 5);
  for (std::size_t i = 0; i < 50; ++i)
    std::copy_n(field.rows.begin(), 3, field.rows.begin() + static_cast<std::ptrdiff_t>(3 * i));
  const auto method = made(nearest_gp_method(), "", field.domain());
  method->fit(field.data(), {});
  for (const double mean : Forecast(*method, field.points()).mean) EXPECT_TRUE(std::isfinite(mean));
}

TEST(NearestGpMethod, RejectsWhatCannotBe) {
  const SimulatedField field(false, 20, 1);
  EXPECT_THROW(made(nearest_gp_method(), "neighbours=0", field.domain()), UsageError);
  EXPECT_THROW(made(nearest_gp_method(), "neighbors=8", field.domain()), UsageError);
  const SimulatedField two(false, 2, 1);
  EXPECT_THROW(made(nearest_gp_method(), "", two.domain())->fit(two.data(), {}), Error);
}

TEST(NearestGpMethod, WorksWithoutTime) { expect_good_without_time(nearest_gp_method(), ""); }

}  // namespace
}  // namespace drift
