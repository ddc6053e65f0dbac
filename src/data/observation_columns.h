#pragma once

#include <vector>

#include "drift/observations.h"

namespace drift {

// Calls work(column) for each of the columns, empty or not.
template <class Some, class Work>
void for_each_column(Some& observations, const Work& work) {
  work(observations.lon_deg);
  work(observations.lat_deg);
  work(observations.time_days);
  work(observations.value);
  work(observations.sigma);
  work(observations.track);
  work(observations.platform);
}

}  // namespace drift
