#pragma once

#include <cstddef>

#include "drift/tune.h"

namespace drift {

const Trial* find_trial(const Study& study, std::size_t number);

// Results of trials with smaller numbers are what a new point is chosen by: of all but the last `parallel` before it, or, if
// trials go in rounds of `parallel`, of all rounds before its own.
std::size_t first_unseen(const SearchPlan& plan, std::size_t number);

// Every result that the trial of this number may look at is there.
bool is_ready(const Study& study, std::size_t number);

}  // namespace drift
