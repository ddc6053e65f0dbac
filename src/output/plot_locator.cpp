#include "output/plot_locator.h"

#include <algorithm>

#include "core/longitude.h"
#include "geo/projection.h"

namespace drift {
namespace {

// The cell between whose edges a number lies, kNoCell outside.
std::size_t cell_between(const std::vector<double>& edges, double number) {
  if (!(number >= edges.front() && number <= edges.back())) return kNoCell;
  const auto above = std::upper_bound(edges.begin(), edges.end(), number);
  return std::min(static_cast<std::size_t>(above - edges.begin()), edges.size() - 1) - 1;
}

class AxesLocator : public CellLocator {
 public:
  explicit AxesLocator(const PlotSource& source)
      : geographic_(source.space == PlotSpace::geographic), x_(edges_of(source.x)), y_(edges_of(source.y)) {
    if (source.space == PlotSpace::projected) projection_ = projection_of(source.crs);
  }

  void find(std::span<const double> lon_or_x, std::span<const double> lat_or_y, std::span<std::size_t> cell) const override {
    std::vector<double> x(lon_or_x.begin(), lon_or_x.end()), y(lat_or_y.begin(), lat_or_y.end());
    if (projection_) projection_->forward(x, y);
    for (std::size_t i = 0; i < cell.size(); ++i) {
      if (geographic_) x[i] = turned_from(x_.front(), x[i]);
      const std::size_t column = cell_between(x_, x[i]), row = cell_between(y_, y[i]);
      cell[i] = column == kNoCell || row == kNoCell ? kNoCell : row * (x_.size() - 1) + column;
    }
  }

 private:
  bool geographic_;
  std::vector<double> x_, y_;  // edges
  std::shared_ptr<const Projection> projection_;
};

class NearestLocator : public CellLocator {
 public:
  explicit NearestLocator(const PlotSource& source) : nearest_(source.lon, source.lat, source.x.size()) {}

  void find(std::span<const double> lon, std::span<const double> lat, std::span<std::size_t> cell) const override {
    nearest_.find(lon, lat, cell);
  }

 private:
  NearestCell nearest_;
};

}  // namespace

std::vector<double> edges_of(const std::vector<double>& centres) {
  std::vector<double> edges = {centres[0] - 0.5 * (centres[1] - centres[0])};
  for (std::size_t i = 0; i + 1 < centres.size(); ++i) edges.push_back(0.5 * (centres[i] + centres[i + 1]));
  edges.push_back(centres.back() + 0.5 * (centres.back() - centres[centres.size() - 2]));
  return edges;
}

std::unique_ptr<CellLocator> make_locator(const PlotSource& source) {
  if (source.space == PlotSpace::curvilinear) return std::make_unique<NearestLocator>(source);
  return std::make_unique<AxesLocator>(source);
}

void row_positions(const PlotSource& source, std::size_t row, std::vector<double>& lon, std::vector<double>& lat) {
  const std::size_t columns = source.x.size();
  if (source.space == PlotSpace::curvilinear) {
    const auto first = static_cast<std::ptrdiff_t>(row * columns), last = first + static_cast<std::ptrdiff_t>(columns);
    lon.assign(source.lon.begin() + first, source.lon.begin() + last);
    lat.assign(source.lat.begin() + first, source.lat.begin() + last);
    return;
  }
  lon = source.x;
  lat.assign(columns, source.y[row]);
  if (source.space == PlotSpace::projected) projection_of(source.crs)->inverse(lon, lat);
}

}  // namespace drift
