#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "drift/observations.h"
#include "drift/position.h"

namespace drift {

// The field that simulated instruments look at: fills values[i] at points[i] and time_days[i]. Called from several threads.
using Truth =
    std::function<void(std::span<const UnitVector> points, std::span<const double> time_days, std::span<double> values)>;

struct SimulateOptions {
  std::vector<std::string> platforms = {"Sentinel-3A", "Sentinel-3B", "CryoSat-2"};  // of simulated_platforms()
  double start_days = 0.0;  // time zero is a midnight (UTC), where Sentinel-3's plane is at its true local time
  double days = 9.0;        // > 0
  double south_deg = 62.0;  // observations lie between these latitudes
  double north_deg = 90.0;
  double rate_hz = 3.3;    // > 0, observations a second; 3.3 (a point every 2 km) gives 1.16 million with the settings above
  double noise_sd = 0.01;  // >= 0, of the independent Gaussian noise, in units of the truth
  std::uint64_t seed = 1;  // of the noise
  int threads = 0;         // 0: one for each core this process may use
};

std::vector<std::string> simulated_platforms();

// Observations of `truth` along the platforms' ground tracks, platform by platform in the order of time.
// Same options and truth, same observations, whatever the threads. Throws UsageError naming the option that is out of range.
Observations simulate(const Truth& truth, const SimulateOptions& options = {});

// The rate_hz with which these options give `observations`, within a few in a hundred thousand.
double rate_for(std::size_t observations, const SimulateOptions& options);

}  // namespace drift
