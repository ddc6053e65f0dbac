// Grids and masks as the command takes them: a line each.

#include "drift/grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "drift/predict.h"
#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("grid", [](std::string_view input) {
  const auto [text, mask] = split(input, '\n');
  try {
    parse_masks(mask);
  } catch (const Error&) {
  }
  const Grid grid = parse_grid(text);
  require(grid.x.count > 0 && grid.y.count > 0 && grid.x.step > 0.0 && grid.y.step > 0.0, "a grid has cells");
  require(grid.size() / grid.x.count == grid.y.count, "a grid's size does not overflow");
  const std::size_t count = std::min<std::size_t>(grid.size(), 16);
  std::vector<double> lon(count), lat(count);
  grid_positions(grid, 0, lon, lat);
  grid_positions(grid, grid.size() - count, lon, lat);
});

}  // namespace
}  // namespace drift::fuzz
