#pragma once

#include <string>
#include <vector>

#include "output/plot_raster.h"

namespace drift {

enum class PlotShape { polar, global, fan, rectangle, plane };

// Projection of a region on the page, in GMT's words.
struct PlotView {
  PlotShape shape = PlotShape::rectangle;
  PlotRegion region = {};       // shown: -R
  std::string projection = {};  // -J without its width: "-JA0/90/"
  std::string words = {};       // "azimuthal equal-area"
  double lon_step = 30.0;       // degrees between labelled meridians; of rectangles and fans it depends on their size on the page
  double lat_step = 10.0;
  std::string coast = {};  // resolution: "-Di+"
};

// A round number of degrees or minutes that divides a length in degrees into at most `most` parts.
double degrees_between(double length, int most);

PlotView choose_view(const PlotSource& source, const PlotRegion& region);

// "-R..." that GMT reads back to the last bit.
std::string region_argument(const PlotRegion& region);

}  // namespace drift
