#pragma once

#include <array>
#include <string>
#include <vector>

#include "output/plot_quantities.h"

namespace drift {

// The colours of a panel and what they mean.
struct PlotScale {
  std::string colours;  // GMT's name of a colour map
  bool reversed = false;
  double share = 1.0;            // of the colour map that is used, from its beginning: some end too dark for coastlines to show
  double low = 0.0, high = 1.0;  // low < high
  bool below = false, above = false;  // values beyond the ends: the bar gets points
};

// From the middle 99 % of the values, rounded outwards; about zero in diverging colours, from zero for standard deviations. The
// colours are the quantity's (plot_quantities.h), unless they are given by GMT's name; "_r" at its end turns them round.
PlotScale make_scale(const std::vector<float>& values, const QuantityColours& quantity, const std::string& colours = "");

// Limits of the user's own, and what lies beyond them.
void set_limits(PlotScale& scale, const std::array<double, 2>& limits, const std::vector<float>& values);

}  // namespace drift
