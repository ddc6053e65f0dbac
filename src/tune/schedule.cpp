#include "tune/schedule.h"

#include <algorithm>
#include <cmath>

namespace drift {

std::size_t trials_of_round(const SearchPlan& plan, std::size_t round) {
  std::size_t count = 1;
  for (std::size_t i = round + 1; i < plan.shares.size(); ++i) count *= kKeepOneOf;
  return count;
}

std::size_t trials_of_bracket(const SearchPlan& plan) {
  std::size_t count = 0;
  for (std::size_t round = 0; round < plan.shares.size(); ++round) count += trials_of_round(plan, round);
  return count;
}

Slot slot_of(const SearchPlan& plan, std::size_t number) {
  const std::size_t size = std::max<std::size_t>(1, trials_of_bracket(plan));
  const std::size_t bracket = number / size;
  Slot slot{.first_of_round = bracket * size};
  while (number - slot.first_of_round >= trials_of_round(plan, slot.round)) {
    slot.first_of_before = slot.first_of_round;
    slot.first_of_round += trials_of_round(plan, slot.round);
    ++slot.round;
  }
  slot.place = number - slot.first_of_round;
  slot.new_points = bracket * trials_of_round(plan, 0) + (slot.round == 0 ? slot.place : trials_of_round(plan, 0));
  return slot;
}

std::size_t numbers_for(const SearchPlan& plan, double full_trials) {
  double work = 0.0;  // of one bracket
  for (std::size_t round = 0; round < plan.shares.size(); ++round) {
    work += plan.shares[round] * static_cast<double>(trials_of_round(plan, round));
  }
  const double brackets = std::max(1.0, std::round(full_trials / work));
  return static_cast<std::size_t>(brackets) * trials_of_bracket(plan);
}

const Trial* find_trial(const Study& study, std::size_t number) {
  const auto found = std::lower_bound(study.trials.begin(), study.trials.end(), number,
                                      [](const Trial& trial, std::size_t wanted) { return trial.number < wanted; });
  return found != study.trials.end() && found->number == number ? &*found : nullptr;
}

const Trial* promoted(const Study& study, const Slot& slot) {
  std::vector<const Trial*> done;
  for (std::size_t number = slot.first_of_before; number < slot.first_of_round; ++number) {
    const Trial* trial = find_trial(study, number);
    if (trial != nullptr && trial->state == TrialState::done) done.push_back(trial);
  }
  std::stable_sort(done.begin(), done.end(), [](const Trial* a, const Trial* b) { return *a->value < *b->value; });
  return slot.place < done.size() ? done[slot.place] : nullptr;
}

namespace {

bool all_there(const Study& study, std::size_t begin, std::size_t end) {
  for (std::size_t number = begin; number < end; ++number) {
    if (find_trial(study, number) == nullptr && !is_empty_slot(study, number)) return false;
  }
  return true;
}

}  // namespace

bool is_empty_slot(const Study& study, std::size_t number) {
  const Slot slot = slot_of(study.plan, number);
  return slot.round > 0 && all_there(study, slot.first_of_before, slot.first_of_round) && promoted(study, slot) == nullptr;
}

std::size_t first_unseen(const SearchPlan& plan, std::size_t number) {
  if (plan.rounds) return number / plan.parallel * plan.parallel;
  return number < plan.parallel ? 0 : number - plan.parallel + 1;
}

bool is_ready(const Study& study, std::size_t number) {
  const Slot slot = slot_of(study.plan, number);
  if (slot.round > 0) return all_there(study, slot.first_of_before, slot.first_of_round);
  return all_there(study, 0, first_unseen(study.plan, number));
}

}  // namespace drift
