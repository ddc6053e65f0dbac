#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "drift/field_model.h"
#include "small_run.h"

namespace {

using nlohmann::json;

constexpr const char* kTiny = "--value ssh --features 48 --bottleneck 8 --layers 2 --epochs 4 --batch 128 --trial-members 2";

FinishedRun tune(const TemporaryFolder& folder, const std::string& more) {
  return run_shell(folder.path(), fmt::format("drift tune '{}' {} {}", (small_run() / "tracks.nc").string(), kTiny, more));
}

// Trials without what the clock says.
json trials(const std::filesystem::path& study) {
  json list = json::parse(read_file(study))["trials"];
  for (json& trial : list) trial.erase("seconds");
  return list;
}

TEST(Tune, FindsSettingsAndWritesARunFileWithThem) {
  const TemporaryFolder folder;
  const FinishedRun run = tune(folder, "--study s.json --trials 7 --write-run tuned.toml --picture p.png");
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* said : {"7 trials", "Best: trial", "Share of the variation", "lengthscale", "Chosen"})
    EXPECT_TRUE(contains(run.out, said)) << run.out;
  EXPECT_TRUE(contains(read_file(folder.path() / "tuned.toml"), "lengthscale = "));
  EXPECT_TRUE(read_file(folder.path() / "p.png").starts_with("\x89PNG"));
  const FinishedRun fit = run_shell(folder.path(), "drift fit tuned.toml --members 2 --out m.safetensors --quiet");
  EXPECT_EQ(fit.status, 0) << fit.err;
  const FinishedRun show = run_shell(folder.path(), "drift tune --show s.json --json");
  const json study = json::parse(show.out);
  ASSERT_EQ(study["trials"].size(), 7u);
  double best = 1e300;
  for (const json& trial : study["trials"]) best = std::min(best, trial["value"].get<double>());
  EXPECT_EQ(study["trials"][study["best"].get<std::size_t>()]["value"], best);
}

TEST(Tune, GoesOnWithAStudyThatWasKilled) {
  const TemporaryFolder folder;
  ASSERT_EQ(tune(folder, "--study whole.json --trials 6 --quiet").status, 0);
  const FinishedRun killed = run_shell(
      folder.path(),
      fmt::format("'{}' tune '{}' {} --study part.json --trials 6 --quiet & until [ -e part.json ]; do sleep 0.02; done; "
                  "kill -KILL $!; wait $!",
                  DRIFT_COMMAND, (small_run() / "tracks.nc").string(), kTiny));
  EXPECT_EQ(killed.status, 137);
  EXPECT_LT(trials(folder.path() / "part.json").size(), 6u);
  ASSERT_EQ(tune(folder, "--study part.json --trials 6 --quiet").status, 0);
  EXPECT_EQ(trials(folder.path() / "part.json"), trials(folder.path() / "whole.json"));
}

TEST(Tune, RunsAsPartOfAFit) {
  const TemporaryFolder folder;
  const FinishedRun run =
      run_shell(folder.path(), fmt::format("drift fit '{}' {} --tune bayes --trials 3 --members 2 --out m.safetensors",
                                           (small_run() / "tracks.nc").string(), kTiny));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "Searching for settings, 3 trials")) << run.out;
  EXPECT_TRUE(contains(drift::load_field_model(folder.path() / "m.safetensors").settings, "lengthscale = "));
}

TEST(Tune, TrainsSettingsWithTheWeightsWhenAsked) {
  const TemporaryFolder folder;
  const FinishedRun run =
      run_shell(folder.path(), fmt::format("drift fit '{}' {} --tune gradient --members 2 --out m.safetensors --json",
                                           (small_run() / "tracks.nc").string(), kTiny));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(json::parse(run.out)["recipe"]["train_lengthscales"].get<bool>());
}

TEST(Tune, FitsWithEveryUncertaintyMethodAndCalibration) {
  for (const char* method : {"variational", "dropout", "last_layer"}) {
    for (const char* calibrate : {"none", "conformal"}) {
      const TemporaryFolder folder;
      const std::string line = fmt::format(
          "drift fit '{}' --value ssh --features 48 --bottleneck 8 --layers 2 --epochs 10 --batch 128 --members 2 --draws 4 "
          "--uncertainty {} --calibrate {} --out m.safetensors --json",
          (small_run() / "tracks.nc").string(), method, calibrate);
      const FinishedRun run = run_shell(folder.path(), line);
      ASSERT_EQ(run.status, 0) << line << run.err;
      EXPECT_GT(json::parse(run.out)["scores"]["coverage90"].get<double>(), 0.5) << line;
      const FinishedRun map =
          run_shell(folder.path(), "drift predict m.safetensors --grid bbox:-50,25,-10,55:5 --out map.nc --json");
      ASSERT_EQ(map.status, 0) << map.err;
      EXPECT_EQ(contains(map.out, "ssh_upper90"), std::string(calibrate) == "conformal");
    }
  }
}

TEST(Tune, RefusesWhatCannotBe) {
  const TemporaryFolder folder;
  const FinishedRun unknown = tune(folder, "--study s.json --search lenghtscale");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(contains(unknown.err, "did you mean 'lengthscale'?")) << unknown.err;
  EXPECT_EQ(tune(folder, "").status, 2);  // no study
  const FinishedRun elbo = tune(folder, "--study s.json --objective elbo --trials 2");
  EXPECT_EQ(elbo.status, 2);
  EXPECT_TRUE(contains(elbo.err, "variational")) << elbo.err;
}

}  // namespace
