#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "drift/control.h"
#include "drift/plot.h"
#include "output/plot_source.h"

namespace drift {

// The times of a map that are to be drawn, each less the other map where there is one.
class MapSeries {
 public:
  // `keep`: every time read stays in memory, else the last one alone.
  MapSeries(const std::filesystem::path& map, const PlotOptions& options, bool keep);

  std::size_t size() const { return times_.size(); }
  const PlotSource& at(std::size_t index);
  const std::filesystem::path& file() const { return map_; }

 private:
  PlotSource read(const std::string& time) const;

  std::filesystem::path map_;
  PlotOptions options_;
  bool keep_;
  std::vector<std::string> times_;
  std::vector<std::optional<PlotSource>> sources_;
};

// Data behind scales and regions common to all times.
struct MapSurvey {
  PlotSource extent;               // the first time, with a value wherever any time has one
  std::vector<float> mean, sd;     // values of all times, every k-th where there are millions
  std::vector<float> speeds = {};  // of currents, likewise

  double fast() const;  // the speed that 1 % of the currents exceed; 0 without any
};

MapSurvey survey_of(MapSeries& series, const Control& control);

}  // namespace drift
