#pragma once

#include <array>
#include <string>
#include <vector>

#include "drift/variable_info.h"

namespace drift {

// The colours of a panel and what they mean.
struct PlotScale {
  std::string colours;  // GMT's name of a colour map
  bool reversed = false;
  double share = 1.0;            // of the colour map that is used, from its beginning: some end too dark for coastlines to show
  double low = 0.0, high = 1.0;  // low < high
  bool below = false, above = false;  // values beyond the ends: the bar gets points
};

// Zero has a meaning and both signs occur: anomalies, velocities, differences. By the variable's names and its values' quantiles.
bool is_diverging(const VariableInfo& info, double low, double high);

// From the middle 99 % of the values, rounded outwards; about zero where they diverge.
PlotScale mean_scale(const std::vector<float>& values, const VariableInfo& info);
// From zero to the 99.5 % quantile.
PlotScale sd_scale(const std::vector<float>& values);

// Limits of the user's own, and what lies beyond them.
void set_limits(PlotScale& scale, const std::array<double, 2>& limits, const std::vector<float>& values);
// Colours by GMT's name; "_r" at its end turns them round.
void set_colours(PlotScale& scale, const std::string& name);

}  // namespace drift
