#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "drift/fit.h"
#include "drift/predict.h"

namespace drift {

// Forecasts of observations that a model has not seen, and the calibration and scores that follow.

struct Forecast {
  std::vector<double> y, mean, sd_epistemic;  // [n]; the last empty without a spread
  std::vector<double> noise_sd;               // [n], each observation's own
};

// noise_by_sigma: each observation's noise is its sigma, else the model's noise_sd.
Forecast forecast(Engine& engine, const FieldModel& model, const Observations& observations, std::span<const std::size_t> rows,
                  bool noise_by_sigma, const Control& control = {});

// Noise that gives the forecasts the least mean CRPS, from 0 to the size of the residuals; robust against outliers as the CRPS
// is.
double estimate_noise(const Forecast& forecast, double spread_scale = 1.0, const Control& control = {});

// Gaussian scores of sd_total; intervals, their score and the reliability are of the conformal ones if the model has them.
Scores score(const FieldModel& model, const Forecast& forecast, const Control& control = {});

// Settles noise, spread_scale and conformal factors of the model, and scores it on what is left. Held-out observations are halved
// (by whole groups, as the split was made): one half calibrates, the other scores, so that the scores are those of fresh data.
// `out`: where the plan judges out of fold.
struct OutOfFold;
void judge(Engine& engine, const FitPlan& plan, const Dataset& data, FitResult& result, const OutOfFold* out = nullptr,
           const Control& control = {});

// The same for any method. Forecasts are made with the noise and the spread_scale that info has at that moment.
struct Judgement {
  std::size_t calibrated_on = 0;       // held-out observations that settled noise and spread, and nothing else
  bool scores_calibrated = false;      // too few to halve: the observations scored also calibrated, and scores are optimistic
  std::optional<Scores> held_out;      // none: nothing was held out
  std::vector<std::size_t> rows = {};  // that were scored
  Forecast forecast = {};              // of them
};
using Forecaster = std::function<Forecast(std::span<const std::size_t> rows)>;
enum class NoiseKnown {
  no,          // estimated with the spread's scale
  by_process,  // forecasts bring each observation's noise, as many times as info.noise_sd is that before; residuals may shrink it
  by_forecast,  // forecasts bring each observation's noise, and it stays where nothing is to be calibrated
};
// `judged`: the observations to calibrate and score on; none: noise is estimated from residuals of training. Where the plan has a
// test set, all of `judged` calibrates and the test set scores, by `on_test` if that is another forecaster.
Judgement judge(const FitPlan& plan, const Observations& observations, const std::vector<std::size_t>& judged,
                const Forecaster& forecaster, FieldInfo& info, NoiseKnown known = NoiseKnown::no, const Forecaster& on_test = {},
                const Control& control = {});

}  // namespace drift
