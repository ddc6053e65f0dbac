// From what GMT draws to the picture under its name. GMT makes no SVG: poppler's pdftocairo makes it of GMT's PDF.

#include "output/plot_publish.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/whole_file.h"
#include "drift/error.h"
#include "drift/files.h"
#include "drift/plot.h"

namespace drift {

std::string picture_format(const std::filesystem::path& picture) {
  std::string extension = picture.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return extension.empty() ? "" : extension.substr(1);
}

bool is_animation_name(const std::filesystem::path& picture) {
  const std::string format = picture_format(picture);
  return format == "gif" || format == "mp4";
}

void check_picture_name(const std::filesystem::path& picture) {
  const std::string format = picture_format(picture);
  if (format != "png" && format != "pdf" && format != "svg") {
    throw UsageError(
        fmt::format("{}: a picture is .png, .pdf or .svg, not '{}'", picture.string(), picture.extension().string()));
  }
}

void check_map_picture_name(const std::filesystem::path& picture) {
  if (is_animation_name(picture)) return;
  try {
    check_picture_name(picture);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{} (an animation is .gif or .mp4)", error.what()));
  }
}

void check_picture_programs(const std::filesystem::path& picture) {
  if (find_program("gs").empty()) {
    throw Error("GMT makes PNG and PDF files with Ghostscript, which is not installed: apt-get install ghostscript");
  }
  const std::string format = picture_format(picture);
  if (format == "svg" && find_program("pdftocairo").empty()) {
    throw Error("SVG files are made with pdftocairo, which is not installed: apt-get install poppler-utils (or take .pdf)");
  }
  if (format == "mp4" && find_program("ffmpeg").empty()) {
    throw Error(
        "MP4 files are made with ffmpeg, which is not installed: apt-get install ffmpeg (or take .gif, which does without)");
  }
}

std::string drawn_format(const std::filesystem::path& picture) {
  const std::string format = picture_format(picture);
  return format == "svg" ? "pdf" : format;
}

void publish_picture(const GmtSession& gmt, const std::filesystem::path& drawn, const std::filesystem::path& picture) {
  std::filesystem::path made = drawn;
  if (picture_format(picture) == "svg") {
    made.replace_extension(".svg");
    gmt.run_other("pdftocairo", {"-svg", drawn.filename().string(), made.filename().string()});
  }
  const std::string bytes = read_whole_file(made);
  if (bytes.empty()) throw Error(fmt::format("{}: nothing was drawn", picture.string()));
  write_text_file(picture, bytes);
}

void draw_picture(const GmtSession& gmt, const PlotFigure& figure, const std::filesystem::path& picture) {
  publish_picture(gmt, draw_figure(gmt, figure, drawn_format(picture)), picture);
}

}  // namespace drift
