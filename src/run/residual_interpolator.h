#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baselines/method_settings.h"
#include "drift/interpolator.h"
#include "run/drift_interpolator.h"

namespace drift {

// "drift+nngp": drift's networks, then a nearest-neighbour Gaussian process of what they leave unexplained of the observations
// that trained them. The networks see far, the process near.
//   mean = f + r,   variance = v_r + v_f min(1, v_r / V)
// with f and v_f the networks' mean and variance, r and v_r the process's, V the residuals' variance: what the neighbours explain
// of the residual they explain of the networks' error too, since that error is what the residuals are. Options are those of both.
MethodInfo residual_method_info();

class ResidualInterpolator : public Interpolator {
 public:
  ResidualInterpolator(const MethodSettings& settings, const FitPlan& plan, const Reading& reading);

  bool fit(const InterpolatorData& data, const InterpolatorControl& control) override;
  void predict(MatrixView<const float> points, const PointForecast& out) const override;
  bool knows_noise() const override { return near_->knows_noise(); }
  std::vector<std::pair<std::string, std::string>> findings(const Domain& domain) const override;

 private:
  std::unique_ptr<Interpolator> far_, near_;
  double residual_variance_ = 1.0;
};

}  // namespace drift
