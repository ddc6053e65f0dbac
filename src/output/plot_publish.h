#pragma once

#include <filesystem>
#include <string>

#include "output/gmt.h"
#include "output/plot_figure.h"

namespace drift {

std::string picture_format(const std::filesystem::path& picture);  // "png" of "map.PNG"

// Throws Error, saying what to install, where a program that this picture takes besides GMT is missing.
void check_picture_programs(const std::filesystem::path& picture);

// The picture under its name, whole or not at all: from what GMT draws, in the format that GMT draws for it ("pdf" for SVG).
std::string drawn_format(const std::filesystem::path& picture);
void publish_picture(const GmtSession& gmt, const std::filesystem::path& drawn, const std::filesystem::path& picture);

// Draws a figure and publishes it.
void draw_picture(const GmtSession& gmt, const PlotFigure& figure, const std::filesystem::path& picture);

}  // namespace drift
