#include "fields/grid_condition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "core/longitude.h"
#include "drift/calendar.h"
#include "drift/did_you_mean.h"
#include "drift/error.h"
#include "geo/projection.h"
#include "netcdf/cf_time.h"
#include "netcdf/guarded_open.h"

namespace drift {
namespace {

constexpr std::size_t kTimesKept = 8;

const NcVariable& variable_of(const NcReader& file, const std::string& name) {
  const std::vector<const NcVariable*> fields = variables_on_grids(file);
  const NcVariable* const found = file.find(name);
  if (found != nullptr && std::find(fields.begin(), fields.end(), found) != fields.end()) return *found;
  std::vector<std::string_view> names;
  names.reserve(fields.size());
  for (const NcVariable* field : fields) names.push_back(field->name);
  throw UsageError(fmt::format("mask: {}: no variable '{}' on a grid{}", file.path().string(), name, did_you_mean(name, names)));
}

// Days since 1950-01-01, or the file's own numbers.
std::vector<double> times_of(const NcReader& file, const NcVariable& axis) {
  std::vector<double> times = file.read(axis);
  const std::string unit = file.text(axis, "units").value_or("");
  if (!looks_like_cf_time(unit)) return times;
  const CfTime clock = parse_cf_time(unit, file.text(axis, "calendar").value_or(""));
  for (double& time : times) time = clock.to_days(time);
  return times;
}

// The index of the nearest cell; none beyond half a step of the first and the last.
std::optional<std::size_t> nearest(const std::vector<double>& axis, double at) {
  if (std::isnan(at)) return std::nullopt;
  const auto above = std::lower_bound(axis.begin(), axis.end(), at);
  std::size_t index = static_cast<std::size_t>(above - axis.begin());
  if (index == axis.size() || (index > 0 && at - axis[index - 1] < axis[index] - at)) --index;
  if (axis.size() == 1) return index;
  const double gap = index == 0 ? axis[1] - axis[0] : axis[index] - axis[index - 1];
  return std::abs(at - axis[index]) <= 0.5 * gap * (1.0 + 1e-9) ? std::optional(index) : std::nullopt;
}

}  // namespace

bool names_variable(const std::string& text) { return !text.empty() && text.find_first_of(" ,<>=!") == std::string::npos; }

GridCondition::GridCondition(const std::filesystem::path& path, const std::string& condition)
    : file_(open_guarded(path)),
      condition_(names_variable(condition) ? std::nullopt : std::optional(parse_condition(condition))),
      grid_(grid_of(file_, variable_of(file_, condition_ ? condition_->name : condition))) {
  const auto fail = [&](const std::string& why) {
    throw UsageError(fmt::format("mask: {}: variable '{}' {}", path.string(), grid_.variable->name, why));
  };
  if (condition_ && condition_->of_text()) fail(fmt::format("holds numbers, but the condition \"{}\" has words", condition));
  if (!grid_.other_dimensions().empty()) fail(fmt::format("lies along '{}' too", grid_.other_dimensions().front().name));
  read_positions(file_, grid_);
  if (grid_.kind == NcGridKind::curvilinear) nearest_.emplace(grid_.lon, grid_.lat, grid_.columns());
  if (grid_.time == nullptr) return;
  times_ = times_of(file_, *grid_.time);
  if (times_.empty()) fail("has no times");
}

std::size_t GridCondition::index_of(std::optional<double> time) const {
  if (times_.size() < 2) return 0;  // a file of one time holds for all
  if (!time) {
    throw UsageError(fmt::format("mask: {} has {} times, but the model does not vary in time; extract one of them",
                                 file_.path().string(), times_.size()));
  }
  const auto found = std::min_element(times_.begin(), times_.end(),
                                      [&](double a, double b) { return std::abs(a - *time) < std::abs(b - *time); });
  const auto [low, high] = std::minmax_element(times_.begin(), times_.end());
  const double step = (*high - *low) / static_cast<double>(times_.size() - 1);
  if (!(std::abs(*found - *time) <= step)) {
    throw UsageError(fmt::format("mask: {} covers {} to {}, far from {}", file_.path().string(), iso_time(*low), iso_time(*high),
                                 iso_time(*time)));
  }
  return static_cast<std::size_t>(found - times_.begin());
}

const std::vector<char>& GridCondition::cells_at(std::size_t time) {
  if (const auto known = kept_.find(time); known != kept_.end()) return known->second;
  if (kept_.size() >= kTimesKept) kept_.clear();
  const NcSlice slice = read_slice(file_, grid_, time);
  const NcPacking packing = file_.packing(*grid_.variable);
  std::vector<char> holds;
  holds.reserve(slice.stored.size());
  for (std::size_t row = 0; row < slice.rows; ++row) {
    for (std::size_t column = 0; column < slice.columns; ++column) {
      const double value = packing.unpack(slice.at(row, column));
      holds.push_back((condition_ ? condition_->holds(value) : std::isfinite(value)) ? 1 : 0);
    }
  }
  return kept_.emplace(time, std::move(holds)).first->second;
}

std::vector<std::size_t> GridCondition::cells_of(std::span<const double> lon_deg, std::span<const double> lat_deg) const {
  std::vector<std::size_t> cells(lon_deg.size(), kNoCell);
  if (nearest_) {
    nearest_->find(lon_deg, lat_deg, cells);
    return cells;
  }
  std::vector<double> x(lon_deg.begin(), lon_deg.end()), y(lat_deg.begin(), lat_deg.end());
  if (grid_.kind == NcGridKind::projected) projection_of(grid_.crs)->forward(x, y);
  const std::vector<double>& axis = grid_.x.at;
  const double half = axis.size() > 1 ? 0.5 * (axis[1] - axis[0]) : 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (grid_.kind == NcGridKind::geographic) x[i] = turned_from(axis.front() - half - 1e-9, x[i]);
    const auto column = nearest(axis, x[i]), row = nearest(grid_.y.at, y[i]);
    if (column && row) cells[i] = *row * axis.size() + *column;
  }
  return cells;
}

std::vector<char> GridCondition::operator()(std::span<const double> lon_deg, std::span<const double> lat_deg,
                                            std::optional<double> time) {
  const std::vector<char>& holds = cells_at(index_of(time));
  std::vector<char> keep;
  for (const std::size_t cell : cells_of(lon_deg, lat_deg)) keep.push_back(cell == kNoCell ? 0 : holds[cell]);
  return keep;
}

}  // namespace drift
