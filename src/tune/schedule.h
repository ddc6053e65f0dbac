#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "drift/tune.h"

namespace drift {

// Which trial has which number. Successive halving (Jamieson & Talwalkar 2016) in brackets of R rounds, R the number of budget
// shares: 3^(R-1) points at the smallest share, the best third of them at the next, and so on to one full trial; then the next
// bracket begins. With one share every trial is a bracket.
constexpr std::size_t kKeepOneOf = 3;

struct Slot {
  std::size_t round = 0;            // 0: a new point
  std::size_t place = 0;            // within its round
  std::size_t first_of_round = 0;   // number of its round's first trial
  std::size_t first_of_before = 0;  // the same of the round before, where there is one
  std::size_t new_points = 0;       // new points in the study before this trial
};
Slot slot_of(const SearchPlan& plan, std::size_t number);

std::size_t trials_of_bracket(const SearchPlan& plan);
std::size_t trials_of_round(const SearchPlan& plan, std::size_t round);

// How many numbers a search of `full_trials` full trials' work has: whole brackets, at least one.
std::size_t numbers_for(const SearchPlan& plan, double full_trials);

const Trial* find_trial(const Study& study, std::size_t number);

// The trial that goes on in this slot (of a round after the first), by value and then by number. Null where too few of the round
// before are done: failed and pruned trials do not go on, and the slot stays empty.
const Trial* promoted(const Study& study, const Slot& slot);

// Results of trials with smaller numbers are what a new point is chosen by: of all but the last `parallel` before it, or, where
// trials go in rounds of `parallel`, of all rounds before its own.
std::size_t first_unseen(const SearchPlan& plan, std::size_t number);

// Whether every result that the trial of this number may look at is there: for a new point those, for a promoted one its whole
// round before.
bool is_ready(const Study& study, std::size_t number);
// Whether the slot will never hold a trial; meaningful once the round before is there.
bool is_empty_slot(const Study& study, std::size_t number);

}  // namespace drift
