#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baselines/gp_adapter_testing.h"
#include "drift/error.h"

namespace drift {
namespace {

TEST(LocalExpertsMethod, RecoversAFieldWithAnHonestSpread) {
  expect_good(local_experts_method(), "spacing=500,radius=600,max_observations=150", SimulatedField(false, 800, 400), 0.25);
  expect_good(local_experts_method(), "spacing=500,radius=600,inducing=100", SimulatedField(false, 800, 400), 0.35);
}

TEST(LocalExpertsMethod, RecoversAFieldOnTheSphere) {
  expect_good(local_experts_method(), "spacing=4000,max_observations=150", SimulatedField(true, 800, 400), 0.35);
}

TEST(LocalExpertsMethod, GivesTheSameOnAnyNumberOfThreads) {
  expect_same_on_any_threads(local_experts_method(), "spacing=800,max_observations=60", SimulatedField(false, 300, 3000));
}

TEST(LocalExpertsMethod, RefusesMoreThanTheMemoryHoldsBeforeItBegins) {
  const SimulatedField field(false, 200, 1);
  try {
    made(local_experts_method(), "spacing=0.01", field.domain())->fit(field.data(), {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("method experts: 200 observations need"));
    EXPECT_THAT(error.what(), testing::HasSubstr("give a larger spacing"));
  }
}

TEST(LocalExpertsMethod, StopsWhenAsked) {
  const SimulatedField field(false, 200, 1);
  std::stop_source stop;
  const Control control{.progress = [&](double, const std::string&) { stop.request_stop(); }, .stop = stop.get_token()};
  EXPECT_THROW(made(local_experts_method(), "spacing=500", field.domain())->fit(field.data(), {}, control), Stopped);
}

TEST(LocalExpertsMethod, WorksWithoutTime) {
  expect_good_without_time(local_experts_method(), "spacing=800,max_observations=100");
}

}  // namespace
}  // namespace drift
