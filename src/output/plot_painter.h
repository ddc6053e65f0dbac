#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "output/gmt.h"
#include "output/plot_figure.h"
#include "output/plot_layout.h"

namespace drift {

// Draws one panel's map, without its title and colour bar, and leaves its colours in the session's folder under palette_name.
void draw_panel(const GmtSession& gmt, const PlotFigure& figure, const PlotLayout& layout, std::size_t index);
std::string palette_name(std::size_t panel);

// Appearance of arrows, on maps and in their key: the head's shape, and two passes of pens.
std::string arrow_head();
std::array<std::vector<std::string>, 2> arrow_pens();

}  // namespace drift
