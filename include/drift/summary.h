#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "drift/export.h"
#include "drift/read_observations.h"

namespace DRIFT_PUBLIC drift {

// Summary of a dataset.
struct Summary {
  struct Column {
    double least = 0.0, most = 0.0;
  };
  struct Platform {
    std::string name;
    std::size_t count;
  };
  struct Bin {
    double low, high;
    std::size_t count;
  };
  std::size_t count = 0;
  Column lon, lat, time;  // time: where has_time
  bool has_time = false;
  std::vector<Platform> platforms;
  std::array<double, 7> quantiles = {};  // of the values: 0, 1, 25, 50, 75, 99, 100 %
  double mean = 0.0, sd = 0.0;
  std::vector<Bin> histogram;           // of the values from 1 to 99 %, even bins
  std::vector<double> lowest, highest;  // five values at either end, the furthest first
  // A range that holds the bulk of the values, if the standard deviation is far above that which the quartiles imply.
  struct Tails {
    Range valid;         // for ReadOptions::valid
    std::size_t beyond;  // values outside of it
    double robust_sd;    // of a Gaussian with these quartiles
  };
  std::optional<Tails> tails;
};
Summary summarise(const Dataset& data, int bins = 12);

// Positions of the observations as rows of characters from north to south: blank for none, then . : o # by their number, with
// bounds at a twentieth, a quarter and six tenths of the largest. Rows and columns are about as far apart on the ground if a
// character is twice as high as it is wide.
struct Sketch {
  std::vector<std::string> rows;
  double west = 0.0, south = 0.0, east = 0.0, north = 0.0;  // of the corners; east may be beyond 180
  std::size_t most = 0;                                     // observations in one character
};
Sketch sketch_map(const Dataset& data, int columns = 72);

// Times of the observations, in `columns` spans of equal length, with the same characters. Empty without times.
std::string sketch_times(const Dataset& data, int columns = 72);

}  // namespace drift
