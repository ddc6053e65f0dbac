#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "drift/read_observations.h"

namespace drift {

// What is in a reading, at a glance.
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
  std::vector<Bin> histogram;  // of the values from 1 to 99 %, even bins
};
Summary summarise(const Dataset& data, int bins = 12);

}  // namespace drift
