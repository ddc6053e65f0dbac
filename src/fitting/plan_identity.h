#pragma once

#include "drift/fit.h"
#include "settings/run_identity.h"

namespace drift {

// What tells one plan from another, besides its settings (add_settings): work that was done for one is not taken up by another.

// Whatever the method: the domain, the observations, and which of them train, are held out and test.
void add_plan(Fingerprint& print, const FitPlan& plan, const Observations& observations);

// The plan's networks and their training.
void add_networks(Fingerprint& print, const FitPlan& plan);

}  // namespace drift
