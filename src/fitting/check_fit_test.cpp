#include "fitting/check_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/random.h"
#include "drift/fit.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// Of few observations: the process is fitted in a second.
Dataset few_observations() { return small_dataset(16, 25); }

FitResult fit_with(const Dataset& data, FitMethod method, SplitMethod split = SplitMethod::track) {
  RunSettings settings = small_settings();
  settings.fit.method = method;
  if (method == FitMethod::network) settings.split.method = split;
  return fit(plan_fit(settings, data), data);
}

// Out of fold, all being few enough: the very observations that were scored.
TEST(Baseline, LosesToAProcessOfASmoothFieldWhichHasNoWarnings) {
  const FitResult result = fit_with(small_dataset(20, 30), FitMethod::process);
  ASSERT_TRUE(result.baseline);
  EXPECT_EQ(result.baseline->count, result.held_out->count);
  EXPECT_NEAR(result.baseline->model_rmse, result.held_out->rmse, 1e-9 * result.held_out->rmse);
  EXPECT_LT(result.baseline->rmse, 1.0);
  EXPECT_LT(result.baseline->model_rmse, result.baseline->rmse);
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(Baseline, IsScoredOnHeldOutObservationsAndOnATestSet) {
  Dataset data = few_observations();
  const FitResult held_out = fit_with(data, FitMethod::network);
  ASSERT_TRUE(held_out.baseline);
  EXPECT_EQ(held_out.baseline->count, held_out.held_out->count);
  EXPECT_NEAR(held_out.baseline->model_rmse, held_out.held_out->rmse, 1e-9 * held_out.held_out->rmse);
  for (std::size_t i = 0; i < data.observations.size(); ++i) {
    if (data.observations.track[i] == 7) data.test.push_back(i);
  }
  const FitResult tested = fit_with(data, FitMethod::network);
  ASSERT_TRUE(tested.baseline);
  EXPECT_EQ(tested.baseline->count, data.test.size());
}

TEST(Baseline, OfModelsWithoutAProcessIsANearestNeighbourProcessToo) {
  EXPECT_FALSE(fit_with(few_observations(), FitMethod::process).baseline->kriging_rmse);
  const Dataset data = small_dataset(20, 30);
  const FitResult networks = fit_with(data, FitMethod::network);
  ASSERT_TRUE(networks.baseline && networks.baseline->kriging_rmse);
  EXPECT_LT(*networks.baseline->kriging_rmse, networks.baseline->rmse);
  EXPECT_GT(*networks.baseline->kriging_rmse, 0.03);  // the noise is 0.05
  RunSettings settings = small_settings();
  settings.fit.method = fit_choice("nngp");
  EXPECT_FALSE(fit(plan_fit(settings, data), data).baseline->kriging_rmse);
}

TEST(Baseline, IsNoneWhereNothingIsScored) {
  const FitResult result = fit_with(few_observations(), FitMethod::network, SplitMethod::none);
  EXPECT_FALSE(result.held_out);
  EXPECT_FALSE(result.baseline);
}

TEST(FitWarnings, SayThatNoiseDominates) {
  EXPECT_THAT(fit_with(small_dataset(20, 40, 4.0), FitMethod::network).warnings,
              testing::Contains(HasSubstr("of the values' variance")));
  EXPECT_THAT(noise_warning(0.7, 1.0), IsEmpty());
  EXPECT_THAT(noise_warning(0.8, 1.0), HasSubstr("64 % of the values' variance"));
}

TEST(FitWarnings, SayThatAFieldIsFlatBesideItsNoise) {
  EXPECT_THAT(flat_warning(0.00072, 0.09), HasSubstr("hardly any field"));
  EXPECT_THAT(flat_warning(0.02, 0.09), IsEmpty());
}

TEST(FitWarnings, SayThatTheFieldForgetsBetweenTracks) {
  EXPECT_THAT(short_memory_warning(0.00298, 0.07), HasSubstr("time scale, 4.3 minutes, is shorter"));
  EXPECT_THAT(short_memory_warning(5.5, 0.3), IsEmpty());
  EXPECT_THAT(short_memory_warning(0.003, 0.0), IsEmpty()) << "the revisit is not known";
}

TEST(FitWarnings, SayThatTheSpreadWasCalibratedAsFarAsItMayBe) {
  EXPECT_THAT(spread_limit_warning(0.01, 0.002, 0.1), HasSubstr("divides the field's standard deviation by a factor of 100"));
  EXPECT_THAT(spread_limit_warning(100.0, 0.2, 0.1), HasSubstr("multiplies"));
  EXPECT_THAT(spread_limit_warning(0.2, 0.2, 0.1), IsEmpty());
  EXPECT_THAT(spread_limit_warning(0.01, 0.00005, 0.1), IsEmpty()) << "it was next to nothing before, too";
}

// Each track has an error of its own and there is no field: nothing lasts from one to the next.
TEST(FitWarnings, OfTracksThatShareNothingComeFromAFitToo) {
  Dataset data = small_dataset(30, 40, 0.0);
  RandomStream random({.seed = 7, .purpose = Purpose::simulation});
  std::map<std::int32_t, double> of_track;
  for (std::size_t i = 0; i < data.observations.size(); ++i) {
    const auto [at, fresh] = of_track.try_emplace(data.observations.track[i], 0.0);
    if (fresh) at->second = random.normal();
    data.observations.value[i] = at->second + 0.05 * random.normal();
  }
  const FitResult result = fit_with(data, FitMethod::process);
  EXPECT_THAT(result.warnings, testing::Contains(testing::AnyOf(HasSubstr("time between tracks"), HasSubstr("hardly any field"),
                                                                HasSubstr("as far as it may"))));
}

// Noise alone, on which large networks are trained for long without decay or noise of their own.
TEST(FitWarnings, SayThatNetworksOverfit) {
  Dataset data = small_dataset(20, 30, 0.0);
  RandomStream random({.seed = 5, .purpose = Purpose::simulation});
  for (double& value : data.observations.value) value = random.normal();
  RunSettings settings = network_settings();
  settings.model.features = 256;
  settings.model.bottleneck = 32;
  settings.model.lengthscale = 200.0;
  settings.train.epochs = 200.0;
  settings.train.decay_noise_sd = 1e-4;
  settings.train.value_noise_sd = 0.0;
  EXPECT_THAT(fit(plan_fit(settings, data), data).warnings, testing::Contains(HasSubstr("they overfit")));
  EXPECT_THAT(overfit_warning(0.5, 1.0), IsEmpty());
}

// Kriging honours observations down to their noise; a network that is trained on nothing else does not stop there.
TEST(FitWarnings, SayThatAnotherMethodFollowsTheNoise) {
  RunSettings settings = small_settings();
  const Dataset field = small_dataset(20, 30);
  settings.fit.method = fit_choice("nngp");
  EXPECT_THAT(fit(plan_fit(settings, field), field).warnings, testing::Not(testing::Contains(HasSubstr("it follows the noise"))));
  Dataset noise = field;
  RandomStream random({.seed = 5, .purpose = Purpose::simulation});
  for (double& value : noise.observations.value) value = random.normal();
  settings.fit.method = fit_choice("siren:members=2,layers=3,width=128,steps=800,rate=0.001");
  EXPECT_THAT(fit(plan_fit(settings, noise), noise).warnings, testing::Contains(HasSubstr("it follows the noise")));
  EXPECT_THAT(follows_noise_warning(0.03, 0.1, 0.1), HasSubstr("by a noise of 0.1"));
  EXPECT_THAT(follows_noise_warning(0.03, 0.1, 0.05), IsEmpty());
  EXPECT_THAT(follows_noise_warning(0.03, 0.05, 0.1), IsEmpty());
  EXPECT_THAT(follows_noise_warning(0.03, 0.1, 0.0), IsEmpty());
}

// Errors that grow with the distance to the data, and a spread that does or does not.
TEST(FitWarnings, SayThatTheSpreadDoesNotGrowAwayFromTheData) {
  Forecast flat, growing;
  std::vector<double> nearest;
  RandomStream random({.seed = 6, .purpose = Purpose::simulation});
  for (int i = 0; i < 1000; ++i) {
    const double distance = 0.01 * (1 + i % 100);
    nearest.push_back(distance);
    for (Forecast* forecast : {&flat, &growing}) {
      forecast->mean.push_back(0.0);
      forecast->y.push_back(distance * (i % 2 == 0 ? 1.0 : -1.0));
      forecast->sd_epistemic.push_back(forecast == &flat ? 0.3 : distance);
    }
  }
  EXPECT_THAT(spread_warning(flat, nearest), HasSubstr("do not trust it in gaps"));
  EXPECT_THAT(spread_warning(growing, nearest), IsEmpty());
  // Nothing to tell by: all equally near, or too few.
  EXPECT_THAT(spread_warning(flat, std::vector<double>(1000, 0.1)), IsEmpty());
  flat.y.resize(100), flat.mean.resize(100), flat.sd_epistemic.resize(100), nearest.resize(100);
  EXPECT_THAT(spread_warning(flat, nearest), IsEmpty());
}

}  // namespace
}  // namespace drift
