#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baselines/method_settings.h"
#include "drift/interpolator.h"
#include "gp/gp_data.h"

namespace drift {

// Code common to the Gaussian processes among the methods: settings, rows to points, blocks of predictions, findings.

// Options that every one of them has, and their settings in the engine's units.
struct CovarianceSettings {
  double nu = 1.5;
  bool nu_given = false;                            // else a method may choose it from the data
  bool joint = true;                                // space and time under one distance; else a product
  std::vector<std::optional<double>> lengthscales;  // [space, time]; none: fitted
};
std::vector<MethodOption> covariance_options(const std::string& covariance_fallback, const std::string& nu_fallback = "1.5");
CovarianceSettings covariance_settings(const MethodSettings& settings, const Domain& domain,
                                       const std::string& covariance_fallback);

// On the sphere `chord` takes Matérn of the chord |s - s'| (a covariance of three dimensions, so one on the sphere within them;
// the chord is shorter than the arc by 0.1% at 1,000 km), which can be joint with time; else the sphere's own covariance.
gp::KernelSpec kernel_of(const InterpolatorData& data, const CovarianceSettings& settings, bool chord);
gp::KernelSpec kernel_of(const Domain& domain, bool has_time, const CovarianceSettings& settings, bool chord);

// Throws Error naming method and row for numbers that are not finite, and where there are fewer than `least` observations. Rows
// of weight zero are left out; other weights are for losses and are not used: `noise_sd` says how good an observation is.
gp::GpData gp_data(const std::string& method, const InterpolatorData& data, std::size_t least);

// The option nu.
double nu_setting(const MethodSettings& settings);

// Bytes of memory that are free to take. Refuses what needs more with an Error that has both figures:
// "method exact: 40,000 observations need 25.6 GB of memory and 9.1 GB are free; <advice>".
double free_memory_bytes();
void require_memory(const std::string& method, std::size_t observations, double bytes, const std::string& advice);

// Points in blocks of fixed size over threads: f(points [dimensions, m], mean [m], variance [m], noise variance [m] (filled with
// `noise_variance` beforehand)).
using BlockForecast = std::function<void(const Eigen::MatrixXd& points, Eigen::VectorXd& mean, Eigen::VectorXd& variance,
                                         Eigen::VectorXd& noise_variance)>;
void predict_in_blocks(const std::string& method, MatrixView<const float> points, std::size_t dimensions, std::size_t block,
                       int threads, double noise_variance, const PointForecast& out, const BlockForecast& f);

// Of the kernel's parameters, where there are such: [space, time] or [space].
std::vector<double> lengthscales_of(const gp::KernelParameters& kernel);

// Of a new observation: what is fitted, and the mean of what is known of the others.
double new_observation_variance(const gp::GpParameters& parameters, const gp::GpData& data);

// {"lengthscale", "240 km"}, {"time lengthscale", "3.1 days"}, {"amplitude", ...}, {"noise sd", ...}.
std::vector<std::pair<std::string, std::string>> parameter_findings(const gp::GpParameters& parameters, const Domain& domain);

}  // namespace drift
