#pragma once

#include <span>

namespace drift {

// Scores of a Gaussian forecast N(mean, sd^2) of a number y: the lower the better for all but coverage.

// Continuous ranked probability score, in units of y; |y - mean| for sd = 0.
double gaussian_crps(double y, double mean, double sd);

// Negative logarithm of the forecast's density at y; sd > 0.
double gaussian_nll(double y, double mean, double sd);

// The same over many forecasts: means over the spans, which must be equally long and not empty (UsageError). A standard deviation
// that is negative or not a number is a UsageError that names its place; so is zero where the score has no value for it.
double rmse(std::span<const double> y, std::span<const double> mean);
double mean_crps(std::span<const double> y, std::span<const double> mean, std::span<const double> sd);
double mean_nll(std::span<const double> y, std::span<const double> mean, std::span<const double> sd);

// The share of y inside the forecast's central interval of probability `level` (0, 1): near `level` when the sd is honest.
double coverage(std::span<const double> y, std::span<const double> mean, std::span<const double> sd, double level);

}  // namespace drift
