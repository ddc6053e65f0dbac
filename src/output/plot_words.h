#pragma once

#include <filesystem>
#include <string>

#include "output/plot_source.h"

namespace drift {

// Words of a figure, and where it goes. Texts are GMT's, see plot_text.h.

// The unit behind a name, in brackets, where there is one.
std::string with_unit(const std::string& name, const std::string& unit);
// Beside the colours: name and unit.
std::string bar_label(const VariableInfo& info);
// `title`, or where it is empty the variable's name and the time.
std::string figure_title(const PlotSource& source, const std::string& title, bool sd_alone);

std::string picture_format(const std::filesystem::path& picture);  // "png" of "map.PNG"
void check_ghostscript();                                          // throws Error where GMT would miss it

// What GMT has drawn, under the picture's name.
void publish_picture(const std::filesystem::path& drawn, const std::filesystem::path& picture);

}  // namespace drift
