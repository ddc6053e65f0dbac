#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "drift/field_model.h"
#include "run_command.h"

namespace {

using nlohmann::json;

// Small enough to take a second.
constexpr const char* kSmall = "drift demo --observations 3000 --features 64 --bottleneck 8 --layers 2 --epochs 20 --batch 128";

FinishedRun demo(const TemporaryFolder& folder, const std::string& more) {
  return run_shell(folder.path(), fmt::format("{} --out results {}", kSmall, more));
}

TEST(Demo, TellsItsStoryAndLeavesEveryFileItNames) {
  const TemporaryFolder folder;
  const FinishedRun run = demo(folder, "--members 3");
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* said : {"Simulated 3,0", "Model: 3 networks", "Against the truth", "RMSE", "CRPS", "NLL", "intervals hold"}) {
    EXPECT_TRUE(contains(run.out, said)) << run.out;
  }
  for (const char* name :
       {"observations.nc", "run.toml", "model.safetensors", "map.nc", "map.png", "map_sd.png", "scores.json"}) {
    EXPECT_FALSE(read_file(folder.path() / "results" / name).empty()) << name;
    EXPECT_TRUE(contains(run.out, std::string("results/") + name)) << run.out;
  }
  EXPECT_TRUE(read_file(folder.path() / "results/map.png").starts_with("\x89PNG\r\n"));
}

TEST(Demo, ScoresTheFieldAgainstTheTruth) {
  const TemporaryFolder folder;
  const FinishedRun run = demo(folder, "--members 3 --json");
  ASSERT_EQ(run.status, 0) << run.err;
  const json report = json::parse(run.out);
  EXPECT_NEAR(report["truth"]["count"].get<double>(), 47500.0, 500.0);  // the ring's 29.7 million km^2 in squares of 25 km
  EXPECT_LT(report["truth"]["rmse"].get<double>(), 0.9) << "even a small network beats the mean of the observations";
  EXPECT_GT(report["truth"]["rmse"].get<double>(), report["truth"]["crps"].get<double>());
  const json scores = json::parse(read_file(folder.path() / "results/scores.json"));
  EXPECT_EQ(scores["truth"], report["truth"]);
  EXPECT_EQ(scores["held_out"], report["held_out"]);
}

TEST(Demo, LeavesARunFileThatMakesTheSameModel) {
  const TemporaryFolder folder;
  ASSERT_EQ(demo(folder, "--members 2 --seed 4 --threads 1 --quiet").status, 0);
  const drift::FieldModel made = drift::load_field_model(folder.path() / "results/model.safetensors");
  ASSERT_EQ(run_shell(folder.path(), "drift fit results/run.toml --out again.safetensors --threads 2 --quiet").status, 0);
  const drift::FieldModel again = drift::load_field_model(folder.path() / "again.safetensors");
  EXPECT_EQ(made.ensemble.members[1].parameters, again.ensemble.members[1].parameters);
  EXPECT_EQ(made.scores, again.scores);
}

TEST(Demo, GivesNoSpreadToOneNetworkAlone) {
  const TemporaryFolder folder;
  const FinishedRun run = demo(folder, "--members 1 --json");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(json::parse(run.out)["truth"]["crps"].is_null());
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "results/map_sd.png"));
}

TEST(Demo, TrainsByThePapersRecipeWhenAsked) {
  const TemporaryFolder folder;
  const FinishedRun run = demo(folder, "--members 2 --recipe paper --json");
  ASSERT_EQ(run.status, 0) << run.err;
  const json report = json::parse(run.out);
  EXPECT_EQ(report["training"]["optimiser"], "adam");
  EXPECT_EQ(report["training"]["rate"], 1e-3);
  EXPECT_EQ(report["training"]["schedule"], "constant");
}

TEST(Demo, FailsWithStatusOneWhereItCannotWrite) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "not a folder";
  const FinishedRun run = run_shell(folder.path(), fmt::format("{} --out file/inside", kSmall));
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(run.err.starts_with("drift: file/inside: the folder")) << run.err;
}

TEST(Demo, FailsWithStatusTwoWhenThereIsNothingToFit) {
  const FinishedRun run = run_command("demo --observations 1 --out x");
  EXPECT_EQ(run.status, 2);
  EXPECT_TRUE(contains(run.err, "--observations")) << run.err;
}

}  // namespace
