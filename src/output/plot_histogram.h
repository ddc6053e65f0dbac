#pragma once

#include <vector>

#include "output/plot_raster.h"
#include "output/plot_scale.h"

namespace drift {

inline constexpr std::size_t kHistogramBins = 40;

// Adds the area of a raster's cells by value, in even bins from the scale's low end to its high end; values beyond them are left
// out. `earth`: rows of longitudes shrink towards the poles.
void add_to_histogram(const PlotRaster& raster, const std::vector<float>& values, const PlotScale& scale, bool earth,
                      std::vector<double>& bins);

}  // namespace drift
