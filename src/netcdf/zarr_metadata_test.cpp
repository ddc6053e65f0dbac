#include "netcdf/zarr_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/scratch_folder.h"
#include "drift/error.h"

namespace drift {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::string refusal(const std::string& text, const std::string& name = ".zarray") {
  try {
    check_zarr_text(text, name, "s.zarr/" + name);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("s.zarr/" + name + ": "));
    return error.what();
  }
  return "";
}

json good_array() {
  return json::parse(R"({"zarr_format": 2, "shape": [8, 0], "chunks": [4, 1], "dtype": "<i2", "order": "C", "fill_value": null,
                         "compressor": {"id": "zlib", "level": 1}, "filters": [{"id": "shuffle"}]})");
}

TEST(ZarrMetadata, OfTheRightTypesPass) {
  EXPECT_EQ(refusal(good_array().dump()), "");
  json bare = good_array();
  bare.erase("compressor");
  bare.erase("filters");
  EXPECT_EQ(refusal(bare.dump()), "");
  EXPECT_EQ(refusal(R"({"zarr_format": 2})", ".zgroup"), "");
  EXPECT_EQ(refusal(R"({"units": "m", "flag_values": [1, 2]})", ".zattrs"), "");
}

TEST(ZarrMetadata, AreRefusedWithEveryWrongValue) {
  const std::vector<std::pair<const char*, std::vector<json>>> wrong = {
      {"zarr_format", {3, "2", nullptr}},
      {"shape", {nullptr, 4, "4", {4}, {4, -1}, {4, 1.5}, {4, "4"}, {{4}, {4}}, {1ULL << 40U, 1ULL << 40U}, json::object()}},
      {"chunks", {nullptr, 4, {4}, {4, 0}, {4, 4, 4}, {1ULL << 63U, 2}}},
      {"dtype",
       {nullptr, 2, json::array({json::array({"a", "<f4"})}), std::string(1000, 'f'), "", "<", "<f2", "|b1", "<M8[ns]", "|S5",
        "<i3", "=f8"}},
      {"order", {nullptr, "A", 1}},
      {"fill_value", {json::array({1}), json::object()}},
      {"compressor", {"zlib", 1, json::object(), {{"id", 3}}}},
      {"filters", {"shuffle", {"shuffle"}, {json::object()}}},
      {"dimension_separator", {1, nullptr}}};
  for (const auto& [key, values] : wrong) {
    for (const json& value : values) {
      json array = good_array();
      array[key] = value;
      EXPECT_THAT(refusal(array.dump()), HasSubstr(std::string("\"") + key + "\"")) << array;
    }
  }
  for (const char* key : {"zarr_format", "shape", "chunks", "dtype", "order", "fill_value"}) {
    json array = good_array();
    array.erase(key);
    EXPECT_NE(refusal(array.dump()), "") << key;
  }
}

TEST(ZarrMetadata, CutShortOrNestedWithoutEndAreRefused) {
  const std::string whole = good_array().dump();
  for (std::size_t length = 0; length < whole.size(); ++length) EXPECT_NE(refusal(whole.substr(0, length)), "") << length;
  for (const char* name : {".zarray", ".zgroup", ".zattrs", ".nczarray"}) {
    EXPECT_THAT(refusal("{\"a\":" + std::string(300'000, '['), name), HasSubstr("nested more than 16 deep"));
    EXPECT_NE(refusal("[]", name), "");
  }
}

TEST(ZarrMetadata, AreCheckedInEveryGroupButNoArraysChunks) {
  const ScratchFolder folder;
  const auto store = folder / "s.zarr";
  std::filesystem::create_directories(store / "g/v/.zarray_of_none");
  for (const char* group : {".zgroup", "g/.zgroup"}) write_bytes(store / group, R"({"zarr_format": 2})");
  write_bytes(store / "g/v/.zarray", good_array().dump());
  EXPECT_NO_THROW(check_zarr_metadata(store));
  for (const char* name : {".zattrs", "g/.zattrs", "g/v/.zattrs", "g/.nczgroup"}) {
    write_bytes(store / name, "{");
    try {
      check_zarr_metadata(store);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::StartsWith((store / name).string() + ": "));
    }
    write_bytes(store / name, "{}");
  }
  std::filesystem::path deep = store;
  for (int i = 0; i < 20; ++i) deep /= "g";
  std::filesystem::create_directories(deep);
  EXPECT_THROW(check_zarr_metadata(store), Error);
}

}  // namespace
}  // namespace drift
