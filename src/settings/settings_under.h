#pragma once

#include <utility>

#include "drift/control.h"
#include "drift/fit.h"
#include "drift/run_settings.h"
#include "settings/own_method.h"

namespace drift {

// Settings as they hold under a control, whose number of threads comes first: the first step of every public function that takes
// both. Throws as check() does.
inline RunSettings settings_under(const Control& control, RunSettings settings) {
  if (control.threads != 0) settings.threads = control.threads;
  check(settings);
  return spelled_out(std::move(settings));
}

// The same for a plan made from settings.
inline FitPlan plan_under(const Control& control, FitPlan plan) {
  plan.settings = settings_under(control, std::move(plan.settings));
  return plan;
}

}  // namespace drift
