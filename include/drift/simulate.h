#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drift/control.h"
#include "drift/export.h"
#include "drift/observations.h"
#include "drift/position.h"

namespace DRIFT_PUBLIC drift {

// The field that simulated instruments observe: fills values[i] at points[i] and time_days[i], NaN where it has no value. Called
// from several threads.
using Truth =
    std::function<void(std::span<const UnitVector> points, std::span<const double> time_days, std::span<double> values)>;

struct SimulateOptions {
  std::vector<std::string> platforms = {"Sentinel-3A", "Sentinel-3B", "CryoSat-2"};  // of simulated_platforms(), each once
  // Days since a midnight (UTC), 1950-01-01 for times of the calendar. Orbits run on from time zero: Sentinel-3A is then over the
  // equator at 30 W on its way north (22:00 local time, for good), 3B 140 degrees ahead of it, CryoSat-2 over the equator at 0 E.
  double start_days = 0.0;
  double days = 9.0;        // > 0
  double south_deg = 62.0;  // observations lie between these latitudes
  double north_deg = 90.0;
  std::optional<std::array<double, 4>> box = {};  // and in this box: lon0, lat0, lon1, lat1; lon0 > lon1: over 180
  double rate_hz = 3.3;        // > 0, observations per s; 3.3 (a point every 2 km) gives 1.16 million with the settings above
  double noise_sd = 0.01;      // >= 0, of the independent Gaussian noise, in units of the truth
  double outlier_share = 0.0;  // 0 to 1: fraction of observations, drawn at random, with an additional error
  double outlier_sd = 1.0;     // > 0, of that error, Gaussian too
  std::uint64_t seed = 1;      // of noise and outliers
  int threads = 0;             // 0: one per core available to this process
};

// Defaults of drift simulate and of drift.simulate in Python: all three platforms for nine days from 2020-03-01, everywhere, one
// observation per second.
SimulateOptions simulate_defaults();

struct SimulateReport {
  std::size_t without_truth = 0;  // left out: the truth has no value there
  std::size_t outliers = 0;       // among the observations
};

std::vector<std::string> simulated_platforms();

// Observations of `truth` along the platforms' ground tracks, platform by platform in the order of time.
// Same options and truth, same observations, whatever the threads. Throws UsageError naming the option that is out of range.
Observations simulate(const Truth& truth, const SimulateOptions& options = {}, SimulateReport* report = nullptr,
                      const Control& control = {});

// The rate_hz with which these options give `observations` of a truth without gaps, within a few in a hundred thousand; with a
// box, whose crossings are counted on the tracks, within a few in a hundred.
double rate_for(std::size_t observations, const SimulateOptions& options);

}  // namespace drift
