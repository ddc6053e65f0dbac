#include "output/plot_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "drift/error.h"
#include "output/ticks.h"

namespace drift {
namespace {

// GMT's settings for a figure in print: small sans-serif letters, thin lines. Nothing is to be fetched.
constexpr const char* kSettings =
    "FONT_ANNOT_PRIMARY = 7p,Helvetica,gray15\n"
    "FONT_LABEL = 8p,Helvetica,black\n"
    "MAP_FRAME_TYPE = plain\n"
    "MAP_FRAME_PEN = 0.6p,gray20\n"
    "MAP_TICK_PEN_PRIMARY = 0.5p,gray20\n"
    "MAP_TICK_LENGTH_PRIMARY = 2.5p/1.5p\n"
    "MAP_GRID_PEN_PRIMARY = 0.25p,gray45\n"
    "MAP_ANNOT_OFFSET_PRIMARY = 2.5p\n"
    "MAP_LABEL_OFFSET = 3p\n"
    "MAP_DEGREE_SYMBOL = degree\n"
    "FORMAT_GEO_MAP = dddF\n"
    "PS_CHAR_ENCODING = ISOLatin1+\n"
    "GMT_DATA_UPDATE_INTERVAL = off\n"
    "GMT_DATA_SERVER_LIMIT = 0\n";

// Centimetres.
constexpr double kOrigin = 3.0;  // the first map's corner from the page's; the margin is cut off later
constexpr double kBarHeight = 0.26;
constexpr double kFlattest = 0.2, kTallest = 3.0;  // height over width; beyond it a map is stretched
constexpr double kTall = 1.4;
constexpr std::size_t kFewObservations = 500;  // that are drawn as larger dots with outlines
constexpr double kLine = 0.42;                 // of text

struct Layout {
  std::size_t columns, rows;
  double map_width, map_height, gap;
  double row_height;       // from one row's maps to the next one's
  std::string projection;  // -J
  double beside;           // the map: room for the numbers of a plane's y
  double below;            // the map: room for labels, before the colour bar
  double above;            // the map: before the panel's title

  double bar_width() const { return std::max(0.8 * map_width, std::min(3.0, map_width + 0.5 * gap)); }
  double left(std::size_t panel) const { return kOrigin + static_cast<double>(panel % columns) * (map_width + gap); }
  double bottom(std::size_t panel) const {
    const std::size_t row = panel / columns;
    return kOrigin + static_cast<double>(rows - 1 - row) * row_height;
  }
  double width() const { return left(columns - 1) + map_width - kOrigin; }
};

double lower_space(PlotShape shape) {
  switch (shape) {
    case PlotShape::polar:
      return 0.65;
    case PlotShape::global:
      return 0.25;
    case PlotShape::plane:
      return 1.0;
    default:
      return 0.62;
  }
}

double ratio_of(const PlotRegion& region) { return region.height() / region.width(); }

// Height over width of a map in its projection.
double natural_ratio(const GmtSession& gmt, const PlotView& view) {
  if (view.shape == PlotShape::plane) return ratio_of(view.region);
  const std::string size =
      gmt.run({"mapproject", region_argument(view.region), view.projection + "10c", "-W", "--PROJ_LENGTH_UNIT=c"});
  std::istringstream numbers(size);
  double width = 0.0, height = 0.0;
  numbers >> width >> height;
  if (!numbers || !(width > 0.0 && height > 0.0)) throw Error(fmt::format("GMT gave no size for the map: '{}'", size));
  return height / width;
}

// Centimetres that the numbers along a plane's y take.
double width_of_numbers(const PlotRegion& region) {
  std::size_t longest = 0;
  for (const Tick& tick : nice_ticks(region.south, region.north, 6)) longest = std::max(longest, tick.label.size());
  return 0.32 + 0.14 * static_cast<double>(longest);
}

Layout lay_out(const GmtSession& gmt, const PlotFigure& figure) {
  Layout layout = {};
  const PlotView& view = figure.view;
  layout.columns = figure.columns > 0 ? std::min(figure.columns, figure.panels.size()) : figure.panels.size();
  layout.rows = (figure.panels.size() + layout.columns - 1) / layout.columns;
  const auto count = static_cast<double>(layout.columns);
  layout.gap = view.shape == PlotShape::polar ? 1.25 : view.shape == PlotShape::global ? 0.6 : 1.35;
  if (view.shape == PlotShape::plane) {
    layout.beside = width_of_numbers(view.region);
    layout.gap = std::max(layout.gap, layout.beside + 0.5);
  }
  layout.map_width = (figure.width_cm - layout.gap * (count - 1.0)) / count;
  // A strip is stretched, so that its colours can be seen; a tall map becomes narrower.
  const double natural = natural_ratio(gmt, view), ratio = std::clamp(natural, kFlattest, kTallest);
  if (ratio > kTall) layout.map_width *= kTall / ratio;
  layout.map_height = ratio * layout.map_width;
  if (view.shape == PlotShape::plane) {
    layout.projection = fmt::format("-JX{}c/{}c", layout.map_width, layout.map_height);
  } else if (ratio != natural) {
    layout.projection = fmt::format("-JX{}cd/{}cd", layout.map_width, layout.map_height);
  } else {
    layout.projection = fmt::format("{}{}c", view.projection, layout.map_width);
  }
  layout.below = lower_space(view.shape);
  layout.above = view.shape == PlotShape::polar ? 0.58 : view.shape == PlotShape::fan ? 0.22 : 0.18;
  layout.row_height = layout.map_height + layout.above + kLine + layout.below;
  return layout;
}

// Degrees, or minutes where they are less than one.
std::string label_step(double step) { return step < 1.0 ? fmt::format("{:g}m", 60.0 * step) : fmt::format("{:g}", step); }

std::vector<std::string> frame_arguments(const PlotView& view, const Layout& layout) {
  double lon_step = view.lon_step, lat_step = view.lat_step;
  if (view.shape == PlotShape::rectangle || view.shape == PlotShape::fan) {
    lon_step = degrees_between(view.region.width(), std::clamp(static_cast<int>(layout.map_width / 1.5), 2, 6));
    lat_step = degrees_between(view.region.height(), std::clamp(static_cast<int>(layout.map_height / 1.2), 2, 6));
  }
  const std::string lon = label_step(lon_step), lat = label_step(lat_step);
  switch (view.shape) {
    case PlotShape::polar:
      return {"-Bxa" + lon + "g" + lon, "-Byg" + lat, "--MAP_POLAR_CAP=none"};
    case PlotShape::global:
      return {"-Bxg" + lon, "-Byg" + lat};
    case PlotShape::plane:
      return {"-Baf", "-BWSne"};
    default:
      return {"-Bxa" + lon + "g" + lon, "-Bya" + lat + "g" + lat, "-BWSne",
              std::min(lon_step, lat_step) < 1.0 ? "--FORMAT_GEO_MAP=ddd:mmF" : "--FORMAT_GEO_MAP=dddF"};
  }
}

// Points at the ends of a bar beyond which there are values.
std::string bar_ends(const PlotScale& scale) {
  const std::string ends = std::string(scale.below ? "b" : "") + (scale.above ? "f" : "");
  return ends.empty() ? "" : "+e" + ends;
}

std::string bar_labels(const PlotScale& scale, double width_cm) {
  const std::vector<Tick> ticks = nice_ticks(scale.low, scale.high, width_cm < 5.0 ? 4 : 7);
  if (ticks.size() < 2) return "-Baf";
  return fmt::format("-Bxa{:.6g}", ticks[1].value - ticks[0].value);
}

// Draws one panel; every call of GMT says where its map is.
class PanelPainter {
 public:
  PanelPainter(const GmtSession& gmt, const PlotFigure& figure, const Layout& layout, std::size_t index)
      : gmt_(gmt), figure_(figure), layout_(layout), panel_(figure.panels[index]), index_(index) {
    place_ = {region_argument(figure.view.region), layout.projection, fmt::format("-Xa{}c", layout.left(index)),
              fmt::format("-Ya{}c", layout.bottom(index))};
    palette_ = fmt::format("colours{}.cpt", index);
  }

  void draw() const {
    make_palette();
    const bool earth = figure_.view.shape != PlotShape::plane;
    const std::string smallest = figure_.view.coast == "-Dl+" ? "-A400/0/1" : "-A20/0/1";  // km2; shores of the sea alone
    if (earth) run({"coast", figure_.view.coast, smallest, "-Ggray87"});
    draw_field();
    draw_observations();
    if (earth) run({"coast", figure_.view.coast, smallest, "-W0.35p,gray25"});
    std::vector<std::string> frame = frame_arguments(figure_.view, layout_);
    frame.insert(frame.begin(), "basemap");
    run(frame);
    if (figure_.view.shape == PlotShape::polar) label_polar_parallels();
    if (figure_.view.shape == PlotShape::global && index_ % layout_.columns == 0) label_global_parallels();
    if (figure_.one_bar) return;
    run({"colorbar", "-C" + palette_,
         fmt::format("-DJBC+w{}c/{}c+o0/{}c+h{}", layout_.bar_width(), kBarHeight, layout_.below, bar_ends(panel_.scale)),
         bar_labels(panel_.scale, layout_.bar_width())});
  }

 private:
  std::string run(std::vector<std::string> arguments, std::span<const char> input = {}) const {
    arguments.insert(arguments.end(), place_.begin(), place_.end());
    return gmt_.run(arguments, input);
  }

  void make_palette() const {
    const PlotScale& scale = panel_.scale;
    std::vector<std::string> arguments = {"makecpt", "-C" + scale.colours, fmt::format("-T{}/{}", scale.low, scale.high), "-D",
                                          "-H"};
    if (scale.reversed) arguments.emplace_back("-I");
    if (scale.share < 1.0) arguments.push_back(fmt::format("-G0/{}", scale.share));
    const std::string palette = gmt_.run(arguments);
    std::ofstream(gmt_.folder() / palette_, std::ios::binary) << palette;
  }

  void draw_field() const {
    if (panel_.values == nullptr) return;
    const PlotRaster& raster = *figure_.raster;
    const PlotRegion& region = raster.region;
    const std::string file = fmt::format("field{}.nc", index_);
    const bool earth = figure_.view.shape != PlotShape::plane;
    const std::span<const char> bytes(reinterpret_cast<const char*>(panel_.values->data()),
                                      panel_.values->size() * sizeof(float));
    gmt_.run({"xyz2grd", "-ZBLf", region_argument(region),
              fmt::format("-I{}/{}", region.width() / static_cast<double>(raster.columns),
                          region.height() / static_cast<double>(raster.rows)),
              "-r", "-G" + file, earth ? "-fg" : "-fc"},
             bytes);
    run({"grdimage", file, "-C" + palette_, "-Q", "-nn", fmt::format("-E{}", figure_.dpi)});
  }

  void draw_observations() const {
    if (panel_.observations == nullptr) return;
    const Observations& all = *panel_.observations;
    std::vector<double> rows;
    for (std::size_t i = 0; i < all.size(); i += panel_.every) {
      rows.insert(rows.end(), {all.lon_deg[i], all.lat_deg[i], all.value[i]});
    }
    std::vector<std::string> arguments = {"plot", "-bi3d", "-C" + palette_};
    if (rows.size() / 3 > kFewObservations) {
      arguments.emplace_back("-Sc0.05c");
    } else {
      arguments.insert(arguments.end(), {"-Sc0.1c", "-W0.2p,gray20"});  // in dense tracks, outlines would hide the colours
    }
    run(arguments, {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(double)});
  }

  // GMT writes no latitudes on a round map: along the meridian halfway between two labelled ones.
  void label_polar_parallels() const {
    const PlotRegion& region = figure_.view.region;
    const bool north = region.north > 0.0;
    std::string labels;
    for (double lat = figure_.view.lat_step; lat < 89.9; lat += figure_.view.lat_step) {
      const double edge = north ? region.south : -region.north;
      if (lat < edge + 0.3 * figure_.view.lat_step) continue;
      labels +=
          fmt::format("{} {} {:g}\\260{}\n", upright() + (north ? 45.0 : 135.0), north ? lat : -lat, lat, north ? "N" : "S");
    }
    run({"text", "-F+f6.5p,Helvetica,gray10=~1.6p,white+jMC"}, labels);
  }

  // Beside the oval, without the poles that GMT would label too.
  void label_global_parallels() const {
    std::string labels;
    for (int lat = -60; lat <= 60; lat += 30) {
      labels += fmt::format("{} {} {}\\260{}\n", figure_.view.region.west, lat, std::abs(lat),
                            lat > 0   ? "N"
                            : lat < 0 ? "S"
                                      : "");
    }
    run({"text", "-F+f7p,Helvetica,gray15+jRM", "-D-5p/0p", "-N"}, labels);
  }

  double upright() const { return std::stod(figure_.view.projection.substr(3)); }

  const GmtSession& gmt_;
  const PlotFigure& figure_;
  const Layout& layout_;
  const PlotPanel& panel_;
  std::size_t index_;
  std::vector<std::string> place_;
  std::string palette_;
};

// A font as GMT takes it, smaller where the text would be wider than its place; letters are about 0.55 of their size wide.
std::string fitting_font(double points, const std::string& face, const std::string& text, double width_cm) {
  std::size_t letters = 0;
  for (std::size_t i = 0; i < text.size(); ++i, ++letters) {
    if (text[i] == '\\') i += 3;  // an octal number stands for one
  }
  const double cm_a_point = 0.55 * static_cast<double>(std::max<std::size_t>(1, letters)) * 2.54 / 72.0;
  return fmt::format("{:.2f}p,{},black", std::clamp(width_cm / cm_a_point, 4.0, points), face);
}

// Texts outside the maps, in centimetres from the page's corner.
void write_texts(const GmtSession& gmt, const PlotFigure& figure, const Layout& layout) {
  std::string texts;
  const auto add = [&](double x, double y, const std::string& font, const char* place, const std::string& text,
                       double angle = 0.0) {
    if (!text.empty()) texts += fmt::format("{} {} {} {} {} {}\n", x, y, angle, font, place, text);
  };
  bool heads = false;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const double middle = layout.left(i) + 0.5 * layout.map_width;
    heads = heads || !figure.panels[i].title.empty();
    const std::string& label = figure.panels[i].bar_label;
    const std::string& title = figure.panels[i].title;
    add(middle, layout.bottom(i) + layout.map_height + layout.above,
        fitting_font(9.0, "Helvetica", title, layout.map_width + 0.7 * layout.gap), "BC", title);
    if (!figure.one_bar)
      add(middle, kOrigin - layout.below - kBarHeight - 0.52,
          fitting_font(8.0, "Helvetica", label, layout.map_width + 0.7 * layout.gap), "TC", label);
    if (figure.view.shape != PlotShape::plane) continue;
    add(middle, layout.bottom(i) - 0.48, "8p,Helvetica,black", "TC", figure.x_label);
    if (i % layout.columns == 0)
      add(layout.left(i) - layout.beside, layout.bottom(i) + 0.5 * layout.map_height, "8p,Helvetica,black", "BC", figure.y_label,
          90.0);
  }
  const double width = layout.width(), top = layout.bottom(0) + layout.map_height + layout.above;
  if (figure.one_bar)
    add(kOrigin + 0.5 * width, kOrigin - layout.below - kBarHeight - 0.52, "8p,Helvetica,black", "TC",
        figure.panels[0].bar_label);
  add(kOrigin + 0.5 * width, top + (heads ? 1.25 * kLine : 0.05), fitting_font(10.0, "Helvetica-Bold", figure.title, width + 0.8),
      "BC", figure.title);
  if (texts.empty()) return;
  gmt.run({"text", "-R0/100/0/100", "-Jx1c", "-Xa0c", "-Ya0c", "-F+a+f+j", "-N"}, texts);
}

// Below the last row, in the middle.
void draw_one_bar(const GmtSession& gmt, const PlotFigure& figure, const Layout& layout) {
  const double width = std::min(10.0, 0.7 * layout.width());
  gmt.run({"colorbar", "-R0/100/0/100", "-Jx1c", "-Xa0c", "-Ya0c", "-Ccolours0.cpt",
           fmt::format("-Dx{}c/{}c+w{}c/{}c+h+jTC{}", kOrigin + 0.5 * layout.width(), kOrigin - layout.below, width, kBarHeight,
                       bar_ends(figure.panels[0].scale)),
           bar_labels(figure.panels[0].scale, width)});
}

}  // namespace

std::filesystem::path draw_figure(const GmtSession& gmt, const PlotFigure& figure, const std::string& format) {
  std::ofstream(gmt.folder() / "gmt.conf") << kSettings;
  const Layout layout = lay_out(gmt, figure);
  gmt.run({"begin", "picture", format, fmt::format("A+m0.12c,E{}", figure.dpi)});
  for (std::size_t i = 0; i < figure.panels.size(); ++i) PanelPainter(gmt, figure, layout, i).draw();
  if (figure.one_bar) draw_one_bar(gmt, figure, layout);
  write_texts(gmt, figure, layout);
  gmt.run({"end"});
  std::filesystem::path picture = gmt.folder() / ("picture." + format);
  if (!std::filesystem::exists(picture))
    throw Error("GMT drew no picture and gave no reason; is Ghostscript in order? Try 'gs --version'");
  return picture;
}

}  // namespace drift
