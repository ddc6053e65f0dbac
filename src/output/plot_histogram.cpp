#include "output/plot_histogram.h"

#include <algorithm>
#include <cmath>

#include "core/degree.h"

namespace drift {

void add_to_histogram(const PlotRaster& raster, const std::vector<float>& values, const PlotScale& scale, bool earth,
                      std::vector<double>& bins) {
  bins.resize(kHistogramBins, 0.0);
  const double high = raster.region.height() / static_cast<double>(raster.rows);
  for (std::size_t row = 0; row < raster.rows; ++row) {
    const double lat = raster.region.south + high * (static_cast<double>(row) + 0.5);
    const double area = earth ? std::max(0.0, std::cos(lat * kDegree)) : 1.0;
    for (std::size_t column = 0; column < raster.columns; ++column) {
      const double share = (values[row * raster.columns + column] - scale.low) / (scale.high - scale.low);
      if (!(share >= 0.0 && share <= 1.0)) continue;
      bins[std::min(kHistogramBins - 1, static_cast<std::size_t>(share * static_cast<double>(kHistogramBins)))] += area;
    }
  }
}

}  // namespace drift
