#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>

#include "drift/control.h"
#include "output/gmt.h"
#include "output/plot_figure.h"

namespace drift {

// Draws figures of one layout as the frames of a GIF, which repeats for ever, or of an MP4 (H.264, by ffmpeg): by the picture's
// extension. The page's margin is cut off all of them alike.
void draw_animation(const GmtSession& gmt, std::size_t frames, const std::function<const PlotFigure&(std::size_t)>& figure,
                    double frames_per_second, const std::filesystem::path& picture, const Control& control);

}  // namespace drift
