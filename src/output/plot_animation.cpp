#include "output/plot_animation.h"

#include <fmt/format.h>

#include <algorithm>

#include "output/gif.h"
#include "output/pixels.h"
#include "output/plot_publish.h"

namespace drift {
namespace {

std::string frame_name(std::size_t frame) { return fmt::format("frame{:05}.ppm", frame); }

// H.264 with halved colours, which every player knows, has even sides.
void write_mp4(const GmtSession& gmt, PixelBox box, double frames_per_second, const std::string& name) {
  const std::size_t width = box.width() & ~std::size_t{1}, height = box.height() & ~std::size_t{1};
  gmt.run_other("ffmpeg", {"-loglevel", "error", "-nostdin", "-y", "-framerate", fmt::format("{}", frames_per_second), "-i",
                           "frame%05d.ppm", "-vf", fmt::format("crop={}:{}:{}:{}", width, height, box.left, box.top), "-c:v",
                           "libx264", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart", name});
}

void write_gif(const GmtSession& gmt, std::size_t frames, PixelBox box, const ColourCounts& counts, double frames_per_second,
               const std::string& name) {
  GifWriter gif(gmt.folder() / name, box.width(), box.height(), make_palette(counts, kGifColours), frames_per_second);
  for (std::size_t i = 0; i < frames; ++i) gif.add(cropped(read_ppm(gmt.folder() / frame_name(i)), box));
  gif.finish();
}

}  // namespace

void draw_animation(const GmtSession& gmt, std::size_t frames, const std::function<const PlotFigure&(std::size_t)>& figure,
                    double frames_per_second, const std::filesystem::path& picture, const Control& control) {
  PixelBox box;
  ColourCounts counts;
  for (std::size_t i = 0; i < frames; ++i) {
    control.check_stop("stopped; nothing was drawn");
    const std::filesystem::path frame = gmt.folder() / frame_name(i);
    std::filesystem::rename(draw_figure(gmt, figure(i), "ppm"), frame);
    const Pixels pixels = read_ppm(frame);
    box.include(inked(pixels));
    counts.add(pixels);
    control.report(static_cast<double>(i + 1) / static_cast<double>(frames + 1), fmt::format("frame {} of {}", i + 1, frames));
  }
  const std::string format = picture_format(picture), name = "animation." + format;
  if (format == "mp4") {
    write_mp4(gmt, box, frames_per_second, name);
  } else {
    write_gif(gmt, frames, box, counts, frames_per_second, name);
  }
  control.check_stop("stopped; nothing was drawn");
  publish_picture(gmt, gmt.folder() / name, picture);
  control.report(1.0, "written");
}

}  // namespace drift
