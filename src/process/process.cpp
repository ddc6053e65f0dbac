#include "process/process.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>
#include <vector>

#include "core/threads.h"
#include "drift/error.h"
#include "process/kriging.h"
#include "process/place_finder.h"

namespace drift {

struct Process::Parts {
  Space space;
  bool has_time;
  ProcessParameters parameters;
  Places places;
  std::size_t neighbours;
  PlaceFinder finder;

  Parts(Space s, bool time, ProcessParameters p, Places all, std::size_t k)
      : space(s),
        has_time(time),
        parameters(std::move(p)),
        places(std::move(all)),
        neighbours(k),
        finder(space, has_time, places, parameters) {}

  double mean_at(const float* row, int fold, Neighbourhood& near, Kriging& kriging) const {
    finder.find(row, neighbours, {.fold = fold}, Edges::fading, near);
    const ProcessParameters here = at_target(parameters, space, row);
    kriging.solve(here, near, Kriging::kField);
    return trend_at(row) + kriging.mean();
  }

  // By central differences over a hundredth of the lengths each way, so that it is the slope of the very mean that maps show,
  // with neighbours that come and go.
  std::array<double, 3> slope_at(const float* row, int fold, Neighbourhood& near, Kriging& kriging) const {
    constexpr double kStep = 0.01;
    const LocalFrame frame(space, has_time, row, places.columns);
    const std::array<double, 3> steps = {kStep * parameters.length_x, kStep * parameters.length_y,
                                         kStep * parameters.time_length};
    std::array<double, 3> slope = {};
    for (std::size_t d = 0; d < 3; ++d) {
      if (d == 2 && !has_time) continue;
      const std::vector<float> up = frame.moved(d, steps.at(d)), down = frame.moved(d, -steps.at(d));
      const double apart = frame(up.data()).at(d) - frame(down.data()).at(d);  // as single precision has it
      slope.at(d) = (mean_at(up.data(), fold, near, kriging) - mean_at(down.data(), fold, near, kriging)) / apart;
    }
    return slope;
  }

  double trend_at(const float* row) const {
    const std::array<double, 3>& trend = parameters.trend;
    if (space == Space::sphere) return trend[0];
    return trend[0] + trend[1] * static_cast<double>(row[0]) + trend[2] * static_cast<double>(row[1]);
  }
};

Process::Process(Space space, bool has_time, ProcessParameters parameters, Places places, std::size_t neighbours) {
  if (places.size() == 0) throw UsageError("a process needs observations");
  parts_ = std::make_unique<Parts>(space, has_time, std::move(parameters), std::move(places), neighbours);
}
Process::~Process() = default;
Process::Process(Process&&) noexcept = default;
Process& Process::operator=(Process&&) noexcept = default;

const ProcessParameters& Process::parameters() const { return parts_->parameters; }
const Places& Process::places() const { return parts_->places; }
Space Process::space() const { return parts_->space; }
bool Process::has_time() const { return parts_->has_time; }
std::size_t Process::neighbours() const { return parts_->neighbours; }

double Process::observation_variance() const {
  const ProcessParameters& p = parts_->parameters;
  return p.nugget + p.track_variance + p.platform_variance;
}

void Process::predict(MatrixView<const float> points, const ProcessForecast& out, int threads,
                      std::span<const int> left_out) const {
  const Parts& parts = *parts_;
  if (points.rows > 0 && points.cols != parts.places.columns) {
    throw UsageError("a process was given points with another number of coordinates than its observations have");
  }
  constexpr std::size_t kBlock = 64;  // points that a thread takes at a time
  const std::size_t blocks = (points.rows + kBlock - 1) / kBlock;
  std::atomic<std::size_t> next = 0;  // who takes a block does not change it
  run_on_threads(std::max(1, threads > 0 ? threads : available_threads()), [&](int) {
    Neighbourhood near;
    Kriging kriging;
    for (std::size_t block = next++; block < blocks; block = next++) {
      for (std::size_t i = block * kBlock; i < std::min(points.rows, (block + 1) * kBlock); ++i) {
        const float* row = points.row(i);
        const int fold = left_out.empty() ? kNoFold : left_out[i];
        const double mean = parts.mean_at(row, fold, near, kriging);
        if (!out.mean.empty()) out.mean[i] = mean;
        if (!out.variance.empty()) out.variance[i] = kriging.variance();
        if (out.gradient.empty()) continue;
        const std::array<double, 3> slope = parts.slope_at(row, fold, near, kriging);
        for (std::size_t d = 0; d < 3; ++d) out.gradient(i, d) = slope.at(d);
      }
    }
  });
}

}  // namespace drift
