#pragma once

#include <chrono>
#include <cstdint>

#include "drift/control.h"

namespace drift {

// Tells the caller how training goes, a few times a second. Not for two threads at once.
class TrainingReport {
 public:
  // Of `of` steps, those of all members together, `done` were taken before.
  TrainingReport(const Control& control, std::uint64_t done, std::uint64_t of) : control_(control), done_(done), of_(of) {}

  struct Taken {
    std::uint64_t steps = 0;
    std::uint64_t observations = 0;  // seen by them
    std::uint64_t losses = 0;        // finite ones
    double loss_sum = 0.0;
  };
  void steps_taken(const Taken& taken);

 private:
  using Clock = std::chrono::steady_clock;

  const Control& control_;
  std::uint64_t done_, of_;
  std::uint64_t observations_ = 0;
  Taken since_ = {};  // the last report
  Clock::time_point begun_ = Clock::now(), last_ = begun_;
};

}  // namespace drift
