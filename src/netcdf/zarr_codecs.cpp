#include "netcdf/zarr_codecs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/parse_json.h"
#include "core/whole_file.h"
#include "drift/control.h"
#include "drift/error.h"

namespace drift {
namespace {

using nlohmann::json;

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// "blosc (lz4)", "zlib"
std::string codec_name(const json& codec) {
  if (!codec.is_object()) return "an unnamed codec";
  const std::string id = text_at(codec, "id"), inner = text_at(codec, "cname");
  return inner.empty() ? (id.empty() ? "an unnamed codec" : id) : fmt::format("{} ({})", id, inner);
}

constexpr std::size_t kMostMetadata = std::size_t{4} << 20;  // bytes

// By the array's metadata, in the order in which they are applied.
std::vector<std::string> codecs_of(const std::filesystem::path& metadata) {
  std::vector<std::string> names;
  if (!std::filesystem::exists(metadata)) return names;
  const json array = parse_json(read_bounded_file(metadata, "metadata of a Zarr store", kMostMetadata), metadata.string());
  if (const auto filters = array.find("filters"); filters != array.end() && filters->is_array()) {
    for (const json& filter : *filters) names.push_back(codec_name(filter));
  }
  if (const auto compressor = array.find("compressor"); compressor != array.end() && !compressor->is_null())
    names.push_back(codec_name(*compressor));
  return names;
}

}  // namespace

std::optional<double> zarr_fill_value(const std::filesystem::path& store, const std::string& array) {
  std::ifstream file(store / array / ".zarray");
  const json metadata = json::parse(file, nullptr, false);
  const json fill = metadata.is_object() ? metadata.value("fill_value", json()) : json();
  if (fill == "NaN") return std::nan("");
  return fill.is_number() ? std::optional(fill.get<double>()) : std::nullopt;
}

std::vector<std::string> missing_codecs(const std::filesystem::path& store, const std::string& array, std::size_t applied) {
  std::vector<std::string> codecs = codecs_of(store / array / ".zarray");
  if (codecs.size() <= applied) codecs.clear();
  return codecs;
}

void check_codecs(const std::filesystem::path& called, const std::filesystem::path& store, const std::string& array,
                  std::size_t applied) {
  const std::vector<std::string> codecs = missing_codecs(store, array, applied);
  if (codecs.empty()) return;
  throw Error(fmt::format(
      "{}: variable '{}' is packed with {}, which neither this netCDF library nor GDAL (gdal-bin) unpacks here; write it "
      "again without compressor and filters, or as NetCDF, as xarray does: xarray.open_zarr(\"{}\").to_netcdf(\"{}.nc\")",
      called.string(), array, fmt::join(codecs, " and "), called.filename().string(), called.stem().string()));
}

std::unique_ptr<const UnpackedZarr> UnpackedZarr::of(const std::filesystem::path& store, const std::stop_token& stop) {
  const std::string program = find_program("gdalmdimtranslate");
  if (program.empty()) return nullptr;
  auto unpacked = std::make_unique<const UnpackedZarr>();
  try {
    run_gdal(program, {"-q", "-of", "netCDF", std::filesystem::absolute(store).string(), unpacked->file().string()},
             unpacked->folder_.path(), stop);
  } catch (const Stopped&) {
    throw;
  } catch (const Error&) {
    return nullptr;
  }
  // A chunk that it cannot unpack becomes missing values, with a complaint and no failure.
  std::ifstream file(unpacked->folder_.path() / "stderr");
  const std::string complaints((std::istreambuf_iterator<char>(file)), {});
  return complaints.find("ERROR") == std::string::npos ? std::move(unpacked) : nullptr;
}

}  // namespace drift
