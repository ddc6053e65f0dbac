#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace drift {

// Point observations, a column each; all columns are equally long.
struct Observations {
  std::vector<double> lon_deg;
  std::vector<double> lat_deg;
  std::vector<double> time_days;       // since an epoch of the data's own
  std::vector<double> value;           // in the data's own unit
  std::vector<std::int32_t> track;     // the pass it belongs to: pole to pole, numbered through all platforms
  std::vector<std::uint8_t> platform;  // index into platform_names
  std::vector<std::string> platform_names;

  std::size_t size() const { return value.size(); }
};

}  // namespace drift
