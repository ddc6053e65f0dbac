#include <gtest/gtest.h>

#include "drift/fit.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

TEST(ForeseenTime, GrowsWithTheEpochs) {
  const Dataset data = small_dataset(20, 40);
  RunSettings settings = small_settings();
  settings.fit.method = FitMethod::network;
  settings.train.epochs = 100.0;
  const auto few = foresee_seconds(plan_fit(settings, data), data);
  settings.train.epochs = 10000.0;
  const auto many = foresee_seconds(plan_fit(settings, data), data);
  ASSERT_TRUE(few && many);
  EXPECT_GT(*few, 0.0);
  EXPECT_GT(*many, 5.0 * *few);  // a hundred times, but for what else the machine does
}

TEST(ForeseenTime, IsNotKnownOfOtherMethodsAndSearches) {
  const Dataset data = small_dataset(20, 40);
  RunSettings settings;
  settings.fit.method = fit_choice("nngp");
  EXPECT_FALSE(foresee_seconds(plan_fit(settings, data), data));
  settings.fit.method = FitMethod::network;
  settings.tune.method = TuneMethod::bayes;
  EXPECT_FALSE(foresee_seconds(plan_fit(settings, data), data));
}

TEST(ForeseenMemory, OfAProcessIsThatOfItsObservationsAndOfNoNetwork) {
  RunSettings settings;
  const auto mib = [&](FitMethod method, std::size_t points) {
    settings.fit.method = method;
    return plan_fit(settings, small_dataset(40, points)).memory_mib;
  };
  const double small = mib(FitMethod::process, 60), large = mib(FitMethod::process, 600);
  EXPECT_GT(large, small);
  EXPECT_LT(large, small + 20.0);  // 21,600 observations more
  EXPECT_GT(mib(FitMethod::blend, 60), small + 20.0);
}

}  // namespace
}  // namespace drift
