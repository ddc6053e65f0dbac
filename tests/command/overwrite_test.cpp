// No verb writes over what it reads, by whatever name either goes.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "small_run.h"

namespace {

class Overwrite : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name), std::ios::binary) << text; }
  void copy(const std::string& from, const std::string& to) const { std::filesystem::copy(small_run() / from, file(to)); }
  void write_points(const std::string& name) const {
    std::string text = "lon,lat,time,value\n";
    for (int i = 0; i < 200; ++i) {
      text += fmt::format("{},{},2020-03-{:02}T00:00:00Z,{}\n", -30 + 0.1 * i, 40 + 0.05 * (i % 37), 1 + i / 20, 0.01 * (i % 13));
    }
    write(name, text);
  }

  // Status 2, one sentence with the name in it, and every file as it was to the byte.
  void expect_refusal(const std::string& line, const std::string& name) const {
    const auto before = contents();
    const FinishedRun run = run_shell(folder_.path(), line);
    EXPECT_EQ(run.status, 2) << line << "\n" << run.out << run.err;
    EXPECT_TRUE(contains(run.err, name) && contains(run.err, "overwrite")) << line << "\n" << run.err;
    EXPECT_EQ(contents(), before) << line;
  }

 private:
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      if (entry.is_regular_file()) all[entry.path().string()] = read_file(entry.path());
    }
    return all;
  }

  TemporaryFolder folder_;
};

TEST_F(Overwrite, FitKeepsItsObservations) {
  write_points("t.csv");
  std::filesystem::create_symlink("t.csv", file("soft"));
  std::filesystem::create_hard_link(file("t.csv"), file("hard"));
  for (const char* out : {"t.csv", "./t.csv", "soft", "hard"})
    expect_refusal(fmt::format("drift fit t.csv --value value --out {} {}", out, kSmallNetworks), "t.csv");
  expect_refusal(fmt::format("drift fit 't*.csv' --value value --out t.csv {}", kSmallNetworks), "t.csv");
  std::filesystem::copy(file("t.csv"), file("m.checkpoint"));
  expect_refusal(fmt::format("drift fit m.checkpoint --value value --out m {}", kSmallNetworks), "m.checkpoint");
  std::filesystem::copy(file("t.csv"), file("u.csv"));
  expect_refusal(fmt::format("drift fit t.csv --test u.csv --value value --out u.csv {}", kSmallNetworks), "u.csv");
}

TEST_F(Overwrite, FitKeepsItsRunFile) {
  write_points("t.csv");
  write("run.toml", "[data]\nfiles = [\"t.csv\"]\nvalue = \"value\"\n[output]\nmodel = \"run.toml\"\n");
  write("good.toml", "[data]\nfiles = [\"t.csv\"]\nvalue = \"value\"\n");
  expect_refusal("drift fit run.toml", "run.toml");
  expect_refusal("drift fit good.toml --out good.toml", "good.toml");
}

TEST_F(Overwrite, PredictKeepsModelPointsAndGrid) {
  copy("model.safetensors", "m.safetensors");
  copy("points.csv", "a.csv");
  copy("map.nc", "map.nc");
  expect_refusal("drift predict m.safetensors --at a.csv --out a.csv", "a.csv");
  expect_refusal("drift predict m.safetensors --at a.csv --out m.safetensors", "m.safetensors");
  expect_refusal("drift predict m.safetensors --grid map.nc --out map.nc", "map.nc");
  expect_refusal("drift predict m.safetensors --grid file:map.nc --out ./map.nc", "map.nc");
  std::filesystem::rename(file("m.safetensors"), file("m.nc"));
  expect_refusal("drift predict m.nc --out m.nc", "m.nc");
}

TEST_F(Overwrite, TuneKeepsItsRunFileAndObservations) {
  write_points("run.csv");
  write("run.toml", "[data]\nfiles = [\"run.csv\"]\nvalue = \"value\"\n");
  expect_refusal("drift tune run.csv --value value --study s.json --write-run run.csv", "run.csv");
  expect_refusal("drift tune run.toml --study s.json --write-run run.toml", "run.toml");
  expect_refusal("drift tune run.csv --value value --study run.csv", "run.csv");
}

TEST_F(Overwrite, TwoResultsAreTwoFiles) {
  write_points("run.csv");
  const FinishedRun run = run_shell(file(""), "drift tune run.csv --value value --study s.json --write-run ./s.json");
  EXPECT_EQ(run.status, 2);
  EXPECT_TRUE(contains(run.err, "both be written to")) << run.err;
}

TEST_F(Overwrite, SimulateKeepsItsTruth) {
  copy("map.nc", "X.nc");
  expect_refusal("drift simulate --truth X.nc --out X.nc", "X.nc");
  expect_refusal("drift simulate --truth X.nc:ssh --out X.nc", "X.nc");
  expect_refusal("drift simulate --truth X.nc --variable ssh --out X.nc", "X.nc");
}

TEST_F(Overwrite, PlotKeepsItsMapAndObservations) {
  copy("map.nc", "map.png");
  copy("map.nc", "other_sd.png");
  expect_refusal("drift plot map.png", "map.png");
  expect_refusal("drift plot map.nc --minus map.png --out map.png", "map.png");
  expect_refusal("drift plot other_sd.png --separate --out other.png", "other_sd.png");
  write_points("points.png");
  expect_refusal("drift plot map.png --observations points.png --out points.png", "points.png");
}

TEST_F(Overwrite, CompareKeepsARunFileThatIsNotItsOwn) {
  write_points("t.csv");
  write("run.toml", "# mine\n[data]\nfiles = [\"t.csv\"]\nvalue = \"value\"\n");
  expect_refusal("drift compare run.toml --folder . --method nngp --seeds 1 --no-maps", "run.toml");
  expect_refusal("drift compare t.csv --value value --folder . --method nngp --seeds 1 --no-maps", "run.toml");
  std::filesystem::remove(file("run.toml"));
  write_points("table.csv");
  expect_refusal("drift compare table.csv --value value --folder . --method nngp --seeds 1 --no-maps", "table.csv");
}

}  // namespace
