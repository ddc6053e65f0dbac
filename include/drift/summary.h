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
  // Where the standard deviation is far above what the quartiles tell, a range that holds the bulk of the values.
  struct Tails {
    Range valid;         // for ReadOptions::valid
    std::size_t beyond;  // values outside of it
    double robust_sd;    // of a Gaussian with these quartiles
  };
  std::optional<Tails> tails;
};
Summary summarise(const Dataset& data, int bins = 12);

// Where the observations lie, in rows of characters from north to south: blank where there are none, then . : o # by their
// number. Rows and columns are about as far apart on the ground where a character is twice as high as it is wide.
std::vector<std::string> sketch_map(const Dataset& data, int columns = 72);

// When they were made, in so many spans of equal length, with the same characters. Empty without times.
std::string sketch_times(const Dataset& data, int columns = 72);

}  // namespace drift
