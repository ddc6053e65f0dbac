#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "drift/fit.h"

namespace drift {

// The parts of a plan that come before its networks: which observations train and which judge, and the domain. Each function
// settles what plan.settings leave open, from the observations alone, and adds a sentence to plan.choices.

inline constexpr std::size_t kFewestObservations = 100;  // of which a field may be made
inline constexpr std::size_t kUsualMembers =
    10;  // the spread of ten needs no correction, that of five does (docs/notes/defaults.md)

inline bool by_paper(const FitPlan& plan) { return plan.settings.recipe == RecipeName::paper; }
inline bool has_networks(const FitPlan& plan) { return plan.method == FitMethod::blend || plan.method == FitMethod::network; }

template <class... Args>
void note(FitPlan& plan, fmt::format_string<Args...> text, Args&&... args) {
  plan.choices.push_back(fmt::format(text, std::forward<Args>(args)...));
}

void choose_split(const Dataset& data, FitPlan& plan, const Control& control);
void choose_folds(const Dataset& data, FitPlan& plan, const Control& control);
void fit_folds_to_members(FitPlan& plan);
void choose_domain(const Dataset& data, FitPlan& plan);

}  // namespace drift
