#include "engine/training_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "drift/grouped.h"

namespace drift {

void TrainingReport::steps_taken(const Taken& taken) {
  if (!control_.progress) return;
  done_ += taken.steps;
  observations_ += taken.observations;
  since_.losses += taken.losses;
  since_.loss_sum += taken.loss_sum;
  const Clock::time_point now = Clock::now();
  if (since_.losses == 0 || (done_ != of_ && now - last_ < std::chrono::milliseconds(200))) return;
  last_ = now;
  const double seconds = std::max(1e-9, std::chrono::duration<double>(now - begun_).count());
  control_.progress(static_cast<double>(done_) / static_cast<double>(of_),
                    fmt::format("{} observations/s, loss {:.4f}", grouped(static_cast<double>(observations_) / seconds),
                                since_.loss_sum / static_cast<double>(since_.losses)));
  since_ = {};
}

}  // namespace drift
