#pragma once

#include "drift/fit.h"
#include "settings/run_identity.h"

namespace drift {

// Identity of a plan besides its settings (add_settings): work done for one plan is not resumed by another.

// Whatever the method: the domain, the observations, and which of them train, are held out and test.
void add_plan(Fingerprint& print, const FitPlan& plan, const Observations& observations);

// The plan's networks and their training.
void add_networks(Fingerprint& print, const FitPlan& plan);

}  // namespace drift
