#include "baselines/networks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "baselines/networks_testing.h"
#include "drift/error.h"

namespace drift {
namespace {

using testing::HasSubstr;

TEST(Networks, LearnASmoothFieldOnThePlaneWithTime) {
  EXPECT_LT(error_of("mlp:layers=3,width=64,members=2,batch=256,steps=600,rate=0.003", Space::plane, true), 0.3);
  EXPECT_LT(error_of("ffn:width=64,members=2,batch=256,steps=600,rate=0.003,lengthscale=1", Space::plane, true), 0.3);
  EXPECT_LT(error_of("siren:layers=2,width=64,members=2,batch=256,steps=600,rate=0.0005,omega=5", Space::plane, true), 0.3);
}

TEST(Networks, LearnASmoothFieldOnTheSphereWithMuon) {
  EXPECT_LT(error_of("mlp:layers=3,width=32,members=2,batch=256,steps=400,rate=0.01,optimiser=muon", Space::sphere, false), 0.3);
  EXPECT_LT(error_of("ffn:width=32,members=2,batch=256,steps=400,rate=0.01,optimiser=muon,lengthscale=3000", Space::sphere, true),
            0.3);
  EXPECT_LT(error_of("siren:layers=2,width=32,members=2,batch=256,steps=400,rate=0.002,omega=6", Space::sphere, false), 0.3);
}

TEST(FourierNetwork, FindsALengthscaleByItself) {
  const SmallField field(Space::plane, true, 1500), fresh(Space::plane, true, 400, 8);
  const auto method =
      make_interpolator("ffn:width=64,members=1,batch=256,steps=200,rate=0.01,lengthscale=0.02,trials=10", field.domain());
  double last = 0.0;
  bool rising = true;
  const auto progress = [&](double share, const std::string&) {
    rising = rising && share >= last && share <= 1.0;
    last = share;
  };
  method->fit(field.data(), {.seed = 1, .threads = 1}, {.progress = progress});
  EXPECT_TRUE(rising);
  EXPECT_EQ(last, 1.0);
  std::vector<double> mean(400);
  method->predict(fresh.points(), {.mean = mean});
  EXPECT_LT(fresh.error(mean), 0.5);
  // Without the search the lengthscale given is far too short: the control.
  EXPECT_GT(error_of("ffn:width=64,members=1,batch=256,steps=200,rate=0.01,lengthscale=0.02", Space::plane, true), 0.9);
}

TEST(Networks, StopWhenAsked) {
  const SmallField field(Space::plane, false, 300);
  for (const char* text : {"mlp:width=8,members=1", "ffn:width=8,members=1,trials=3", "siren:width=8,members=1"}) {
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(make_interpolator(text, field.domain())->fit(field.data(), {.threads = 1}, {.stop = stop.get_token()}), Stopped)
        << text;
  }
}

TEST(Networks, TakeMoreEpochsOfFewObservations) {
  Recipe recipe;
  recipe.epochs = 5;
  recipe.batch = 1024;
  EXPECT_EQ(total_steps(fitted_recipe(recipe, 300, 1000), 300), 1000u);
  EXPECT_EQ(fitted_recipe(recipe, 300, 1000).batch, 300u);
  EXPECT_EQ(total_steps(fitted_recipe(recipe, 1'024'000, 1000), 1'024'000), 5000u);
}

TEST(Networks, RefuseWhatTheMemoryCannotHold) {
  const SmallField field(Space::plane, false, 50);
  try {
    make_interpolator("mlp:layers=20,width=16384,members=1000", field.domain())->fit(field.data(), {.threads = 1});
    FAIL() << "fitted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("method mlp: 50 observations need"));
    EXPECT_THAT(error.what(), HasSubstr("lower members or width"));
  }
}

TEST(Networks, NameTheOptionThatCannotBe) {
  const Domain domain = xy_domain("km");
  const auto complaint = [&](const char* text) -> std::string {
    try {
      make_interpolator(text, domain);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(complaint("siren:omega=0"), HasSubstr("omega"));
  EXPECT_THAT(complaint("mlp:lengthscale=3"), HasSubstr("method mlp has no option 'lengthscale'"));
  EXPECT_THAT(complaint("ffn:optimiser=sgd"), HasSubstr("adam, muon"));
}

TEST(EnsembleInterpolator, PredictsTheMembersMeanAndSpreadWhateverTheThreads) {
  const SmallField field(Space::plane, true, 400);
  const EnsembleSettings settings{.spec = dense_spec(Space::plane, 2, true, {.layers = 2, .width = 16}),
                                  .recipe = default_recipe(),
                                  .members = 3,
                                  .least_steps = 40};
  EnsembleInterpolator one(settings), two(settings);
  one.fit(field.data(), {.seed = 5, .threads = 1});
  two.fit(field.data(), {.seed = 5, .threads = 2});
  std::vector<double> mean(400), sd(400), total(400), other(400);
  one.predict(field.points(), {.mean = mean, .sd_epistemic = sd, .sd_total = total});
  two.predict(field.points(), {.mean = other});
  EXPECT_EQ(mean, other);
  EXPECT_EQ(sd, total);
  EXPECT_FALSE(one.knows_noise());
  std::vector<float> members(3 * 400);
  make_cpu_engine({.threads = 1})->predict(one.ensemble(), field.points(), {.members = {members.data(), 400, 3}});
  for (std::size_t i = 0; i < 400; ++i) {
    const double a = members[3 * i], b = members[3 * i + 1], c = members[3 * i + 2], m = (a + b + c) / 3;
    ASSERT_NEAR(mean[i], m, 1e-6);
    ASSERT_NEAR(sd[i], std::sqrt((std::pow(a - m, 2) + std::pow(b - m, 2) + std::pow(c - m, 2)) / 2), 1e-6);
  }
  EXPECT_THROW(EnsembleInterpolator(settings).predict(field.points(), {.mean = mean}), UsageError);
}

TEST(EnsembleInterpolator, TrainsDriftsOwnNetworksToo) {
  NetworkSpec spec = default_spec(Space::plane, 2, true);
  spec.features = 64;
  spec.bottleneck = 16;
  spec.spatial.lengthscales = spec.temporal.lengthscales = {4.0};  // deep chains of space and time want long ones
  const SmallField field(Space::plane, true, 1000), fresh(Space::plane, true, 300, 8);
  Recipe recipe = default_recipe();
  recipe.batch = 200;
  EnsembleInterpolator networks({.spec = spec, .recipe = recipe, .members = 2, .least_steps = 200});
  networks.fit(field.data(), {.threads = 2});
  std::vector<double> mean(300);
  networks.predict(fresh.points(), {.mean = mean});
  EXPECT_LT(fresh.error(mean), 0.5);
}

}  // namespace
}  // namespace drift
