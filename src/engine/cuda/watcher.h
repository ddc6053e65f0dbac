#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drift/engine.h"
#include "engine/cuda/trainer.h"
#include "engine/training_report.h"

namespace drift::cuda {

// Looks at the losses of steps just done, from any thread: notes which runs have failed, tells of progress, and says when
// training is to end: when that is asked for, or when another thread has met an error.
class Watcher {
 public:
  // `done` of the steps of all members together have been taken before.
  Watcher(const Control& control, std::span<const TrainingRun> runs, std::vector<std::string>& failures, std::size_t observations,
          std::uint64_t done);

  // `losses` [member][step] of steps from `first` on. True: stop; also where all of these members' runs have failed.
  bool operator()(std::span<const TrainedMember> members, const std::vector<std::vector<float>>& losses, std::uint64_t first);

  bool stopped() const { return stopped_; }
  void stop() { stopped_ = true; }

 private:
  void note_failures(std::span<const TrainedMember> members, const std::vector<std::vector<float>>& losses, std::uint64_t first,
                     TrainingReport::Taken& taken);

  const Control& control_;
  std::span<const TrainingRun> runs_;
  std::vector<std::string>& failures_;  // [run]; empty: it goes on
  std::size_t observations_;
  std::mutex mutex_;
  std::atomic<bool> stopped_ = false;
  std::optional<TrainingReport> report_;
};

}  // namespace drift::cuda
