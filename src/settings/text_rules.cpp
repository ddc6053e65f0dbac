#include <fmt/format.h>

#include "data/condition.h"
#include "data/preset.h"
#include "data/time_units.h"
#include "drift/calendar.h"
#include "drift/domain.h"
#include "drift/error.h"
#include "drift/parse_number.h"
#include "drift/truth.h"
#include "geo/check_grid.h"
#include "settings/setting_list.h"

namespace drift {

double time_of_text(const std::string& text) {
  double days = 0.0;
  if (parse_iso_time(text, days)) return days;
  if (const auto number = parse_number<double>(text)) return *number;
  throw UsageError(fmt::format("'{}' is neither a time, such as 2020-03-01 or 2020-03-01T06:00, nor a number", text));
}

void check_preset_text(const std::string& text) { preset_named(text); }
void check_time_text(const std::string& text) { time_of_text(text); }
void check_time_units_text(const std::string& text) { parse_time_units(text); }
void check_condition_text(const std::string& text) { parse_condition(text); }
void check_plane_crs(const std::string& text) { plane_domain(text); }
void check_grid_text(const std::string& text) {
  if (!text.starts_with("file:") && !text.ends_with(".nc")) check_grid(text);
}
void check_truth_text(const std::string& text) {
  if (names_synthetic(text)) parse_synthetic(text);
}

std::string misread(const SettingRule& rule, const std::string& text) {
  if (rule.parse == nullptr || text.empty()) return "";
  try {
    rule.parse(text);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

}  // namespace drift
