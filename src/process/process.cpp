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
  std::size_t neighbours, far_neighbours;
  PlaceFinder finder;
  LocalSpread spread;

  Parts(Space s, bool time, ProcessParameters p, Places all, std::size_t k, std::size_t far)
      : space(s),
        has_time(time),
        parameters(std::move(p)),
        places(std::move(all)),
        neighbours(k),
        far_neighbours(far),
        finder(space, has_time, places, search_parameters(parameters), far) {}

  // Mean, variance and, on request, slope of the field at one point, from one solution, which also serves pairs of points around
  // it: `around` [4 rows], or null.
  struct Point {
    double mean, variance, local;
    std::array<double, 3> slope;
  };
  Point at(const float* row, int fold, bool with_slope, const float* around, Neighbourhood& near, Kriging& kriging) const {
    const EnginePosition target = position_of(row, places.columns);
    finder.find(target, neighbours, {.fold = fold}, Edges::fading, with_slope ? Motion::wanted : Motion::none, near);
    const ProcessParameters here = at_target(parameters, space, target);
    std::array<PlacePair, 2> pairs;
    if (around) {
      const LocalFrame frame(space, has_time, target, places.columns);
      for (std::size_t pair = 0; pair < 2; ++pair) {
        const float* const first = around + 2 * pair * places.columns;
        pairs.at(pair) = {frame(first), frame(first + places.columns)};
      }
    }
    kriging.solve(here, near, Kriging::kField, around ? std::span<const PlacePair>(pairs) : std::span<const PlacePair>());
    Point point = {trend_at(row) + kriging.rounded_mean(), kriging.variance(), spread.at(near), {}};
    if (!with_slope) return point;
    point.slope = kriging.slope(frame_motion(parameters, space, target));
    if (space == Space::plane) point.slope[0] += parameters.trend[1], point.slope[1] += parameters.trend[2];
    return point;
  }

  double trend_at(const float* row) const {
    const std::array<double, 3>& trend = parameters.trend;
    if (space == Space::sphere) return trend[0];
    return trend[0] + trend[1] * static_cast<double>(row[0]) + trend[2] * static_cast<double>(row[1]);
  }
};

namespace {

// work() makes what a thread needs and returns what is done with each point; results do not depend on the thread.
template <class Work>
void for_points(std::size_t points, int threads, const Work& work, const Control& control = {}) {
  constexpr std::size_t kBlock = 64;  // points that a thread takes at a time
  const std::size_t blocks = (points + kBlock - 1) / kBlock;
  std::atomic<std::size_t> next = 0;
  run_on_threads(threads_or_all(threads), [&](int) {
    auto each = work();
    for (std::size_t block = next++; block < blocks; block = next++) {
      control.check_stop();
      for (std::size_t i = block * kBlock; i < std::min(points, (block + 1) * kBlock); ++i) each(i);
    }
  });
}

}  // namespace

Process::Process(Space space, bool has_time, ProcessParameters parameters, Places places, std::size_t neighbours,
                 std::size_t far_neighbours) {
  if (places.size() == 0) throw UsageError("a process needs observations");
  parts_ = std::make_unique<Parts>(space, has_time, std::move(parameters), std::move(places), neighbours, far_neighbours);
}
Process::~Process() = default;
Process::Process(Process&&) noexcept = default;
Process& Process::operator=(Process&&) noexcept = default;

const ProcessParameters& Process::parameters() const { return parts_->parameters; }
const Places& Process::places() const { return parts_->places; }
Space Process::space() const { return parts_->space; }
bool Process::has_time() const { return parts_->has_time; }
std::size_t Process::neighbours() const { return parts_->neighbours; }
std::size_t Process::far_neighbours() const { return parts_->far_neighbours; }

double Process::observation_variance() const {
  const ProcessParameters& p = parts_->parameters;
  return p.nugget + p.track_variance;
}

void Process::predict(MatrixView<const float> points, const ProcessForecast& out, int threads,
                      std::span<const int> left_out) const {
  const Parts& parts = *parts_;
  if (points.rows > 0 && points.cols != parts.places.columns) {
    throw UsageError("the points and the observations of a process differ in their number of coordinates");
  }
  for_points(points.rows, threads, [&] {
    return [&, near = Neighbourhood(), kriging = Kriging()](std::size_t i) mutable {
      const int fold = left_out.empty() ? kNoFold : left_out[i];
      const float* const around = out.around.empty() ? nullptr : out.around.row(4 * i);
      const Parts::Point point = parts.at(points.row(i), fold, !out.gradient.empty(), around, near, kriging);
      if (!out.mean.empty()) out.mean[i] = point.mean;
      if (!out.variance.empty()) out.variance[i] = point.variance;
      if (!out.local.empty()) out.local[i] = point.local;
      for (std::size_t d = 0; d < 3 && !out.gradient.empty(); ++d) out.gradient(i, d) = point.slope.at(d);
      for (std::size_t pair = 0; pair < kriging.pairs().size(); ++pair) {
        const PairForecast& forecast = kriging.pairs()[pair];
        const std::size_t a = 4 * i + 2 * pair;
        out.around_mean[a] = parts.trend_at(out.around.row(a)) + forecast.mean_a;
        out.around_mean[a + 1] = parts.trend_at(out.around.row(a + 1)) + forecast.mean_b;
        out.difference_variance[2 * i + pair] = forecast.variance;
      }
    };
  });
}

void Process::learn_spread(const SpreadEvidence& evidence, MatrixView<const float> points, std::span<const int> left_out,
                           int threads, std::span<double> local, const Control& control) {
  Parts& parts = *parts_;
  const std::size_t groups = static_cast<std::size_t>(parts.places.group.back()) + 1;
  LocalSpread spread = {surprises(evidence, groups), 0.0};
  std::vector<SurpriseSum> around(points.rows);
  const auto work = [&] {
    return [&, near = Neighbourhood()](std::size_t i) mutable {
      const Exclusion exclusion = {.fold = left_out.empty() ? kNoFold : left_out[i]};
      parts.finder.find(points.row(i), parts.neighbours, exclusion, Edges::fading, near);
      around[i] = sum_of(spread.surprise, near);
    };
  };
  for_points(points.rows, threads, work, control);
  spread.prior = fit_prior(evidence, around);
  for (std::size_t i = 0; i < points.rows; ++i) local[i] = spread.prior > 0.0 ? around[i].with(spread.prior) : 1.0;
  set_local_spread(spread.prior > 0.0 ? std::move(spread) : LocalSpread());
}

const LocalSpread& Process::local_spread() const { return parts_->spread; }

void Process::set_local_spread(LocalSpread spread) { parts_->spread = std::move(spread); }

}  // namespace drift
