#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baselines/method_settings.h"
#include "drift/field_model.h"
#include "drift/fit.h"
#include "drift/interpolator.h"

namespace drift {

// drift's own models behind the interface of their rivals: what fit() makes, from the same plan, draws and training.
// The settings' parts, members, epochs and uncertainty come before the plan's. With trials, a search for lengthscales and
// amplitude on the training observations comes first. The spread is the networks' own; noise and its scale are settled outside.
MethodInfo drift_method_info();

class DriftInterpolator : public Interpolator {
 public:
  DriftInterpolator(const MethodSettings& settings, const FitPlan& plan, const Dataset& data);

  bool fit(const InterpolatorData& data, const InterpolatorControl& control) override;
  void predict(MatrixView<const float> points, const PointForecast& out) const override;
  bool knows_noise() const override { return process_ != nullptr; }
  std::optional<double> settled_noise() const override;
  std::vector<std::pair<std::string, std::string>> findings(const Domain& domain) const override;

 private:
  bool tune(const InterpolatorControl& control, double share);

  FitPlan plan_;
  const Dataset* reading_;
  std::size_t trials_ = 0;
  std::unique_ptr<Engine> engine_;
  Ensemble ensemble_;
  std::vector<LastLayerPosterior> last_layers_;
  std::shared_ptr<const Process> process_;
  PartWorth worth_;
};

}  // namespace drift
