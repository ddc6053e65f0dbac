#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "drift/calendar.h"
#include "drift/field_model.h"
#include "drift/read_observations.h"
#include "drift/truth.h"
#include "kept_run.h"

namespace {

using nlohmann::json;

// Small enough to take a second.
constexpr const char* kSmall = "drift demo --observations 3000 --features 64 --bottleneck 8 --layers 2 --epochs 20 --batch 128";

FinishedRun demo(const TemporaryFolder& folder, const std::string& more) {
  return run_shell(folder.path(), fmt::format("{} --out results {}", kSmall, more));
}

// A demonstration and its report, for tests that look at what it left.
const std::filesystem::path& finished_demo() {
  static const KeptRun run("demo", [](const std::filesystem::path& folder) {
    const FinishedRun made =
        run_shell(folder, fmt::format("{} --out results --members 2 --seed 4 --threads 1 --json > report.json", kSmall));
    if (made.status != 0) throw std::runtime_error(made.err);
  });
  return run.path();
}

json demo_report() { return json::parse(read_file(finished_demo() / "report.json")); }

TEST(Demo, TellsItsStoryAndLeavesEveryFileItNames) {
  const TemporaryFolder folder;
  const FinishedRun run = demo(folder, "--members 3");
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* said : {"Simulated 3,0", "The field moves", "Model: 3 networks", "Scores against the truth", "RMSE", "CRPS",
                           "NLL", "coverage", "the truth changes by"}) {
    EXPECT_TRUE(contains(run.out, said)) << run.out;
  }
  for (const char* name :
       {"observations.nc", "run.toml", "model.safetensors", "map.nc", "truth.nc", "map.png", "map_sd.png", "scores.json"}) {
    EXPECT_FALSE(read_file(folder.path() / "results" / name).empty()) << name;
    EXPECT_TRUE(contains(run.out, std::string("results/") + name)) << run.out;
  }
  EXPECT_TRUE(read_file(folder.path() / "results/map.png").starts_with("\x89PNG\r\n"));
}

TEST(Demo, ScoresTheFieldAgainstTheTruth) {
  const json report = demo_report();
  // The ring's 29.7 million km^2 in squares of 25 km, at two times.
  EXPECT_NEAR(report["truth"]["count"].get<double>(), 2 * 47500.0, 2 * 500.0);
  EXPECT_LT(report["truth"]["rmse"].get<double>(), 0.9) << "even a small network beats the mean of the observations";
  EXPECT_GT(report["truth"]["rmse"].get<double>(), report["truth"]["crps"].get<double>());
  const json scores = json::parse(read_file(finished_demo() / "results/scores.json"));
  EXPECT_EQ(scores["truth"], report["truth"]);
  EXPECT_EQ(scores["held_out"], report["held_out"]);
}

// What it says of the change is that of its files: truth.nc and map.nc at the two times.
TEST(Demo, HasATruthThatMovesAndMapsOfTwoTimes) {
  const json report = demo_report();
  const auto change_in = [&](const char* name) {
    const drift::NamedTruth map = drift::truth_from_file(finished_demo() / "results" / name, "field");
    std::array<double, 2> times = {};
    for (std::size_t t = 0; t < 2; ++t) drift::parse_iso_time(report["map_times"][t].get<std::string>(), times.at(t));
    double squares = 0.0;
    std::size_t count = 0;
    for (double lat = 63.0; lat < 87.0; lat += 0.5) {
      for (double lon = 0.0; lon < 360.0; lon += 0.5 / std::cos(lat * 3.14159 / 180.0)) {
        const std::array<drift::UnitVector, 2> points = {drift::unit_vector({lon, lat}), drift::unit_vector({lon, lat})};
        std::array<double, 2> values = {};
        map.truth(points, times, values);
        if (!std::isfinite(values[0] + values[1])) continue;
        squares += std::pow(values[1] - values[0], 2);
        ++count;
      }
    }
    EXPECT_GT(count, 5000u) << name;
    return std::sqrt(squares / static_cast<double>(count));
  };
  const json& change = report["change"];
  EXPECT_GT(change["truth_rms"].get<double>(), 0.4) << "visible beside a standard deviation of one";
  EXPECT_NEAR(change_in("truth.nc"), change["truth_rms"].get<double>(), 0.05);  // other points of the same ring
  EXPECT_NEAR(change_in("map.nc"), change["map_rms"].get<double>(), 0.05);
  EXPECT_GE(change["error_rms"].get<double>(), change["truth_rms"].get<double>() - change["map_rms"].get<double>() - 1e-9);

  const drift::NamedTruth named = drift::open_truth(report["truth_field"]);
  const drift::Reading reading = drift::read_observations({(finished_demo() / "results/observations.nc").string()});
  const drift::Observations& observations = reading.observations;
  for (std::size_t i = 0; i < observations.size(); i += 100) {
    const drift::UnitVector at = drift::unit_vector({observations.lon_deg[i], observations.lat_deg[i]});
    double value = 0.0;
    named.truth({&at, 1}, {&observations.time_days[i], 1}, {&value, 1});
    EXPECT_NEAR(observations.value[i], value, 6 * 0.01) << "the noise's standard deviation is 0.01";
  }
}

TEST(Demo, LeavesARunFileThatMakesTheSameModel) {
  const drift::FieldModel made = drift::load_field_model(finished_demo() / "results/model.safetensors");
  ASSERT_EQ(run_shell(finished_demo(), "drift fit results/run.toml --out again.safetensors --threads 2 --quiet").status, 0);
  const drift::FieldModel again = drift::load_field_model(finished_demo() / "again.safetensors");
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
  EXPECT_TRUE(run.err.starts_with("drift: cannot create the folder file/inside")) << run.err;
}

TEST(Demo, DoesNotWriteOverFilesThatAreNotItsOwn) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "results");
  std::ofstream(folder.path() / "results/truth.nc") << "mine";
  const FinishedRun run = demo(folder, "--members 1");
  EXPECT_EQ(run.status, 2);
  EXPECT_TRUE(contains(run.err, "results/truth.nc is not of drift demo's making")) << run.err;
  EXPECT_EQ(read_file(folder.path() / "results/truth.nc"), "mine");
  std::filesystem::remove(folder.path() / "results/truth.nc");
  std::ofstream(folder.path() / "results/notes.txt") << "in nobody's way";
  ASSERT_EQ(demo(folder, "--members 1 --quiet").status, 0);
  EXPECT_EQ(demo(folder, "--members 1 --quiet").status, 0) << "its own it replaces";
}

TEST(Demo, FailsWithStatusTwoWhenThereIsNothingToFit) {
  const FinishedRun run = run_command("demo --observations 1 --out x");
  EXPECT_EQ(run.status, 2);
  EXPECT_TRUE(contains(run.err, "--observations")) << run.err;
}

}  // namespace
