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

bool counts(const Trial& trial) { return trial.value && trial.state != TrialState::failed; }

struct Incumbent {
  double value;
  Eigen::VectorXd place;  // in the space's cube
};

// The smallest posterior mean among the points with a value.
Incumbent incumbent_of(const Study& study, const GaussianProcess& process, const std::vector<const Trial*>& seen) {
  Incumbent best{.value = std::numeric_limits<double>::infinity(), .place = {}};
  for (const Trial* trial : seen) {
    if (!counts(*trial)) continue;
    Eigen::VectorXd place = to_cube(study.space, trial->point);
    const double mean = process.mean_at(place.transpose())[0];
    if (mean < best.value) best = {.value = mean, .place = std::move(place)};
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

std::optional<Surrogate> surrogate_of(const Study& study, const std::vector<const Trial*>& trials) {
  std::vector<bool> is_choice;
  for (const Setting& setting : study.space) is_choice.push_back(setting.kind == SettingKind::choice);
  Eigen::MatrixXd places(static_cast<Eigen::Index>(trials.size()), static_cast<Eigen::Index>(is_choice.size()));
  std::vector<std::optional<double>> values;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    places.row(static_cast<Eigen::Index>(i)) = to_cube(study.space, trials[i]->point).transpose();
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
  std::map<std::size_t, Eigen::VectorXd> unseen;  // by number, so that rounding is the same whichever ended first
  std::vector<Eigen::VectorXd> taken;
  for (const Trial& trial : study.trials) {
    if (trial.number >= number) break;
    taken.push_back(to_cube(study.space, trial.point));
    if (trial.number < first_unseen(study.plan, number)) {
      seen.push_back(&trial);
    } else {
      unseen[trial.number] = taken.back();
    }
  }
  for (const Proposal& proposal : pending) {
    if (proposal.number >= number) continue;
    taken.push_back(to_cube(study.space, proposal.point));
    unseen[proposal.number] = taken.back();
  }
  const auto key = static_cast<std::uint32_t>(number);
  const std::size_t after_first = number - study.plan.first.size();
  if (after_first < study.plan.initial) {
    if (auto place = initial_place(study, after_first, taken)) return place;
    return random_point(study.space, taken, study.plan.seed, key);
  }
  const Surrogate* fitted = surrogate(study, seen);
  if (fitted == nullptr) return random_point(study.space, taken, study.plan.seed, key);
  Incumbent best = incumbent_of(study, fitted->process, seen);
  GaussianProcess process = fitted->process;
  for (const auto& [unused, place] : unseen) {
    process = process.believing(place);
    best.value = std::min(best.value, fitted->process.mean_at(place.transpose())[0]);
  }
  return next_point({.space = study.space,
                     .process = process,
                     .best = best.value,
                     .best_place = best.place,
                     .taken = taken,
                     .seed = study.plan.seed,
                     .number = key});
}

std::optional<Proposal> Proposer::propose(const Study& study, std::size_t number, const std::vector<Proposal>& pending) {
  const std::uint64_t seed = seed_of_trial(study.plan.seed, number);
  if (number < study.plan.first.size()) return Proposal{.number = number, .point = study.plan.first[number], .seed = seed};
  const std::optional<Eigen::VectorXd> place = new_place(study, number, pending);
  if (!place) return std::nullopt;
  return Proposal{.number = number, .point = from_cube(study.space, *place), .seed = seed};
}

}  // namespace drift
