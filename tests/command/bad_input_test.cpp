// Bad input gets one clear sentence, status 1 (data, files) or 2 (usage, settings), and nothing is written, half-written or lost.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <vector>

#include "drift/track_file.h"
#include "small_run.h"

namespace {

// A folder in which `drift ...` is expected to fail.
class BadInput : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name), std::ios::binary) << text; }

  // One line that begins with "drift: " and has every part in it; the files in the folder are as before.
  void expect_refusal(const std::string& line, int status, const std::vector<std::string>& parts) const {
    const auto before = snapshot();
    const FinishedRun run = run_shell(folder_.path(), line);
    EXPECT_EQ(run.status, status) << line << "\n" << run.err;
    EXPECT_TRUE(run.err.starts_with("drift: ")) << line << "\n" << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << line << "\n" << run.err;
    for (const std::string& part : parts)
      EXPECT_TRUE(contains(run.err, part)) << line << "\n'" << part << "' is not in: " << run.err;
    EXPECT_EQ(snapshot(), before) << line << "\nfiles were changed";
  }
  void expect_fit_refused(const std::string& files, int status, const std::vector<std::string>& parts) const {
    expect_refusal(fmt::format("drift fit {} --out m.safetensors {}", files, kSmallNetworks), status, parts);
  }

  // Observations along a line, for what the tests then spoil.
  static drift::Observations line_of(std::size_t count) {
    drift::Observations o;
    for (std::size_t i = 0; i < count; ++i) {
      const double t = static_cast<double>(i);
      o.lon_deg.push_back(-30.0 + 0.01 * t);
      o.lat_deg.push_back(20.0 + 0.02 * t);
      o.time_days.push_back(20000.0 + 1e-4 * t);
      o.value.push_back(std::sin(0.1 * t));
    }
    return o;
  }
  void write_tracks(const std::string& name, const drift::Observations& observations, const std::string& unit = "m") const {
    drift::write_track_file(file(name), observations, {"ssh", "Sea surface height", "", unit});
  }

  // Sets an attribute or numbers of a NetCDF file.
  void edit(const std::string& name, const std::function<void(int)>& change) const {
    int id = 0;
    ASSERT_EQ(nc_open(file(name).c_str(), NC_WRITE, &id), NC_NOERR);
    change(id);
    ASSERT_EQ(nc_close(id), NC_NOERR);
  }
  static int variable(int id, const char* name) {
    int found = -1;
    EXPECT_EQ(nc_inq_varid(id, name, &found), NC_NOERR) << name;
    return found;
  }

 private:
  std::vector<std::pair<std::string, std::uintmax_t>> snapshot() const {
    std::vector<std::pair<std::string, std::uintmax_t>> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      files.emplace_back(entry.path().string(), entry.is_regular_file() ? entry.file_size() : 0);
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  TemporaryFolder folder_;
};

TEST_F(BadInput, AMissingFile) { expect_fit_refused("none.nc --value ssh", 1, {"none.nc", "no such file"}); }

TEST_F(BadInput, APatternThatMatchesNothing) { expect_fit_refused("'none*.nc' --value ssh", 1, {"none*.nc"}); }

TEST_F(BadInput, AFolder) {
  std::filesystem::create_directory(file("tracks"));
  expect_fit_refused("tracks --value ssh", 1, {"tracks", "is a folder"});
}

TEST_F(BadInput, AFileThatIsNotNetCdf) {
  write("fake.nc", "This is not what its name says.\n");
  expect_fit_refused("fake.nc --value ssh", 1, {"fake.nc"});
}

TEST_F(BadInput, ATruncatedFile) {
  std::filesystem::copy(small_run() / "tracks.nc", file("cut.nc"));
  std::filesystem::resize_file(file("cut.nc"), std::filesystem::file_size(file("cut.nc")) / 2);
  expect_fit_refused("cut.nc --value ssh", 1, {"cut.nc", "truncated or damaged"});
}

TEST_F(BadInput, AnEmptyFile) {
  write("empty.nc", "");
  write("empty.csv", "");
  expect_fit_refused("empty.nc --value ssh", 1, {"empty.nc", "is empty"});
  expect_fit_refused("empty.csv --value ssh", 1, {"empty.csv", "is empty"});
}

TEST_F(BadInput, AllFillValues) {
  drift::Observations o = line_of(200);
  write_tracks("fill.nc", o);
  edit("fill.nc", [](int id) {
    const std::vector<double> fill(200, NC_FILL_DOUBLE);
    const int ssh = variable(id, "ssh");
    double declared = NC_FILL_DOUBLE;
    nc_get_att_double(id, ssh, "_FillValue", &declared);
    const std::vector<double> numbers(200, declared);
    ASSERT_EQ(nc_put_var_double(id, ssh, numbers.data()), NC_NOERR);
  });
  expect_fit_refused("fill.nc --value ssh", 1, {"fill.nc", "200"});
}

TEST_F(BadInput, NoSuchVariable) {
  write_tracks("t.nc", line_of(200));
  expect_fit_refused("t.nc --value shs", 2, {"t.nc", "shs", "ssh"});
  write("t.csv", "lon,lat,height\n1,2,3\n");
  expect_fit_refused("t.csv --value hieght", 2, {"t.csv", "hieght", "height"});
}

TEST_F(BadInput, AmbiguousRoles) {
  write("two.csv", "lon,longitude,lat,value\n1,1,2,3\n");
  expect_fit_refused("two.csv", 2, {"two.csv", "lon", "longitude"});
}

TEST_F(BadInput, LatitudesBeyondThePole) {
  drift::Observations o = line_of(200);
  for (double& lat : o.lat_deg) lat += 75.0;
  write("lat.csv", [&] {
    std::string text = "lon,lat,value\n";
    for (std::size_t i = 0; i < o.size(); ++i) text += fmt::format("{},{},{}\n", o.lon_deg[i], o.lat_deg[i], o.value[i]);
    return text;
  }());
  expect_fit_refused("lat.csv", 1, {"lat.csv", "latitude"});
}

TEST_F(BadInput, MixedUnits) {
  write_tracks("a.nc", line_of(200), "m");
  drift::Observations later = line_of(200);
  for (double& time : later.time_days) time += 1.0;
  write_tracks("b.nc", later, "cm");
  expect_fit_refused("a.nc b.nc --value ssh", 1, {"a.nc", "b.nc", "\"m\"", "\"cm\""});
}

TEST_F(BadInput, TimesThatRunBackwards) {
  drift::Observations o = line_of(200);
  std::swap(o.time_days[50], o.time_days[120]);
  write_tracks("back.nc", o);
  edit("back.nc", [](int id) {
    nc_redef(id);
    ASSERT_EQ(nc_put_att_text(id, NC_GLOBAL, "featureType", 10, "trajectory"), NC_NOERR);
  });
  expect_fit_refused("back.nc --value ssh", 1, {"back.nc", "backwards", "--any-order"});
}

TEST_F(BadInput, TimesThatAreAllMissing) {
  write_tracks("t.nc", line_of(200));
  edit("t.nc", [](int id) {
    const int time = variable(id, "time");
    const std::vector<double> numbers(200, NC_FILL_DOUBLE);
    ASSERT_EQ(nc_put_var_double(id, time, numbers.data()), NC_NOERR);
  });
  expect_fit_refused("t.nc --value ssh", 1, {"t.nc", "time"});
}

TEST_F(BadInput, MostlyDuplicates) {
  write_tracks("a.nc", line_of(200));
  write_tracks("b.nc", line_of(200));
  write_tracks("c.nc", line_of(200));
  expect_fit_refused("a.nc b.nc c.nc --value ssh", 1, {"400 of 600 observations are there more than once"});
}

TEST_F(BadInput, ConstantValues) {
  drift::Observations o = line_of(200);
  std::fill(o.value.begin(), o.value.end(), 1.5);
  write_tracks("flat.nc", o);
  expect_fit_refused("flat.nc --value ssh", 1, {"all 200 values are 1.5"});
}

TEST_F(BadInput, FewerThanAHundredObservations) {
  write_tracks("few.nc", line_of(60));
  expect_fit_refused("few.nc --value ssh", 1, {"only 60 observations"});
}

TEST_F(BadInput, CsvWithRaggedRowsBadNumbersOrNoHeader) {
  write("ragged.csv", "lon,lat,value\n1,2,3\n1,2\n");
  expect_fit_refused("ragged.csv", 1, {"ragged.csv:3", "2"});
  write("bad.csv", "lon,lat,value\n1,2,3\n1,2,three\n");
  expect_fit_refused("bad.csv", 1, {"bad.csv:3", "three"});
  write("headless.csv", "1,2,3\n4,5,6\n");
  expect_fit_refused("headless.csv", 1, {"headless.csv:1", "no header"});
}

TEST_F(BadInput, RunFilesWithUnknownKeysWrongTypesOrValuesOutOfRange) {
  write("key.toml", "[train]\nepoch = 3\n");
  expect_refusal("drift fit key.toml", 2, {"key.toml:2", "'epoch'", "did you mean 'epochs'?"});
  write("type.toml", "[data]\n\nfiles = 3\n");
  expect_refusal("drift fit type.toml", 2, {"type.toml:3", "files must be a text or an array of texts but is a number"});
  write("range.toml", "[model]\nmembers = 0\n");
  expect_refusal("drift fit range.toml", 2, {"range.toml:2", "members is 0; it must be at least 1"});
  write("not.toml", "members 3\n");
  expect_refusal("drift fit not.toml", 2, {"not.toml:1", "not TOML"});
  expect_refusal("drift fit none.toml", 1, {"none.toml", "no such run file"});
  write("nodata.toml", "[train]\nepochs = 3\n");
  expect_refusal("drift fit nodata.toml", 2, {"names no observations"});
}

TEST_F(BadInput, AnUnknownGrid) {
  const std::string model = (small_run() / "model.safetensors").string();
  expect_refusal(fmt::format("drift predict '{}' --grid globe:1 --out map.nc", model), 2, {"globe:1", "global:0.25"});
  expect_refusal(fmt::format("drift predict '{}' --grid none.nc --out map.nc", model), 1, {"none.nc"});
  expect_refusal(fmt::format("drift predict '{}' --mask sea --out map.nc", model), 2, {"sea", "ocean"});
  expect_refusal(fmt::format("drift predict '{}' --time tomorrow --out map.nc", model), 2, {"tomorrow"});
}

TEST_F(BadInput, AnOutputFolderThatIsMissingOrMayNotBeWritten) {
  const std::string tracks = (small_run() / "tracks.nc").string(), model = (small_run() / "model.safetensors").string();
  expect_refusal(fmt::format("drift fit '{}' --value ssh --out no/m.safetensors", tracks), 1,
                 {"no/m.safetensors", "does not exist; create it first"});
  expect_refusal(fmt::format("drift predict '{}' --out no/map.nc", model), 1, {"no/map.nc", "does not exist; create it first"});
  if (geteuid() == 0) return;  // root may write anywhere
  std::filesystem::create_directory(file("locked"));
  std::filesystem::permissions(file("locked"), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  expect_refusal(fmt::format("drift predict '{}' --out locked/map.nc", model), 1, {"locked/map.nc", "Permission denied"});
}

TEST_F(BadInput, AFullDisk) {
  const std::string model = (small_run() / "model.safetensors").string();
  // A limit on the size of files is as good as a full disk: the write fails part of the way.
  const std::string limited = "ulimit -f 8; trap '' XFSZ; ";
  expect_refusal(limited + fmt::format("drift predict '{}' --grid bbox:-50,20,-10,55:0.25 --out map.nc --quiet", model), 1,
                 {"map.nc"});
  expect_refusal(limited + fmt::format("drift fit '{}' --value ssh --out m.safetensors --quiet --method process",
                                       (small_run() / "tracks.nc").string()),
                 1, {"m.safetensors", "File too large"});
}

TEST_F(BadInput, ModelsThatAreForeignDamagedOrFromANewerVersion) {
  write("m.safetensors", "not a model");
  expect_refusal("drift predict m.safetensors --out map.nc", 1, {"m.safetensors"});
  std::string model = read_file(small_run() / "model.safetensors");
  const std::size_t version = model.find("\"format_version\":\"");
  ASSERT_NE(version, std::string::npos);
  model.insert(version + 18, 1, '9');
  const std::string program = "\"drift_version\":\"";
  model.erase(model.find(program) + program.size(), 1);  // as long as before
  write("newer.safetensors", model);
  expect_refusal("drift predict newer.safetensors --out map.nc", 1, {"newer.safetensors", "newer"});
  write("cut.safetensors", model.substr(0, model.size() / 2));
  expect_refusal("drift score cut.safetensors x.nc", 1, {"cut.safetensors"});
}

TEST_F(BadInput, FitWithoutFilesOrPlaceForTheModel) {
  expect_refusal("drift fit", 2, {"fit needs observations"});
  expect_refusal("drift fit a.nc --value ssh", 2, {"--out"});
}

// One sentence, or one with a list below it, an indented line each.
bool is_one_sentence(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  bool good = std::getline(lines, line) && line.starts_with("drift: ");
  while (std::getline(lines, line)) good = good && line.starts_with("  ");
  return good;
}

// Real files, where they are at hand: each is read, or refused in one sentence; never a crash.
TEST(RealData, EveryFileIsReadOrRefusedInOneSentence) {
  if (!std::filesystem::is_directory(DRIFT_TEST_DATA)) GTEST_SKIP() << "no real data at " << DRIFT_TEST_DATA;
  int read = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(DRIFT_TEST_DATA)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".nc" && extension != ".csv" && extension != ".gz") continue;
    const FinishedRun run = run_command(fmt::format("inspect '{}'", entry.path().string()));
    EXPECT_TRUE(run.status == 0 || run.status == 1 || run.status == 2) << entry.path();
    EXPECT_TRUE(run.status == 0 || is_one_sentence(run.err)) << run.err;
    if (++read == 60) break;
  }
}

}  // namespace
