// What a stopped fit says of its progress.

#include "fitting/stopped.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/scratch_folder.h"
#include "drift/fit.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

// The sentence of a fit that is stopped once its progress is past `at`; before it begins if `at` is 0.
std::string sentence_of(const FitPlan& plan, const Dataset& data, double at, const std::filesystem::path& checkpoint,
                        bool fresh = false) {
  std::stop_source stop;
  if (at == 0.0) stop.request_stop();
  const Control control = {.progress = [&](double share, const std::string&) { share > at ? (void)stop.request_stop() : void(); },
                           .stop = stop.get_token(),
                           .checkpoint = checkpoint,
                           .fresh = fresh};
  try {
    fit(plan, data, control);
  } catch (const Stopped& stopped) {
    return stopped.what();
  }
  return "it was not stopped";
}

class StoppedFit : public testing::Test {
 protected:
  FitPlan plan(FitMethod method = FitMethod::network) const {
    RunSettings settings = small_settings();
    settings.fit.method = method;
    return plan_fit(settings, data_);
  }

  const ScratchFolder folder_;
  const std::filesystem::path path_ = folder_ / "m.checkpoint";
  const Dataset data_ = small_dataset(40, 20);
};

TEST_F(StoppedFit, NamesTheCheckpointThatItWroteAndThatItTookUp) {
  EXPECT_THAT(sentence_of(plan(), data_, 0.2, path_), HasSubstr("progress so far is in " + path_.string()));
  EXPECT_THAT(sentence_of(plan(), data_, 0.0, path_), HasSubstr("progress so far is in " + path_.string()));
}

TEST_F(StoppedFit, DoesNotNameTheCheckpointOfAnEarlierRunWhenItStartsAfresh) {
  ASSERT_THAT(sentence_of(plan(), data_, 0.2, path_), HasSubstr("progress so far"));
  EXPECT_EQ(sentence_of(plan(), data_, 0.0, path_, true), kNothingToSave);
  EXPECT_THAT(sentence_of(plan(), data_, 0.2, path_, true), HasSubstr("progress so far is in " + path_.string()));
}

TEST_F(StoppedFit, HadNothingToSaveBeforeItsFirstStep) {
  EXPECT_EQ(sentence_of(plan(), data_, 0.0, path_), kNothingToSave);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(StoppedFit, TellsHowToKeepProgressIfNoFileWasNamed) {
  EXPECT_THAT(sentence_of(plan(), data_, 0.2, {}), HasSubstr("With a file for the model (out) or a checkpoint"));
}

TEST_F(StoppedFit, OfAProcessHasNoCheckpoint) {
  std::ofstream(path_) << "of another run";
  EXPECT_THAT(sentence_of(plan(FitMethod::process), data_, 0.0, path_), HasSubstr("nothing was written"));
}

TEST(StoppedPlan, HadNothingToSave) {
  std::stop_source stop;
  stop.request_stop();
  try {
    plan_fit(small_settings(), small_dataset(40, 20), Judging::automatic, {.stop = stop.get_token()});
    FAIL() << "it was not stopped";
  } catch (const Stopped& stopped) {
    EXPECT_STREQ(stopped.what(), kNothingToSave);
  }
}

}  // namespace
}  // namespace drift
