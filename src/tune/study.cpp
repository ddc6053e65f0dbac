#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "drift/error.h"
#include "drift/tune.h"
#include "tune/proposer.h"
#include "tune/schedule.h"
#include "tune/study_file.h"

namespace drift {
namespace {

constexpr std::size_t kMostParallel = 1024;  // trials side by side

void check_plan(const SearchSpace& space, const SearchPlan& plan) {
  if (plan.parallel < 1 || plan.parallel > kMostParallel) {
    throw UsageError(fmt::format("a search runs 1 to {} trials side by side, not {}", kMostParallel, plan.parallel));
  }
  for (const Point& point : plan.first) check_point(space, point);
}

}  // namespace

Study make_study(SearchSpace space, SearchPlan plan) {
  check_space(space);
  check_plan(space, plan);
  // Enough for each setting to be seen at a few values; Bayesian optimisation gains more from its own points than from more of
  // these.
  if (plan.initial == 0) plan.initial = std::max<std::size_t>(5, 2 * space.size());
  return {.space = std::move(space), .plan = std::move(plan), .trials = {}};
}

std::vector<Proposal> propose(const Study& study, std::size_t count) {
  check_space(study.space);
  check_plan(study.space, study.plan);
  Proposer proposer;
  std::vector<Proposal> proposals;
  for (std::size_t number = 0; proposals.size() < count; ++number) {
    if (find_trial(study, number) != nullptr) continue;
    std::optional<Proposal> proposal = proposer.propose(study, number, proposals);
    if (!proposal) break;
    proposals.push_back(std::move(*proposal));
  }
  return proposals;
}

void record(Study& study, const Proposal& proposal, const TrialOutcome& outcome, double seconds) {
  check_point(study.space, proposal.point);
  if (find_trial(study, proposal.number) != nullptr) {
    throw UsageError(fmt::format("trial {} is in the study already", proposal.number));
  }
  Trial trial{.number = proposal.number,
              .point = proposal.point,
              .state = outcome.state,
              .value = std::nullopt,
              .seed = proposal.seed,
              .seconds = seconds,
              .message = outcome.message};
  const bool usable = std::isfinite(outcome.value) && std::abs(outcome.value) <= kLargestValue;
  if (usable && trial.state != TrialState::failed) trial.value = outcome.value;
  if (!usable && trial.state == TrialState::done) {
    trial.state = TrialState::failed;
    if (trial.message.empty()) trial.message = fmt::format("the value is {}", outcome.value);
  }
  const auto after = std::upper_bound(study.trials.begin(), study.trials.end(), trial.number,
                                      [](std::size_t number, const Trial& other) { return number < other.number; });
  study.trials.insert(after, std::move(trial));
}

std::optional<std::size_t> best_trial(const Study& study) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < study.trials.size(); ++i) {
    const Trial& trial = study.trials[i];
    if (trial.state != TrialState::done) continue;
    if (!best || *trial.value < *study.trials[*best].value) best = i;
  }
  return best;
}

std::vector<std::optional<double>> best_so_far(const Study& study) {
  std::vector<std::optional<double>> curve;
  std::optional<double> best;
  for (const Trial& trial : study.trials) {
    if (trial.state == TrialState::done) best = best ? std::min(*best, *trial.value) : trial.value;
    curve.push_back(best);
  }
  return curve;
}

}  // namespace drift
