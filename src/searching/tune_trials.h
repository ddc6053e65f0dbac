#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "drift/tune_run.h"
#include "fitting/training_rows.h"

namespace drift {

// Puts a point's values where the settings have them.
void apply_point(const SearchSpace& space, const Point& point, RunSettings& settings);

// Networks of trials to come, drawn while others train. On the plane a draw does not depend on what is searched.
class DrawsAhead {
 public:
  // The trials have this seed and numbers below `end`.
  DrawsAhead(std::uint64_t plan_seed, std::size_t end, int threads = 0) : plan_seed_(plan_seed), end_(end), threads_(threads) {}

  // Begins to draw those of `count` trials from number `first` on, in place of what has been drawn and not taken.
  void begin(const NetworkSpec& spec, std::size_t members, std::size_t first, std::size_t count);
  // None: this one has not been drawn.
  std::optional<Ensemble> take(const NetworkSpec& spec, std::size_t members, std::uint64_t seed);

 private:
  std::uint64_t plan_seed_;
  std::size_t end_;
  int threads_;                                           // of each draw; 0: one per core
  std::map<std::uint64_t, std::future<Ensemble>> drawn_;  // by seed
  std::mutex mutex_;
};

// The trials of a search: which observations they see, how they are trained and judged.
class Trials {
 public:
  // Both must outlive this.
  Trials(const FitPlan& plan, const Dataset& data);

  const SearchSpace& space() const { return space_; }
  std::size_t observations() const { return training_.values.size(); }  // that a trial trains on

  // Trains them together and judges each. Throws Error when stop was asked for.
  std::vector<TrialOutcome> run(Engine& engine, std::span<const Proposal> proposals, const Control& control,
                                DrawsAhead* ahead = nullptr) const;
  // One of `parallel` trials, each with an engine of its own and its share of the threads.
  TrialOutcome run_alone(const Proposal& proposal, std::size_t parallel, const Control& control) const;

 private:
  struct Prepared;
  Prepared prepare(const Proposal& proposal, DrawsAhead* ahead) const;
  void train(Engine& engine, std::vector<Prepared>& trials, const Control& control) const;
  TrialOutcome judge(Engine& engine, const Prepared& trial) const;
  double score(const Prepared& trial, std::span<const float> predictions, std::span<const float> values) const;

  const FitPlan& plan_;
  SearchSpace space_;
  TrainingRows training_;
  TrainingRows validation_;  // those that score, then those that check
  std::size_t scoring_ = 0;  // rows of the former
};

}  // namespace drift
