#pragma once

#include <cstddef>
#include <vector>

#include "drift/fit.h"
#include "fitting/judge.h"

namespace drift {

// What a judged fit is held against: a baseline on the same observations, and signs that it should not be trusted. Both are
// cheap: at most 4,000 of the observations that score the model, forecast from at most 50,000 of those that trained it.

// Observations that the model was scored on, none of which trained what forecast them.
struct Scored {
  std::vector<std::size_t> rows;
  Forecast forecast;
};

// Sets result.baseline and result.warnings. `result` is judged and has its worth, if any.
void check_fit(Engine& engine, const FitPlan& plan, const Observations& observations, const Scored& scored, FitResult& result);

// Its parts, which need no model.

// Share of the values' variance that is noise, where that is more than half: a sentence; else nothing.
std::string noise_warning(double noise_sd, double value_sd);

// Networks that fit what they were trained on far better than what they have not seen: a sentence; else nothing.
std::string overfit_warning(double trained_rmse, double unseen_rmse);

// `nearest` [n]: how far each scored observation is from the data. A sentence where errors grow with it and the spread does not.
std::string spread_warning(const Forecast& forecast, const std::vector<double>& nearest);

}  // namespace drift
