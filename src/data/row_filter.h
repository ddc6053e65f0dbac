#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/condition.h"
#include "drift/read_observations.h"

namespace drift {

// Selects observations of a file.
struct RowFilter {
  std::vector<Condition> where;
  std::optional<Range> valid;
  std::optional<std::array<double, 4>> box;
  std::optional<Range> time;

  // Why an observation is not wanted, by value, position and time; empty where it is. Without times there is no time to check.
  std::string_view refusal(double lon_or_x, double lat_or_y, const double* time_days, double value, bool on_plane) const;
  bool is_in_box(double lon_or_x, double lat_or_y, bool on_plane) const;
};

// Throws UsageError for a condition that is none and for ranges that hold nothing.
RowFilter make_filter(const ReadOptions& options);

// Rows left out, by reason, in the order in which reasons first came.
void add_rejected(std::vector<Rejected>& to, std::string_view reason, std::size_t count);

}  // namespace drift
