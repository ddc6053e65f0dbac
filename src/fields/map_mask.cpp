#include "fields/map_mask.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <string_view>

#include "drift/error.h"
#include "drift/ocean_mask.h"
#include "drift/parse_number.h"
#include "fields/grid_condition.h"
#include "geo/polygons.h"

namespace drift {
namespace {

constexpr std::array<std::string_view, 4> kPolygonFiles = {".geojson", ".json", ".gmt", ".txt"};
constexpr std::array<std::string_view, 5> kGridFiles = {".nc:", ".nc4:", ".cdf:", ".zarr:", ".zarr/:"};  // with the colon

bool is_polygon_file(std::string_view text) {
  for (const std::string_view end : kPolygonFiles) {
    if (text.size() > end.size() && text.ends_with(end)) return true;
  }
  return false;
}

// Where the name of a gridded file ends and the colon before its condition stands; npos: the text begins with no such name.
std::size_t end_of_grid_file(std::string_view text) {
  for (const std::string_view end : kGridFiles) {
    const std::size_t at = text.find(end);
    if (at != std::string_view::npos && at > 0) return at + end.size() - 1;
  }
  return std::string_view::npos;
}

bool begins_a_mask(std::string_view text) {
  return text == "none" || text == "ocean" || text.starts_with("data:") || end_of_grid_file(text) != std::string_view::npos ||
         is_polygon_file(text);
}

MapMask parse_one(const std::string& text) {
  if (text == "ocean") return {.kind = MapMask::Kind::ocean};
  if (text.starts_with("data:")) {
    std::string_view rest = std::string_view(text).substr(5);
    if (rest.ends_with("km")) rest.remove_suffix(2);
    const auto distance = parse_number<double>(rest);
    if (distance && *distance > 0.0) return {.kind = MapMask::Kind::data, .distance = *distance};
  } else if (const std::size_t end = end_of_grid_file(text); end != std::string_view::npos) {
    const MapMask mask = {.kind = MapMask::Kind::condition, .file = text.substr(0, end), .condition = text.substr(end + 1)};
    if (!names_variable(mask.condition)) parse_condition(mask.condition);  // refuses what is none
    return mask;
  } else if (is_polygon_file(text)) {
    return {.kind = MapMask::Kind::polygons, .file = text};
  }
  throw UsageError(fmt::format(
      "mask '{}': must be none, ocean, data:DISTANCE (data:100km), FILE.nc:CONDITION (ice.nc:conc>0.15), FILE.nc:VARIABLE "
      "(where it has a value; also .nc4 and .zarr), FILE.geojson, or several of them joined by commas",
      text));
}

}  // namespace

std::vector<MapMask> parse_masks(const std::string& text) {
  // A comma may also be part of a condition, "flag in 1,2": what begins no mask belongs to the one before.
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    if (parts.empty() || begins_a_mask(part))
      parts.push_back(part);
    else
      parts.back() += "," + part;
    at = comma + 1;
  }
  std::vector<MapMask> masks;
  for (const std::string& part : parts) {
    if (part != "none") masks.push_back(parse_one(part));
  }
  if (masks.size() < parts.size() && parts.size() > 1)
    throw UsageError(fmt::format("mask '{}': 'none' cannot be combined with other masks", text));
  return masks;
}

MapMasker::MapMasker(const FieldModel& model, const std::vector<MapMask>& masks, const Control& control) {
  const bool plane = model.domain.kind == DomainKind::xy;
  for (const MapMask& mask : masks) {
    switch (mask.kind) {
      case MapMask::Kind::ocean:
        if (plane) throw UsageError("the mask 'ocean' needs longitudes and latitudes, and the model has none");
        fixed_.emplace_back([control](auto lon, auto lat, auto) { return is_ocean(lon, lat, {}, control); });
        break;
      case MapMask::Kind::data:
        fixed_.emplace_back(
            [near = NearData(model.domain, model.cells, mask.distance)](auto lon, auto lat, auto) { return near(lon, lat); });
        break;
      case MapMask::Kind::condition: {
        auto condition = std::make_shared<GridCondition>(mask.file, mask.condition);
        if (plane != condition->on_plane()) {
          throw UsageError(fmt::format("mask: {} has {}, but the model has not", mask.file.string(),
                                       plane ? "longitudes and latitudes" : "x and y of no CRS"));
        }
        (condition->varies() ? varying_ : fixed_).emplace_back([condition](auto lon, auto lat, auto time) {
          return (*condition)(lon, lat, time);
        });
        break;
      }
      case MapMask::Kind::polygons:
        fixed_.emplace_back(
            [polygons = read_polygons(mask.file), plane](auto x, auto y, auto) { return within(polygons, x, y, !plane); });
        break;
    }
  }
}

void MapMasker::apply(const std::vector<Keep>& masks, std::vector<double>& lon, std::vector<double>& lat,
                      std::optional<double> time) {
  for (const Keep& mask : masks) {
    const std::vector<char> keep = mask(lon, lat, time);
    for (std::size_t i = 0; i < lon.size(); ++i) {
      if (!keep[i]) lon[i] = lat[i] = std::nan("");
    }
  }
}

void MapMasker::fixed(std::vector<double>& lon, std::vector<double>& lat) const { apply(fixed_, lon, lat, std::nullopt); }

void MapMasker::varying(std::vector<double>& lon, std::vector<double>& lat, std::optional<double> time) const {
  apply(varying_, lon, lat, time);
}

}  // namespace drift
