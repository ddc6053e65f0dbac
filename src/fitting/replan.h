#pragma once

#include "drift/fit.h"

namespace drift {

inline constexpr std::size_t kTrialMembers = 3;  // networks of a trial, unless the settings ask for others

// The same domain and split with networks and training by other settings, for `training` observations.
FitPlan replan(const FitPlan& plan, const RunSettings& settings, std::size_t training);

}  // namespace drift
