#include "engine/segments.h"

#include <algorithm>

namespace drift {
namespace {

constexpr std::uint64_t kFirstLength = 4;  // steps; a step of the largest networks takes seconds
constexpr std::uint64_t kGrowth = 8;       // a segment is at most this many times the one before it
constexpr double kDue = 0.9;               // share of the interval after which a checkpoint is due: no sliver is left over

}  // namespace

Segments::Segments(double every_s, std::uint64_t step, std::uint64_t total, double now_s)
    : every_s_(every_s), step_(step), total_(total), segment_began_s_(now_s), last_saved_s_(now_s), now_s_(now_s) {}

std::uint64_t Segments::next_end() const {
  const std::uint64_t left = total_ - step_;
  if (length_ == 0) return step_ + std::min(left, kFirstLength);
  std::uint64_t length = length_ > left / kGrowth ? left : length_ * kGrowth;
  const double fitting =
      seconds_per_step_ > 0.0 ? (last_saved_s_ + every_s_ - now_s_) / seconds_per_step_ : static_cast<double>(left);
  if (fitting < static_cast<double>(length)) length = static_cast<std::uint64_t>(std::max(fitting, 0.0));
  return step_ + std::clamp<std::uint64_t>(length, 1, left);
}

bool Segments::reached(std::uint64_t step, double now_s) {
  if (step > step_) {
    length_ = step - step_;
    seconds_per_step_ = (now_s - segment_began_s_) / static_cast<double>(length_);
  }
  step_ = step;
  now_s_ = segment_began_s_ = now_s;
  if (now_s - last_saved_s_ < kDue * every_s_) return false;
  last_saved_s_ = now_s;
  return true;
}

void Segments::saved(double now_s) { now_s_ = segment_began_s_ = last_saved_s_ = now_s; }

}  // namespace drift
