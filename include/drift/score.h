#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace drift {

// Scores of a Gaussian forecast N(mean, sd^2) of a number y: the lower the better for all but coverage.

// Continuous ranked probability score, in units of y; |y - mean| for sd = 0.
double gaussian_crps(double y, double mean, double sd);

// Negative logarithm of the forecast's density at y; sd > 0.
double gaussian_nll(double y, double mean, double sd);

// The same over many forecasts: means over the spans, which must be equally long and not empty (UsageError). A standard deviation
// that is negative or not a number is a UsageError that names its place; so is zero where the score has no value for it.
double rmse(std::span<const double> y, std::span<const double> mean);
double mean_absolute_error(std::span<const double> y, std::span<const double> mean);
double mean_crps(std::span<const double> y, std::span<const double> mean, std::span<const double> sd);
double mean_nll(std::span<const double> y, std::span<const double> mean, std::span<const double> sd);

// The share of y inside the forecast's central interval of probability `level` (0, 1): near `level` when the sd is honest.
double coverage(std::span<const double> y, std::span<const double> mean, std::span<const double> sd, double level);

// All of them at once. Those that need a spread are absent without one.
struct Scores {
  struct Coverage {
    double level;  // probability of the interval
    double share;  // of y inside
  };
  std::size_t count = 0;
  double bias = 0.0;  // mean of forecast less y
  double rmse = 0.0;
  double mae = 0.0;
  std::optional<double> crps, nll, mean_sd;
  std::vector<Coverage> coverage = {};  // at 50, 80, 90, 95 and 99 %
};
Scores score_forecast(std::span<const double> y, std::span<const double> mean, std::span<const double> sd);  // sd may be empty

// An object: count, bias, rmse, mae, crps, nll, mean_sd, coverage50 ... coverage99; null where absent.
std::string to_json(const Scores& scores);

}  // namespace drift
