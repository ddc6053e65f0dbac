#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "output/colour.h"

namespace drift {

struct Point {
  double x;  // pixels from the left
  double y;  // pixels from the top
};
struct Segment {
  Point from;
  Point to;
};

enum class Align { left, centre, right };

// A picture that shapes are painted on, edges smoothed by the share of each pixel they cover.
class Canvas {
 public:
  Canvas(int width, int height, const Colour& background);

  int width() const { return width_; }
  int height() const { return height_; }
  const Colour& at(int x, int y) const { return pixels_[index(x, y)]; }

  // Lays a colour over one pixel; opacity 0 to 1. Pixels outside are ignored.
  void blend(int x, int y, const Colour& colour, double opacity);

  // Lines with round ends; where several cross, the colour is laid on once.
  void stroke(std::span<const Segment> segments, double width, const Colour& colour, double opacity = 1.0);

  void circle(Point centre, double radius, double width, const Colour& colour, double opacity = 1.0);

  // ASCII text; `baseline` is where the letters stand. `size` is the height of capitals, in pixels; `weight` the stroke's width.
  void text(Point baseline, std::string_view text, double size, double weight, const Colour& colour, Align align = Align::left);

  // Throws Error naming the file when it cannot be written.
  void write_png(const std::filesystem::path& path) const;

 private:
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }

  int width_;
  int height_;
  std::vector<Colour> pixels_;
};

}  // namespace drift
