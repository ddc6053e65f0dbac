#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Point observations in columns of equal length; columns that the data lack are empty.
struct Observations {
  std::vector<double> lon_deg;         // in the domain xy: x, in its unit
  std::vector<double> lat_deg;         // in the domain xy: y
  std::vector<double> time_days;       // since 1950-01-01 UTC, or since an epoch of the data's own
  std::vector<double> value;           // in the data's own unit
  std::vector<float> sigma;            // > 0, standard deviation of the value's error, in its unit
  std::vector<std::int32_t> track;     // the pass it belongs to: pole to pole, numbered through all platforms
  std::vector<std::uint8_t> platform;  // index into platform_names
  std::vector<std::string> platform_names;

  std::size_t size() const { return value.size(); }
};

}  // namespace drift
