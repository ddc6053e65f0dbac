// Units of times as a user gives them, and the name of a column that may hold times: a line each.

#include "data/time_units.h"

#include <cmath>

#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("time_units", [](std::string_view input) {
  const auto [units, name] = split(input, '\n');
  looks_like_time_name(name);
  const CfTime time = parse_time_units(units);
  require(time.days_per_unit > 0.0 && std::isfinite(time.offset_days), "a time unit counts days");
});

}  // namespace
}  // namespace drift::fuzz
