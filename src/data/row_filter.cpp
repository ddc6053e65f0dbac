#include "data/row_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/longitude.h"
#include "drift/error.h"

namespace drift {
namespace {

void check_range(const char* option, const std::optional<Range>& range) {
  if (range && !(range->low <= range->high)) {
    throw UsageError(fmt::format("{}: the range {} to {} is empty; give the lower limit first", option, range->low, range->high));
  }
}

void check_box(const std::optional<std::array<double, 4>>& box) {
  if (!box) return;
  const bool finite = std::all_of(box->begin(), box->end(), [](double number) { return std::isfinite(number); });
  if (!finite || (*box)[1] > (*box)[3]) {
    throw UsageError(
        fmt::format("--bbox is {}, {}, {}, {}; give west, south, east, north", (*box)[0], (*box)[1], (*box)[2], (*box)[3]));
  }
}

}  // namespace

bool RowFilter::is_in_box(double lon_or_x, double lat_or_y, bool on_plane) const {
  const auto [west, south, east, north] = *box;
  if (lat_or_y < south || lat_or_y > north) return false;
  if (on_plane) return lon_or_x >= west && lon_or_x <= east;
  return lies_between(west, east, lon_or_x);
}

std::string_view RowFilter::refusal(double lon_or_x, double lat_or_y, const double* time_days, double value,
                                    bool on_plane) const {
  if (valid && !(value >= valid->low && value <= valid->high)) return "value outside the valid range";
  if (box && !is_in_box(lon_or_x, lat_or_y, on_plane)) return "outside the box";
  if (time && time_days != nullptr && !(*time_days >= time->low && *time_days <= time->high)) return "outside the time span";
  return {};
}

RowFilter make_filter(const ReadOptions& options) {
  check_range("--valid", options.valid);
  check_range("--from, --to", options.time);
  check_box(options.box);
  RowFilter filter = {{}, options.valid, options.box, options.time};
  for (const std::string& text : options.where) filter.where.push_back(parse_condition(text));
  for (const std::string& text : options.without) {
    filter.where.push_back(parse_condition(text));
    filter.where.back().refused = true;
  }
  return filter;
}

void add_rejected(std::vector<Rejected>& to, std::string_view reason, std::size_t count) {
  if (count == 0) return;
  const auto found = std::find_if(to.begin(), to.end(), [&](const Rejected& r) { return r.reason == reason; });
  if (found != to.end()) {
    found->count += count;
  } else {
    to.push_back({std::string(reason), count});
  }
}

}  // namespace drift
