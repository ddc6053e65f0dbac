#include "drift/compare.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "small_run.h"

namespace {

using nlohmann::json;

constexpr const char* kQuickMlp = "mlp:width=16,layers=2,steps=100,epochs=1,members=2";

std::string compare_line(const std::string& more) {
  return fmt::format("drift compare '{}' --value ssh {} {}", (small_run() / "tracks.nc").string(), kSmallNetworks, more);
}

json row_of(const json& table, const std::string& method) {
  for (const json& row : table["methods"]) {
    if (row["method"] == method) return row;
  }
  return {};
}

// Scores by method, without what the clock says.
std::map<std::string, double> scores(const json& table) {
  const std::set<std::string> kept = {"rmse", "crps", "nlpd", "coverage90", "truth_rmse"};
  std::map<std::string, double> out;
  for (const json& row : table["methods"]) {
    for (const auto& [name, value] : row["measures"].items()) {
      if (kept.contains(name)) out[row["method"].get<std::string>() + " " + name] = value["mean"];
    }
  }
  return out;
}

TEST(Compare, PutsMethodsBesideEachOtherOnThePlane) {
  const TemporaryFolder folder;
  const FinishedRun run = run_shell(
      folder.path(),
      compare_line(fmt::format("--method drift --method nngp:subset=300 --method {} --seeds 2 --folder out", kQuickMlp)));
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* said : {"Split:", "Methods: drift, nngp:subset=300", "1/6  drift, seed 1: CRPS", "1st", "2nd", "3rd", "core-s",
                           "points/s", "mean ± standard deviation over 2 seeds", "table.md", "means.png"})
    EXPECT_TRUE(contains(run.out, said)) << said << "\n" << run.out;
  const json table = json::parse(read_file(folder.path() / "out/table.json"));
  ASSERT_EQ(table["methods"].size(), 3u);
  for (const json& row : table["methods"]) {
    EXPECT_EQ(row["fits"], 2) << row;
    EXPECT_LT(row["measures"]["rmse"]["mean"].get<double>(), 0.5) << row;
    EXPECT_GT(row["measures"]["peak_mib"]["mean"].get<double>(), 10.0);
    EXPECT_TRUE(contains(read_file(folder.path() / "out/table.csv"), row["measures"]["crps"]["mean"].dump()));
    EXPECT_TRUE(contains(read_file(folder.path() / "out/table.md"), row["method"]));
  }
  for (const char* picture : {"out/means.png", "out/sds.png"})
    EXPECT_TRUE(read_file(folder.path() / picture).starts_with("\x89PNG")) << picture;
}

TEST(Compare, WorksOnTheSphereWithATruth) {
  const TemporaryFolder folder;
  const FinishedRun made =
      run_shell(folder.path(), "drift simulate --out tracks.nc --days 2 --rate-hz 0.02 --noise 0.1 --seed 4 --quiet");
  ASSERT_EQ(made.status, 0) << made.err;
  const FinishedRun run = run_shell(
      folder.path(), fmt::format("drift compare tracks.nc --value synthetic {} --method drift --method {} --seeds 1 --truth "
                                 "synthetic:4 --grid global:5 --calibrate none --json",
                                 kSmallNetworks, kQuickMlp));
  ASSERT_EQ(run.status, 0) << run.err;
  const json table = json::parse(run.out);
  for (const json& row : table["methods"]) {
    const double error = row["measures"]["truth_rmse"]["mean"];
    EXPECT_GT(error, 0.05) << row;
    EXPECT_LT(error, 3.0) << row;
    EXPECT_TRUE(row["measures"].contains("truth_nll"));
  }
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "comparison/truth.nc"));
}

TEST(Compare, GoesOnWhereItStoppedAndGivesTheSameTable) {
  const TemporaryFolder folder;
  const std::string methods = fmt::format("--method drift:parts=network --method {} --no-maps --quiet", kQuickMlp);
  ASSERT_EQ(run_shell(folder.path(), compare_line(methods + " --seeds 1 --folder part")).status, 0);
  const auto times = [&] {
    std::map<std::string, std::filesystem::file_time_type> list;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "part/fits"))
      list[entry.path().filename().string()] = entry.last_write_time();
    return list;
  };
  const auto before = times();
  ASSERT_EQ(before.size(), 4u) << "two results, two maps";
  ASSERT_EQ(run_shell(folder.path(), compare_line(methods + " --seeds 2 --folder part")).status, 0);
  const auto after = times();
  EXPECT_EQ(after.size(), 6u);
  for (const auto& [name, time] : before) EXPECT_EQ(after.at(name), time) << name << " was made again";
  ASSERT_EQ(run_shell(folder.path(), compare_line(methods + " --seeds 2 --folder whole")).status, 0);
  EXPECT_EQ(scores(json::parse(read_file(folder.path() / "part/table.json"))),
            scores(json::parse(read_file(folder.path() / "whole/table.json"))));
  const std::string again = fmt::format("drift compare part/run.toml --no-maps --json");
  const FinishedRun repeated = run_shell(folder.path(), again);
  ASSERT_EQ(repeated.status, 0) << repeated.err;
  EXPECT_EQ(times(), after) << "the run file in the folder is the same comparison";
}

TEST(Compare, EndsWithTheTableSoFarWhenInterrupted) {
  const TemporaryFolder folder;
  const std::string line = fmt::format(
      "'{}' compare '{}' --value ssh {} --method drift:parts=network --method drift:parts=network,epochs=1000000 --seeds 1 "
      "--no-maps & "
      "until ls comparison/fits/*.json > list 2> /dev/null; do sleep 0.05; done; kill -INT $!; wait $!",
      DRIFT_COMMAND, (small_run() / "tracks.nc").string(), kSmallNetworks);
  const FinishedRun run = run_shell(folder.path(), "set -m; " + line);
  EXPECT_EQ(run.status, 1);
  EXPECT_TRUE(contains(run.err, "The same command resumes from there")) << run.err;
  EXPECT_TRUE(contains(run.out, "not done")) << run.out;
  const json table = json::parse(read_file(folder.path() / "comparison/table.json"));
  EXPECT_EQ(table["finished"], false);
  EXPECT_EQ(row_of(table, "drift:parts=network")["fits"], 1);
}

// The gmt found first on the PATH never ends.
TEST(Compare, EndsWithItsTableWhenInterruptedWhileItDraws) {
  const TemporaryFolder folder;
  const std::string line = fmt::format(
      "printf '#!/bin/sh\\ntouch \"%s/drawing\"\\nexec sleep 60\\n' \"$PWD\" > gmt; chmod +x gmt; PATH=\"$PWD:$PATH\" "
      "'{}' compare '{}' --value ssh {} --method drift:parts=network --seeds 1 & "
      "until test -e drawing; do sleep 0.05; done; kill -INT $!; wait $!",
      DRIFT_COMMAND, (small_run() / "tracks.nc").string(), kSmallNetworks);
  const auto begun = std::chrono::steady_clock::now();
  const FinishedRun run = run_shell(folder.path(), "set -m; " + line);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(45));
  EXPECT_EQ(run.status, 1);
  EXPECT_TRUE(contains(run.err, "stopped; nothing was drawn")) << run.err;
  EXPECT_TRUE(contains(run.out, "table.md")) << run.out;
  EXPECT_EQ(json::parse(read_file(folder.path() / "comparison/table.json"))["finished"], true);
}

// As timeout does: it signals its child, then the whole process group, the child a second time.
TEST(Compare, LeavesItsTableWhenTheSameSignalComesTwice) {
  const TemporaryFolder folder;
  const std::string line = fmt::format(
      "'{}' compare '{}' --value ssh {} --method drift --method drift:epochs=1000000 --seeds 1 --no-maps & "
      "until ls comparison/fits/*.json > list 2> /dev/null; do sleep 0.05; done; kill -TERM $!; sleep 0.01; kill -TERM $!; "
      "wait $!",
      DRIFT_COMMAND, (small_run() / "tracks.nc").string(), kSmallNetworks);
  const FinishedRun run = run_shell(folder.path(), "set -m; " + line);
  EXPECT_EQ(run.status, 1) << "ended by the signal, not by itself";
  EXPECT_TRUE(contains(run.err, "The same command resumes from there")) << run.err;
  EXPECT_EQ(row_of(json::parse(read_file(folder.path() / "comparison/table.json")), "drift")["fits"], 1);
}

TEST(Compare, WritesItsTableAfterEveryFit) {
  const TemporaryFolder folder;
  const std::string line = fmt::format(
      "'{}' compare '{}' --value ssh {} --method drift --method drift:epochs=1000000 --seeds 1 --no-maps & "
      "until ls comparison/table.json > list 2> /dev/null; do sleep 0.05; done; kill -KILL $!; wait $!",
      DRIFT_COMMAND, (small_run() / "tracks.nc").string(), kSmallNetworks);
  run_shell(folder.path(), "set -m; " + line);
  const json table = json::parse(read_file(folder.path() / "comparison/table.json"));
  EXPECT_EQ(table["finished"], false);
  EXPECT_EQ(row_of(table, "drift")["fits"], 1);
  EXPECT_EQ(row_of(table, "drift:epochs=1000000")["fits"], 0);
}

TEST(Compare, AFailingMethodLeavesTheRestIntact) {
  const TemporaryFolder folder;
  // The rate is drift's: its training diverges.
  const std::string both = fmt::format("--rate 1e30 --method drift --method {} --seeds 1 --no-maps", kQuickMlp);
  const FinishedRun run = run_shell(folder.path(), compare_line(both + " --folder both"));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "failed: training diverged")) << run.out;
  const FinishedRun alone =
      run_shell(folder.path(), compare_line(fmt::format("--method {} --seeds 1 --no-maps --quiet --folder alone", kQuickMlp)));
  ASSERT_EQ(alone.status, 0) << alone.err;
  const json table = json::parse(read_file(folder.path() / "both/table.json"));
  EXPECT_TRUE(contains(row_of(table, "drift")["failure"], "training diverged"));
  EXPECT_EQ(row_of(table, kQuickMlp)["measures"]["crps"]["mean"],
            row_of(json::parse(read_file(folder.path() / "alone/table.json")), kQuickMlp)["measures"]["crps"]["mean"]);
  const FinishedRun none = run_shell(folder.path(), compare_line("--rate 1e30 --method drift --seeds 1 --no-maps"));
  EXPECT_EQ(none.status, 1);
  EXPECT_TRUE(contains(none.err, "no method succeeded")) << none.err;
}

TEST(Compare, RefusesWhatCannotBe) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& more) {
    const FinishedRun run = run_shell(folder.path(), compare_line(more));
    EXPECT_EQ(run.status, 2) << more << run.out;
    return run.err;
  };
  EXPECT_TRUE(contains(refusal("--method dirft"), "did you mean 'drift'?"));
  EXPECT_TRUE(contains(refusal("--method mlp:widht=3"), "did you mean 'width'?"));
  EXPECT_TRUE(contains(refusal("--method mlp:width=-3"), "width"));
  EXPECT_TRUE(contains(refusal("--method drift --seeds 0"), "--seeds 0"));
  EXPECT_TRUE(contains(refusal("--method drift --truth geiod"), "did you mean 'geoid'?"));
  EXPECT_TRUE(contains(refusal("--method drift --split none"), "hold some out"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "comparison"));
}

TEST(Compare, ListsEveryMethodWithItsOptions) {
  const FinishedRun run = run_command("compare --list");
  EXPECT_EQ(run.status, 0);
  for (const drift::MethodInfo& method : drift::compare_methods()) {
    EXPECT_TRUE(contains(run.out, method.name)) << run.out;
    EXPECT_TRUE(contains(run.out, method.summary + " (" + method.source + ")")) << run.out;
    for (const drift::MethodOption& option : method.options) EXPECT_TRUE(contains(run.out, option.name)) << run.out;
  }
}

}  // namespace
