#pragma once

#include <cstdint>

namespace drift {

// Cuts a training run into segments so that a checkpoint falls due about every `every_s` seconds. The length of the next segment
// follows from the speed so far; the first ones are short, since nothing is known yet. Knows no clock: it is told the time.
class Segments {
 public:
  // `step` and `total`: of the member that is furthest behind. `now_s` from any origin.
  Segments(double every_s, std::uint64_t step, std::uint64_t total, double now_s);

  bool done() const { return step_ >= total_; }
  // End of the next segment.
  std::uint64_t next_end() const;
  // Notes that `step` has been reached. True: a checkpoint is due, and counts as taken now.
  bool reached(std::uint64_t step, double now_s);
  // Notes that the checkpoint is written, so that the time it took is not counted as training.
  void saved(double now_s);

 private:
  double every_s_;
  std::uint64_t step_;
  std::uint64_t total_;
  double segment_began_s_;
  double last_saved_s_;
  double now_s_;
  std::uint64_t length_ = 0;       // of the last segment, in steps
  double seconds_per_step_ = 0.0;  // in the last segment
};

}  // namespace drift
