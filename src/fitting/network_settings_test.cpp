// Settings that change the form of the networks.

#include <gtest/gtest.h>

#include "drift/error.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

RunSettings additive_settings() {
  RunSettings settings = small_settings();
  settings.model.coupling = Coupling::additive;
  settings.fit.method = FitMethod::network;
  settings.train.epochs = 5.0;
  return settings;
}

TEST(NetworkSettings, SkipConnectionsAreThereUnlessTurnedOff) {
  const Dataset data = small_dataset();
  RunSettings settings = small_settings();
  EXPECT_TRUE(plan_fit(settings, data).spec.skip);
  settings.model.no_skip = true;
  EXPECT_FALSE(plan_fit(settings, data).spec.skip);
  settings.recipe = RecipeName::paper;
  EXPECT_FALSE(plan_fit(settings, data).spec.skip);
}

TEST(NetworkSettings, TimeAndJointLayersAreThoseAskedFor) {
  const Dataset data = small_dataset();
  RunSettings settings = additive_settings();
  EXPECT_EQ(plan_fit(settings, data).spec.temporal.layers, 1);
  EXPECT_EQ(plan_fit(settings, data).spec.joint.layers, 0);
  settings.model.time_layers = 3;
  settings.model.joint_layers = 2;
  settings.model.nu = 2.5;
  const NetworkSpec spec = plan_fit(settings, data).spec;
  EXPECT_EQ(spec.temporal.layers, 3);
  EXPECT_EQ(spec.joint.layers, 2);
  EXPECT_EQ(spec.joint.hidden_covariance.nu, 2.5);
}

TEST(NetworkSettings, TimeAndJointLayersAreOfAdditiveCouplingWithTime) {
  Dataset data = small_dataset();
  for (const bool joint : {false, true}) {
    RunSettings product = small_settings(), additive = additive_settings();
    for (RunSettings* settings : {&product, &additive}) (joint ? settings->model.joint_layers : settings->model.time_layers) = 2;
    EXPECT_THROW(plan_fit(product, data), UsageError);
    EXPECT_NO_THROW(plan_fit(additive, data));
    Dataset timeless = data;
    timeless.observations.time_days.clear();
    EXPECT_THROW(plan_fit(additive, timeless), UsageError);
  }
}

// Without skips, and with joint layers, networks train all the same; a joint layer sees what a linear head cannot, a product.
TEST(NetworkSettings, EveryFormTrains) {
  const Dataset data = small_dataset();
  for (const std::size_t joint : {0u, 1u}) {
    RunSettings settings = additive_settings();
    settings.model.no_skip = joint == 0;
    settings.model.joint_layers = joint;
    const FitPlan plan = plan_fit(settings, data);
    const FitResult result = fit(plan, data);
    EXPECT_LT(result.held_out->rmse, 0.6 * plan.domain.value.sd) << joint;
  }
}

}  // namespace
}  // namespace drift
