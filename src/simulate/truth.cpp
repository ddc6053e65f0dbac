#include "drift/truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>

#include "core/blocks.h"
#include "drift/error.h"
#include "netcdf/guarded_open.h"
#include "simulate/truth_layout.h"
#include "simulate/truth_stencil.h"

namespace drift {
namespace {

constexpr std::size_t kStencils = 4096;                      // points at a time
constexpr std::size_t kCacheBytes = std::size_t{512} << 20;  // of slices kept
constexpr std::size_t kFewestSlices = 4;

// Between which two times, and how far from the first to the second.
struct Moment {
  std::size_t first;
  double share;  // negative: outside
};

class GridTruth {
 public:
  GridTruth(const std::filesystem::path& path, const std::string& variable, const Control& control)
      : file_(open_guarded(path, kOpenLimitS, control)),
        gridded_(find_gridded(file_, variable)),
        packing_(file_.packing(*gridded_.variable)),
        stencils_(make_stencil_finder(gridded_)) {}

  const VariableInfo& info() const { return gridded_.info; }

  // Half a step more than the file has times.
  std::optional<Range> time_days() const {
    const std::vector<double>& times = gridded_.time_days;
    if (times.empty()) return std::nullopt;
    const std::size_t last = times.size() - 1;
    return Range{times[0] - 0.5 * (times[1] - times[0]), times[last] + 0.5 * (times[last] - times[last - 1])};
  }

  void evaluate(std::span<const UnitVector> points, std::span<const double> time_days, std::span<double> values) const {
    std::vector<Stencil> stencils(std::min(kStencils, points.size()));
    Slices slices;
    for_blocks(points.size(), kStencils, [&](std::size_t first, std::size_t count) {
      stencils_->find(points.subspan(first, count), stencils);
      for (std::size_t i = 0; i < count; ++i) values[first + i] = at(stencils[i], time_days[first + i], slices);
    });
  }

 private:
  using Slice = std::shared_ptr<const std::vector<float>>;
  // The two that the last point needed: the next one mostly needs them too.
  struct Slices {
    std::size_t first = std::numeric_limits<std::size_t>::max();
    Slice before, after;
  };

  Moment moment_of(double time_days_wanted) const {
    const std::vector<double>& times = gridded_.time_days;
    if (times.empty()) return {0, 0.0};
    const std::optional<Range> known = time_days();
    if (!(time_days_wanted >= known->low && time_days_wanted <= known->high)) return {0, -1.0};
    const double within = std::clamp(time_days_wanted, times.front(), times.back());
    const auto after = std::upper_bound(times.begin() + 1, times.end() - 1, within);
    const auto first = static_cast<std::size_t>(after - times.begin()) - 1;
    return {first, (within - times[first]) / (times[first + 1] - times[first])};
  }

  static double value_in(const std::vector<float>& slice, const Stencil& stencil) {
    double sum = 0.0, weights = 0.0;
    for (std::size_t k = 0; k < stencil.at.size(); ++k) {
      if (stencil.weight[k] == 0.0) continue;
      sum += stencil.weight[k] * static_cast<double>(slice[stencil.at[k]]);
      weights += stencil.weight[k];
    }
    return weights == 0.0 ? std::nan("") : sum;
  }

  double at(const Stencil& stencil, double time_days_wanted, Slices& slices) const {
    const Moment moment = moment_of(time_days_wanted);
    if (moment.share < 0.0) return std::nan("");
    if (slices.first != moment.first) {
      const bool two = gridded_.time_days.size() > 1;
      slices = {moment.first, slice(moment.first), two ? slice(moment.first + 1) : nullptr};
    }
    double value = 0.0;
    if (moment.share < 1.0) value += (1.0 - moment.share) * value_in(*slices.before, stencil);
    if (moment.share > 0.0) value += moment.share * value_in(*slices.after, stencil);
    return value;
  }

  Slice slice(std::size_t time) const {
    const std::scoped_lock lock(mutex_);
    if (const auto found = cache_.find(time); found != cache_.end()) return found->second;
    const std::size_t bytes = sizeof(float) * stencils_->rows * stencils_->columns;
    if (cache_.size() >= std::max(kFewestSlices, kCacheBytes / std::max<std::size_t>(1, bytes))) {
      cache_.erase(order_.front());
      order_.pop_front();
    }
    order_.push_back(time);
    return cache_[time] = std::make_shared<const std::vector<float>>(load(time));
  }

  // [rows, columns], south to north and west to east, with what closes the grid around the Earth.
  std::vector<float> load(std::size_t time) const {
    const NcSlice read = read_slice(file_, gridded_, time);
    const std::size_t ny = read.rows, nx = read.columns;
    const std::size_t columns = stencils_->columns, first_row = stencils_->pole_south ? 1 : 0;
    std::vector<float> slice(stencils_->rows * columns, std::numeric_limits<float>::quiet_NaN());
    for (std::size_t row = 0; row < ny; ++row) {
      float* out = slice.data() + (first_row + row) * columns;
      for (std::size_t column = 0; column < nx; ++column) out[column] = static_cast<float>(packing_.unpack(read.at(row, column)));
      if (stencils_->closed) out[nx] = out[0];
    }
    if (stencils_->pole_south) fill_pole(slice, 0, 1, nx);
    if (stencils_->pole_north) fill_pole(slice, stencils_->rows - 1, stencils_->rows - 2, nx);
    return slice;
  }

  // A pole has one value: the mean of the row nearest to it; none where that row is not whole.
  void fill_pole(std::vector<float>& slice, std::size_t pole_row, std::size_t nearest_row, std::size_t nx) const {
    const float* row = slice.data() + nearest_row * stencils_->columns;
    const double mean = std::accumulate(row, row + nx, 0.0) / static_cast<double>(nx);
    float* pole = slice.data() + pole_row * stencils_->columns;
    std::fill(pole, pole + stencils_->columns, static_cast<float>(mean));
  }

  NcReader file_;
  GriddedVariable gridded_;
  NcPacking packing_;
  std::unique_ptr<StencilFinder> stencils_;
  mutable std::mutex mutex_;
  mutable std::map<std::size_t, Slice> cache_;
  mutable std::deque<std::size_t> order_;  // of the cache's slices, the oldest first
};

}  // namespace

NamedTruth truth_from_file(const std::filesystem::path& path, const std::string& variable, const Control& control) {
  const auto grid = std::make_shared<const GridTruth>(path, variable, control);
  control.check_stop();
  return {.truth = [grid](auto points, auto times, auto values) { grid->evaluate(points, times, values); },
          .info = grid->info(),
          .time_days = grid->time_days()};
}

NamedTruth synthetic_truth(const SyntheticFieldOptions& options) {
  constexpr double kEver = std::numeric_limits<double>::infinity();
  const auto field = std::make_shared<const SyntheticField>(options);
  return {.truth = [field](auto points, auto times, auto values) { field->evaluate(points, times, values); },
          .info = {.name = "synthetic", .long_name = "Synthetic field", .standard_name = {}, .unit = "1"},
          .time_days = options.moves() ? std::optional(Range{-kEver, kEver}) : std::nullopt};
}

}  // namespace drift
