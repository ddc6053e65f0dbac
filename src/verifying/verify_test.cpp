#include "drift/verify.h"

#include <gtest/gtest.h>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/field_file.h"
#include "drift/field_model.h"
#include "drift/tune.h"
#include "netcdf/netcdf_reader.h"

namespace drift {
namespace {

NetworkSpec tiny_spec() {
  NetworkSpec spec = default_spec(Space::plane, 2, false);
  spec.spatial.layers = 2;
  spec.features = 6;
  spec.bottleneck = 2;
  return spec;
}

void save_tiny_model(const std::filesystem::path& path) {
  FieldModel model;
  model.domain = xy_domain("km");
  model.ensemble = draw_ensemble(tiny_spec(), 5, 2);
  model.info.value.name = "height";
  model.info.training = 120;
  model.cells = {1, 1, {0, 0, 1, 1}, {1}};
  save_field_model(path, model);
}

void save_tiny_map(const std::filesystem::path& path) {
  FieldHeader header;
  header.grid = parse_grid("xy:0,0,40,30:1");
  header.layers.push_back({.info = {.name = "height", .long_name = "", .standard_name = "", .unit = "m"}});
  FieldFileWriter file(path, header);
  std::vector<double> values(header.grid.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * i % 1009);
  file.write(0, 0, 0, values);
  file.finish();
}

std::string problem_of(const std::filesystem::path& path) {
  try {
    verify_file(path);
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with(path.string() + ":")) << error.what();
    return std::string(error.what()).substr(path.string().size() + 1);
  }
  return "";
}

TEST(Verify, StopsWhenAsked) {
  const ScratchFolder folder;
  save_tiny_map(folder / "map");
  std::stop_source stop;
  EXPECT_NO_THROW(verify_file(folder / "map", {.stop = stop.get_token()}));
  stop.request_stop();
  EXPECT_THROW(verify_file(folder / "map", {.stop = stop.get_token()}), Stopped);
}

TEST(Verify, TellsWhatAFileIsByItsContent) {
  const ScratchFolder folder;
  save_tiny_model(folder / "a");
  save_tiny_map(folder / "b");
  save_study(make_study({{.name = "rate", .low = 0.1, .high = 1.0}}), folder / "c");
  const VerifiedFile model = verify_file(folder / "a"), map = verify_file(folder / "b"), study = verify_file(folder / "c");
  EXPECT_EQ(model.kind, "model");
  EXPECT_TRUE(model.has_checksums);
  EXPECT_EQ(map.kind, "map");
  EXPECT_TRUE(map.has_checksums);
  EXPECT_EQ(study.kind, "study");
  EXPECT_FALSE(study.has_checksums);
}

TEST(Verify, TellsACheckpointFromAModel) {
  const ScratchFolder folder;
  const Ensemble ensemble = draw_ensemble(tiny_spec(), 5, 1);
  TrainingState state;
  state.members.resize(1);
  state.members[0].moment1.assign(ensemble.members[0].parameters.size(), 0.0f);
  state.members[0].moment2 = state.members[0].moment1;
  save_checkpoint(folder / "m", ensemble, state, default_recipe());
  EXPECT_EQ(verify_file(folder / "m").kind, "checkpoint");
}

TEST(Verify, RefusesAModelOrMapWithAFlippedBit) {
  const ScratchFolder folder;
  save_tiny_model(folder / "model");
  save_tiny_map(folder / "map");
  std::string bytes = read_bytes(folder / "model");
  bytes[bytes.size() - 3] ^= 1;
  write_bytes(folder / "model", bytes);
  EXPECT_NE(problem_of(folder / "model").find("does not match its checksum"), std::string::npos);
  // Somewhere in the map lie the compressed values: no flip among them is read as other numbers.
  const std::string map = read_bytes(folder / "map");
  const auto numbers = [&] {
    const NcReader reader(folder / "map");
    return reader.read(*reader.find("height"));
  };
  const std::vector<double> whole = numbers();
  std::size_t refused = 0, tried = 0;
  for (std::size_t at = map.size() / 2; at < map.size(); at += map.size() / 200, ++tried) {
    std::string damaged = map;
    damaged[at] ^= 1;
    write_bytes(folder / "map", damaged);
    if (problem_of(folder / "map").empty()) {
      EXPECT_EQ(numbers(), whole) << "byte " << at;
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, tried / 10) << "the values are some of these bytes";
}

// One byte in each turned over, where HDF5 keeps its structures: some such maps crash HDF5 or keep it busy for ever.
TEST(Verify, OutlivesMapsWithFlippedBytes) {
  const ScratchFolder folder;
  save_tiny_map(folder / "map");
  const std::string map = read_bytes(folder / "map");
  std::size_t refused = 0;
  const std::size_t step = std::max<std::size_t>(1, map.size() / 80);
  for (std::size_t at = 8; at < map.size(); at += step) {
    std::string damaged = map;
    damaged[at] = static_cast<char>(~damaged[at]);
    write_bytes(folder / "map", damaged);
    refused += problem_of(folder / "map").empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 10U);
}

TEST(Verify, SaysWhatIsWrongWithOtherFiles) {
  const ScratchFolder folder;
  EXPECT_EQ(problem_of(folder / "none"), " cannot be read: No such file or directory");
  write_bytes(folder / "empty", "");
  EXPECT_EQ(problem_of(folder / "empty"), " is empty");
  EXPECT_EQ(problem_of(folder / "."), " is a folder");
  write_bytes(folder / "text", "lon,lat\n1,2\n");
  EXPECT_NE(problem_of(folder / "text").find("was not written by drift"), std::string::npos);
  write_bytes(folder / "run.toml", "[model]\nlayerz = 3\n");
  EXPECT_NE(problem_of(folder / "run.toml").find("layerz"), std::string::npos);
}

}  // namespace
}  // namespace drift
