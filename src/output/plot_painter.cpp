#include "output/plot_painter.h"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "core/degree.h"
#include "core/whole_file.h"
#include "output/plot_arrows.h"

namespace drift {
namespace {

constexpr std::size_t kFewObservations = 500;  // that are drawn as larger dots
constexpr double kSmallMapCm = 6.0;            // narrower maps have thinner coastlines
constexpr double kOutlineCm = 0.022;           // that a grey dot is wider than the coloured one above it

// Draws one panel; every call of GMT says where its map is.
class PanelPainter {
 public:
  PanelPainter(const GmtSession& gmt, const PlotFigure& figure, const PlotLayout& layout, std::size_t index)
      : gmt_(gmt), figure_(figure), layout_(layout), panel_(figure.panels[index]), index_(index) {
    place_ = {region_argument(figure.view.region), layout.projection, fmt::format("-Xa{}c", layout.left(index)),
              fmt::format("-Ya{}c", layout.bottom(index))};
    palette_ = palette_name(index);
  }

  void draw() const {
    make_palette();
    const bool earth = figure_.view.shape != PlotShape::plane;
    const std::string smallest = figure_.view.coast == "-Dl+" ? "-A400/0/1" : "-A20/0/1";  // km2; shores of the sea alone
    if (earth) run({"coast", figure_.view.coast, smallest, "-Ggray87"});
    draw_field();
    draw_observations();
    if (earth) run({"coast", figure_.view.coast, smallest, layout_.map_width < kSmallMapCm ? "-W0.2p,gray25" : "-W0.35p,gray25"});
    std::vector<std::string> frame = frame_arguments(figure_.view, layout_);
    frame.insert(frame.begin(), "basemap");
    run(frame);
    draw_currents();  // beneath the labels inside a round map
    if (figure_.view.shape == PlotShape::polar) label_polar_parallels();
    if (figure_.view.shape == PlotShape::global && index_ % layout_.columns == 0) label_global_parallels();
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
    write_whole_file(gmt_.folder() / palette_, gmt_.run(arguments));
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

  // Grey dots beneath, a little larger: pale colours can be seen on pale fields, and dots that lie close keep their colours.
  void draw_observations() const {
    if (panel_.dots.empty()) return;
    const double size = panel_.dots.size() / 3 > kFewObservations ? 0.05 : 0.1;
    const std::span<const char> bytes(reinterpret_cast<const char*>(panel_.dots.data()), panel_.dots.size() * sizeof(double));
    run({"plot", "-bi3d", "-i0,1", fmt::format("-Sc{}c", size + kOutlineCm), "-Ggray25"}, bytes);
    run({"plot", "-bi3d", "-C" + palette_, fmt::format("-Sc{}c", size)}, bytes);
  }

  // White beneath black, to be seen on any colour.
  void draw_currents() const {
    if (panel_.currents == nullptr || !(figure_.fast > 0.0)) return;
    const bool earth = figure_.view.shape != PlotShape::plane;
    const double cm_per_speed = arrow_cm_per_speed(layout_, figure_.fast);
    std::vector<double> rows;
    for (const Arrow& arrow : choose_arrows(gmt_, *panel_.currents, figure_.view, layout_)) {
      const double angle = earth ? std::atan2(arrow.u, arrow.v) : std::atan2(arrow.v, arrow.u);
      rows.insert(rows.end(), {arrow.lon, arrow.lat, angle / kDegree, cm_per_speed * std::hypot(arrow.u, arrow.v)});
    }
    const std::span<const char> bytes(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(double));
    for (const auto& pen : arrow_pens()) {
      std::vector<std::string> arguments = {"plot", "-bi4d", (earth ? "-SV" : "-Sv") + arrow_head()};
      arguments.insert(arguments.end(), pen.begin(), pen.end());
      run(arguments, bytes);
    }
  }

  // GMT writes no latitudes on a round map: along the meridian halfway between two labelled ones.
  void label_polar_parallels() const {
    const bool north = figure_.view.region.north > 0.0;
    std::string labels;
    for (const double lat : polar_latitudes(figure_.view, layout_)) {
      labels +=
          fmt::format("{} {} {:g}\\260{}\n", upright() + (north ? 45.0 : 135.0), north ? lat : -lat, lat, north ? "N" : "S");
    }
    if (!labels.empty()) run({"text", "-F+f6.5p,Helvetica,gray10=~1.6p,white+jMC"}, labels);
  }

  // Beside the oval, without the poles that GMT would label too.
  void label_global_parallels() const {
    std::string labels;
    for (const double lat : global_latitudes(layout_)) {
      const double west = figure_.view.region.west;
      labels += fmt::format("{} {} {:g}\\260{}\n", west, lat, lat, lat > 0.0 ? "N" : "");
      if (lat > 0.0) labels += fmt::format("{} {} {:g}\\260S\n", west, -lat, lat);
    }
    run({"text", "-F+f7p,Helvetica,gray15+jRM", "-D-5p/0p", "-N"}, labels);
  }

  double upright() const { return std::stod(figure_.view.projection.substr(3)); }

  const GmtSession& gmt_;
  const PlotFigure& figure_;
  const PlotLayout& layout_;
  const PlotPanel& panel_;
  std::size_t index_;
  std::vector<std::string> place_;
  std::string palette_;
};

}  // namespace

void draw_panel(const GmtSession& gmt, const PlotFigure& figure, const PlotLayout& layout, std::size_t index) {
  PanelPainter(gmt, figure, layout, index).draw();
}

std::string palette_name(std::size_t panel) { return fmt::format("colours{}.cpt", panel); }

// Heads shrink with arrows shorter than 0.3 cm.
std::string arrow_head() { return "0.13c+e+a38+h0.4+n0.3c"; }

std::array<std::vector<std::string>, 2> arrow_pens() {
  return {std::vector<std::string>{"-W1.5p,white", "-Gwhite"}, {"-W0.6p,black", "-Gblack"}};
}

}  // namespace drift
