#pragma once

#include <string>

#include "output/plot_source.h"

namespace drift {

// Words of a figure. Texts are GMT's, see plot_text.h.

// The unit behind a name, in brackets, where there is one.
std::string with_unit(const std::string& name, const std::string& unit);
// Beside the colours: name and unit.
std::string bar_label(const VariableInfo& info);
// "2020-03-01T06:00:00Z" as "2020-03-01 06:00 UTC"; dates and plain numbers as they are.
std::string shown_time(std::string time);
// `title`, or where it is empty the variable's name and the time.
std::string figure_title(const PlotSource& source, const std::string& title, bool sd_alone);

}  // namespace drift
