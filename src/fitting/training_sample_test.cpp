#include "fields/training_sample.h"

#include <gtest/gtest.h>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

Observations made_up(std::size_t count, double shift) {
  Observations o;
  for (std::size_t i = 0; i < count; ++i) {
    o.lon_deg.push_back(0.001 * static_cast<double>(i) + shift);
    o.lat_deg.push_back(10.0);
    o.value.push_back(static_cast<float>(i));
  }
  return o;
}

TEST(TrainingSample, TellsWhatShareTrained) {
  const Observations all = made_up(50000, 0.0), others = made_up(50000, 0.5e-3);
  std::vector<std::size_t> half;
  for (std::size_t i = 0; i < 25000; ++i) half.push_back(i);
  const auto sample = training_sample(all, std::span<const std::size_t>(half));
  EXPECT_EQ(sample.size(), kTrainingSample);
  EXPECT_NEAR(share_that_trained(sample, all).value(), 0.5, 0.03);  // of some 8,000: three standard errors are 0.017
  EXPECT_EQ(share_that_trained(sample, others), 0.0);
  Observations first = all;
  first.lon_deg.resize(25000), first.lat_deg.resize(25000), first.value.resize(25000);
  EXPECT_EQ(share_that_trained(sample, first), 1.0);
}

TEST(TrainingSample, OfFewObservationsIsAllOfThem) {
  const Observations few = made_up(10, 0.0);
  EXPECT_EQ(share_that_trained(training_sample(few), few), 1.0);
  EXPECT_EQ(share_that_trained(training_sample(few), made_up(10, 1.0)), 0.0);
  Observations changed = few;
  changed.value[3] += 1.0F;  // another measurement at the same place
  EXPECT_EQ(share_that_trained(training_sample(few), changed), 0.9);
  EXPECT_EQ(share_that_trained({}, few), std::nullopt) << "a model of an earlier version";
}

TEST(TrainingSample, ComesBackFromText) {
  const auto sample = training_sample(made_up(3000, 0.0));
  EXPECT_EQ(sample_from_text(sample_text(sample)), sample);
  EXPECT_THROW(sample_from_text("AAAA"), Error);
  EXPECT_THROW(sample_from_text("no base64"), Error);
}

TEST(ScoreModel, SaysThatTheObservationsTrainedTheModel) {
  const Dataset data = small_dataset();
  RunSettings settings = network_settings();  // the quickest
  const FitResult result = fit(plan_fit(settings, data), data);
  const ScratchFolder folder;
  save_field_model(folder / "m", result.model);
  const FieldModel model = load_field_model(folder / "m");
  const auto engine = make_cpu_engine();
  EXPECT_EQ(model.training_sample, result.model.training_sample);
  EXPECT_GT(score_model(*engine, model, data).trained_share.value(), 0.85);  // a tenth is held out
  Dataset other = data;
  for (double& lon : other.observations.lon_deg) lon += 1e-3;
  EXPECT_EQ(score_model(*engine, model, other).trained_share, 0.0);
}

}  // namespace
}  // namespace drift
