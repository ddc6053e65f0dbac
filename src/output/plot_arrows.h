#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "output/gmt.h"
#include "output/plot_layout.h"
#include "output/plot_source.h"

namespace drift {

struct Arrow {
  double lon, lat;  // or x and y: the middle of its cell
  double u, v;      // along east and north, or x and y
};

// Currents about evenly spaced on the page, whatever the projection: those of the cells in which the points of a lattice on the
// page lie, each once. Cells without a current have none.
std::vector<Arrow> choose_arrows(const GmtSession& gmt, const PlotSource& source, const PlotView& view, const PlotLayout& layout);

// Centimetres on the page per unit of speed, for a figure whose fast currents have this speed.
double arrow_cm_per_speed(const PlotLayout& layout, double fast);
// A round speed for the key: 1, 2 or 5 times a power of ten, from 0.4 to 1 times `fast`.
double key_speed(double fast);

}  // namespace drift
