#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "drift/ensemble.h"
#include "run_command.h"

namespace {

// Small enough to take a second.
constexpr const char* kSmall = "demo --observations 3000 --features 64 --bottleneck 8 --layers 2 --epochs 20 --batch 128";

FinishedRun demo(const TemporaryFolder& folder, const std::string& more) {
  return run_command(fmt::format("{} --out '{}' {}", kSmall, folder.path().string(), more));
}

std::vector<std::vector<double>> read_rows(const std::filesystem::path& path, std::string& header) {
  std::ifstream file(path);
  std::getline(file, header);
  std::vector<std::vector<double>> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(std::stod(cell));
  }
  return rows;
}

TEST(Demo, TellsItsStoryAndLeavesModelFieldAndMap) {
  const TemporaryFolder folder;
  const FinishedRun run = demo(folder, "--members 3");
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* said : {"Simulated 3,0", "Training 3 networks", "RMSE", "CRPS", "NLL", "90 % intervals hold"}) {
    EXPECT_TRUE(contains(run.out, said)) << run.out;
  }
  EXPECT_TRUE(read_file(folder.path() / "map.png").starts_with("\x89PNG\r\n"));
  const drift::Model model = drift::load_model(folder.path() / "model.safetensors");
  EXPECT_EQ(model.ensemble.members.size(), 3u);
  EXPECT_EQ(model.ensemble.spec.features, 64);
  EXPECT_TRUE(nlohmann::json::parse(model.metadata.at("domain")).contains("km_per_unit"));
}

TEST(Demo, ReportsTheScoresOfTheFieldItWrote) {
  const TemporaryFolder folder;
  const FinishedRun run = demo(folder, "--members 3 --json");
  ASSERT_EQ(run.status, 0) << run.err;
  const nlohmann::json report = nlohmann::json::parse(run.out);
  std::string header;
  const auto rows = read_rows(folder.path() / "field.csv", header);
  EXPECT_EQ(header, "lon_deg,lat_deg,x_km,y_km,truth,mean,sd");
  double squares = 0.0, truth_squares = 0.0, inside = 0.0, points = 0.0;
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 7u);
    EXPECT_GE(row[1], 62.0);
    if (row[1] > 88.0) continue;  // no satellite goes there
    points += 1.0;
    squares += std::pow(row[5] - row[4], 2);
    truth_squares += row[4] * row[4];
    inside += std::abs(row[5] - row[4]) <= 1.6448536269514722 * row[6] ? 1.0 : 0.0;
  }
  EXPECT_EQ(report["grid_points"], points);
  EXPECT_NEAR(points, 47500.0, 300.0);  // the ring's 29.7 million km^2 in squares of 25 km
  EXPECT_NEAR(report["rmse"].get<double>(), std::sqrt(squares / points), 1e-5);
  EXPECT_NEAR(report["coverage90"].get<double>(), inside / points, 1e-3);
  EXPECT_NEAR(truth_squares / points, 1.0, 0.02);
  EXPECT_LT(report["rmse"].get<double>(), 0.9) << "even a small network beats the mean of the observations";
  EXPECT_GT(report["rmse"].get<double>(), report["crps"].get<double>());
  EXPECT_NEAR(report["training_observations"].get<double>(), 4.0 * report["held_out_observations"].get<double>(), 4.0);
}

TEST(Demo, MakesTheSameModelFromTheSameSeedWhateverTheThreads) {
  const TemporaryFolder first, again, other;
  ASSERT_EQ(demo(first, "--members 2 --seed 4 --threads 1").status, 0);
  ASSERT_EQ(demo(again, "--members 2 --seed 4 --threads 2").status, 0);
  ASSERT_EQ(demo(other, "--members 2 --seed 5").status, 0);
  const std::string model = read_file(first.path() / "model.safetensors");
  ASSERT_FALSE(model.empty());
  EXPECT_TRUE(model == read_file(again.path() / "model.safetensors"));
  EXPECT_FALSE(model == read_file(other.path() / "model.safetensors"));
  EXPECT_TRUE(read_file(first.path() / "field.csv") == read_file(again.path() / "field.csv"));
  EXPECT_TRUE(read_file(first.path() / "map.png") == read_file(again.path() / "map.png"));
}

TEST(Demo, GivesNoSpreadToOneNetworkAlone) {
  const TemporaryFolder folder;
  const FinishedRun run = demo(folder, "--members 1 --json");
  ASSERT_EQ(run.status, 0) << run.err;
  const nlohmann::json report = nlohmann::json::parse(run.out);
  EXPECT_TRUE(report["crps"].is_null());
  EXPECT_TRUE(report["coverage90"].is_null());
  std::string header;
  read_rows(folder.path() / "field.csv", header);
  EXPECT_EQ(header, "lon_deg,lat_deg,x_km,y_km,truth,mean");
}

TEST(Demo, TrainsByThePapersRecipeWhenAsked) {
  const TemporaryFolder folder;
  const FinishedRun run = demo(folder, "--members 2 --recipe paper --space-lengthscale 0.5 --json");
  ASSERT_EQ(run.status, 0) << run.err;
  const nlohmann::json report = nlohmann::json::parse(run.out);
  EXPECT_EQ(report["training"]["optimiser"], "adam");
  EXPECT_EQ(report["training"]["rate"], 1e-3);
  EXPECT_EQ(report["training"]["schedule"], "constant");
  EXPECT_EQ(report["spec"]["spatial"]["lengthscales"][0], 0.5);
  // One lengthscale for coordinates and hidden layers, in units of the square root of the bottleneck there.
  EXPECT_NEAR(report["spec"]["spatial"]["hidden_lengthscale"].get<double>() * std::sqrt(8.0), 0.5, 1e-12);
}

TEST(Demo, FailsWithStatusOneWhereItCannotWrite) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "not a folder";
  const FinishedRun run = run_command(fmt::format("{} --out '{}/file/inside'", kSmall, folder.path().string()));
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.out, "");
  EXPECT_TRUE(run.err.starts_with("drift: " + folder.path().string() + "/file/inside: the folder")) << run.err;
}

TEST(Demo, FailsWithStatusTwoWhenThereIsNothingToFit) {
  const TemporaryFolder folder;
  const FinishedRun run = run_command(fmt::format("demo --observations 1 --out '{}'", folder.path().string()));
  EXPECT_EQ(run.status, 2);
  EXPECT_TRUE(contains(run.err, "--observations")) << run.err;
}

}  // namespace
