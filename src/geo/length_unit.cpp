#include "geo/length_unit.h"

#include <fmt/format.h>
#include <proj.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "drift/error.h"
#include "geo/proj_handles.h"
#include "geo/projection.h"

namespace drift {
namespace {

constexpr double kFoot = 0.3048, kUsFoot = 1200.0 / 3937.0;

// Units common in files, so that PROJ's database is seldom queried. UDUNITS' foot and mile are the international ones.
constexpr std::array<std::pair<std::string_view, double>, 33> kCommon = {{
    {"m", 1.0},
    {"meter", 1.0},
    {"metre", 1.0},
    {"km", 1000.0},
    {"kilometer", 1000.0},
    {"kilometre", 1000.0},
    {"dm", 0.1},
    {"decimeter", 0.1},
    {"decimetre", 0.1},
    {"cm", 0.01},
    {"centimeter", 0.01},
    {"centimetre", 0.01},
    {"mm", 0.001},
    {"millimeter", 0.001},
    {"millimetre", 0.001},
    {"ft", kFoot},
    {"foot", kFoot},
    {"international foot", kFoot},
    {"us survey foot", kUsFoot},
    {"survey foot", kUsFoot},
    {"us foot", kUsFoot},
    {"foot us", kUsFoot},
    {"us ft", kUsFoot},
    {"ftus", kUsFoot},
    {"yd", 3 * kFoot},
    {"yard", 3 * kFoot},
    {"mi", 5280 * kFoot},
    {"mile", 5280 * kFoot},
    {"international mile", 5280 * kFoot},
    {"us survey mile", 5280 * kUsFoot},
    {"nmi", 1852.0},
    {"nautical mile", 1852.0},
    {"fathom", 6 * kFoot},
}};

// Lower case, one space between words, no brackets, the last word or "feet" in the singular.
std::string normal(std::string_view unit) {
  std::string text;
  for (const char c : unit) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
    if (letter) text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!letter && !text.empty() && text.back() != ' ') text += ' ';
  }
  while (text.ends_with(' ')) text.pop_back();
  if (const std::size_t feet = text.find("feet"); feet != std::string::npos) text.replace(feet, 4, "foot");
  if (text.size() > 3 && text.ends_with('s') && !text.ends_with("us")) text.pop_back();
  return text;
}

using NamedUnit = std::pair<std::string, double>;

// The names and short names of PROJ's database, which has EPSG's: "Clarke's foot", "ind-yd".
std::vector<NamedUnit> units_of_database() {
  const ProjContext context(proj_context_create());
  proj_log_level(context.get(), PJ_LOG_NONE);
  int count = 0;
  PROJ_UNIT_INFO** const units = proj_get_units_from_database(context.get(), nullptr, "linear", 1, &count);
  if (units == nullptr) return {};
  std::vector<NamedUnit> named;
  for (int i = 0; i < count; ++i) {
    if (!(units[i]->conv_factor > 0.0)) continue;
    named.emplace_back(normal(units[i]->name), units[i]->conv_factor);
    if (units[i]->proj_short_name != nullptr) named.emplace_back(normal(units[i]->proj_short_name), units[i]->conv_factor);
  }
  proj_unit_list_destroy(units);
  return named;
}

std::optional<double> metres_in_database(const std::string& name) {
  static const std::vector<NamedUnit> known = units_of_database();  // opening the database takes milliseconds
  const auto found = std::find_if(known.begin(), known.end(), [&](const NamedUnit& unit) { return unit.first == name; });
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::optional<double> metres_of(const std::string& unit) {
  if (unit == "Mm") return 1e6;  // the one symbol whose case matters
  const char* const end = unit.data() + unit.size();
  double factor = 1.0;
  const auto [rest, error] = std::from_chars(unit.data(), end, factor);
  if (error == std::errc() && (!(factor > 0.0) || !std::isfinite(factor))) return std::nullopt;
  const std::string name = normal(std::string_view(error == std::errc() ? rest : unit.data(), end));
  const auto common = std::find_if(kCommon.begin(), kCommon.end(), [&](const auto& entry) { return entry.first == name; });
  const std::optional<double> of_one = common != kCommon.end() ? std::optional(common->second)
                                       : name.empty()          ? std::nullopt
                                                               : metres_in_database(name);
  const double metres = factor * of_one.value_or(0.0);  // "1e308 km" is too long for a number, "1e-323 mm" too short
  return metres > 0.0 && std::isfinite(metres) ? std::optional(metres) : std::nullopt;
}

double metres_of_axis(const std::string& unit, const std::string& crs) {
  if (unit.find_first_not_of(' ') == std::string::npos) return projection_of(crs)->metres_per_unit();
  if (const auto metres = metres_of(unit)) return *metres;
  throw Error(fmt::format(
      "\"{}\" is not a unit of length that drift knows, such as m, km, ft or US_survey_foot; correct the attribute 'units', "
      "or name x and y to stay on the plane",
      unit));
}

}  // namespace drift
