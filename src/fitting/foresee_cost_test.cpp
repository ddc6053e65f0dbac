#include <gtest/gtest.h>

#include "drift/fit.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

TEST(ForeseenTime, GrowsWithTheEpochs) {
  const Dataset data = small_dataset(20, 40);
  RunSettings settings = network_settings();
  settings.train.epochs = 100.0;
  const auto few = foresee_seconds(plan_fit(settings, data), data);
  settings.train.epochs = 10000.0;
  const auto many = foresee_seconds(plan_fit(settings, data), data);
  ASSERT_TRUE(few && many);
  EXPECT_GT(*few, 0.0);
  EXPECT_GT(*many, 5.0 * *few);  // a hundred times, but for what else the machine does
}

TEST(ForeseenTime, OfAnotherMethodGoesOnFromSamples) {
  RunSettings settings;
  settings.fit.method = fit_choice("exact:subset=100");
  const auto seconds = [&](std::size_t points) {
    const Dataset data = small_dataset(20, points);
    return foresee_seconds(plan_fit(settings, data), data).value();
  };
  const double few = seconds(40),
               many = seconds(2000);  // 800 and 40,000 observations: the cube of 50, if all goes to the solution
  EXPECT_GT(few, 0.0);
  EXPECT_GT(many, 100.0 * few);
}

TEST(ForeseenTime, OfASearchIsThatOfItsTrialsAndOfTheFit) {
  const Dataset data = small_dataset(20, 40);
  RunSettings settings = network_settings();
  settings.train.epochs = 2000.0;
  const auto fit = foresee_seconds(plan_fit(settings, data), data);
  settings.tune.method = TuneMethod::bayes;
  settings.tune.trials = 20;
  const auto search = foresee_seconds(plan_fit(settings, data), data);
  ASSERT_TRUE(fit && search);
  EXPECT_GT(*search, 3.0 * *fit);  // twenty trials on four fifths of the rows, but for what else the machine does
  settings.tune.settings = {SearchedSetting::features};
  EXPECT_FALSE(foresee_seconds(plan_fit(settings, data), data));
}

TEST(ForeseenTime, StopsWhenAskedTo) {
  const Dataset data = small_dataset(20, 40);
  RunSettings settings;
  settings.fit.method = fit_choice("svgp");
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(foresee_seconds(plan_fit(settings, data), data, {.stop = source.get_token()}), Stopped);
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
