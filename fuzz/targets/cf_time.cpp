// Units and calendar of a time, a time as text: a line each.

#include "netcdf/cf_time.h"

#include <cmath>

#include "drift/calendar.h"
#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("cf_time", [](std::string_view input) {
  const auto [units, rest] = split(input, '\n');
  const auto [calendar, last] = split(rest, '\n');
  looks_like_cf_time(units);
  double days = 0.0;
  if (parse_iso_time(last, days)) {
    require(std::isfinite(days), "a time is a number");
    iso_time(days);
  }
  const CfTime time = parse_cf_time(units, calendar);
  require(time.days_per_unit > 0.0 && std::isfinite(time.offset_days), "a time unit counts days");
});

}  // namespace
}  // namespace drift::fuzz
