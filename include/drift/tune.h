#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "drift/control.h"
#include "drift/enum_words.h"
#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Minimisation of an expensive function of named settings: Bayesian optimisation. Nothing
// here knows what the settings mean. What is proposed next depends on the study alone (its space, plan and recorded trials), so
// a search that was killed resumes as if it had not been.

enum class SettingKind { real, log_real, whole, log_whole, choice };
constexpr auto enum_words(SettingKind) {
  return std::to_array<EnumWord<SettingKind>>({{"real", SettingKind::real},
                                               {"log_real", SettingKind::log_real},
                                               {"whole", SettingKind::whole},
                                               {"log_whole", SettingKind::log_whole},
                                               {"choice", SettingKind::choice}});
}

struct Setting {
  std::string name;
  SettingKind kind = SettingKind::real;
  double low = 0.0;                     // smallest value; not used by a choice
  double high = 1.0;                    // largest value, > low; log kinds need low > 0
  std::vector<std::string> words = {};  // of a choice, two or more
};

using SearchSpace = std::vector<Setting>;

// One value per setting, in the space's order and in the setting's own units. A choice's value is the index of its word.
using Point = std::vector<double>;

// Throws UsageError unless the space can be searched / the point lies in it.
void check_space(const SearchSpace& space);
void check_point(const SearchSpace& space, const Point& point);

// "rate 0.003, layers 4, loss huber"
std::string describe(const SearchSpace& space, const Point& point);

enum class TrialState {
  done,
  failed,  // threw, or gave no number: counts as no better than the worst trial done
  pruned,  // gave up early as hopeless; its value, if it has one, counts as seen, but it is never the best
};
constexpr auto enum_words(TrialState) {
  return std::to_array<EnumWord<TrialState>>(
      {{"done", TrialState::done}, {"failed", TrialState::failed}, {"pruned", TrialState::pruned}});
}

struct TrialOutcome {
  double value = 0.0;  // to be minimised
  TrialState state = TrialState::done;
  std::string message = {};
};

struct Trial {
  std::size_t number = 0;  // from 0; the order of a study, whichever trial ended first
  Point point;
  TrialState state = TrialState::done;
  std::optional<double> value;  // always there when done
  std::uint64_t seed = 0;       // of the trial's own random numbers
  double seconds = 0.0;
  std::string message;  // why it failed
};

// Identity of a search within its space. Saved with the study.
struct SearchPlan {
  std::uint64_t seed = 1;
  std::size_t initial = 0;        // trials of the Latin hypercube before the surrogate proposes; 0: by the number of settings
  std::size_t parallel = 1;       // trials side by side: a proposal waits for the results of all but this many before it
  bool rounds = false;            // they begin and end together: a proposal sees the results of all rounds before its own
  std::vector<Point> first = {};  // tried before anything else, e.g. settings known to work
  std::string fingerprint = {};   // of all else that a trial's value depends on: data, settings not searched. Empty: not known
};

struct Study {
  SearchSpace space;
  SearchPlan plan;
  std::vector<Trial> trials;  // ascending numbers; a search that was killed may leave gaps, which are filled first
};

// Checks both and chooses what the plan leaves open.
Study make_study(SearchSpace space, SearchPlan plan = {});

struct Proposal {
  std::size_t number = 0;
  Point point;
  std::uint64_t seed = 0;
};

// The seed of a trial of a new point: of the plan's and the trial's number alone.
std::uint64_t seed_of_trial(std::uint64_t plan_seed, std::size_t number);

// The next `count` trials to run, in the order of their numbers. Fewer if a space of whole numbers and choices has no untried
// point left.
std::vector<Proposal> propose(const Study& study, std::size_t count);

// Adds the outcome of a proposal. A done trial without a finite value is kept as failed.
void record(Study& study, const Proposal& proposal, const TrialOutcome& outcome, double seconds);

// Index in study.trials of the best: the smallest value among done trials.
std::optional<std::size_t> best_trial(const Study& study);

// The best value among done trials up to and with each trial: the curve of a search's progress. None before the first.
std::vector<std::optional<double>> best_so_far(const Study& study);

// Fraction of the variation of the value over the space that is due to one setting, by the surrogate's mean: Sobol' indices.
struct Importance {
  std::string name;
  double main = 0.0;   // alone, [0, 1]
  double total = 0.0;  // with its interactions
};
// In the space's order; empty with fewer than four trials that have a value. Very bad values are cut, as for the surrogate.
std::vector<Importance> importance(const Study& study);

// The study as JSON, at once or not at all. Reading is strict: Error with the path for any damaged or foreign file.
void save_study(const Study& study, const std::filesystem::path& path);
Study load_study(const std::filesystem::path& path);

// Called on `parallel` threads at a time. An exception is recorded as the trial's failure.
using Objective = std::function<TrialOutcome(const Point& point, std::uint64_t seed)>;

// Runs at most `parallel` trials together and returns one outcome for each. An exception is the failure of all.
using RoundObjective = std::function<std::vector<TrialOutcome>(std::span<const Proposal> round)>;

struct SearchOptions {
  std::size_t trials = 20;  // in all, those of a resumed study included
  // After each trial, on the calling thread. `trial` belongs to `study`.
  std::function<void(const Study& study, const Trial& trial)> trial_done = {};
  // No trial is begun after a stop request. Those under way are waited for and recorded, unless they throw: a trial that was cut
  // short is run again by the search that resumes. Progress is the share of the trials.
  Control control = {};
};

// Runs the search. With a path the study is saved there after every trial, and an existing study is resumed:
// its space and plan must be the same. Throws Error when all initial trials failed, and Stopped when stopped. One search per file
// at a time.
Study optimise(const SearchSpace& space, const Objective& objective, const SearchPlan& plan = {},
               const SearchOptions& options = {}, const std::optional<std::filesystem::path>& path = std::nullopt);
Study optimise(const SearchSpace& space, const RoundObjective& objective, const SearchPlan& plan = {},
               const SearchOptions& options = {}, const std::optional<std::filesystem::path>& path = std::nullopt);

}  // namespace drift
