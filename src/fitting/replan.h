#pragma once

#include "drift/fit.h"

namespace drift {

// The same domain and split with networks and training by other settings, for `training` observations.
FitPlan replan(const FitPlan& plan, const RunSettings& settings, std::size_t training);

}  // namespace drift
