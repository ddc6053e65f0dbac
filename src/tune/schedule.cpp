#include "tune/schedule.h"

#include <algorithm>

namespace drift {

const Trial* find_trial(const Study& study, std::size_t number) {
  const auto found = std::lower_bound(study.trials.begin(), study.trials.end(), number,
                                      [](const Trial& trial, std::size_t wanted) { return trial.number < wanted; });
  return found != study.trials.end() && found->number == number ? &*found : nullptr;
}

std::size_t first_unseen(const SearchPlan& plan, std::size_t number) {
  if (plan.rounds) return number / plan.parallel * plan.parallel;
  return number < plan.parallel ? 0 : number - plan.parallel + 1;
}

bool is_ready(const Study& study, std::size_t number) {
  for (std::size_t before = 0; before < first_unseen(study.plan, number); ++before) {
    if (find_trial(study, before) == nullptr) return false;
  }
  return true;
}

}  // namespace drift
