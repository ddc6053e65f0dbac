#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Calibration of error bars on validation observations that training did not see. All vectors are [n], in the values' units.

// The factor on sd_epistemic that gives total spreads sqrt((factor sd_epistemic)^2 + noise_sd^2) the least mean CRPS as Gaussian
// forecasts of y. Within [1/100, 100]; 1 if the epistemic spread is zero everywhere. noise_sd: [n], or one number for all.
double fit_spread_scale(std::span<const double> y, std::span<const double> mean, std::span<const double> sd_epistemic,
                        std::span<const double> noise_sd);

// Two observations close together. The distance may be in any unit.
struct Neighbours {
  std::size_t first = 0;
  std::size_t second = 0;
  double distance = 0.0;
};

// The same factor if the noise is unknown. Residuals alone cannot separate noise from the field's error: either could explain
// any share of them. But neighbours share the field's error and not their noise, so products of their residuals
// isolate the field's error (src/uncertainty/shared_error.cpp). Noise that neighbours do share is attributed to the field's
// error. sd_total: the approximate expected size of each residual. Within [1/100, 100]; 1 if the pairs are uninformative.
double spread_scale_of_neighbours(std::span<const double> residual, std::span<const double> sd_epistemic,
                                  std::span<const double> sd_total, std::span<const Neighbours> pairs);

// An observation between two others, on opposite sides of it and about as far away.
struct Between {
  std::size_t middle = 0;
  std::size_t one = 0;
  std::size_t other = 0;
  double distance = 0.0;  // from the middle, mean of the two
};

// The noise of single observations, from their differences to neighbours and to the mean of two adjacent ones: the
// nugget of geostatistics, extrapolated to distance zero. Robust against outliers. Variation between neighbours counts
// as noise; 0: too small to estimate.
double nugget_sd(std::span<const double> value, std::span<const Neighbours> pairs, std::span<const Between> triples);

// Share of observations between others that lie further than five times the noise off the mean of the two, whichever two these
// are: of Gaussian noise and a field that is smooth between neighbours, less than one in a million. 0 where noise_sd is.
double outlier_share(std::span<const double> value, std::span<const Between> triples, double noise_sd);

// sqrt((scale sd_epistemic)^2 + noise_sd^2), with a scale from above.
double total_sd(double sd_epistemic, double noise_sd, double scale = 1.0);

struct Interval {
  double lower = 0.0;
  double upper = 0.0;
};

// Split-conformal intervals mean -+ factor sd, whose width follows the forecast's own spread. If the n observations that it was
// fitted on and a new one are exchangeable, the new one lies inside with probability at least `level` and at most
// level + 1/(n + 1), however wrong mean and sd may be (src/uncertainty/calibration.cpp has the sources).
struct ConformalCalibration {
  static constexpr std::array<double, 5> kLevels = {0.50, 0.80, 0.90, 0.95, 0.99};
  std::array<double, 5> factors = {};  // one per level, ascending; infinity if n is too small for the level
  std::size_t observations = 0;        // n

  // Throws UsageError for a level that is not among kLevels.
  double factor(double level) const;
  Interval interval(double mean, double sd, double level) const;
};

// sd > 0: of a new observation, that is sd_total. Throws UsageError for other spreads.
//
// groups [n], if any: the track or block of each observation, numbered from 0 without gaps. Observations of one track share their
// errors; it is whole tracks that are exchangeable. The factor is the least f with
//   share of all scores <= f,  times G / (G + 1),  >= level,
// so that of the observations of new tracks at least that share lies inside (after Dunn, Wasserman & Ramdas 2023). Observations
// count alike, as do those of the tracks to come. G is how many independent observations they amount to: the number of tracks
// if whole tracks lie inside or outside together, n if observations do so independently, as with independent noise.
ConformalCalibration fit_conformal(std::span<const double> y, std::span<const double> mean, std::span<const double> sd,
                                   std::span<const std::uint32_t> groups = {});

}  // namespace drift
