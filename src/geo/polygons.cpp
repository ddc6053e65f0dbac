// A point is inside if a ray from it to the east crosses an odd number of edges. An edge belongs to the points from its lower end
// up to, but not including, its upper end, so that a ray through a corner meets one of its two edges. Edges are sorted into bins
// of y: a coastline of 10,000 edges costs a point a few dozen.

#include "geo/polygons.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "core/longitude.h"
#include "drift/error.h"

namespace drift {
namespace {

using nlohmann::json;
using Point = Polygon::Point;
using Ring = std::vector<Point>;

constexpr std::size_t kMostBins = 4096;
constexpr int kMostDepth = 64;  // of collections within collections

void check(const Ring& ring) {
  if (ring.size() < 3) throw Error(fmt::format("a ring of {} points encloses nothing", ring.size()));
  for (const Point& point : ring) {
    if (!std::isfinite(point[0]) || !std::isfinite(point[1])) throw Error("a corner is not a number");
  }
}

Ring ring_of(const json& array) {
  if (!array.is_array()) throw Error("a ring is not a list of positions");
  Ring ring;
  for (const json& position : array) {
    if (!position.is_array() || position.size() < 2 || !position[0].is_number() || !position[1].is_number())
      throw Error("a position is not a list of two numbers");
    ring.push_back({position[0].get<double>(), position[1].get<double>()});
  }
  check(ring);
  return ring;
}

Polygon polygon_of(const json& rings) {
  if (!rings.is_array() || rings.empty()) throw Error("a polygon has no rings");
  std::vector<Ring> all;
  for (const json& ring : rings) all.push_back(ring_of(ring));
  return Polygon(all);
}

const json& member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) throw Error(fmt::format("an object has no '{}'", name));
  return *found;
}

void add_geojson(const json& object, std::vector<Polygon>& polygons, int depth = 0) {
  if (object.is_null()) return;  // a feature without a geometry
  if (!object.is_object() || depth > kMostDepth) throw Error("is no GeoJSON");
  const json& type = member(object, "type");
  if (type == "FeatureCollection") {
    for (const json& feature : member(object, "features")) add_geojson(feature, polygons, depth + 1);
  } else if (type == "Feature") {
    add_geojson(member(object, "geometry"), polygons, depth + 1);
  } else if (type == "GeometryCollection") {
    for (const json& geometry : member(object, "geometries")) add_geojson(geometry, polygons, depth + 1);
  } else if (type == "Polygon") {
    polygons.push_back(polygon_of(member(object, "coordinates")));
  } else if (type == "MultiPolygon") {
    for (const json& polygon : member(object, "coordinates")) polygons.push_back(polygon_of(polygon));
  }
}

// Lines "lon lat ...", by blanks, tabs or commas.
void add_segments(const std::string& text, std::vector<Polygon>& polygons) {
  Ring ring;
  const auto end_ring = [&] {
    if (ring.empty()) return;
    check(ring);
    polygons.emplace_back(std::vector<Ring>{ring});
    ring.clear();
  };
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with(">")) end_ring();
    if (line.starts_with(">") || line.starts_with("#") || line.find_first_not_of(" \t\r") == std::string::npos) continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream words(line);
    Point point = {};
    if (!(words >> point[0] >> point[1]))
      throw Error(fmt::format("line {} does not hold two numbers: \"{}\"", number, line.substr(0, 60)));
    ring.push_back(point);
  }
  end_ring();
}

}  // namespace

Polygon::Polygon(const std::vector<std::vector<Point>>& rings) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  west_ = south_ = kFar, east_ = north_ = -kFar;
  for (const Ring& ring : rings) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const Point &a = ring[i], &b = ring[(i + 1) % ring.size()];
      west_ = std::min(west_, a[0]), east_ = std::max(east_, a[0]), south_ = std::min(south_, a[1]),
      north_ = std::max(north_, a[1]);
      if (a[1] != b[1]) edges_.push_back(a[1] < b[1] ? Edge{a, b} : Edge{b, a});
    }
  }
  bins_.resize(std::clamp<std::size_t>(edges_.size() / 2, 1, kMostBins));
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    for (std::size_t bin = bin_of(edges_[i].from[1]); bin <= bin_of(edges_[i].to[1]); ++bin) bins_[bin].push_back(i);
  }
}

std::size_t Polygon::bin_of(double y) const {
  const double share = (y - south_) / (north_ - south_) * static_cast<double>(bins_.size());
  return share >= 0.0 ? std::min(static_cast<std::size_t>(std::min(share, 1e6)), bins_.size() - 1) : 0;
}

bool Polygon::contains(double x, double y) const {
  if (!(x >= west_ && x <= east_ && y >= south_ && y <= north_)) return false;
  bool inside = false;
  for (const std::size_t index : bins_[bin_of(y)]) {
    const auto& [from, to] = edges_[index];
    if (y < from[1] || y >= to[1]) continue;
    if (x < from[0] + (y - from[1]) / (to[1] - from[1]) * (to[0] - from[0])) inside = !inside;
  }
  return inside;
}

std::vector<Polygon> parse_polygons(const std::string& text) {
  std::vector<Polygon> polygons;
  const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (first != std::string::npos && text[first] == '{') {
    const json object = json::parse(text.begin() + static_cast<std::ptrdiff_t>(first), text.end(), nullptr, false);
    if (object.is_discarded()) throw Error("is no JSON");
    add_geojson(object, polygons);
  } else {
    add_segments(text, polygons);
  }
  if (polygons.empty()) throw Error("has no polygons");
  return polygons;
}

std::vector<Polygon> read_polygons(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(fmt::format("{}: cannot be read", path.string()));
  try {
    return parse_polygons({std::istreambuf_iterator<char>(file), {}});
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}", path.string(), error.what()));
  }
}

std::vector<char> within(const std::vector<Polygon>& polygons, std::span<const double> x, std::span<const double> y,
                         bool geographic) {
  std::vector<char> inside(x.size(), 0);
  const auto contains = [&](double at_x, double at_y) {
    return std::any_of(polygons.begin(), polygons.end(), [&](const Polygon& polygon) { return polygon.contains(at_x, at_y); });
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) || std::isnan(y[i])) continue;
    const double lon = geographic ? turned_near(0.0, x[i]) : x[i];
    inside[i] = contains(lon, y[i]) || (geographic && (contains(lon + 360.0, y[i]) || contains(lon - 360.0, y[i]))) ? 1 : 0;
  }
  return inside;
}

}  // namespace drift
