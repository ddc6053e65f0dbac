#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "drift/compare.h"

namespace drift {

// Wall and processor time since it began.
class Stopwatch {
 public:
  Stopwatch();
  double wall_s() const;
  double core_s() const;  // of all threads of this process

 private:
  double wall_ = 0.0, core_ = 0.0;
};

// The peak begins anew here, where the system lets it (Linux); else it is that since the program began.
void forget_peak_memory();
double peak_memory_mib();

// A measure of a fit that no table shows: 1 if the observations scored also calibrated.
inline constexpr const char* kScoresCalibrated = "scores_calibrated";

// The same settings from whichever folder they are read.
RunSettings with_absolute_paths(RunSettings settings);

// Without its ending: where a fit's result (.json) and map (.nc) lie in the plan's folder. Other data or settings, another name.
std::filesystem::path fit_stem(const ComparePlan& plan, const std::string& method, std::uint64_t seed);

// Throws UsageError where a fit of the plan would be written over a file that the run reads.
void check_fit_paths(const ComparePlan& plan);

// The grid's points that a map shows, and what is known there: where the domain reaches and the truth, if any, has a value.
struct MapPoints {
  std::vector<std::size_t> index;        // of the grid
  std::vector<double> lon_deg, lat_deg;  // [index]
  std::vector<char> inside;              // [index], the extent of the training observations
};
MapPoints map_points(const ComparePlan& plan);

// The truth at points; NaN where it has no value.
std::vector<double> truth_values(const ComparePlan& plan, const MapPoints& points);

// A map of values at those points; sd may be empty.
void write_map(const ComparePlan& plan, const MapPoints& points, const std::vector<double>& mean, const std::vector<double>& sd,
               const std::string& title, const std::filesystem::path& path);

}  // namespace drift
