#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drift/control.h"
#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Scores of a Gaussian forecast N(mean, sd^2) of a number y: the lower the better for all but coverage.

// Continuous ranked probability score, in units of y; |y - mean| for sd = 0.
double gaussian_crps(double y, double mean, double sd);

// Negative logarithm of the forecast's density at y; sd > 0. With y the noise-free truth and sd the field's this is the NLL, with
// y an observation and sd that of field and noise together the NLPD.
double gaussian_nll(double y, double mean, double sd);

// Expected Huber loss (r^2 / 2 where |r| <= delta, delta (|r| - delta / 2) beyond) of r = y - f under f ~ N(mean, sd^2), sd >= 0.
// With the spread of the field this is Jensen's bound of -log E exp(-loss), the paper's NLPD of a Huber likelihood but for its
// constant.
double gaussian_huber(double y, double mean, double sd, double delta);

// Score of the interval [low, high] of probability 1 - alpha: its width, and 2 / alpha times the distance by which it misses y.
double interval_score(double y, double low, double high, double alpha);

// The quantile of the standard normal distribution, 0 < p < 1, to full precision.
double normal_quantile(double p);

// The same over many forecasts: means over the spans, which must be equally long and not empty (UsageError). A standard deviation
// that is negative or not a number is a UsageError that names its place; so is zero where the score has no value for it.
double rmse(std::span<const double> y, std::span<const double> mean);
double mean_absolute_error(std::span<const double> y, std::span<const double> mean);
double mean_crps(std::span<const double> y, std::span<const double> mean, std::span<const double> sd);
double mean_nll(std::span<const double> y, std::span<const double> mean, std::span<const double> sd);
double mean_interval_score(std::span<const double> y, std::span<const double> mean, std::span<const double> sd, double alpha);

// The share of y inside the forecast's central interval of probability `level` (0, 1): near `level` if the sd is right.
double coverage(std::span<const double> y, std::span<const double> mean, std::span<const double> sd, double level);

// All of them at once. Those that need a spread are absent without one.
struct Scores {
  struct Interval {
    double level;       // probability of the interval
    double share;       // of y inside: the coverage
    double mean_width;  // in units of y
  };
  std::size_t count = 0;
  double bias = 0.0;  // mean of forecast less y
  double rmse = 0.0;
  double mae = 0.0;
  double rmae = 0.0;  // root of the mean absolute error, which is what the paper calls RMAE
  std::optional<double> crps, nll, interval_score95, mean_sd;
  std::vector<Interval> intervals = {};    // at 50, 80, 90, 95 and 99 %
  std::vector<Interval> reliability = {};  // at 5, 10, ... 95 %: the reliability curve
};
// sd may be empty. Throws Stopped.
Scores score_forecast(std::span<const double> y, std::span<const double> mean, std::span<const double> sd,
                      const Control& control = {});

// The same with the interval of each level mean +- reach(level) sd in place of the Gaussian's, as for conformal intervals:
// coverage, widths, interval score and reliability are of these; CRPS and NLL stay those of the density, which is Gaussian.
Scores score_forecast(std::span<const double> y, std::span<const double> mean, std::span<const double> sd,
                      const std::function<double(double level)>& reach, const Control& control = {});

// The same where the forecast gives a central interval [low, high] of probability `level` and a mean: its sd is that of a
// Gaussian with that interval's width, but coverage and score at that level are those of the interval itself.
Scores score_intervals(std::span<const double> y, std::span<const double> mean, std::span<const double> low,
                       std::span<const double> high, double level);

// An object: count, bias, rmse, mae, rmae, crps, nll, interval_score95, mean_sd, coverage50 ... coverage99, width50 ... width99
// and reliability, an array of [level, share]; null where absent.
std::string to_json(const Scores& scores);

}  // namespace drift
