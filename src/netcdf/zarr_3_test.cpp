#include "netcdf/zarr_3.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "netcdf/zarr_metadata.h"

namespace drift {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json good_array_of_3() {
  return json::parse(R"({"zarr_format": 3, "node_type": "array", "shape": [4, 3], "data_type": "float32", "fill_value": "NaN",
                         "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 3]}}, "dimension_names": ["y", "x"],
                         "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "gzip", "configuration": {"level": 5}}],
                         "attributes": {"units": "m"}})");
}

std::string refusal_of_3(const json& metadata) {
  try {
    zarr_2_of(metadata.dump(), "s.zarr/x/zarr.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Zarr3, ArraysBecomeOnesOfVersion2) {
  const auto array = zarr_2_of(good_array_of_3().dump(), "s.zarr/x/zarr.json");
  ASSERT_TRUE(array.has_value());
  EXPECT_NO_THROW(check_zarr_text(array->zarray, ".zarray", "s.zarr"));
  const json zarray = json::parse(array->zarray);
  EXPECT_EQ(zarray["dtype"], ">f4");
  EXPECT_EQ(zarray["chunks"], json::parse("[2, 3]"));
  EXPECT_EQ(zarray["compressor"], json::parse(R"({"id": "gzip", "level": 5})"));
  EXPECT_EQ(zarray["fill_value"], "NaN");
  EXPECT_EQ(json::parse(array->zattrs), json::parse(R"({"units": "m", "_ARRAY_DIMENSIONS": ["y", "x"]})"));
  json text = good_array_of_3();
  text["data_type"] = "string";
  EXPECT_FALSE(zarr_2_of(text.dump(), "s.zarr").has_value());
}

// Chunks of fewer dimensions than the shape were counted beyond their list's end.
TEST(Zarr3, MetadataThatAreWrongAreRefused) {
  const std::vector<std::pair<const char*, std::vector<json>>> wrong = {
      {"/shape",
       {json::array({4}), json::array({4, 3, 2}), json::array({4, -1}), json::array({4, 1e300}), "4", json::object({{"a", 1}}),
        json::array({1ULL << 40U, 1ULL << 40U})}},
      {"/chunk_grid/configuration/chunk_shape",
       {json::array(), json::array({2}), json::array({2, 0}), json::array({2, 1.5}), 2, nullptr}},
      {"/dimension_names",
       {nullptr, "x", json::array({"x"}), json::array({"y", nullptr}), json::array({"y", ""}),
        json::array({"y", std::string(1000, 'x')})}},
      {"/codecs/1/configuration", {1, "fast", json::array({1})}},
      {"/attributes", {1, json::array({1})}}};
  for (const auto& [key, values] : wrong) {
    for (const json& value : values) {
      json array = good_array_of_3();
      array[json::json_pointer(key)] = value;
      EXPECT_THAT(refusal_of_3(array), HasSubstr("s.zarr/x/zarr.json")) << array;
    }
  }
  for (const char* key : {"shape", "data_type", "chunk_grid", "codecs", "dimension_names"}) {
    json array = good_array_of_3();
    array.erase(key);
    EXPECT_NE(refusal_of_3(array), "") << key;
  }
}

TEST(Zarr3, NestedWithoutEndIsRefused) {
  const auto read = [](const std::string& text) { zarr_2_of(text, "zarr.json"); };
  std::string text = good_array_of_3().dump();
  text.insert(text.find("\"units\""), "\"deep\":" + std::string(300'000, '[') + std::string(300'000, ']') + ",");
  EXPECT_THAT([&] { read(text); }, testing::ThrowsMessage<Error>(HasSubstr("nested more than 16 deep")));
  EXPECT_THAT([&] { read("[]"); }, testing::ThrowsMessage<Error>(HasSubstr("not a JSON object")));
  // A link to the folder that it is in.
  const ScratchFolder folder;
  const auto store = folder / "s.zarr";
  std::filesystem::create_directory(store);
  write_bytes(store / "zarr.json", R"({"zarr_format": 3, "node_type": "group"})");
  std::filesystem::create_directory_symlink(store, store / "again");
  EXPECT_THAT([&] { const Zarr3View view(store); }, testing::ThrowsMessage<Error>(HasSubstr("nested more than 16 deep")));
}

}  // namespace
}  // namespace drift
