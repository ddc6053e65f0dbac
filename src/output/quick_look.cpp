#include "drift/quick_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drift/error.h"
#include "output/canvas.h"
#include "output/ticks.h"

namespace drift {
namespace {

constexpr Colour kWhite = {1.0f, 1.0f, 1.0f};
constexpr Colour kInk = {0.13f, 0.15f, 0.18f};
constexpr Colour kGrey = {0.42f, 0.45f, 0.49f};
constexpr Colour kEmpty = {0.925f, 0.933f, 0.945f};  // where nothing is known

// Lengths in pixels at a width of 1600; all scale with the picture's width.
struct Layout {
  double unit;
  double margin = 28, gap = 26, title = 30, subtitle = 54, map_top = 74, bar_below = 26, bar_height = 13, labels_below = 17;
  double panel_width;

  Layout(int width, std::size_t panels) : unit(width / 1600.0) {
    for (double* length : {&margin, &gap, &title, &subtitle, &map_top, &bar_below, &bar_height, &labels_below}) *length *= unit;
    const double count = static_cast<double>(panels);
    panel_width = (width - 2.0 * margin - (count - 1.0) * gap) / count;
  }
  int height() const { return static_cast<int>(map_top + panel_width + bar_below + bar_height + labels_below + margin); }
  double left(std::size_t panel) const { return margin + static_cast<double>(panel) * (panel_width + gap); }
};

// Where the plane's kilometres lie on the canvas.
struct MapFrame {
  Point centre;
  double radius;  // pixels
  double km_per_pixel;

  double x_km(int x) const { return (x + 0.5 - centre.x) * km_per_pixel; }
  double y_km(int y) const { return (centre.y - y - 0.5) * km_per_pixel; }
  // Share of the pixel inside the map's circle.
  double inside(int x, int y) const {
    return std::clamp(radius + 0.5 - std::hypot(x + 0.5 - centre.x, y + 0.5 - centre.y), 0.0, 1.0);
  }
};

void check(const QuickLook& picture) {
  if (picture.panels.empty()) throw UsageError("quick look: there is no panel to draw");
  if (!(picture.radius_km > 0.0))
    throw UsageError(fmt::format("quick look: radius_km is {}; it must be positive", picture.radius_km));
  if (picture.width < 200 || picture.width > 20000) {
    throw UsageError(fmt::format("quick look: a width of {} pixels; it must be 200 to 20000", picture.width));
  }
  for (const PolarPanel& panel : picture.panels) {
    const auto fail = [&](const std::string& what) {
      throw UsageError(fmt::format("quick look, panel '{}': {}", panel.title, what));
    };
    const PlaneGrid& grid = panel.grid;
    if (grid.values.size() != grid.size * grid.size)
      fail(fmt::format("{0} x {0} grid but {1} values", grid.size, grid.values.size()));
    if (grid.size > 0 && !(grid.spacing_km > 0.0)) fail(fmt::format("the grid's spacing is {} km", grid.spacing_km));
    const PlanePoints& points = panel.points;
    if (points.x_km.size() != points.values.size() || points.y_km.size() != points.values.size()) {
      fail(fmt::format("{} and {} coordinates but {} values", points.x_km.size(), points.y_km.size(), points.values.size()));
    }
    if (!(panel.scale.low < panel.scale.high))
      fail(fmt::format("a colour scale from {} to {}", panel.scale.low, panel.scale.high));
  }
}

// Bilinear between grid points; NaN where one of the four is NaN or missing.
double interpolate(const PlaneGrid& grid, double x_km, double y_km) {
  const double middle = 0.5 * static_cast<double>(grid.size - 1);
  const double column = middle + x_km / grid.spacing_km, row = middle - y_km / grid.spacing_km;
  if (column < 0.0 || row < 0.0) return std::nan("");
  const auto c = static_cast<std::size_t>(column), r = static_cast<std::size_t>(row);
  if (c + 1 >= grid.size || r + 1 >= grid.size) return std::nan("");
  const double u = column - static_cast<double>(c), v = row - static_cast<double>(r);
  const double* above = grid.values.data() + r * grid.size + c;
  const double* below = above + grid.size;
  return (1.0 - v) * ((1.0 - u) * above[0] + u * above[1]) + v * ((1.0 - u) * below[0] + u * below[1]);
}

void draw_grid(Canvas& canvas, const MapFrame& frame, const PolarPanel& panel) {
  for (int y = static_cast<int>(frame.centre.y - frame.radius) - 1; y <= frame.centre.y + frame.radius + 1; ++y) {
    for (int x = static_cast<int>(frame.centre.x - frame.radius) - 1; x <= frame.centre.x + frame.radius + 1; ++x) {
      const double inside = frame.inside(x, y);
      if (inside == 0.0) continue;
      const double value = panel.grid.size < 2 ? std::nan("") : interpolate(panel.grid, frame.x_km(x), frame.y_km(y));
      canvas.blend(x, y, std::isnan(value) ? kEmpty : colour_at(panel.scale, value), inside);
    }
  }
}

// Each point colours the four pixels around it by nearness; a pixel takes the mean of its points' values.
void draw_points(Canvas& canvas, const MapFrame& frame, const PolarPanel& panel) {
  const auto width = static_cast<std::size_t>(canvas.width()), height = static_cast<std::size_t>(canvas.height());
  std::vector<double> weight(width * height, 0.0), sum(width * height, 0.0);
  const PlanePoints& points = panel.points;
  for (std::size_t i = 0; i < points.values.size(); ++i) {
    const double x = frame.centre.x + points.x_km[i] / frame.km_per_pixel - 0.5,
                 y = frame.centre.y - points.y_km[i] / frame.km_per_pixel - 0.5;
    if (!(x >= 0.0 && y >= 0.0 && x + 1.0 < canvas.width() && y + 1.0 < canvas.height())) continue;
    const auto c = static_cast<std::size_t>(x), r = static_cast<std::size_t>(y);
    const double u = x - static_cast<double>(c), v = y - static_cast<double>(r);
    const double shares[4] = {(1.0 - u) * (1.0 - v), u * (1.0 - v), (1.0 - u) * v, u * v};
    const std::size_t pixels[4] = {r * width + c, r * width + c + 1, (r + 1) * width + c, (r + 1) * width + c + 1};
    for (int k = 0; k < 4; ++k) weight[pixels[k]] += shares[k], sum[pixels[k]] += shares[k] * points.values[i];
  }
  for (int y = 0; y < canvas.height(); ++y) {
    for (int x = 0; x < canvas.width(); ++x) {
      const double inside = frame.inside(x, y);
      if (inside == 0.0) continue;
      const std::size_t pixel = static_cast<std::size_t>(y) * width + static_cast<std::size_t>(x);
      canvas.blend(x, y, kEmpty, inside);
      if (weight[pixel] > 0.0) {
        canvas.blend(x, y, colour_at(panel.scale, sum[pixel] / weight[pixel]), inside * std::min(1.0, 1.4 * weight[pixel]));
      }
    }
  }
}

void draw_graticule(Canvas& canvas, const MapFrame& frame, const QuickLook& picture, double unit, bool labelled) {
  for (const LatitudeRing& ring : picture.rings) {
    const double radius = ring.radius_km / frame.km_per_pixel;
    canvas.circle(frame.centre, radius, 1.0 * unit, kWhite, 0.4);
    if (labelled && !ring.label.empty()) {
      const double slant = 0.62;  // where on the ring, radians from straight down
      const Point at = {frame.centre.x + radius * std::sin(slant), frame.centre.y + radius * std::cos(slant) + 3.0 * unit};
      canvas.text(at, ring.label, 9.0 * unit, 4.0 * unit, kWhite, Align::centre);
      canvas.text(at, ring.label, 9.0 * unit, 1.4 * unit, kInk, Align::centre);
    }
  }
  const double innermost = picture.rings.empty() ? 0.0 : picture.rings.back().radius_km / frame.km_per_pixel;
  for (int k = 0; k < 8; ++k) {
    const double angle = k * std::numbers::pi / 4.0;
    const Point direction = {std::sin(angle), std::cos(angle)};
    const Segment meridian = {{frame.centre.x + innermost * direction.x, frame.centre.y + innermost * direction.y},
                              {frame.centre.x + frame.radius * direction.x, frame.centre.y + frame.radius * direction.y}};
    canvas.stroke({&meridian, 1}, 1.0 * unit, kWhite, 0.4);
  }
  canvas.circle(frame.centre, frame.radius, 1.5 * unit, kInk);
}

void draw_colour_bar(Canvas& canvas, const Layout& layout, double left, double top, const ColourScale& scale) {
  const double inset = 0.08 * layout.panel_width, length = layout.panel_width - 2.0 * inset, start = left + inset;
  for (int y = static_cast<int>(top); y < static_cast<int>(top + layout.bar_height); ++y) {
    for (int x = static_cast<int>(start); x < static_cast<int>(start + length); ++x) {
      canvas.blend(x, y, colour_at(scale, scale.low + (scale.high - scale.low) * (x + 0.5 - start) / length), 1.0);
    }
  }
  for (const Tick& tick : nice_ticks(scale.low, scale.high, 7)) {
    const double x = std::floor(start + length * (tick.value - scale.low) / (scale.high - scale.low)) + 0.5;
    const Segment mark = {{x, top + layout.bar_height}, {x, top + layout.bar_height + 4.0 * layout.unit}};
    canvas.stroke({&mark, 1}, 1.2 * layout.unit, kInk);
    canvas.text({x, top + layout.bar_height + layout.labels_below}, tick.label, 10.0 * layout.unit, 1.4 * layout.unit, kInk,
                Align::centre);
  }
}

void draw_panel(Canvas& canvas, const Layout& layout, const QuickLook& picture, std::size_t index) {
  const PolarPanel& panel = picture.panels[index];
  const double left = layout.left(index), middle = left + 0.5 * layout.panel_width;
  canvas.text({middle, layout.title}, panel.title, 16.0 * layout.unit, 2.3 * layout.unit, kInk, Align::centre);
  canvas.text({middle, layout.subtitle}, panel.subtitle, 10.5 * layout.unit, 1.4 * layout.unit, kGrey, Align::centre);

  MapFrame frame;
  frame.centre = {middle, layout.map_top + 0.5 * layout.panel_width};
  frame.radius = 0.5 * layout.panel_width - 1.0;
  frame.km_per_pixel = picture.radius_km / frame.radius;
  if (panel.points.values.empty()) {
    draw_grid(canvas, frame, panel);
  } else {
    draw_points(canvas, frame, panel);
  }
  draw_graticule(canvas, frame, picture, layout.unit, index == 0);
  draw_colour_bar(canvas, layout, left, layout.map_top + layout.panel_width + layout.bar_below, panel.scale);
}

}  // namespace

void write_quick_look(const std::filesystem::path& path, const QuickLook& picture) {
  check(picture);
  const Layout layout(picture.width, picture.panels.size());
  Canvas canvas(picture.width, layout.height(), kWhite);
  for (std::size_t i = 0; i < picture.panels.size(); ++i) draw_panel(canvas, layout, picture, i);
  canvas.write_png(path);
}

}  // namespace drift
