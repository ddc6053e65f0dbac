#pragma once

#include <string>

#include "drift/variable_info.h"

namespace drift {

// A colour map and how its scale is laid: the same for every map of a quantity, whatever the values of one of them.
struct QuantityColours {
  std::string colours;     // GMT's name
  bool diverging = false;  // about zero, which has a meaning: anomalies, velocities, differences
  bool from_zero = false;  // standard deviations
  double share = 1.0;  // of the colour map that is used, from its beginning: some end too dark for coastlines to show, or white
};

// By standard name, names and unit, in this order; batlow where none is known. docs/verbs/plot.md has the table.
QuantityColours colours_of(const VariableInfo& info);
QuantityColours sd_colours();

// True if a colour map of GMT has a middle, which belongs at zero.
bool is_diverging(const std::string& colours);

}  // namespace drift
