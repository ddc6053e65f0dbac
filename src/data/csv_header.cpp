#include "data/csv_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "data/csv_field.h"
#include "data/words.h"
#include "drift/did_you_mean.h"
#include "drift/error.h"

namespace drift {
namespace {

struct RoleNames {
  const char* option;  // in Roles
  std::string Roles::*wanted;
  std::vector<std::string_view> usual;  // names, in lower case
  bool required;
};

const RoleNames kLon = {"lon", &Roles::lon, {"lon", "longitude", "lon_deg"}, true};
const RoleNames kLat = {"lat", &Roles::lat, {"lat", "latitude", "lat_deg"}, true};
const RoleNames kX = {"x", &Roles::x, {"x", "easting"}, true};
const RoleNames kY = {"y", &Roles::y, {"y", "northing"}, true};
const RoleNames kTime = {"time", &Roles::time, {"time", "date", "datetime", "t", "time_days"}, false};
const RoleNames kValue = {"value", &Roles::value, {"value"}, true};
const RoleNames kSigma = {"sigma", &Roles::sigma, {"sigma", "sd", "error", "uncertainty"}, false};
const RoleNames kTrack = {"track", &Roles::track, {"track", "pass", "cycle_pass"}, false};
const RoleNames kPlatform = {"platform", &Roles::platform, {"platform", "satellite", "mission"}, false};

// "Longitude [degrees]" is "longitude".
std::string without_unit(std::string_view name) {
  name = name.substr(0, name.find_first_of("(["));
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  return lower(name);
}

class RoleFinder {
 public:
  RoleFinder(const std::string& file, const Roles& wanted, const std::vector<std::string>& names)
      : file_(file), wanted_(wanted), names_(names), claimed_(names.size(), false) {
    for (const RoleNames* role : {&kLon, &kLat, &kX, &kY, &kTime, &kValue, &kSigma, &kTrack, &kPlatform}) {
      const std::string& name = wanted.*role->wanted;
      if (!name.empty() && name != kNoRole) claimed_[named(role->option, name)] = true;
    }
  }

  bool is_wanted(const RoleNames& role) const { return !(wanted_.*role.wanted).empty(); }
  bool can_guess(const RoleNames& role) const { return !guesses(role).empty(); }

  std::size_t find(const RoleNames& role) const {
    const std::string& name = wanted_.*role.wanted;
    if (name == kNoRole && role.required) fail("the option '{}' is \"{}\", but that column is needed", role.option, name);
    if (name == kNoRole) return kNoColumn;
    if (!name.empty()) return named(role.option, name);
    const std::vector<std::size_t> found = guesses(role);
    if (found.size() == 1) return found.front();
    if (found.empty() && !role.required) return kNoColumn;
    if (&role == &kValue && found.empty()) {
      if (const std::vector<std::size_t> left = without_role(); left.size() == 1) return left.front();
    }
    if (found.empty()) {
      fail("no column is called {}; name the right one with the option '{}'", fmt::join(role.usual, " or "), role.option);
    }
    fail("both \"{}\" and \"{}\" could be the {}; name the right one with the option '{}'{}", names_[found[0]], names_[found[1]],
         role.option, role.option, role.required ? "" : fmt::format(", or \"{}\" for none", kNoRole));
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    std::vector<std::string> shown;
    for (const std::string& name : names_) shown.push_back(fmt::format("\"{}\"", excerpt(name)));
    throw UsageError(
        fmt::format("{}: {}. Its columns are {}", file_, fmt::format(text, std::forward<Args>(args)...), fmt::join(shown, ", ")));
  }

  // The column that the caller named; `option` is for messages.
  std::size_t named(const char* option, const std::string& name) const {
    std::vector<std::size_t> same, alike;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) same.push_back(i);
      if (lower(names_[i]) == lower(name)) alike.push_back(i);
    }
    const std::vector<std::size_t>& found = same.empty() ? alike : same;
    if (found.size() == 1) return found.front();
    if (found.size() > 1) fail("{} columns are called \"{}\" (the option '{}')", found.size(), name, option);
    std::vector<std::string> shown;
    for (const std::string& each : names_) shown.push_back(excerpt(each));
    const std::vector<std::string_view> known(shown.begin(), shown.end());
    throw UsageError(fmt::format("{}: no column \"{}\" (the option '{}'){}", file_, name, option, did_you_mean(name, known)));
  }

 private:
  // Columns that no option names and that are called like no role.
  std::vector<std::size_t> without_role() const {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto is_called_like = [&, name = without_unit(names_[i])](const RoleNames* role) {
        return std::find(role->usual.begin(), role->usual.end(), name) != role->usual.end();
      };
      const std::array<const RoleNames*, 9> roles = {&kLon, &kLat, &kX, &kY, &kTime, &kValue, &kSigma, &kTrack, &kPlatform};
      if (!claimed_[i] && std::none_of(roles.begin(), roles.end(), is_called_like)) left.push_back(i);
    }
    return left;
  }

  std::vector<std::size_t> guesses(const RoleNames& role) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::string name = without_unit(names_[i]);
      if (!claimed_[i] && std::find(role.usual.begin(), role.usual.end(), name) != role.usual.end()) found.push_back(i);
    }
    return found;
  }

  const std::string& file_;
  const Roles& wanted_;
  const std::vector<std::string>& names_;
  std::vector<bool> claimed_;  // by an option, so not to be guessed for another role
};

}  // namespace

char detect_separator(std::string_view header) {
  constexpr std::array<char, 3> kSeparators = {',', ';', '\t'};
  std::array<std::size_t, 3> counts = {};
  bool quoted = false;
  for (const char c : header) {
    quoted = quoted != (c == '"');
    for (std::size_t i = 0; i < kSeparators.size(); ++i) counts[i] += static_cast<std::size_t>(!quoted && c == kSeparators[i]);
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  return *most == 0 ? ' ' : kSeparators[static_cast<std::size_t>(most - counts.begin())];
}

void assign_roles(const std::string& file, const Roles& wanted, CsvLayout& layout) {
  assign_positions(file, wanted, layout);
  const RoleFinder finder(file, wanted, layout.names);
  for (const auto& [role, names] : {std::pair(CsvRole::value, &kValue), std::pair(CsvRole::sigma, &kSigma),
                                    std::pair(CsvRole::track, &kTrack), std::pair(CsvRole::platform, &kPlatform)}) {
    layout.column[static_cast<std::size_t>(role)] = finder.find(*names);
  }
}

void assign_positions(const std::string& file, const Roles& wanted, CsvLayout& layout) {
  const RoleFinder finder(file, wanted, layout.names);
  const bool wants_degrees = finder.is_wanted(kLon) || finder.is_wanted(kLat);
  const bool wants_plane = finder.is_wanted(kX) || finder.is_wanted(kY);
  if (wants_degrees && wants_plane) finder.fail("the options give both lon or lat and x or y; a position is one or the other");
  const bool can_guess_plane = finder.can_guess(kX) || finder.can_guess(kY);
  layout.on_plane = wants_plane || (!wants_degrees && can_guess_plane && !finder.can_guess(kLon) && !finder.can_guess(kLat));
  layout.column.fill(kNoColumn);
  layout.column[static_cast<std::size_t>(CsvRole::lon)] = finder.find(layout.on_plane ? kX : kLon);
  layout.column[static_cast<std::size_t>(CsvRole::lat)] = finder.find(layout.on_plane ? kY : kLat);
  layout.column[static_cast<std::size_t>(CsvRole::time)] = finder.find(kTime);
}

void assign_filter(const std::string& file, const RowFilter& filter, CsvLayout& layout) {
  layout.filter = filter;
  const Roles none;
  const RoleFinder finder(file, none, layout.names);
  for (const Condition& condition : filter.where) layout.where_column.push_back(finder.named("where", condition.name));
}

std::string unit_in_name(std::string_view name) {
  const std::size_t open = name.find_first_of("([");
  if (open == std::string_view::npos) return {};
  const std::size_t close = name.find_first_of(")]", open);
  return std::string(stripped(name.substr(open + 1, close == std::string_view::npos ? close : close - open - 1)));
}

Roles columns_in_use(const CsvLayout& layout) {
  const auto name = [&](CsvRole role) { return layout.has(role) ? layout.name_of(role) : std::string(); };
  Roles columns;
  (layout.on_plane ? columns.x : columns.lon) = name(CsvRole::lon);
  (layout.on_plane ? columns.y : columns.lat) = name(CsvRole::lat);
  columns.time = name(CsvRole::time);
  columns.value = name(CsvRole::value);
  columns.sigma = name(CsvRole::sigma);
  columns.track = name(CsvRole::track);
  columns.platform = name(CsvRole::platform);
  return columns;
}

Roles roles_of_columns(const std::string& table, const std::vector<std::string>& columns, const Roles& given) {
  CsvLayout layout;
  layout.names = columns;
  assign_roles(table, given, layout);
  return columns_in_use(layout);
}

}  // namespace drift
