#include <algorithm>
#include <cmath>

#include "core/blocks.h"
#include "drift/predict.h"
#include "fields/part.h"
#include "geo/reach.h"

namespace drift {
namespace {

// The same cells, so many of them joined each way: a search among four million takes seconds to prepare.
DataCells joined(const DataCells& cells, int by) {
  const auto& [x0, y0, x1, y1] = cells.extent;
  DataCells out = {.columns = (cells.columns + by - 1) / by, .rows = (cells.rows + by - 1) / by, .extent = {}, .bits = {}};
  out.extent = {x0, y0, x0 + (x1 - x0) / cells.columns * by * out.columns, y0 + (y1 - y0) / cells.rows * by * out.rows};
  out.bits.assign((static_cast<std::size_t>(out.columns) * static_cast<std::size_t>(out.rows) + 7) / 8, 0);
  for (int row = 0; row < cells.rows; ++row) {
    for (int column = 0; column < cells.columns; ++column) {
      const auto from =
          static_cast<std::size_t>(row) * static_cast<std::size_t>(cells.columns) + static_cast<std::size_t>(column);
      if ((cells.bits[from / 8] >> (from % 8) & 1U) == 0) continue;
      const auto to =
          static_cast<std::size_t>(row / by) * static_cast<std::size_t>(out.columns) + static_cast<std::size_t>(column / by);
      out.bits[to / 8] |= static_cast<std::uint8_t>(1U << (to % 8));
    }
  }
  return out;
}

// Height of a cell in the domain's unit.
double cell_height(const Domain& domain, const DataCells& cells) {
  constexpr double kKmPerDegree = 111.2;
  return (cells.extent[3] - cells.extent[1]) / cells.rows * (domain.kind == DomainKind::xy ? 1.0 : kKmPerDegree);
}

}  // namespace

FarCounter::FarCounter(const FieldModel& model) : domain_(model.domain) {
  constexpr double kFar = 2.0;         // lengthscales
  constexpr double kCellShare = 0.25;  // of that distance: no cell need be smaller
  const std::array<double, 2> lengths = base_of(model).lengthscales;
  counted_.distance = kFar * std::max(lengths[0], lengths[1]);
  const DataCells& cells = model.cells;
  const bool known = std::any_of(cells.bits.begin(), cells.bits.end(), [](std::uint8_t bits) { return bits != 0; });
  if (!known || !(counted_.distance > 0.0) || !std::isfinite(counted_.distance)) return;
  const double by = kCellShare * counted_.distance / cell_height(model.domain, cells);
  near_.emplace(model.domain, joined(cells, static_cast<int>(std::clamp(by, 1.0, 1000.0))), counted_.distance);
}

void FarCounter::add(std::span<const double> lon_deg, std::span<const double> lat_deg, const Control& control) {
  for_blocks(lon_deg.size(), [&](std::size_t first, std::size_t count) {
    control.check_stop();
    std::vector<double> lon, lat;
    for (std::size_t i = first; i < first + count; ++i) {
      if (std::isfinite(lon_deg[i]) && std::isfinite(lat_deg[i])) lon.push_back(lon_deg[i]), lat.push_back(lat_deg[i]);
    }
    const std::vector<char> reach = reached(domain_, lon, lat);
    const std::vector<char> near = near_ ? (*near_)(lon, lat) : std::vector<char>(lon.size(), 1);
    for (std::size_t i = 0; i < lon.size(); ++i) {
      counted_.unreached += reach[i] ? 0 : 1;
      counted_.count += reach[i] && !near[i] ? 1 : 0;
    }
  });
}

void FarCounter::add(std::span<const float> lon_deg, std::span<const float> lat_deg, const Control& control) {
  for_blocks(lon_deg.size(), [&](std::size_t first, std::size_t count) {
    const auto lon = lon_deg.subspan(first, count), lat = lat_deg.subspan(first, count);
    add(std::vector<double>(lon.begin(), lon.end()), std::vector<double>(lat.begin(), lat.end()), control);
  });
}

}  // namespace drift
