#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "drift/observations.h"
#include "drift/read_observations.h"

namespace drift {

// What one file holds.
struct FilePart {
  Observations observations;              // tracks are numbers of track_labels, platforms of its own platform_names
  std::vector<std::string> track_labels;  // the platform's name, \0, the track's
  std::size_t rows = 0;
  std::vector<Rejected> rejected;
};

}  // namespace drift
