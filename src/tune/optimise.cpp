#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
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

constexpr double kMostTrials = 1e6;

struct Ended {
  Proposal proposal;
  TrialOutcome outcome;
  double seconds = 0.0;
  bool threw = false;
};

// Trials under way, each on a thread of its own.
class TrialThreads {
 public:
  explicit TrialThreads(const Objective& objective) : objective_(objective) {}

  void begin(const Proposal& proposal) {
    running_.push_back(proposal);
    threads_[proposal.number] = std::jthread([this, proposal] {
      Ended ended = run(proposal);
      const std::lock_guard lock(mutex_);
      ended_.push_back(std::move(ended));
      changed_.notify_one();
    });
  }

  Ended wait_for_one() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ended_.empty(); });
    Ended ended = std::move(ended_.back());
    ended_.pop_back();
    lock.unlock();
    threads_.erase(ended.proposal.number);  // joins
    std::erase_if(running_, [&](const Proposal& proposal) { return proposal.number == ended.proposal.number; });
    return ended;
  }

  const std::vector<Proposal>& running() const { return running_; }

 private:
  Ended run(const Proposal& proposal) const {
    Ended ended;
    ended.proposal = proposal;
    const auto start = std::chrono::steady_clock::now();
    try {
      ended.outcome = objective_(proposal.point, proposal.budget_share, proposal.seed);
    } catch (const std::exception& error) {
      ended.outcome = {.value = 0.0, .state = TrialState::failed, .message = error.what()};
      ended.threw = true;
    } catch (...) {
      ended.outcome = {.value = 0.0, .state = TrialState::failed, .message = "an exception without a message"};
      ended.threw = true;
    }
    ended.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return ended;
  }

  const Objective& objective_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Ended> ended_;
  std::vector<Proposal> running_;                // of the calling thread alone
  std::map<std::size_t, std::jthread> threads_;  // by number; last: joined before what they use is gone
};

// The first trials, all of them failed: more of the same would be a waste.
void check_not_hopeless(const Study& study) {
  const std::size_t enough = study.plan.first.size() + study.plan.initial;
  if (study.trials.size() < enough) return;
  const bool all_failed =
      std::all_of(study.trials.begin(), study.trials.end(), [](const Trial& trial) { return trial.state == TrialState::failed; });
  if (!all_failed) return;
  throw Error(fmt::format("all {} trials of the search failed, the first with: {}. Mend that and begin a new study",
                          study.trials.size(), study.trials.front().message));
}

}  // namespace

Study optimise(const SearchSpace& space, const Objective& objective, const SearchPlan& plan, const SearchOptions& options,
               const std::optional<std::filesystem::path>& path) {
  if (!(options.trials > 0.0 && options.trials <= kMostTrials)) {
    throw UsageError(fmt::format("a search has more than 0 and at most {} trials, not {}", kMostTrials, options.trials));
  }
  Study study = make_study(space, plan);
  if (path && std::filesystem::exists(*path)) {
    Study saved = load_study(*path);
    check_same_search(saved, study, *path);
    study = std::move(saved);
  }
  const std::size_t numbers = numbers_for(study.plan, options.trials);
  Proposer proposer;
  TrialThreads threads(objective);
  std::size_t next = 0;
  bool exhausted = false;
  while (true) {
    check_not_hopeless(study);
    while (!options.stop.stop_requested() && !exhausted && next < numbers && threads.running().size() < study.plan.parallel) {
      if (find_trial(study, next) != nullptr) {
        ++next;
        continue;
      }
      if (!is_ready(study, next)) break;
      const std::optional<Proposal> proposal = proposer.propose(study, next, threads.running());
      if (proposal) threads.begin(*proposal);
      exhausted = !proposal && slot_of(study.plan, next).round == 0;
      ++next;
    }
    if (threads.running().empty()) break;
    const Ended ended = threads.wait_for_one();
    if (ended.threw && options.stop.stop_requested()) continue;
    record(study, ended.proposal, ended.outcome, ended.seconds);
    if (path) save_study(study, *path);
    if (options.progress) options.progress(study, *find_trial(study, ended.proposal.number));
  }
  return study;
}

}  // namespace drift
