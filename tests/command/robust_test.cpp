// What users, other programs and the machine do to the command: nothing is lost, and nothing goes wrong in silence.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include <cmath>
#include <fstream>

#include "small_run.h"

namespace {

class Robust : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name), std::ios::binary) << text; }
  FinishedRun run(const std::string& line) const { return run_shell(folder_.path(), line); }
  std::string model() const { return (small_run() / "model.safetensors").string(); }
  std::string tracks() const { return (small_run() / "tracks.nc").string(); }
  // Points of a smooth field; `head` is the name of its column.
  void write_table(const std::string& name, const std::string& head) const {
    std::string text = "lon,lat,time," + head + "\n";
    for (int i = 0; i < 300; ++i) {
      const double lon = -30.0 + 0.9 * (i % 17), lat = 40.0 + 0.3 * (i % 41);
      text += fmt::format("{},{},2020-03-{:02}T00:00:00Z,{}\n", lon, lat, 1 + i / 30, std::sin(lon / 5.0) + std::cos(lat / 3.0));
    }
    write(name, text);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_.path()), std::filesystem::directory_iterator()));
  }

  TemporaryFolder folder_;
};

TEST_F(Robust, OutputThatCannotBeWrittenIsAFailure) {
  for (const std::string& line :
       {std::string("--help"), std::string("--version"), "inspect " + tracks() + " --value ssh",
        "inspect " + tracks() + " --value ssh --json", std::string("compare --list"), std::string("completion bash"),
        std::string("simulate --truth synthetic --out s.nc --days 1"), "verify " + model(),
        "predict " + model() + " --grid global:20 --time 2020-03-03 --out m.nc", std::string("plot m.nc"),
        std::string("simulate --help"), "score " + model() + " " + tracks() + " --json",
        "predict " + model() + " --at " + (small_run() / "points.csv").string() + " --out p.csv --json"}) {
    const FinishedRun full = run("drift " + line + " > /dev/full");
    EXPECT_EQ(full.status, 1) << line << full.err;
    EXPECT_TRUE(contains(full.err, "cannot write to standard output: No space left on device")) << line << full.err;
  }
}

TEST_F(Robust, AFitWhoseSentencesCannotBeWrittenKeepsItsModel) {
  write_table("t.csv", "value");
  const FinishedRun fitted =
      run(fmt::format("drift fit t.csv --out m.safetensors --method network {} > /dev/full", kSmallNetworks));
  EXPECT_EQ(fitted.status, 1) << fitted.err;
  EXPECT_EQ(run("drift predict m.safetensors --at t.csv --out p.csv --quiet").status, 0);
}

TEST_F(Robust, AFileBeyondTheLimitIsAnErrorWithItsReason) {
  for (const char* out : {"big.csv", "big.nc"}) {
    const FinishedRun limited =
        run(fmt::format("ulimit -f 100; drift predict {} --grid global:3 --time 2020-03-03 --out {} --quiet", model(), out));
    EXPECT_EQ(limited.status, 1) << limited.err;
    EXPECT_TRUE(contains(limited.err, "File too large")) << limited.err;
    EXPECT_EQ(files(), 0U) << out;
  }
}

TEST_F(Robust, PredictedColumnsDoNotRepeatTheTablesOwn) {
  write("obs.csv", "lon,lat,time,ssh,ssh_uncertainty\n-30,40,2020-03-03,0.5,0.1\n");
  const FinishedRun first = run("drift predict " + model() + " --at obs.csv --out p.csv --json");
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_TRUE(read_file(file("p.csv"))
                  .starts_with("lon,lat,time,ssh,ssh_uncertainty,ssh_predicted,ssh_uncertainty_predicted,ssh_total_uncertainty,"))
      << read_file(file("p.csv"));
  EXPECT_TRUE(contains(first.out, "ssh_predicted")) << first.out;
  ASSERT_EQ(run("drift predict " + model() + " --at p.csv --out q.csv --quiet").status, 0);
  EXPECT_TRUE(contains(read_file(file("q.csv")), ",ssh_predicted_2,")) << read_file(file("q.csv"));
}

TEST_F(Robust, PointsFarFromTheObservationsAreWarnedOf) {
  write("near.csv", "lon,lat,time\n-30,40,2020-03-03\n");
  write("far.csv", "lon,lat,time\n-30,40,2020-03-03\n150,-40,2020-03-03\n,,\n");
  EXPECT_EQ(run("drift predict " + model() + " --at near.csv --out p.csv --quiet").err, "");
  const FinishedRun far = run("drift predict " + model() + " --at far.csv --out p.csv --quiet");
  EXPECT_EQ(far.status, 0);
  EXPECT_TRUE(contains(far.err, "warning: 1 of 3 points lie more than")) << far.err;
  const FinishedRun map = run("drift predict " + model() + " --grid global:10 --time 2020-03-03 --out m.nc --quiet");
  EXPECT_TRUE(contains(map.err, "--mask data:")) << map.err;
}

TEST_F(Robust, NamesThatAreNotUtf8AreRefusedBeforeTraining) {
  write_table("caf\xe9.csv", "value");
  const FinishedRun named = run("drift fit $'caf\\xe9.csv' --value value --out m.safetensors");
  EXPECT_EQ(named.status, 2) << named.err;
  EXPECT_TRUE(contains(named.err, "caf\\xe9.csv") && contains(named.err, "UTF-8")) << named.err;
  EXPECT_EQ(named.out, "");
}

TEST_F(Robust, AColumnInLatin1IsFitted) {
  write_table("t.csv", "h\xf6he");
  const FinishedRun fitted = run(fmt::format("drift fit t.csv --out m.safetensors --method network --quiet {}", kSmallNetworks));
  EXPECT_EQ(fitted.status, 0) << fitted.err;
  EXPECT_EQ(run("drift inspect t.csv --json | grep -c '\"value\"'").status, 0);
}

TEST_F(Robust, ControlCharactersOfAFileDoNotReachTheTerminal) {
  std::filesystem::copy(tracks(), file("t.nc"));
  int id = 0, variable = 0;
  ASSERT_EQ(nc_open(file("t.nc").c_str(), NC_WRITE, &id), NC_NOERR);
  ASSERT_EQ(nc_inq_varid(id, "ssh", &variable), NC_NOERR);
  const std::string evil = "\x1b[2J\x1b]0;owned\x07";
  ASSERT_EQ(nc_put_att_text(id, variable, "long_name", evil.size(), evil.data()), NC_NOERR);
  ASSERT_EQ(nc_close(id), NC_NOERR);
  write("t.csv", "lon,lat,\x1b[31mvalue\n1,2,3\n");
  for (const char* line :
       {"drift inspect t.nc --value ssh", "drift inspect t.csv --value nothing", "drift inspect $'\\e[31m.nc'"}) {
    const FinishedRun shown = run(line);
    EXPECT_EQ((shown.out + shown.err).find('\x1b'), std::string::npos) << line;
    EXPECT_TRUE(contains(shown.out + shown.err, "[31m") || contains(shown.out, "\\x1b[2J")) << line << shown.out << shown.err;
  }
}

TEST_F(Robust, AFoldersNameMayBeginWithADash) {
  write_table("t.csv", "value");
  const FinishedRun compared = run("drift compare t.csv --value value --folder=-dash --method nngp --seeds 1 --no-maps --quiet");
  EXPECT_EQ(compared.status, 0) << compared.err;
  EXPECT_TRUE(std::filesystem::exists(file("-dash/table.csv")));
}

TEST_F(Robust, APlotThatIsStoppedLeavesNoFolder) {
  std::filesystem::create_directory(file("tmp"));
  for (const char* wait : {"0.2", "0.4", "0.7", "1.0"}) {
    const FinishedRun stopped = run(
        fmt::format("TMPDIR=$PWD/tmp '{}' plot {} --out p.png --dpi 1200 & sleep {}; kill -TERM $!; wait $!; sleep 0.3; ls tmp",
                    DRIFT_COMMAND, (small_run() / "map.nc").string(), wait));
    EXPECT_EQ(stopped.out, "") << wait;
  }
}

TEST_F(Robust, MessagesBlameWhatIsWrong) {
  write_table("t.csv", "value");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"fit " + model() + " --out m.safetensors", "holds binary data"},
      {"predict " + model() + " --at " + tracks() + " --out p.csv", "holds binary data"},
      {"predict " + tracks() + " --out p.nc", "is not a safetensors file, as models of drift fit are"},
      {"predict " + model() + " --out map.txt", "must end in .nc"},
      {"compare t.csv --value value --folder t.csv --method nngp", "it is a file; results need a folder"},
      {"fit t.csv/none.csv --out m.safetensors", "Not a directory"},
      {"fit t.csv/none.toml", "Not a directory"},
      {"plot t.csv/none.nc --out p.png", "Not a directory"}};
  for (const auto& [line, message] : cases) {
    const FinishedRun refused = run("drift " + line);
    EXPECT_NE(refused.status, 0) << line;
    EXPECT_TRUE(contains(refused.err, message)) << line << "\n" << refused.err;
    EXPECT_EQ(refused.out, "") << line;
  }
}

TEST_F(Robust, DevicesWithoutEndAreRefusedAtOnce) {
  for (const char* name : {"zero.toml", "zero.nc", "zero.csv", "zero.json"})
    std::filesystem::create_symlink("/dev/zero", file(name));
  for (const std::string line : {"fit zero.toml --out m.safetensors", "verify zero.toml", "verify /dev/zero", "inspect zero.nc",
                                 "inspect zero.csv", "inspect /dev/zero", "tune --show zero.json"}) {
    const FinishedRun refused = run("ulimit -t 20; ulimit -v 8000000; drift " + line);
    EXPECT_TRUE(refused.status == 1 || refused.status == 2) << line << ": " << refused.status << refused.err;
    EXPECT_TRUE(contains(refused.err, "zero")) << line << ": " << refused.err;
    EXPECT_FALSE(contains(refused.err, "out of memory")) << line << ": " << refused.err;
  }
}

TEST_F(Robust, RunFilesMayNotNameAddresses) {
  const std::string address = "http://127.0.0.1:1/tracks";
  for (const std::string& text : {"[data]\nfiles = \"" + address + "\"", "[split]\ntest = [\"" + address + "\"]",
                                  "[compare]\ngrid = \"file:" + address + "\"", "[compare]\ntruth = \"" + address + ".nc\""}) {
    write("run.toml", text + "\n");
    for (const std::string verb : {"fit", "verify"}) {
      const FinishedRun refused = run("drift " + verb + " run.toml");
      EXPECT_EQ(refused.status, verb == "fit" ? 2 : 1) << text << refused.err;
      EXPECT_TRUE(contains(refused.err, "run.toml: ") && contains(refused.err, "a run file may not name an address"))
          << refused.err;
    }
  }
}

TEST_F(Robust, StoresWithDamagedMetadataAreRefused) {
  std::filesystem::create_directories(file("z.zarr/ssh"));
  write("z.zarr/.zgroup", "{\"zarr_format\": 2}");
  for (const std::string& array : {std::string(R"({"zarr_format":2,"shape":[4)"), std::string("[]"), std::string(300'000, '['),
                                   std::string(R"({"zarr_format":2,"shape":{"a":4},"chunks":7,"dtype":[],"order":1})")}) {
    write("z.zarr/ssh/.zarray", array);
    const FinishedRun refused = run("drift inspect z.zarr");
    EXPECT_EQ(refused.status, 1) << array.substr(0, 80) << refused.err;
    EXPECT_TRUE(contains(refused.err, "z.zarr/ssh/.zarray: ")) << refused.err;
  }
}

TEST_F(Robust, ADamagedFileOfAListIsNamedAndMayBeSkipped) {
  for (const char* name : {"a.nc", "b.nc", "c.nc", "d.nc"}) std::filesystem::copy(tracks(), file(name));
  std::filesystem::resize_file(file("b.nc"), std::filesystem::file_size(file("b.nc")) / 2);
  write("c.nc", "");
  write("d.nc", "<html>404 Not Found</html>");
  const FinishedRun stopped = run("drift inspect '*.nc' --value ssh");
  EXPECT_EQ(stopped.status, 1);
  EXPECT_TRUE(contains(stopped.err, "b.nc") && contains(stopped.err, "--bad-files skip")) << stopped.err;
  const FinishedRun skipped = run("drift inspect '*.nc' --value ssh --bad-files skip");
  EXPECT_EQ(skipped.status, 0) << skipped.err;
  for (const char* name : {"b.nc", "c.nc", "d.nc"})
    EXPECT_TRUE(contains(skipped.out, std::string("warning: ") + name)) << skipped.out;
  EXPECT_TRUE(contains(skipped.out, "1 NetCDF file: a.nc")) << skipped.out;
}

}  // namespace
