#pragma once

#include <optional>

#include "fitting/blend.h"

namespace drift {

// drift's own parts by a plan, for `fit` and `compare` alike: networks trained (from the control's checkpoint on, if there is one
// of this very run), with what their spread comes from; the process; both weighed by their forecasts out of fold. All goes into
// the model. `data` has the plan's folds. With the plan's observations, out.rows are theirs and out.y is in double precision.
struct OwnParts {
  OutOfFold out = {};                   // empty without a process
  std::optional<PartWorth> worth = {};  // none without a process
};
OwnParts fit_own_parts(Engine& engine, const FitPlan& plan, const InterpolatorData& data, const Observations* observations,
                       FieldModel& model, const Control& control);

}  // namespace drift
