#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "drift/control.h"
#include "drift/dataset.h"
#include "drift/enum_words.h"
#include "drift/export.h"
#include "drift/observations.h"

namespace DRIFT_PUBLIC drift {

enum class PlotPanels {
  automatic,  // both where the map has a standard deviation, else the mean
  mean,
  sd,
  both,  // side by side
};
constexpr auto enum_words(PlotPanels) {
  return std::to_array<EnumWord<PlotPanels>>(
      {{"auto", PlotPanels::automatic}, {"mean", PlotPanels::mean}, {"sd", PlotPanels::sd}, {"both", PlotPanels::both}});
}

struct PlotOptions {
  std::string variable = {};  // empty: the one that has ancillary_variables, or the only one on a grid
  // An index from 0 on, or a time as YYYY-MM-DD[THH:MM[:SS]]; several with commas, or "all": a panel for each, or a frame of an
  // animation. Empty: the first, of an animation all.
  std::string time = {};
  PlotPanels panels = PlotPanels::automatic;
  std::optional<std::array<double, 2>> limits = {};     // of the mean's colours; none: the middle 99 % of its values
  std::optional<std::array<double, 2>> sd_limits = {};  // none: from 0 to the 99.5 % quantile
  std::string colours = {};  // of the mean: a name of GMT's ("batlow", "vik"), "_r" after it reverses it; empty: chosen
  std::string sd_colours = {};
  std::string title = {};                 // empty: the variable's long name and the time
  std::filesystem::path minus = {};       // another map of the same grid, which is subtracted: the mean alone is drawn
  bool arrows = false;                    // currents over the mean: variables "ugos" and "vgos", or others by their names
  bool histogram = false;                 // of the values, by area, above the colour bars
  Observations observations = {};         // drawn over the mean in its colours; their times, if any, are of the calendar
  double observations_days = 1.0;         // drawn: those no further from the map's time, where both have times
  std::size_t most_observations = 20000;  // drawn: every k-th where there are more
  double width_cm = 0.0;                  // of the panels together, 4 to 100; 0: 17 for two, 12 for one
  int dpi = 0;                            // of PNG, and of fields in PDF: 30 to 1200; 0: 300, of animations 120
  double frames_per_second = 4.0;         // of an animation: 0.1 to 50
};

struct PlotReport {
  std::string variable;
  std::string sd_variable;  // empty: none drawn
  std::string time;         // "2020-03-01", the first one drawn; empty: the map has no times
  std::size_t times = 1;    // drawn, as panels or frames
  std::string projection;   // in words
  std::array<double, 2> limits = {};
  std::array<double, 2> sd_limits = {};
  std::size_t observations = 0;  // drawn, on all panels or frames together
};

// Draws one time of a map, or several, as a figure or an animation: PNG, PDF, SVG, GIF or MP4, by the picture's extension. All
// panels and frames have one scale. The map is a CF NetCDF file with a variable on
// longitudes and latitudes (1-D, or 2-D beside any other axes), on the x and y of a grid mapping, or on a plain plane. A polar
// map is round, a global one oval, a part of the world rectangular or a fan; coastlines on all but a plain plane. Draws with
// GMT 6; SVG takes pdftocairo, MP4 ffmpeg. Throws Error (no GMT, not a map, nothing to write to) or UsageError (no such variable,
// time, colours, extension).
PlotReport plot_map(const std::filesystem::path& map, const std::filesystem::path& picture, const PlotOptions& options = {},
                    const Control& control = {});

// Draws observations as dots in the colours of their values, every k-th where there are more than `most`, on a map that is chosen
// as plot_map's: PNG, PDF or SVG. Throws as plot_map does.
void plot_observations(const Dataset& data, const std::filesystem::path& picture, const Control& control = {},
                       std::size_t most = 50000);

// Maps of one grid in one figure, with one colour scale.
struct PanelMap {
  std::filesystem::path map;
  std::string title;
  std::string time = {};  // as in PlotOptions
};
struct PanelOptions {
  std::string variable = {};    // as in PlotOptions
  bool sd = false;              // the standard deviations instead
  std::string title = {};       // empty: the variable's long name and the time
  bool scale_of_first = false;  // colours by the first map alone, a truth; else by the middle one of the maps' own limits
  double width_cm = 17.0;       // of all panels of a row together, 4 to 100
  int dpi = 200;
};

// Draws one time of each map, three or four side by side and as many rows as it takes: PNG, PDF or SVG. The scale follows most of
// the maps, so that a single bad one does not hide the others. Throws as plot_map does, and Error for maps of different grids.
void plot_panels(const std::vector<PanelMap>& maps, const std::filesystem::path& picture, const PanelOptions& options = {},
                 const Control& control = {});

// Draws the best value so far of a search, by trial (NaN: none yet), as steps: PNG, PDF or SVG.
void plot_progress(const std::vector<double>& best_so_far, const std::filesystem::path& picture, const Control& control = {});

// Throws UsageError, naming what is known, unless the extension is one of a picture, or of what plot_map makes: animations too.
void check_picture_name(const std::filesystem::path& picture);
void check_map_picture_name(const std::filesystem::path& picture);
bool is_animation_name(const std::filesystem::path& picture);

}  // namespace drift
