#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "baselines/method_settings.h"
#include "drift/field_model.h"
#include "drift/fit.h"
#include "drift/interpolator.h"
#include "drift/tune_run.h"
#include "fields/parts_predictor.h"

namespace drift {

// drift's own models behind the interface of their rivals: what fit() makes, from the same plan, draws and training.
// The settings' parts, members, epochs and uncertainty come before the plan's. With trials, a search for lengthscales and
// amplitude on the training observations comes first. The spread is the networks' own; noise and its scale are settled outside.
class DriftInterpolator : public Interpolator {
 public:
  // A search of so many trials for the plan's settings, where the method asks for one: it works on observations, not on rows.
  using Search = std::function<TuneResult(const FitPlan& plan, const Control& control)>;
  DriftInterpolator(const MethodSettings& settings, const FitPlan& plan, Search search);

  void fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) override;
  using Interpolator::predict;
  void predict(MatrixView<const float> points, const PointForecast& out, const Workers& workers) const override;
  bool knows_noise() const override { return model_.process != nullptr; }
  std::size_t members() const override;
  std::optional<double> settled_noise() const override;
  std::vector<std::pair<std::string, std::string>> findings(const Domain& domain) const override;

 private:
  void tune(const Control& control);

  FitPlan plan_;
  Search search_;
  std::size_t trials_ = 0;
  std::unique_ptr<Engine> engine_;
  FieldModel model_;                       // its parts
  std::unique_ptr<PartsPredictor> parts_;  // of them, on the engine
  PartWorth worth_;
  double noise_variance_ = 0.0;  // of a new observation, by the process, with the usual standard error of those that trained
};

}  // namespace drift
