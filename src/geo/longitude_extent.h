#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/longitude.h"

namespace drift {

struct Arc {
  double west_deg;
  double span_deg;

  // In [-180, 180), and in (-180, 180], without the last digits, which whole turns cost.
  double west() const { return wrapped_longitude(digits(west_deg)); }
  double east() const {
    const double lon = wrapped_longitude(digits(west_deg + span_deg));
    return lon == -180.0 ? 180.0 : lon;
  }

 private:
  static double digits(double lon_deg) { return std::round(1e9 * wrapped_longitude(lon_deg)) / 1e9; }
};

// The shortest arc that holds all longitudes: the circle without the widest gap between neighbours. One pass, in bins of a
// degree: within a bin gaps do not matter.
class LongitudeExtent {
 public:
  void add(double lon_deg) {
    const double lon = turned_from(0.0, lon_deg);
    Bin& bin = bins_[static_cast<std::size_t>(lon)];
    bin = {std::min(bin.low, lon), std::max(bin.high, lon)};
  }
  // All from west eastwards to east, which is a whole turn away at most.
  void add(double west_deg, double east_deg) {
    for (double lon = west_deg; lon < east_deg; lon += 0.5) add(lon);
    add(east_deg);
  }
  // Of at least one longitude.
  Arc arc() const {
    std::vector<Bin> used;
    for (const Bin& bin : bins_) {
      if (bin.low <= bin.high) used.push_back(bin);
    }
    Arc best = {used.front().low, used.back().high - used.front().low};
    for (std::size_t i = 1; i < used.size(); ++i) {
      const double span = 360.0 - (used[i].low - used[i - 1].high);
      if (span < best.span_deg) best = {used[i].low, span};
    }
    return best;
  }

 private:
  struct Bin {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
  };
  std::array<Bin, 360> bins_ = {};
};

}  // namespace drift
