// A file of polygons, GeoJSON or GMT's segments.

#include "geo/polygons.h"

#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("polygons", [](std::string_view input) {
  const std::vector<Polygon> polygons = parse_polygons(std::string(input));
  require(!polygons.empty(), "a mask has a polygon");
  for (const Polygon& polygon : polygons) polygon.contains(1.5, 0.5);
});

}  // namespace
}  // namespace drift::fuzz
