#include <fmt/format.h>

#include <algorithm>

#include "baselines/method_settings.h"
#include "comparing/drift_interpolator.h"
#include "drift/compare.h"
#include "drift/did_you_mean.h"
#include "drift/error.h"
#include "drift/tune_run.h"
#include "settings/own_method.h"

namespace drift {

const std::vector<MethodInfo>& compare_methods() {
  static const std::vector<MethodInfo> infos = [] {
    std::vector<MethodInfo> all = {drift_method_info()};
    all.insert(all.end(), method_infos().begin(), method_infos().end());
    return all;
  }();
  return infos;
}

std::unique_ptr<Interpolator> make_compared_method(const std::string& text, const FitPlan& plan, const Dataset& data) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string name = text.substr(0, colon);
  std::vector<std::string> names;
  for (const MethodInfo& method : compare_methods()) {
    names.push_back(method.name);
    if (method.name != name) continue;
    const std::string rest = colon < text.size() ? text.substr(colon + 1) : "";
    if (name == kOwnMethod) {
      // The study is not kept: a search that is taken up again would seem shorter than it was.
      return std::make_unique<DriftInterpolator>(
          MethodSettings(method, rest), plan,
          [&data](const FitPlan& search, const Control& control) { return tune_run(search, data, {}, control); });
    }
    return make_interpolator(text, plan.domain);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw UsageError(fmt::format("there is no method '{}'{}", name, did_you_mean(name, known)));
}

const std::vector<CompareMeasure>& compare_measures() {
  using Kind = CompareMeasure::Kind;
  static const std::vector<CompareMeasure> measures = {
      {.name = "rmse", .title = "RMSE", .help = "root of the mean squared error", .has_unit = true},
      {.name = "mae", .title = "MAE", .help = "mean absolute error", .in_table = false, .has_unit = true},
      {.name = "rmae", .title = "RMAE", .help = "root of the mean absolute error", .in_table = false},
      {.name = "crps", .title = "CRPS", .help = "error of the whole forecast, including its spread", .has_unit = true},
      {.name = "nlpd", .title = "NLPD", .help = "minus the log predictive density of the observed values"},
      {.name = "huber_nlpd",
       .title = "Huber NLPD",
       .help = "expected Huber loss of the observed values under the field's spread, in their unit squared (--huber-delta)",
       .in_table = false},
      {.name = "coverage90", .title = "90 % holds", .help = "share inside the 90 % interval", .kind = Kind::coverage},
      {.name = "interval_score95",
       .title = "INT 95",
       .help = "width of the 95 % interval plus penalties for misses",
       .has_unit = true},
      {.name = "truth_rmse", .title = "RMSE", .help = "against the truth", .of_truth = true, .has_unit = true},
      {.name = "truth_detail_rmse",
       .title = "detail RMSE",
       .help = "against the truth, after both lose their mean within 200 km",
       .in_table = false,
       .of_truth = true,
       .has_unit = true},
      {.name = "truth_crps",
       .title = "CRPS",
       .help = "against the truth, by the field's own spread",
       .of_truth = true,
       .has_unit = true},
      {.name = "truth_nll", .title = "NLL", .help = "against the truth, by the field's own spread", .of_truth = true},
      {.name = "truth_coverage90",
       .title = "90 % holds",
       .help = "share of the truth inside the field's 90 % interval",
       .kind = Kind::coverage,
       .of_truth = true},
      {.name = "fit_s", .title = "fit", .help = "wall time of the fit, seconds", .kind = Kind::cost},
      {.name = "fit_core_s", .title = "core-s", .help = "processor time of the fit, all threads, seconds", .kind = Kind::cost},
      {.name = "predict_s",
       .title = "prediction",
       .help = "wall time of all predictions, seconds",
       .kind = Kind::cost,
       .in_table = false},
      {.name = "predict_core_s",
       .title = "core-s",
       .help = "processor time of all predictions, seconds",
       .kind = Kind::cost,
       .in_table = false},
      {.name = "predict_points", .title = "points", .help = "points predicted", .kind = Kind::cost, .in_table = false},
      {.name = "points_per_s", .title = "points/s", .help = "points predicted per second of wall time", .kind = Kind::cost},
      {.name = "peak_mib", .title = "MiB", .help = "peak memory, including program and observations", .kind = Kind::cost},
      {.name = "noise_sd",
       .title = "noise",
       .help = "noise of an observation after calibration",
       .kind = Kind::cost,
       .in_table = false,
       .has_unit = true},
      {.name = "spread_scale",
       .title = "scale",
       .help = "factor on the method's own spread",
       .kind = Kind::cost,
       .in_table = false}};
  return measures;
}

}  // namespace drift
