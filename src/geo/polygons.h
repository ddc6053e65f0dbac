#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace drift {

// An area with straight edges in longitude and latitude, or on a plane: rings, of which a point is inside if it lies within an
// odd number (a ring inside another is a hole).
class Polygon {
 public:
  using Point = std::array<double, 2>;  // x, y
  explicit Polygon(const std::vector<std::vector<Point>>& rings);
  bool contains(double x, double y) const;

 private:
  struct Edge {
    Point from, to;  // from below to
  };
  std::size_t bin_of(double y) const;

  double west_, south_, east_, north_;
  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> bins_;  // by y: the edges that cross them
};

// The polygons of a text: GeoJSON (RFC 7946: Polygon and MultiPolygon, alone, in geometries, features and collections), or else
// GMT's multiple segments: lines of longitude and latitude, a polygon from each line that begins with > to the next. Throws Error
// saying what is wrong, for a text without polygons too.
std::vector<Polygon> parse_polygons(const std::string& text);
std::vector<Polygon> read_polygons(const std::filesystem::path& path);  // messages begin with the path

// 1 where a point lies within any of them. `geographic`: longitudes of any turn.
std::vector<char> within(const std::vector<Polygon>& polygons, std::span<const double> x, std::span<const double> y,
                         bool geographic);

}  // namespace drift
