#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "drift/error.h"
#include "drift/tune.h"
#include "tune/proposer.h"
#include "tune/schedule.h"
#include "tune/study_file.h"

namespace drift {
namespace {

constexpr std::size_t kMostTrials = 1'000'000;

struct Ended {
  Proposal proposal;
  TrialOutcome outcome;
  double seconds = 0.0;
  bool threw = false;
};

// Trials under way.
class Runner {
 public:
  virtual ~Runner() = default;
  virtual void begin(const Proposal& proposal) = 0;
  virtual Ended wait_for_one() = 0;
  const std::vector<Proposal>& running() const { return running_; }

 protected:
  void forget(std::size_t number) {
    std::erase_if(running_, [&](const Proposal& proposal) { return proposal.number == number; });
  }
  std::vector<Proposal> running_;  // begun, and not yet given out by wait_for_one()
};

// Results of work(), which makes the outcomes of `trials`; `seconds` is each one's share.
std::vector<Ended> timed(const std::vector<Proposal>& trials, const std::function<std::vector<TrialOutcome>()>& work) {
  std::vector<Ended> ended;
  ended.reserve(trials.size());
  for (const Proposal& trial : trials) ended.push_back({.proposal = trial, .outcome = {}, .seconds = 0.0, .threw = false});
  const auto start = std::chrono::steady_clock::now();
  const auto failed = [&](const std::string& why) {
    for (Ended& one : ended) {
      one.outcome = {.value = 0.0, .state = TrialState::failed, .message = why};
      one.threw = true;
    }
  };
  try {
    std::vector<TrialOutcome> outcomes = work();
    if (outcomes.size() != trials.size()) {
      throw Error(fmt::format("a round of {} trials had {} outcomes", trials.size(), outcomes.size()));
    }
    for (std::size_t i = 0; i < ended.size(); ++i) ended[i].outcome = std::move(outcomes[i]);
  } catch (const std::exception& error) {
    failed(error.what());
  } catch (...) {
    failed("an exception without a message");
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (Ended& one : ended) one.seconds = seconds / static_cast<double>(trials.size());
  return ended;
}

// Each on a thread of its own.
class TrialThreads final : public Runner {
 public:
  explicit TrialThreads(const Objective& objective) : objective_(objective) {}

  void begin(const Proposal& proposal) override {
    running_.push_back(proposal);
    threads_[proposal.number] = std::jthread([this, proposal] {
      Ended ended = timed({proposal}, [&] { return std::vector{objective_(proposal.point, proposal.seed)}; }).front();
      const std::lock_guard lock(mutex_);
      ended_.push_back(std::move(ended));
      changed_.notify_one();
    });
  }

  Ended wait_for_one() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ended_.empty(); });
    Ended ended = std::move(ended_.back());
    ended_.pop_back();
    lock.unlock();
    threads_.erase(ended.proposal.number);  // joins
    forget(ended.proposal.number);
    return ended;
  }

 private:
  const Objective& objective_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Ended> ended_;
  std::map<std::size_t, std::jthread> threads_;  // by number; last: joined before what they use is gone
};

// All that have begun go together, on the calling thread, when the first of them is waited for.
class TrialRounds final : public Runner {
 public:
  explicit TrialRounds(const RoundObjective& objective) : objective_(objective) {}

  void begin(const Proposal& proposal) override {
    running_.push_back(proposal);
    begun_.push_back(proposal);
  }

  Ended wait_for_one() override {
    if (ended_.empty()) {
      const std::vector<Proposal> round = std::exchange(begun_, {});
      for (Ended& one : timed(round, [&] { return objective_(round); })) ended_.push_back(std::move(one));
    }
    Ended ended = std::move(ended_.front());
    ended_.pop_front();
    forget(ended.proposal.number);
    return ended;
  }

 private:
  const RoundObjective& objective_;
  std::vector<Proposal> begun_;
  std::deque<Ended> ended_;
};

// The first trials, all of them failed: more of the same would be a waste.
void check_not_hopeless(const Study& study) {
  const std::size_t enough = study.plan.first.size() + study.plan.initial;
  if (study.trials.size() < enough) return;
  const bool all_failed =
      std::all_of(study.trials.begin(), study.trials.end(), [](const Trial& trial) { return trial.state == TrialState::failed; });
  if (!all_failed) return;
  throw Error(fmt::format("all {} trials of the search failed, the first with: {}. Correct that and start a new study",
                          study.trials.size(), study.trials.front().message));
}

Study search(const SearchSpace& space, Runner& trials, const SearchPlan& plan, const SearchOptions& options,
             const std::optional<std::filesystem::path>& path) {
  if (options.trials < 1 || options.trials > kMostTrials) {
    throw UsageError(fmt::format("a search has 1 to {} trials, not {}", kMostTrials, options.trials));
  }
  Study study = make_study(space, plan);
  if (path && std::filesystem::exists(*path)) {
    Study saved = load_study(*path);
    check_same_search(saved, study, *path);
    study = std::move(saved);
  }
  Proposer proposer;
  std::size_t next = 0;
  bool exhausted = false;
  while (true) {
    check_not_hopeless(study);
    while (!options.control.stop.stop_requested() && !exhausted && next < options.trials &&
           trials.running().size() < study.plan.parallel) {
      if (find_trial(study, next) != nullptr) {
        ++next;
        continue;
      }
      if (!is_ready(study, next)) break;
      const std::optional<Proposal> proposal = proposer.propose(study, next, trials.running());
      if (proposal) trials.begin(*proposal);
      exhausted = !proposal;
      ++next;
    }
    if (trials.running().empty()) break;
    const Ended ended = trials.wait_for_one();
    if (ended.threw && options.control.stop.stop_requested()) continue;
    record(study, ended.proposal, ended.outcome, ended.seconds);
    if (path) save_study(study, *path);
    if (options.trial_done) options.trial_done(study, *find_trial(study, ended.proposal.number));
    options.control.report(std::min(1.0, static_cast<double>(study.trials.size()) / static_cast<double>(options.trials)),
                           fmt::format("trial {}", study.trials.size()));
  }
  options.control.check_stop("the search was stopped");
  return study;
}

}  // namespace

Study optimise(const SearchSpace& space, const Objective& objective, const SearchPlan& plan, const SearchOptions& options,
               const std::optional<std::filesystem::path>& path) {
  TrialThreads threads(objective);
  return search(space, threads, plan, options, path);
}

Study optimise(const SearchSpace& space, const RoundObjective& objective, const SearchPlan& plan, const SearchOptions& options,
               const std::optional<std::filesystem::path>& path) {
  TrialRounds rounds(objective);
  return search(space, rounds, plan, options, path);
}

}  // namespace drift
