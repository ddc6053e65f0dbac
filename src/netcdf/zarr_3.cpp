// Zarr core specification, version 3 (https://zarr-specs.readthedocs.io): zarr.json beside each group and array, in place of
// .zgroup, .zarray and .zattrs; chunks are c/1/2 in place of 1.2; codecs turn a chunk into bytes first and then pack these.

#include "netcdf/zarr_3.h"

#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/parse_json.h"
#include "core/whole_file.h"
#include "drift/error.h"
#include "netcdf/zarr_metadata.h"

namespace drift {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

json object_of(std::string_view text, const std::string& path) {
  json found = parse_json(text, path);
  if (!found.is_object()) throw Error(fmt::format("{}: is damaged: it is not a JSON object", path));
  return found;
}

json read_json(const fs::path& path) {
  return object_of(read_bounded_file(path, "metadata of a Zarr store", kMostZarrBytes), path.string());
}

// Metadata of version 2, each in its file and all in .zmetadata, without which GDAL lists what has no coordinate twice.
class Metadata {
 public:
  explicit Metadata(fs::path root) : root_(std::move(root)) {}

  void write(const fs::path& path, const json& text) {
    write_text(path, text.dump());
    all_[path.lexically_relative(root_).generic_string()] = text;
  }
  void finish() const { write_text(root_ / ".zmetadata", json({{"zarr_consolidated_format", 1}, {"metadata", all_}}).dump()); }

 private:
  static void write_text(const fs::path& path, const std::string& text) { write_whole_file(path, text); }

  fs::path root_;
  json all_ = json::object();
};

// The type of version 2, less its order of bytes; empty: there is none among those that are read.
std::string type_of(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kTypes = {{{"int8", "i1"},
                                                                                     {"int16", "i2"},
                                                                                     {"int32", "i4"},
                                                                                     {"int64", "i8"},
                                                                                     {"uint8", "u1"},
                                                                                     {"uint16", "u2"},
                                                                                     {"uint32", "u4"},
                                                                                     {"uint64", "u8"},
                                                                                     {"float32", "f4"},
                                                                                     {"float64", "f8"}}};
  const auto found = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& type) { return type.first == name; });
  return found == kTypes.end() ? std::string() : std::string(found->second);
}

// xarray writes the _FillValue of floats as the eight bytes of a double in base64.
std::optional<double> double_of_base64(const std::string& text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) break;
    bits = (bits << 6U | static_cast<unsigned>(digit)) & 0xFFFFU;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 0xFFU);
  }
  double number = 0.0;
  if (bytes.size() != sizeof number) return std::nullopt;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

json json_of(double number) { return std::isnan(number) ? json("NaN") : json(number); }

// One array, from its folder to one of version 2.
class ArrayView {
 public:
  ArrayView(const fs::path& store, const fs::path& from, json metadata)
      : store_(store), from_(from), metadata_(std::move(metadata)) {}

  // False: the array is of a type that is left out.
  bool convert() {
    const std::string type = type_of(metadata_.at("data_type").is_string() ? metadata_["data_type"].get<std::string>() : "");
    if (type.empty()) return false;
    const bool scalar = metadata_.at("shape").empty();
    const json one = json::array({1});
    array_ = {{"zarr_format", 2}, {"order", "C"}, {"filters", nullptr}, {"compressor", nullptr}};
    array_["shape"] = scalar ? one : metadata_["shape"];
    array_["chunks"] = scalar ? one : metadata_.at("chunk_grid").at("configuration").at("chunk_shape");
    const char order = add_codecs(array_);
    array_["dtype"] = fmt::format("{}{}", type.back() == '1' ? '|' : order, type);
    attributes_ = metadata_.value("attributes", json::object());
    array_["fill_value"] = fill_value(attributes_, type);
    // As for a store of version 2: what netCDF crashes on, and what chunks() below could not count.
    check_zarr_text(array_.dump(), ".zarray", (from_ / "zarr.json").string());
    attributes_["_ARRAY_DIMENSIONS"] = scalar ? json::array({"one"}) : dimension_names();
    return true;
  }

  const json& array() const { return array_; }
  const json& attributes() const { return attributes_; }

  void write(const fs::path& to, Metadata& written) const {
    fs::create_directory(to);
    const std::size_t linked = link_chunks(to);
    if (linked < chunks() && array_["fill_value"].is_null())
      fail(fmt::format("has {} of its {} chunks alone, and the others hold no missing values", linked, chunks()));
    written.write(to / ".zarray", array_);
    written.write(to / ".zattrs", attributes_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    const std::string name = store_.filename().string(), stem = store_.stem().string();
    throw Error(
        fmt::format("{}: array '{}' {}, which drift does not read of Zarr's version 3; write the store again as xarray does, "
                    "xarray.open_zarr(\"{}\").to_zarr(\"{}_v2.zarr\", zarr_format=2) or .to_netcdf(\"{}.nc\")",
                    store_.string(), from_.lexically_relative(store_).string(), why, name, stem, stem));
  }

  const json& dimension_names() const {
    const json& names = metadata_.at("dimension_names");
    const auto is_name = [](const json& name) {
      return name.is_string() && !name.get_ref<const std::string&>().empty() &&
             name.get_ref<const std::string&>().size() <= NC_MAX_NAME;
    };
    if (!names.is_array() || names.size() != array_["shape"].size() || !std::all_of(names.begin(), names.end(), is_name))
      fail("has dimensions without names");
    return names;
  }

  // Sets the compressor; the order of bytes.
  char add_codecs(json& array) const {
    char order = '<';
    for (const json& codec : metadata_.at("codecs")) {
      const std::string name = codec.at("name");
      const json settings = codec.value("configuration", json::object());
      if (name == "bytes") {
        order = settings.value("endian", "little") == "big" ? '>' : '<';
      } else if ((name == "gzip" || name == "zstd" || name == "blosc") && array["compressor"].is_null()) {
        array["compressor"] = settings;
        array["compressor"]["id"] = name;
        if (name == "blosc") array["compressor"]["shuffle"] = shuffle(settings.value("shuffle", "noshuffle"));
      } else {
        fail(fmt::format("is packed with the codec '{}'", name));
      }
    }
    return order;
  }

  static int shuffle(const std::string& word) { return word == "shuffle" ? 1 : word == "bitshuffle" ? 2 : 0; }

  // CF's _FillValue, which in version 2 is the array's own; null: no value is missing.
  json fill_value(json& attributes, const std::string& type) const {
    const json whole = metadata_.value("fill_value", json());
    const bool real = type.front() == 'f';
    const auto found = attributes.find("_FillValue");
    if (found == attributes.end()) return whole == "NaN" ? whole : json();
    json value = *found;
    attributes.erase(found);
    if (!real || !value.is_string() || value == "NaN") return value;
    const auto number = double_of_base64(value.get<std::string>());
    if (!number) fail(fmt::format("has the _FillValue \"{}\"", value.get<std::string>()));
    return json_of(*number);
  }

  // Under the names of version 2; how many.
  std::size_t link_chunks(const fs::path& to) const {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(from_)) {
      if (!entry.is_regular_file() || entry.path().filename() == "zarr.json") continue;
      std::string key = entry.path().lexically_relative(from_).generic_string();
      std::replace(key.begin(), key.end(), '/', '.');
      if (key == "c") key = "c.0";  // a scalar's
      if (key.starts_with("c.")) key.erase(0, 2);
      if (key.find_first_not_of("0123456789.") != std::string::npos) continue;
      fs::create_symlink(fs::absolute(entry.path()), to / key);
      ++count;
    }
    return count;
  }

  std::size_t chunks() const {
    std::size_t count = 1;
    for (std::size_t i = 0; i < array_["shape"].size(); ++i) {
      const auto length = array_["shape"][i].get<std::size_t>(), chunk = array_["chunks"][i].get<std::size_t>();
      count *= length / chunk + (length % chunk == 0 ? 0 : 1);
    }
    return count;
  }

  const fs::path &store_, &from_;
  json metadata_, array_, attributes_;
};

void write_group(const fs::path& store, const fs::path& from, const json& metadata, const fs::path& to, Metadata& written,
                 int depth) {
  if (depth > kMostZarrGroups)
    throw Error(fmt::format("{}: groups are nested more than {} deep", from.string(), kMostZarrGroups));
  fs::create_directory(to);
  written.write(to / ".zgroup", {{"zarr_format", 2}});
  written.write(to / ".zattrs", metadata.value("attributes", json::object()));
  for (const auto& entry : fs::directory_iterator(from)) {
    const fs::path& node = entry.path();
    if (!entry.is_directory() || !fs::exists(node / "zarr.json")) continue;
    const json inner = read_json(node / "zarr.json");
    if (inner.value("node_type", "") == "array") {
      ArrayView array(store, node, inner);
      if (array.convert()) array.write(to / node.filename(), written);
    } else {
      write_group(store, node, inner, to / node.filename(), written, depth + 1);
    }
  }
}

}  // namespace

std::optional<Zarr2Array> zarr_2_of(std::string_view text, const std::string& path) {
  const fs::path store = path, node = store / "array";
  ArrayView array(store, node, object_of(text, path));
  try {
    if (!array.convert()) return std::nullopt;
    return Zarr2Array{array.array().dump(), array.attributes().dump()};
  } catch (const json::exception& error) {
    throw Error(fmt::format("{}: its metadata are not those of Zarr's version 3: {}", path, error.what()));
  }
}

Zarr3View::Zarr3View(const fs::path& store) {
  // A slash behind a folder's name is not part of it.
  const fs::path named = store.has_filename() ? store : store.parent_path();
  const json metadata = read_json(named / "zarr.json");
  if (metadata.value("node_type", "") != "group")
    throw Error(fmt::format("{}: is no Zarr group but an array of one; name the folder that holds it", named.string()));
  try {
    Metadata written(this->store());
    write_group(named, named, metadata, this->store(), written, 0);
    written.finish();
  } catch (const json::exception& error) {
    throw Error(fmt::format("{}: its metadata are not those of Zarr's version 3: {}", named.string(), error.what()));
  } catch (const fs::filesystem_error& error) {
    throw Error(fmt::format("{}: cannot be read: {}", named.string(), error.what()));
  }
}

}  // namespace drift
