#pragma once

#include <cstddef>
#include <vector>

#include "drift/fit.h"
#include "fitting/judge.h"

namespace drift {

// Checks of a judged fit: a baseline on the same observations, and signs that it should not be trusted. Both are
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

// Models without networks, for which fitting observations closely is no fault unless it goes below the noise by which
// neighbouring observations differ: a sentence; else nothing. nugget_sd 0: not known.
std::string follows_noise_warning(double fitted_rmse, double unseen_rmse, double nugget_sd);

// A field whose standard deviation is less than a tenth of the noise: a sentence; else nothing.
std::string flat_warning(double field_sd, double noise_sd);

// `revisit_days`: the usual time from an observation to the nearest of another track within a lengthscale; 0: not known. A
// sentence where the field forgets sooner than that.
std::string short_memory_warning(double time_scale_days, double revisit_days);

// Calibration's factor on the spread is at an end of the range that it is searched in, and `field_sd`, the usual spread with that
// factor, was not negligible beside the noise without it: a sentence; else nothing.
std::string spread_limit_warning(double spread_scale, double field_sd, double noise_sd);

// `nearest` [n]: how far each scored observation is from the data. A sentence where errors grow with it and the spread does not.
std::string spread_warning(const Forecast& forecast, const std::vector<double>& nearest);

}  // namespace drift
