#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "baselines/gp_adapter.h"
#include "baselines/gp_adapter_testing.h"
#include "drift/error.h"

namespace drift {
namespace {

TEST(ExactGpMethod, RecoversAFieldWithAnHonestSpread) {
  expect_good(exact_gp_method(), "", SimulatedField(false, 400, 400), 0.2);
  expect_good(exact_gp_method(), "subset=250", SimulatedField(true, 400, 400), 0.35);
}

TEST(ExactGpMethod, GivesTheSameOnAnyNumberOfThreads) {
  expect_same_on_any_threads(exact_gp_method(), "", SimulatedField(false, 120, 600));
}

TEST(ExactGpMethod, TakesLengthsInTheDomainsUnits) {
  const SimulatedField field(false, 100, 10);
  const auto method = made(exact_gp_method(), "lengthscale=400,time_lengthscale=2", field.domain());
  method->fit(field.data(), {});
  const auto findings = method->findings(field.domain());
  EXPECT_EQ(findings[0], (std::pair<std::string, std::string>("lengthscale", "400 km")));
  EXPECT_EQ(findings[1], (std::pair<std::string, std::string>("time lengthscale", "2 days")));
}

TEST(ExactGpMethod, RefusesMoreThanTheMemoryHoldsBeforeItBegins) {
  const SimulatedField field(false, 10, 1);
  InterpolatorData data = field.data();
  data.training.coordinates.rows = 10'000'000;  // never read
  try {
    made(exact_gp_method(), "", field.domain())->fit(data, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("method exact: 10,000,000 observations need"));
    EXPECT_THAT(error.what(), testing::HasSubstr("use nngp"));
  }
}

TEST(ExactGpMethod, RejectsNumbersThatAreNotFinite) {
  SimulatedField field(false, 20, 1);
  field.values[7] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(made(exact_gp_method(), "", field.domain())->fit(field.data(), {}), Error);
  EXPECT_THROW(made(exact_gp_method(), "nu=1", field.domain()), UsageError);
}

TEST(ExactGpMethod, StopsWhenAsked) {
  const SimulatedField field(false, 100, 1);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(made(exact_gp_method(), "", field.domain())->fit(field.data(), {}, {.stop = stop.get_token()}), Stopped);
}

TEST(ExactGpMethod, WorksWithoutTime) { expect_good_without_time(exact_gp_method(), ""); }

}  // namespace
}  // namespace drift
