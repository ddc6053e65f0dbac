#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "drift/export.h"
#include "drift/observations.h"
#include "drift/variable_info.h"

namespace DRIFT_PUBLIC drift {

// Arrangement of the observations.
enum class DataLayout {
  points,       // scattered, or in no known order
  along_track,  // one after the other along tracks
  swath,        // in lines across a track, with one time each
  grid,         // along axes, or on two-dimensional positions that stay the same
};

// Observations and their description, read from files or built from arrays.
struct Dataset {
  Observations observations = {};
  VariableInfo value = {};                 // of the values
  DataLayout layout = DataLayout::points;  // of all observations
  bool on_plane = false;                   // positions are plain x and y
  std::string plane_unit = {};             // of x and y, if known
  bool calendar_time = false;              // times are days since 1950-01-01 UTC, not plain numbers
  std::string tracks_from = {};            // "variable 'pass'", "gaps of 60 s and turns"; empty: no tracks
  std::size_t tracks = 0;
  std::vector<std::size_t> test = {};  // rows of the test set, never trained on, ascending; none: drift chooses what to hold out
  std::string provenance = {};         // one line on the origin, for the history of models and maps
};

struct ArrayOptions {
  bool on_plane = false;
  std::string plane_unit = {};  // of x and y: "m", "km"
  bool calendar_time = true;    // of times, where there are any
  double track_gap_s = 60.0;    // > 0; without a column of tracks, a new one begins after so long without observations
  bool find_tracks = true;      // look for tracks where there is no column of them (positions on the Earth, calendar times)
  std::string provenance = "arrays";
};

// A dataset from a program's own arrays, checked as strictly as a file's. Columns must be equally long or empty; positions and
// times must be finite, latitudes within 90 degrees, sigmas positive, platforms indices into platform_names. Observations whose
// value is NaN are left out; longitudes are brought to [-180, 180), tracks renumbered from 0. Throws UsageError naming the column
// and the first row that is wrong, Error if nothing is left.
Dataset make_dataset(Observations observations, VariableInfo value = {}, const ArrayOptions& options = {});

// Both together, with the rows of `test` as the test set: platforms of one name are one, tracks are numbered on. Throws Error
// if they do not match: different units, or a column that one of them lacks.
Dataset with_test(Dataset training, const Dataset& test);

// The rows whose platform is among these become the test set. Throws UsageError, naming the platforms there are, where none or
// all are.
Dataset with_test_platforms(Dataset data, const std::vector<std::string>& platforms, bool all_but_these = false);

}  // namespace drift
