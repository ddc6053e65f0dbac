#pragma once

#include <cstddef>

#include "drift/observations.h"

namespace drift {

// Finds the tracks of observations with calendar times on the sphere, platform by platform: a new one begins after `gap_s`
// seconds without observations, and where latitude turns. Numbers them as they first appear, and returns how many; 0, and no
// column of tracks, where observations do not lie along tracks.
std::size_t find_tracks(Observations& observations, double gap_s);

// Numbers the tracks that there are from 0, as they first appear; returns how many.
std::size_t renumber_tracks(Observations& observations);

}  // namespace drift
