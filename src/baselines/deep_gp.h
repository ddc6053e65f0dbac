#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "baselines/gp_adapter.h"
#include "baselines/methods.h"
#include "drift/interpolator.h"
#include "gp/svgp_setup.h"
#include "gp/svgp_train.h"

namespace drift {

// Sparse variational processes, shallow (svgp.cpp) and deep (deep_gp.cpp), behind the common interface.
class VariationalInterpolator : public Interpolator {
 public:
  // The settings hold all but the covariance's spec, seed and threads, which fit() finds.
  VariationalInterpolator(gp::SvgpSettings settings, CovarianceSettings covariance, Family family);

  void fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) override;
  using Interpolator::predict;
  void predict(MatrixView<const float> points, const PointForecast& out, const Workers& workers) const override;
  void save(State& state) const override;
  void restore(const State& state, const Domain& domain) override;
  std::vector<double> lengthscales() const override { return lengthscales_of(fitted_.parameters.layers.front().kernel); }
  bool knows_noise() const override { return true; }
  std::vector<std::pair<std::string, std::string>> findings(const Domain& domain) const override;

 private:
  gp::SvgpSettings settings_;
  CovarianceSettings covariance_;
  Family family_;
  gp::SvgpStart<float> fitted_;
  gp::SvgpOutcome outcome_;
  double noise_variance_ = 0.0;  // of a new observation
  std::size_t dimensions_ = 0;
  mutable std::mutex mutex_;  // the predictor has scratch memory of its own, and uses all threads by itself
  std::unique_ptr<gp::DeepPredictor<float>> predictor_;
};

// Options that both have, with their defaults, and what they set. `fallback` holds the method's defaults.
std::vector<MethodOption> variational_options(const gp::SvgpSettings& fallback, bool lengthscales);
gp::SvgpSettings variational_settings(const MethodSettings& settings, const gp::SvgpSettings& fallback);

}  // namespace drift
