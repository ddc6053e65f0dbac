#pragma once

#include <memory>
#include <span>
#include <vector>

#include "geo/nearest_cell.h"
#include "output/plot_source.h"

namespace drift {

// Cells' edges: halfway between centres, and as far beyond the first and the last.
std::vector<double> edges_of(const std::vector<double>& centres);

// Finds the cell of a map that holds a position. For one thread at a time.
class CellLocator {
 public:
  virtual ~CellLocator() = default;
  // Index row * columns + column into the source's values, kNoCell where there is none.
  virtual void find(std::span<const double> lon_or_x, std::span<const double> lat_or_y, std::span<std::size_t> cell) const = 0;
};

std::unique_ptr<CellLocator> make_locator(const PlotSource& source);

// Longitudes (or x) and latitudes (or y) of a row's cells; NaN where the plane has no position.
void row_positions(const PlotSource& source, std::size_t row, std::vector<double>& lon, std::vector<double>& lat);

}  // namespace drift
