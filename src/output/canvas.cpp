#include "output/canvas.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "drift/error.h"
#include "output/stroke_font.h"

namespace drift {
namespace {

double distance_to(const Segment& segment, double x, double y) {
  const double dx = segment.to.x - segment.from.x, dy = segment.to.y - segment.from.y;
  const double length2 = dx * dx + dy * dy;
  const double along = ((x - segment.from.x) * dx + (y - segment.from.y) * dy) / (length2 > 0.0 ? length2 : 1.0);
  const double t = std::clamp(along, 0.0, 1.0);
  return std::hypot(x - segment.from.x - t * dx, y - segment.from.y - t * dy);
}

}  // namespace

Canvas::Canvas(int width, int height, const Colour& background)
    : width_(width), height_(height), pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), background) {}

void Canvas::blend(int x, int y, const Colour& colour, double opacity) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
  Colour& pixel = pixels_[index(x, y)];
  const auto share = static_cast<float>(std::clamp(opacity, 0.0, 1.0));
  for (std::size_t c = 0; c < 3; ++c) pixel[c] += share * (colour[c] - pixel[c]);
}

void Canvas::stroke(std::span<const Segment> segments, double width, const Colour& colour, double opacity) {
  if (segments.empty()) return;
  double left = segments[0].from.x, right = left, top = segments[0].from.y, bottom = top;
  for (const Segment& s : segments) {
    left = std::min({left, s.from.x, s.to.x}), right = std::max({right, s.from.x, s.to.x});
    top = std::min({top, s.from.y, s.to.y}), bottom = std::max({bottom, s.from.y, s.to.y});
  }
  const double reach = 0.5 * width + 1.0;
  const int x0 = std::max(0, static_cast<int>(left - reach)), x1 = std::min(width_, static_cast<int>(right + reach) + 1);
  const int y0 = std::max(0, static_cast<int>(top - reach)), y1 = std::min(height_, static_cast<int>(bottom + reach) + 1);
  if (x0 >= x1 || y0 >= y1) return;
  const auto columns = static_cast<std::size_t>(x1 - x0);
  std::vector<double> cover(columns * static_cast<std::size_t>(y1 - y0), 0.0);
  for (const Segment& s : segments) {
    const int sx0 = std::max(x0, static_cast<int>(std::min(s.from.x, s.to.x) - reach));
    const int sx1 = std::min(x1, static_cast<int>(std::max(s.from.x, s.to.x) + reach) + 1);
    const int sy0 = std::max(y0, static_cast<int>(std::min(s.from.y, s.to.y) - reach));
    const int sy1 = std::min(y1, static_cast<int>(std::max(s.from.y, s.to.y) + reach) + 1);
    for (int y = sy0; y < sy1; ++y) {
      for (int x = sx0; x < sx1; ++x) {
        const double covered = std::clamp(0.5 * width + 0.5 - distance_to(s, x + 0.5, y + 0.5), 0.0, std::min(1.0, width));
        double& there = cover[static_cast<std::size_t>(y - y0) * columns + static_cast<std::size_t>(x - x0)];
        there = std::max(there, covered);
      }
    }
  }
  for (int y = y0; y < y1; ++y) {
    for (int x = x0; x < x1; ++x) {
      const double covered = cover[static_cast<std::size_t>(y - y0) * columns + static_cast<std::size_t>(x - x0)];
      if (covered > 0.0) blend(x, y, colour, opacity * covered);
    }
  }
}

void Canvas::circle(Point centre, double radius, double width, const Colour& colour, double opacity) {
  const int x0 = static_cast<int>(centre.x - radius - width), x1 = static_cast<int>(centre.x + radius + width) + 1;
  const int y0 = static_cast<int>(centre.y - radius - width), y1 = static_cast<int>(centre.y + radius + width) + 1;
  for (int y = y0; y <= y1; ++y) {
    for (int x = x0; x <= x1; ++x) {
      const double off = std::abs(std::hypot(x + 0.5 - centre.x, y + 0.5 - centre.y) - radius);
      const double covered = std::clamp(0.5 * width + 0.5 - off, 0.0, std::min(1.0, width));
      if (covered > 0.0) blend(x, y, colour, opacity * covered);
    }
  }
}

void Canvas::text(Point baseline, std::string_view text, double size, double weight, const Colour& colour, Align align) {
  const double unit = size / kCapitalHeight;
  const double length = text_width(text) * unit;
  const double start = baseline.x - (align == Align::left ? 0.0 : align == Align::centre ? 0.5 * length : length);
  std::vector<Segment> segments = text_segments(text);
  for (Segment& s : segments) {
    s = {{start + s.from.x * unit, baseline.y - s.from.y * unit}, {start + s.to.x * unit, baseline.y - s.to.y * unit}};
  }
  stroke(segments, weight, colour);
}

void Canvas::write_png(const std::filesystem::path& path) const {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(pixels_.size() * 3);
  for (const Colour& pixel : pixels_) {
    for (float c : pixel) bytes.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(c, 0.0f, 1.0f) * 255.0f)));
  }
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width_);
  image.height = static_cast<png_uint_32>(height_);
  image.format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(&image, path.c_str(), 0, bytes.data(), 0, nullptr) == 0) {
    throw Error(fmt::format("{}: the picture could not be written: {}", path.string(), image.message));
  }
}

}  // namespace drift
