#include "output/plot_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/whole_file.h"
#include "drift/error.h"
#include "output/plot_arrows.h"
#include "output/plot_layout.h"
#include "output/plot_painter.h"
#include "output/plot_words.h"

namespace drift {
namespace {

// GMT's settings for a figure in print: small sans-serif letters, thin lines. Nothing is to be fetched.
constexpr std::string_view kSettings =
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
    "PROJ_LENGTH_UNIT = cm\n"
    "PS_CHAR_ENCODING = ISOLatin1+\n"
    "GMT_DATA_UPDATE_INTERVAL = off\n"
    "GMT_DATA_SERVER_LIMIT = 0\n";

constexpr double kHistogramGapCm = 0.12;  // between the map's labels and the highest step

const std::vector<std::string> kWholePage = {"-R0/100/0/100", "-Jx1c", "-Xa0c", "-Ya0c"};  // in centimetres from its corner

void on_page(const GmtSession& gmt, std::vector<std::string> arguments, const std::string& input = {}) {
  arguments.insert(arguments.end(), kWholePage.begin(), kWholePage.end());
  gmt.run(arguments, input);
}

// Texts outside the maps.
void write_texts(const GmtSession& gmt, const PlotFigure& figure, const PlotLayout& layout) {
  std::string texts;
  const auto add = [&](double x, double y, const std::string& font, const char* place, const std::string& text,
                       double angle = 0.0) {
    if (!text.empty()) texts += fmt::format("{} {} {} {} {} {}\n", x, y, angle, font, place, text);
  };
  const double room = layout.map_width + 0.7 * layout.gap;
  bool heads = false;
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const std::string& label = figure.panels[i].bar_label;
    const std::string& title = figure.panels[i].title;
    heads = heads || !title.empty();
    add(layout.middle(i), layout.bottom(i) + layout.map_height + layout.above, fitting_font(9.0, "Helvetica", title, room), "BC",
        title);
    if (!figure.one_bar) add(layout.middle(i), layout.bar_label_top(), fitting_font(8.0, "Helvetica", label, room), "TC", label);
    if (figure.view.shape != PlotShape::plane) continue;
    add(layout.middle(i), layout.bottom(i) - 0.48, fitting_font(8.0, "Helvetica", figure.x_label, room), "TC", figure.x_label);
    if (i % layout.columns == 0)
      add(layout.left(i) - layout.beside, layout.bottom(i) + 0.5 * layout.map_height,
          fitting_font(8.0, "Helvetica", figure.y_label, layout.map_height + 0.5), "BC", figure.y_label, 90.0);
  }
  const double middle = kPlotOrigin + 0.5 * layout.width();
  if (figure.one_bar) add(middle, layout.bar_label_top(), "8p,Helvetica,black", "TC", figure.panels[0].bar_label);
  add(middle, layout.top() + (heads ? 1.25 * kPlotLine : 0.05),
      fitting_font(10.0, "Helvetica-Bold", figure.title, layout.width() + 0.8), "BC", figure.title);
  if (!texts.empty()) on_page(gmt, {"text", "-F+a+f+j", "-N"}, texts);
}

// Steps above the colour bar, along its own scale.
void draw_histogram(const GmtSession& gmt, const PlotLayout& layout, const std::vector<double>& bins, double left, double width) {
  const double most = bins.empty() ? 0.0 : *std::max_element(bins.begin(), bins.end());
  if (!(most > 0.0)) return;
  const double foot = layout.bar_top(), high = layout.histogram - kHistogramGapCm;
  const double step = width / static_cast<double>(bins.size());
  std::string outline = fmt::format("{} {}\n", left, foot);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double x = left + step * static_cast<double>(i), y = foot + high * bins[i] / most;
    outline += fmt::format("{} {}\n{} {}\n", x, y, x + step, y);
  }
  outline += fmt::format("{} {}\n", left + width, foot);
  on_page(gmt, {"plot", "-Ggray70", "-N"}, outline);
}

// The panel's colour bar and what stands on it; `middle` in centimetres from the page's corner.
void draw_bar(const GmtSession& gmt, const PlotFigure& figure, const PlotLayout& layout, std::size_t panel, double middle) {
  const PlotScale& scale = figure.panels[panel].scale;
  const double width = layout.bar_width(figure.one_bar);
  draw_histogram(gmt, layout, figure.panels[panel].histogram, middle - 0.5 * width, width);
  const std::string ends = std::string(scale.below ? "b" : "") + (scale.above ? "f" : "");
  on_page(gmt, {"colorbar", "-C" + palette_name(panel),
                fmt::format("-Dx{}c/{}c+w{}c/{}c+h+jTC{}", middle, layout.bar_top(), width, kPlotBarHeight,
                            ends.empty() ? "" : "+e" + ends),
                bar_ticks(scale, width)});
}

// Below a bar's label: an arrow and its speed.
void draw_arrow_key(const GmtSession& gmt, const PlotFigure& figure, const PlotLayout& layout, double middle) {
  const double speed = key_speed(figure.fast), length = speed * arrow_cm_per_speed(layout, figure.fast);
  const double y = layout.bar_label_top() - 1.25 * kPlotLine;
  const std::string arrow = fmt::format("{} {} 0 {}\n", middle - 0.1 - length, y, length);
  std::vector<std::string> arguments = {"plot", "-Sv" + arrow_head(), "-N"};
  const std::vector<std::string> black = arrow_pens().back();
  arguments.insert(arguments.end(), black.begin(), black.end());
  on_page(gmt, arguments, arrow);
  on_page(gmt, {"text", "-F+f8p,Helvetica,black+jLM", "-N"},
          fmt::format("{} {} {:g} {}\n", middle + 0.1, y, speed, figure.current_unit));
}

}  // namespace

std::filesystem::path draw_figure(const GmtSession& gmt, const PlotFigure& figure, const std::string& format) {
  write_whole_file(gmt.folder() / "gmt.conf", kSettings);
  const PlotLayout layout = lay_out(gmt, figure);
  std::vector<std::string> begin = {"begin", "picture", format, fmt::format("A+m0.12c,E{}", figure.dpi)};
  if (format == "ppm") {
    begin.back() = fmt::format("A+n,E{}", figure.dpi);
    begin.push_back(fmt::format("--PS_MEDIA={:.2f}cx{:.2f}c", layout.width() + 2.0 * kPlotOrigin, layout.top() + kPlotOrigin));
  }
  gmt.run(begin);
  const double page_middle = kPlotOrigin + 0.5 * layout.width();
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    draw_panel(gmt, figure, layout, i);
    if (!figure.one_bar) draw_bar(gmt, figure, layout, i, layout.middle(i));
    const bool has_key = figure.panels[i].currents != nullptr && figure.fast > 0.0 && (i == 0 || !figure.one_bar);
    if (has_key) draw_arrow_key(gmt, figure, layout, figure.one_bar ? page_middle : layout.middle(i));
  }
  if (figure.one_bar) draw_bar(gmt, figure, layout, 0, page_middle);
  write_texts(gmt, figure, layout);
  gmt.run({"end"});
  std::filesystem::path picture = gmt.folder() / ("picture." + format);
  if (!std::filesystem::exists(picture))
    throw Error("GMT drew no picture and gave no reason; is Ghostscript in order? Try 'gs --version'");
  return picture;
}

}  // namespace drift
