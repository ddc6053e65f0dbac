#include "netcdf/zarr_metadata.h"

#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <system_error>

#include "core/parse_json.h"
#include "core/whole_file.h"
#include "drift/error.h"

namespace drift {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::size_t kMostText = NC_MAX_NAME;  // of a codec's name, a type's, a separator

class MetadataFile {
 public:
  MetadataFile(std::string_view text, const std::string& path) : path_(path), json_(parse_json(text, path)) {
    if (!json_.is_object()) refuse("it is not a JSON object");
  }

  void check_version() const {
    if (!has("zarr_format") || json_["zarr_format"] != 2) refuse("its \"zarr_format\" is not 2");
  }

  void check_array() const {
    const std::size_t rank = check_lengths("shape", 0);
    if (check_lengths("chunks", 1) != rank) refuse("its \"shape\" and \"chunks\" have different numbers of dimensions");
    if (!is_text("dtype")) refuse("its \"dtype\" is not the name of a type");
    check_type(json_["dtype"].get<std::string>());
    if (!is_text("order") || (json_["order"] != "C" && json_["order"] != "F")) refuse("its \"order\" is neither \"C\" nor \"F\"");
    if (has("dimension_separator") && !is_text("dimension_separator")) refuse("its \"dimension_separator\" is not text");
    if (!has("fill_value") || json_["fill_value"].is_structured()) refuse("its \"fill_value\" is no single value");
    const json codec = json_.value("compressor", json()), filters = json_.value("filters", json());
    if (!codec.is_null() && !is_codec(codec)) refuse("its \"compressor\" is no codec");
    if (!filters.is_null() && !filters.is_array()) refuse("its \"filters\" are no list");
    for (const json& filter : filters) {
      if (!is_codec(filter)) refuse("one of its \"filters\" is no codec");
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(fmt::format("{}: is no metadata of a Zarr store of version 2: {}", path_, why));
  }

  bool has(const char* key) const { return json_.contains(key); }
  static bool is_short_text(const json& value) {
    return value.is_string() && value.get_ref<const std::string&>().size() <= kMostText;
  }
  bool is_text(const char* key) const { return has(key) && is_short_text(json_[key]); }
  static bool is_codec(const json& codec) { return codec.is_object() && codec.contains("id") && is_short_text(codec["id"]); }

  // netCDF-C 4.9.0 crashes on all others, such as dates (<M8), truth values (|b1) and texts (|S5).
  void check_type(const std::string& type) const {
    constexpr std::array<std::string_view, 10> kRead = {"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"};
    const bool has_order = !type.empty() && std::string_view("<>|").find(type[0]) != std::string_view::npos;
    if (has_order && std::find(kRead.begin(), kRead.end(), std::string_view(type).substr(1)) != kRead.end()) return;
    throw Error(fmt::format(
        "{}: its \"dtype\" is \"{}\", and the netCDF library reads whole numbers and floating-point numbers of 4 or 8 "
        "bytes alone; remove the array or convert the store, as xarray.open_zarr(...).to_netcdf(...) does",
        path_, type));
  }

  // The number of dimensions.
  std::size_t check_lengths(const char* key, std::uint64_t least) const {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 48U;
    if (!has(key) || !json_[key].is_array()) refuse(fmt::format("its \"{}\" is no list of numbers", key));
    const json& lengths = json_[key];
    if (lengths.size() > NC_MAX_VAR_DIMS) refuse(fmt::format("its \"{}\" has {} dimensions", key, lengths.size()));
    std::uint64_t product = 1;  // which no number of cells or bytes in memory comes near
    for (const json& length : lengths) {
      if (!length.is_number_unsigned()) refuse(fmt::format("its \"{}\" is no list of whole numbers", key));
      const auto number = length.get<std::uint64_t>();
      if (number < least || (number > 0 && product > kMost / number)) refuse(fmt::format("its \"{}\" cannot be", key));
      product *= std::max<std::uint64_t>(1, number);
    }
    return lengths.size();
  }

  const std::string& path_;
  const json json_;
};

void check_file(const fs::path& path) {
  check_zarr_text(read_bounded_file(path, "metadata of a Zarr store", kMostZarrBytes), path.filename().string(), path.string());
}

// Of an array the chunks are not looked at, which may be millions of files.
void check_folder(const fs::path& folder, int depth) {
  std::error_code error;
  for (const char* name : {".zgroup", ".zarray", ".zattrs", ".nczarr", ".nczgroup", ".nczarray", ".nczattr"}) {
    if (fs::exists(folder / name, error)) check_file(folder / name);
  }
  if (fs::exists(folder / ".zarray", error)) return;
  if (depth == kMostZarrGroups)
    throw Error(fmt::format("{}: groups are nested more than {} deep", folder.string(), kMostZarrGroups));
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_directory(error)) check_folder(entry.path(), depth + 1);
  }
  if (error) throw Error(fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
}

}  // namespace

void check_zarr_text(std::string_view text, std::string_view name, const std::string& path) {
  const MetadataFile file(text, path);
  if (name == ".zgroup" || name == ".zarray") file.check_version();
  if (name == ".zarray") file.check_array();
}

void check_zarr_metadata(const fs::path& store) { check_folder(store, 0); }

}  // namespace drift
