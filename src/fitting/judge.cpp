#include "fitting/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/blocks.h"
#include "data/groups.h"
#include "drift/calibration.h"
#include "drift/error.h"
#include "fields/part.h"
#include "fitting/blend.h"
#include "fitting/check_fit.h"
#include "fitting/neighbours.h"

namespace drift {
namespace {

constexpr std::size_t kEnoughToCalibrate = 100;  // observations that calibrate, at least

// At least a little: a density needs some spread.
std::vector<double> total_sds(const Domain& domain, const Forecast& forecast) {
  const double least = 1e-9 * domain.value.sd;
  std::vector<double> sd;
  for (std::size_t i = 0; i < forecast.sd_epistemic.size(); ++i) {
    sd.push_back(std::max(total_sd(forecast.sd_epistemic[i], forecast.noise_sd[i]), least));
  }
  return sd;
}

double crps_with(const Forecast& forecast, double spread_scale, double noise_sd, const Control& control) {
  double sum = 0.0;
  for (std::size_t i = 0; i < forecast.y.size(); ++i) {
    if (i % kPointsAtATime == 0) control.check_stop();
    const double sd = total_sd(forecast.sd_epistemic.empty() ? 0.0 : forecast.sd_epistemic[i], noise_sd, spread_scale);
    sum += gaussian_crps(forecast.y[i], forecast.mean[i], sd);
  }
  return sum / static_cast<double>(forecast.y.size());
}

// Rows of which the noise is judged where nothing was held out: some that trained.
std::vector<std::size_t> some_training_rows(const Split& split) {
  constexpr std::size_t kEnough = 20000;
  std::vector<std::size_t> rows;
  const std::size_t stride = std::max<std::size_t>(1, split.training.size() / kEnough);
  for (std::size_t i = 0; i < split.training.size(); i += stride) rows.push_back(split.training[i]);
  return rows;
}

// Held-out rows in two halves of whole tracks or blocks: .training calibrates, .held_out scores. Too few for that: all do both,
// and the scores are optimistic by three numbers fitted.
Split halves(const FitPlan& plan, const Observations& observations, const std::vector<std::size_t>& judged) {
  const std::span<const std::size_t> rows = judged;
  SplitOptions options = split_within(plan.split_options, observations, rows);
  options.held_out = 0.5;
  options.seed += 1;
  Split split;
  if (rows.size() >= 2 * kEnoughToCalibrate && count_groups(observations, options, rows) > 1) {
    split = split_observations(observations, options, rows);
  }
  if (split.training.size() < kEnoughToCalibrate || split.held_out.empty()) return {judged, judged};
  return split;
}

// Residuals alone cannot separate unknown noise from the field's error. So the spread stays as the method gave it
// unless they contradict it: it grows where they are larger than it and the nugget explain, or neighbours share more error than
// it says, and shrinks where it says more than all residuals. What is left then is noise.
void fit_spread_and_noise(const FitPlan& plan, std::span<const Neighbours> pairs, const Forecast& forecast, double& scale,
                          double& noise, const Control& control) {
  const auto with_noise = [&](double sd) {
    return fit_spread_scale(forecast.y, forecast.mean, forecast.sd_epistemic, std::span<const double>(&sd, 1));
  };
  const double by_nugget = with_noise(plan.nugget_sd), most = with_noise(0.0);
  std::vector<double> residual;
  for (std::size_t i = 0; i < forecast.y.size(); ++i) residual.push_back(forecast.y[i] - forecast.mean[i]);
  // Each is fitted with the other held, until neither moves.
  for (int round = 0; round < 20; ++round) {
    const double before = scale;
    Forecast scaled = forecast;
    for (double& sd : scaled.sd_epistemic) sd *= scale;
    std::fill(scaled.noise_sd.begin(), scaled.noise_sd.end(), noise);
    const double shared = spread_scale_of_neighbours(residual, forecast.sd_epistemic, total_sds(plan.domain, scaled), pairs);
    scale = std::min(std::max({1.0, by_nugget, shared}), most);
    noise = estimate_noise(forecast, scale, control);
    if (std::abs(scale - before) < 1e-3 * before) break;
  }
}

// Root mean square over the training set; 0 without sigmas.
double usual_sigma(const FitPlan& plan, const Observations& observations) {
  if (observations.sigma.empty()) return 0.0;
  double sum = 0.0;
  for (const std::size_t row : plan.split.training) sum += std::pow(static_cast<double>(observations.sigma[row]), 2);
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, plan.split.training.size())));
}

// How an observation's noise takes part in calibration.
enum class Noise {
  estimated,  // by the residuals
  fixed,      // each is the forecast's, and stays
  modelled,   // the same, but residuals smaller than field and noise explain shrink both: it may be the noise that is too large
};

void calibrate_spread(const FitPlan& plan, const UncertaintySettings& wanted, Noise kind, const Observations& observations,
                      std::span<const std::size_t> rows, FieldInfo& info, Forecast& forecast, const Control& control) {
  const bool own_noise = kind != Noise::estimated;
  const bool scaling = wanted.calibrate != CalibrationMethod::none && !forecast.sd_epistemic.empty();
  double scale = 1.0, noise = wanted.noise_sd.value_or(own_noise ? 0.0 : estimate_noise(forecast, 1.0, control));
  if (scaling && (own_noise || wanted.noise_sd)) {
    scale = fit_spread_scale(forecast.y, forecast.mean, forecast.sd_epistemic,
                             own_noise ? std::span<const double>(forecast.noise_sd) : std::span<const double>(&noise, 1));
    if (kind == Noise::modelled && scale < 1.0) {
      const double nothing = 0.0;
      scale = fit_spread_scale(forecast.y, forecast.mean, total_sds(plan.domain, forecast), std::span<const double>(&nothing, 1));
      scale = std::min(scale, 1.0);
      noise *= scale;
      for (double& sd : forecast.noise_sd) sd *= scale;
    }
  } else if (scaling) {
    const std::vector<Neighbours> pairs =
        nearest_pairs(plan.domain, plan.spec, observations, rows, plan.settings.threads, control);
    fit_spread_and_noise(plan, pairs, forecast, scale, noise, control);
  }
  if (own_noise && !wanted.noise_sd) {
    noise = std::sqrt(std::inner_product(forecast.noise_sd.begin(), forecast.noise_sd.end(), forecast.noise_sd.begin(), 0.0) /
                      static_cast<double>(forecast.noise_sd.size()));
  } else if (!own_noise) {
    std::fill(forecast.noise_sd.begin(), forecast.noise_sd.end(), noise);
  }
  for (double& sd : forecast.sd_epistemic) sd *= scale;
  info.noise_sd = noise;
  info.spread_scale = scale;
}

// By whole tracks, or blocks, where there are any: rows of one share their errors.
void calibrate_intervals(const FitPlan& plan, const Observations& observations, std::span<const std::size_t> rows,
                         FieldInfo& info, const Forecast& forecast) {
  const SplitOptions options = split_within(plan.split_options, observations, rows);
  const Groups groups = find_groups(
      observations,
      {.method = options.method, .block = options.block, .block_days = options.block_days, .on_plane = options.on_plane}, rows);
  const ConformalCalibration fitted = fit_conformal(forecast.y, forecast.mean, total_sds(plan.domain, forecast), groups.of);
  // Levels that the groups are too few for go on from the highest that they are enough for, as a Gaussian's would: they nest.
  double beyond = -1.0;  // of the normal quantile; none yet
  for (std::size_t i = 0; i < fitted.factors.size(); ++i) {
    const double quantile = normal_quantile(0.5 + 0.5 * ConformalCalibration::kLevels.at(i));
    if (std::isfinite(fitted.factors.at(i))) beyond = fitted.factors.at(i) / quantile;
    info.conformal.at(i) = beyond > 0.0 ? beyond * quantile : -1.0;
  }
}

// Half-width of the model's interval of a level, in units of sd_total. Between the levels that were calibrated the ratio to the
// Gaussian's is interpolated, beyond them it stays: the reliability of levels in between is that of the intervals at them.
double reach_of(const FieldInfo& info, double level) {
  const double quantile = normal_quantile(0.5 + 0.5 * level);
  double below = 0.0, ratio_below = 0.0;
  for (std::size_t i = 0; i < info.conformal.size(); ++i) {
    if (info.conformal.at(i) < 0.0) continue;
    const double here = ConformalCalibration::kLevels.at(i);
    if (std::abs(here - level) < 1e-9) return info.conformal.at(i);
    const double ratio = info.conformal.at(i) / normal_quantile(0.5 + 0.5 * here);
    if (here > level && ratio_below == 0.0) return ratio * quantile;
    if (here > level) return (ratio_below + (ratio - ratio_below) * (level - below) / (here - below)) * quantile;
    below = here, ratio_below = ratio;
  }
  return (ratio_below > 0.0 ? ratio_below : 1.0) * quantile;
}

Scores score_with(const Domain& domain, const FieldInfo& info, const Forecast& forecast, const Control& control) {
  const std::vector<double> sd = total_sds(domain, forecast);
  if (!info.is_conformal()) return score_forecast(forecast.y, forecast.mean, sd, control);
  return score_forecast(
      forecast.y, forecast.mean, sd, [&](double level) { return reach_of(info, level); }, control);
}

}  // namespace

Forecast forecast(Engine& engine, const FieldModel& model, const Observations& observations, std::span<const std::size_t> rows,
                  bool noise_by_sigma, const Control& control) {
  if (noise_by_sigma && observations.sigma.empty()) {
    throw UsageError("--noise sigma needs the standard error of each observation; name its variable with --sigma");
  }
  Forecast out;
  std::vector<double> lon, lat, time;
  for (const std::size_t row : rows) {
    lon.push_back(observations.lon_deg[row]);
    lat.push_back(observations.lat_deg[row]);
    if (model.info.has_time) time.push_back(observations.time_days[row]);
    out.y.push_back(observations.value[row]);
    out.noise_sd.push_back(noise_by_sigma ? static_cast<double>(observations.sigma[row]) : model.info.noise_sd);
  }
  const FieldPrediction prediction = predict_field(engine, model, lon, lat, time, {}, control);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (std::isfinite(prediction.mean[i])) continue;
    throw Error(
        fmt::format("the observation at longitude {}, latitude {} lies beyond the reach of the model's projection, {}: leave "
                    "it out, as with --bbox",
                    lon[i], lat[i], model.domain.crs));
  }
  const bool noise_at_points = base_of(model).noise_at_points && !noise_by_sigma;
  for (std::size_t i = 0; i < rows.size() && noise_at_points; ++i) {
    const double total = prediction.sd_total[i], field = prediction.sd_epistemic[i];
    out.noise_sd[i] = std::sqrt(std::max(0.0, total * total - field * field));
  }
  out.mean.assign(prediction.mean.begin(), prediction.mean.end());
  out.sd_epistemic.assign(prediction.sd_epistemic.begin(), prediction.sd_epistemic.end());
  return out;
}

double estimate_noise(const Forecast& forecast, double spread_scale, const Control& control) {
  // Golden section over the noise, whose CRPS has one minimum; from nothing to twice the residuals' size.
  constexpr double kGolden = 0.6180339887498949;
  double low = 0.0, high = 2.0 * rmse(forecast.y, forecast.mean);
  double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
  double at_a = crps_with(forecast, spread_scale, a, control), at_b = crps_with(forecast, spread_scale, b, control);
  for (int step = 0; step < 30; ++step) {
    if (at_a < at_b) {
      high = b, b = a, at_b = at_a;
      a = high - kGolden * (high - low), at_a = crps_with(forecast, spread_scale, a, control);
    } else {
      low = a, a = b, at_a = at_b;
      b = low + kGolden * (high - low), at_b = crps_with(forecast, spread_scale, b, control);
    }
  }
  return 0.5 * (low + high);
}

Scores score(const FieldModel& model, const Forecast& forecast, const Control& control) {
  return score_with(model.domain, model.info, forecast, control);
}

Judgement judge(const FitPlan& plan, const Observations& observations, const std::vector<std::size_t>& judged,
                const Forecaster& forecaster, FieldInfo& info, NoiseKnown known, const Forecaster& on_test,
                const Control& control) {
  UncertaintySettings steps = plan.settings.uncertainty;
  const bool held_out = !judged.empty();
  const bool by_process = known == NoiseKnown::by_process;
  if (by_process && steps.noise == NoiseSource::estimate) steps.noise_sd = info.noise_sd;
  if (!held_out) steps.calibrate = CalibrationMethod::none;  // residuals of what was trained on say nothing of the spread
  const bool uncalibrated = steps.calibrate == CalibrationMethod::none && !steps.noise_sd;
  const bool own_noise = steps.noise == NoiseSource::sigma || by_process || (known == NoiseKnown::by_forecast && uncalibrated);
  const bool modelled = by_process && steps.noise == NoiseSource::estimate && !plan.settings.uncertainty.noise_sd;
  const Noise noise = modelled ? Noise::modelled : own_noise ? Noise::fixed : Noise::estimated;
  const bool tested = !plan.test.empty();
  const Split parts = !held_out ? Split{some_training_rows(plan.split), {}}
                      : tested  ? Split{judged, plan.test}
                                : halves(plan, observations, judged);
  const auto calibrate = [&](std::span<const std::size_t> rows) {
    info.spread_scale = 1.0;
    if (modelled) info.noise_sd = *steps.noise_sd;
    Forecast calibration = forecaster(rows);
    calibrate_spread(plan, steps, noise, observations, rows, info, calibration, control);
    if (steps.calibrate == CalibrationMethod::conformal && !calibration.sd_epistemic.empty())
      calibrate_intervals(plan, observations, rows, info, calibration);
  };
  calibrate(parts.training);
  if (tested) {
    Forecast test = (on_test ? on_test : forecaster)(plan.test);
    const Scores scores = score_with(plan.domain, info, test, control);
    return {.calibrated_on = held_out ? judged.size() : 0, .held_out = scores, .rows = plan.test, .forecast = std::move(test)};
  }
  if (!held_out) return {};
  const bool both = parts.training == parts.held_out;
  Judgement found = {.calibrated_on = both ? 0 : parts.training.size(),
                     .scores_calibrated = both,
                     .held_out = {},
                     .rows = parts.held_out,
                     .forecast = forecaster(parts.held_out)};
  found.held_out = score_with(plan.domain, info, found.forecast, control);
  if (!both) calibrate(judged);  // the scores are told: what is kept may learn from all
  return found;
}

void judge(Engine& engine, const FitPlan& plan, const Dataset& data, FitResult& result, const OutOfFold* out,
           const Control& control) {
  const bool sigmas = plan.settings.uncertainty.noise == NoiseSource::sigma;
  FieldModel& model = result.model;
  const Part base = base_of(model);
  const NoiseKnown known = base.noise_sd          ? NoiseKnown::by_process
                           : base.noise_at_points ? NoiseKnown::by_forecast
                                                  : NoiseKnown::no;
  if (base.noise_sd) {  // of errors on top of the sigmas that it was given
    const double own = std::hypot(*base.noise_sd, usual_sigma(plan, data.observations));
    model.info.noise_sd = plan.settings.uncertainty.noise_sd.value_or(own);
  }
  const auto by_model = [&](std::span<const std::size_t> rows) {
    return forecast(engine, model, data.observations, rows, sigmas, control);
  };
  const auto forecaster = [&](std::span<const std::size_t> rows) {
    if (!plan.out_of_fold) return by_model(rows);
    return forecast_of(*out, model.weight, plan.domain, data.observations, rows, model.info.noise_sd, model.info.spread_scale,
                       sigmas);
  };
  const std::vector<std::size_t>& judged = plan.out_of_fold ? out->rows : plan.split.held_out;
  const Judgement judgement = judge(plan, data.observations, judged, forecaster, model.info, known, by_model, control);
  if (!judgement.held_out) return;
  result.calibrated_on = judgement.calibrated_on;
  result.scores_calibrated = judgement.scores_calibrated;
  result.held_out = judgement.held_out;
  nlohmann::ordered_json scores = nlohmann::ordered_json::parse(to_json(*result.held_out));
  scores["out_of_fold"] = plan.out_of_fold && plan.test.empty();
  scores["scores_also_calibrated"] = result.scores_calibrated;
  result.model.scores = scores.dump();
  check_fit(engine, plan, data.observations, {judgement.rows, judgement.forecast}, result);
}

}  // namespace drift
