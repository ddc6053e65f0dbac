#include "fitting/plan_identity.h"

namespace drift {

void add_plan(Fingerprint& print, const FitPlan& plan, const Observations& observations) {
  print.add(to_json(plan.domain));
  add_observations(print, observations);
  for (const auto* rows : {&plan.split.training, &plan.split.held_out, &plan.test})
    print.add(std::span<const std::size_t>(*rows));
}

void add_networks(Fingerprint& print, const FitPlan& plan) {
  print.add(to_json(plan.spec));
  print.add(to_json(plan.recipe));
  print.add(std::to_string(plan.members));
}

}  // namespace drift
