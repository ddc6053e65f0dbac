#pragma once

#include <cstddef>
#include <vector>

#include "drift/control.h"
#include "process/places.h"

namespace drift {

// Values without those that stand out from their neighbours. On a track these are the three before and the three after: with r
// the distance to the nearer of the two medians, an observation stands out if r is beyond six standard deviations by the r of all
// observations and by that of its neighbours (Hampel's identifier, on both sides). A coast or a front is a step, and lies near
// one side; where the field is rough, all are far from their medians. At the end of a track one side decides, beyond twelve
// standard deviations; without tracks the median of the six nearest does. Neighbours twice as far away as is usual do not count.
//
// A process takes the neighbours' median in place of such a value: kriging is linear in the values, so one that is ten standard
// deviations off leaves a mark on the map, however heavy the tails of the likelihood that parameters are found by.
struct Despiked {
  std::vector<float> values;  // [n]
  std::size_t outliers = 0;   // that were replaced
};
Despiked without_outliers(bool has_time, const PlaceData& data, int threads, const Control& control = {});

}  // namespace drift
