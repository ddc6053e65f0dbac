#pragma once

#include "baselines/method_settings.h"
#include "drift/run_settings.h"

namespace drift {

// drift's own model as a method among others, "drift:members=5,trials=20": its options are settings of the run.
inline constexpr const char* kOwnMethod = "drift";
MethodInfo drift_method_info();

// Settings of the run with the method's own before them.
RunSettings own_settings(const MethodSettings& method, RunSettings settings);

// Settings whose [fit] method says all that it means: "drift" with options becomes the settings that those are, and another
// method takes members and settings of [train], where the run gives them, as its own options of the same names.
RunSettings spelled_out(RunSettings settings);

}  // namespace drift
