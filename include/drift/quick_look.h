#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace drift {

// A first look at fields around a pole: round maps side by side, each with its colour bar, in one PNG file.
// (Maps for publication, with coastlines and any projection, are not its business.)

enum class Palette {
  field,   // from dark to light
  spread,  // from near-white to dark: little is pale, much is dark
};

struct ColourScale {
  Palette palette = Palette::field;
  double low = -1.0;  // values beyond the ends take the ends' colours
  double high = 1.0;  // > low
};

// Values on a square grid over the plane, row 0 at the top (greatest y), column 0 at the left; centred on the pole.
struct PlaneGrid {
  std::size_t size = 0;             // points along a side
  double spacing_km = 0.0;          // between points
  std::vector<double> values = {};  // [size, size]; NaN: nothing known there
};

// Scattered values in the same plane.
struct PlanePoints {
  std::vector<double> x_km = {};
  std::vector<double> y_km = {};
  std::vector<double> values = {};
};

// One map: a grid or points, whichever is not empty.
struct PolarPanel {
  std::string title = {};     // ASCII
  std::string subtitle = {};  // ASCII, below the title and smaller
  ColourScale scale = {};
  PlaneGrid grid = {};
  PlanePoints points = {};
};

struct LatitudeRing {
  double radius_km;
  std::string label;  // may be empty
};

struct QuickLook {
  std::vector<PolarPanel> panels = {};
  double radius_km = 0.0;                // of the maps' edge
  std::vector<LatitudeRing> rings = {};  // drawn into every map, labelled in the first
  int width = 1600;                      // pixels
};

// Throws Error when the file cannot be written, UsageError when a panel's sizes do not fit together.
void write_quick_look(const std::filesystem::path& path, const QuickLook& picture);

}  // namespace drift
