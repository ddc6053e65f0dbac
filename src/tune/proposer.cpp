#include "tune/proposer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "tune/latin_hypercube.h"
#include "tune/next_point.h"
#include "tune/schedule.h"
#include "tune/space.h"
#include "tune/streams.h"

namespace drift {
namespace {

bool has_shares(const Study& study) { return study.plan.shares.size() > 1; }

bool counts(const Trial& trial) { return trial.value && trial.state != TrialState::failed; }

struct Incumbent {
  double value;
  Eigen::VectorXd place;  // in the space's cube
};

// A trial under way, or recorded too late to be looked at.
struct Unseen {
  Point point;
  double share = 1.0;
};

// What a full trial at the point is expected to give.
double full_mean(const Study& study, const GaussianProcess& process, const Point& point) {
  return process.mean_at(surrogate_place(study, point, 1.0).transpose())[0];
}

// The smallest posterior mean of a full trial among the points with a value.
Incumbent incumbent_of(const Study& study, const GaussianProcess& process, const std::vector<const Trial*>& seen) {
  Incumbent best{.value = std::numeric_limits<double>::infinity(), .place = {}};
  for (const Trial* trial : seen) {
    if (!counts(*trial)) continue;
    const double mean = full_mean(study, process, trial->point);
    if (mean < best.value) best = {.value = mean, .place = to_cube(study.space, trial->point)};
  }
  return best;
}

// The i-th place of the Latin hypercube, unless rounding to whole numbers made it one that is taken.
std::optional<Eigen::VectorXd> initial_place(const Study& study, std::size_t i, const std::vector<Eigen::VectorXd>& taken) {
  const Eigen::MatrixXd design = latin_hypercube(static_cast<Eigen::Index>(study.plan.initial),
                                                 static_cast<Eigen::Index>(study.space.size()), study.plan.seed);
  Eigen::VectorXd place = snap(study.space, design.row(static_cast<Eigen::Index>(i)).transpose());
  if (is_taken(place, taken)) return std::nullopt;
  return place;
}

}  // namespace

std::uint64_t seed_of_trial(std::uint64_t plan_seed, std::size_t number) {
  RandomStream random = tuning_stream(plan_seed, TuningStream::trial_seed, static_cast<std::uint32_t>(number));
  const std::uint64_t high = random.bits();
  return (high << 32U) | random.bits();
}

Eigen::VectorXd surrogate_place(const Study& study, const Point& point, double share) {
  Eigen::VectorXd place = to_cube(study.space, point);
  if (has_shares(study)) {
    const double smallest = study.plan.shares.front();
    place.conservativeResize(place.size() + 1);
    place[place.size() - 1] = std::log(share / smallest) / std::log(1.0 / smallest);
  }
  return place;
}

std::optional<Surrogate> surrogate_of(const Study& study, const std::vector<const Trial*>& trials) {
  std::vector<bool> is_choice;
  for (const Setting& setting : study.space) is_choice.push_back(setting.kind == SettingKind::choice);
  if (has_shares(study)) is_choice.push_back(false);
  Eigen::MatrixXd places(static_cast<Eigen::Index>(trials.size()), static_cast<Eigen::Index>(is_choice.size()));
  std::vector<std::optional<double>> values;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    places.row(static_cast<Eigen::Index>(i)) = surrogate_place(study, trials[i]->point, trials[i]->budget_share).transpose();
    values.push_back(counts(*trials[i]) ? trials[i]->value : std::nullopt);
  }
  if (std::count_if(values.begin(), values.end(), [](const auto& value) { return value.has_value(); }) < 2) return std::nullopt;
  return fit_surrogate(std::move(places), values, std::move(is_choice), study.plan.seed);
}

const Surrogate* Proposer::surrogate(const Study& study, const std::vector<const Trial*>& seen) {
  std::vector<std::size_t> numbers;
  numbers.reserve(seen.size());
  for (const Trial* trial : seen) numbers.push_back(trial->number);
  if (numbers != fitted_) {
    surrogate_ = surrogate_of(study, seen);
    fitted_ = std::move(numbers);
  }
  return surrogate_ ? &*surrogate_ : nullptr;
}

std::optional<Eigen::VectorXd> Proposer::new_place(const Study& study, std::size_t number, const std::vector<Proposal>& pending) {
  std::vector<const Trial*> seen;
  std::map<std::size_t, Unseen> unseen;  // by number, so that rounding is the same whichever ended first
  std::vector<Eigen::VectorXd> taken;
  for (const Trial& trial : study.trials) {
    if (trial.number >= number) break;
    if (trial.number < first_unseen(study.plan, number)) {
      seen.push_back(&trial);
    } else {
      unseen[trial.number] = {.point = trial.point, .share = trial.budget_share};
    }
    taken.push_back(to_cube(study.space, trial.point));
  }
  for (const Proposal& proposal : pending) {
    if (proposal.number >= number) continue;
    unseen[proposal.number] = {.point = proposal.point, .share = proposal.budget_share};
    taken.push_back(to_cube(study.space, proposal.point));
  }
  const std::size_t ordinal = slot_of(study.plan, number).new_points;
  const auto key = static_cast<std::uint32_t>(number);
  if (ordinal < study.plan.first.size()) return to_cube(study.space, study.plan.first[ordinal]);
  const std::size_t after_first = ordinal - study.plan.first.size();
  if (after_first < study.plan.initial) {
    if (auto place = initial_place(study, after_first, taken)) return place;
    return random_point(study.space, taken, study.plan.seed, key);
  }
  const Surrogate* fitted = surrogate(study, seen);
  if (fitted == nullptr) return random_point(study.space, taken, study.plan.seed, key);
  Incumbent best = incumbent_of(study, fitted->process, seen);
  GaussianProcess process = fitted->process;
  for (const auto& [unused, trial] : unseen) {
    process = process.believing(surrogate_place(study, trial.point, trial.share));
    best.value = std::min(best.value, full_mean(study, fitted->process, trial.point));
  }
  return next_point({.space = study.space,
                     .process = process,
                     .has_share = has_shares(study),
                     .best = best.value,
                     .best_place = best.place,
                     .taken = taken,
                     .seed = study.plan.seed,
                     .number = key});
}

std::optional<Proposal> Proposer::propose(const Study& study, std::size_t number, const std::vector<Proposal>& pending) {
  const Slot slot = slot_of(study.plan, number);
  const double share = study.plan.shares[slot.round];
  if (slot.round > 0) {
    const Trial* trial = promoted(study, slot);
    if (trial == nullptr) return std::nullopt;
    return Proposal{.number = number, .point = trial->point, .budget_share = share, .seed = trial->seed};
  }
  const std::optional<Eigen::VectorXd> place = new_place(study, number, pending);
  if (!place) return std::nullopt;
  const bool is_given = slot.new_points < study.plan.first.size();
  return Proposal{.number = number,
                  .point = is_given ? study.plan.first[slot.new_points] : from_cube(study.space, *place),
                  .budget_share = share,
                  .seed = seed_of_trial(study.plan.seed, number)};
}

}  // namespace drift
