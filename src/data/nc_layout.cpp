#include "data/nc_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netcdf.h>

#include <algorithm>
#include <cmath>

#include "data/describe.h"
#include "data/nc_grid_mapping.h"
#include "data/nc_roles.h"
#include "data/platform_names.h"
#include "data/time_units.h"
#include "data/unread.h"
#include "data/words.h"
#include "drift/error.h"

namespace drift {
namespace {

using Names = PresetRow::Names;

bool is_along(const NcVariable* variable, const NcDimension& dimension) {
  return variable != nullptr && std::any_of(variable->dimensions.begin(), variable->dimensions.end(),
                                            [&](const NcDimension& d) { return d.id == dimension.id; });
}

class LayoutFinder {
 public:
  LayoutFinder(const NcSource& file, const NcVariable& value, const PresetRow* preset, const ReadOptions& options,
               const RowFilter& filter)
      : file_(file), options_(options), preset_(preset), value_(value), finder_(file, value_) {
    layout_.preset = preset_;
    layout_.value = &value_;
    layout_.conditions = filter.where;
  }

  NcLayout find() && {
    describe_value();
    find_position();
    find_time();
    find_sigma();
    if (options_.quality_control) add_quality();
    find_conditions();
    check_dimensions();
    layout_.layout = data_layout();
    find_platform();
    find_track();
    const bool is_trajectory = preset_ != nullptr || lower(file_.text("featureType").value_or("")) == "trajectory";
    layout_.in_order = layout_.layout == DataLayout::along_track && is_trajectory && !options_.any_order;
    fill_roles();
    return std::move(layout_);
  }

 private:
  template <class... Args>
  [[noreturn]] void fail_usage(fmt::format_string<Args...> text, Args&&... args) const {
    throw UsageError(fmt::format("{}: {}", file_.path().string(), fmt::format(text, std::forward<Args>(args)...)));
  }

  std::string text(const NcVariable* variable, const char* attribute) const {
    return file_.text(*variable, attribute).value_or("");
  }

  void describe_value() {
    layout_.info = {value_.base_name(), text(&value_, "long_name"), text(&value_, "standard_name"), text(&value_, "units")};
    describe(layout_.info, options_, layout_.warnings);
  }

  // Conditions on variables that are in the file. User's conditions come first: they are what is counted first.
  void add_quality() {
    if (preset_ == nullptr) return;
    const std::string base = value_.base_name();
    for (const QualityRule& rule : preset_->quality) {
      if (!rule.values.empty() && std::find(rule.values.begin(), rule.values.end(), base) == rule.values.end()) continue;
      if (rule.valid) layout_.quality_valid = rule.valid;
      for (const std::string_view text : rule.conditions) {
        Condition condition = parse_condition(std::string(text));
        condition.quality = true;
        if (finder_.closest(condition.name) != nullptr) layout_.conditions.push_back(std::move(condition));
      }
    }
  }

  void find_position() {
    const Roles& roles = options_.roles;
    const bool wants_degrees = !roles.lon.empty() || !roles.lat.empty();
    const bool wants_plane = !roles.x.empty() || !roles.y.empty();
    if (wants_degrees && wants_plane) fail_usage("the options give both lon or lat and x or y; a position is one or the other");
    const Names none;
    if (!wants_plane) {
      layout_.x = finder_.find(kNcLon, roles.lon, preset_ != nullptr ? preset_->lon : none);
      layout_.y = finder_.find(kNcLat, roles.lat, preset_ != nullptr ? preset_->lat : none);
      if (layout_.x != nullptr && layout_.y != nullptr) return;
      if (wants_degrees) fail_no_position(layout_.x == nullptr ? "longitude" : "latitude");
    }
    const bool lacks_x = layout_.x == nullptr;
    layout_.x = finder_.find(kNcX, roles.x, none);
    layout_.y = finder_.find(kNcY, roles.y, none);
    if (layout_.x == nullptr || layout_.y == nullptr) {
      fail_no_position(wants_plane ? (layout_.x == nullptr ? "x" : "y") : lacks_x ? "longitude" : "latitude");
    }
    layout_.crs = wants_plane ? std::string() : crs_of(file_, value_);
    layout_.on_plane = layout_.crs.empty();
    layout_.plane_unit = text(layout_.x, "units");
    const std::string other = text(layout_.y, "units");
    if (other != layout_.plane_unit) {
      throw Error(fmt::format("{}: x ('{}') is in \"{}\" and y ('{}') in \"{}\"; they must have one unit", file_.path().string(),
                              layout_.x->name, layout_.plane_unit, layout_.y->name, other));
    }
    if (!layout_.crs.empty()) layout_.metres_per_unit = metres_of_axis(file_, *layout_.x, layout_.crs);
  }

  [[noreturn]] void fail_no_position(const char* what) const {
    fail_usage("no variable along the dimensions of '{}' is known for its {}; name it with an option (lon and lat, or x and y)",
               value_.name, what);
  }

  void find_time() {
    layout_.time = finder_.find(kNcTime, options_.roles.time, preset_ != nullptr ? preset_->time : Names());
    if (layout_.time == nullptr) {
      if (options_.roles.time != kNoRole) warn_of_times();
      return;
    }
    find_time_offset();
    const std::string units = options_.time_units.empty() ? text(layout_.time, "units") : options_.time_units;
    if (!options_.time_units.empty()) {
      layout_.calendar = parse_time_units(units);
      return;
    }
    if (!looks_like_cf_time(units)) return;
    const std::string calendar = lower(text(layout_.time, "calendar"));
    try {
      layout_.calendar = parse_cf_time(units, calendar == "tai" || calendar == "utc" ? "standard" : calendar);
    } catch (const Error& error) {
      throw Error(fmt::format("{}: variable '{}': {}", file_.path().string(), layout_.time->name, error.what()));
    }
    const std::string long_name = text(layout_.time, "long_name");
    const bool says_utc = has_word(long_name, "UTC") || calendar == "utc";
    const bool says_tai = has_word(units, "TAI") || has_word(long_name, "TAI") || calendar == "tai";
    layout_.tai = !says_utc && (says_tai || (preset_ != nullptr && preset_->tai));
  }

  // GHRSST's habit, which others took over: one time for the file, and the seconds by which each value was measured later.
  void find_time_offset() {
    const NcVariable* const offset = finder_.first_of({"sst_dtime"});
    const double seconds = offset == nullptr ? 0.0 : span_seconds(text(offset, "units"));
    if (!(seconds > 0.0)) return;
    layout_.time_offset = offset;
    layout_.seconds_per_offset = seconds;
  }

  // Times that no role took, along the value's dimensions.
  void warn_of_times() {
    for (const NcVariable& variable : file_.variables()) {
      if (&variable == &value_ || !variable.is_number() || !lies_along(variable, value_)) continue;
      if (!looks_like_cf_time(text(&variable, "units")) && !looks_like_time_name(variable.base_name())) continue;
      layout_.warnings.push_back(unread_time("variable", variable.name));
      told_of_times_ = true;
      return;
    }
  }

  void find_sigma() {
    const std::string& option = options_.roles.sigma;
    if (option == kNoRole) return;
    layout_.sigma = option.empty() ? guessed_sigma() : finder_.named(option, "sigma");
    if (layout_.sigma == nullptr) {
      const NcVariable* const error = find_error_of(file_, value_);
      if (error != nullptr) layout_.warnings.push_back(unread_sigma("variable", error->name, value_.name));
      return;
    }
    const std::string unit = text(layout_.sigma, "units");
    if (!layout_.sigma->is_number()) fail_usage("variable '{}' holds text, not standard deviations", layout_.sigma->name);
    if (!unit.empty() && !layout_.info.unit.empty() && unit != layout_.info.unit) {
      fail_usage("sigma ('{}') is in \"{}\" and the value ('{}') in \"{}\"; they must have one unit", layout_.sigma->name, unit,
                 value_.name, layout_.info.unit);
    }
  }

  // Only where one variable alone can be meant.
  const NcVariable* guessed_sigma() const {
    std::vector<const NcVariable*> found;
    for (const std::string& name : split(text(&value_, "ancillary_variables"), ' ')) {
      const NcVariable* const variable = name.empty() ? nullptr : finder_.first_of({name});
      if (variable == nullptr) continue;
      const bool by_standard_name = text(variable, "standard_name").ends_with(" standard_error");
      const bool by_name = name == value_.base_name() + "_uncertainty" || name == value_.base_name() + "_error";
      const std::string unit = text(variable, "units");
      if ((by_standard_name || by_name) && unit == layout_.info.unit) found.push_back(variable);
    }
    return found.size() == 1 ? found.front() : nullptr;
  }

  void find_conditions() {
    for (Condition& condition : layout_.conditions) {
      const NcVariable* const variable = finder_.named(condition.name, "where");
      if (!variable->is_number() && variable->type != NC_CHAR) {  // characters may be digits
        fail_usage("the condition \"{}\": variable '{}' holds text", condition.text, variable->name);
      }
      if (condition.of_text()) use_flag_values(condition, *variable);
      layout_.where.push_back(variable);
    }
  }

  // "surface in ocean, lake" by flag_values and flag_meanings.
  void use_flag_values(Condition& condition, const NcVariable& variable) const {
    const std::vector<double> values = file_.numbers(variable, "flag_values");
    const std::vector<std::string> meanings = split(text(&variable, "flag_meanings"), ' ');
    for (const std::string& word : condition.words) {
      const auto at = std::find(meanings.begin(), meanings.end(), word);
      const auto index = static_cast<std::size_t>(at - meanings.begin());
      if (at == meanings.end() || index >= values.size()) {
        fail_usage("the condition \"{}\": \"{}\" is neither a number nor a meaning of the flag '{}'", condition.text, word,
                   variable.name);
      }
      condition.numbers.push_back(values[index]);
    }
  }

  // Values along a dimension on which nothing depends would be several at one place and time.
  void check_dimensions() const {
    for (const NcDimension& dimension : value_.dimensions) {
      const bool known = is_along(layout_.x, dimension) || is_along(layout_.y, dimension) || is_along(layout_.time, dimension);
      bool chosen = false;
      for (std::size_t i = 0; i < layout_.where.size(); ++i) {
        chosen = chosen || (!layout_.conditions[i].quality && is_along(layout_.where[i], dimension));
      }
      if (known || chosen || dimension.length <= 1) continue;
      const bool has_level = preset_ != nullptr && !preset_->level.empty();
      fail_usage(
          "'{}' has {} values along the dimension '{}' for every position and time; choose with conditions on a variable "
          "along it, such as {}",
          value_.name, dimension.length, dimension.name,
          has_level ? fmt::format("\"{0} >= 95\" and \"{0} <= 105\"", preset_->level)
                    : fmt::format("\"{} == 0\"", dimension.name));
    }
  }

  DataLayout data_layout() const {
    const NcVariable &x = *layout_.x, &y = *layout_.y;
    if (x.dimensions.empty() || y.dimensions.empty()) return DataLayout::points;
    if (layout_.time != nullptr && !layout_.time->dimensions.empty()) {
      if (lies_along(x, *layout_.time) && lies_along(y, *layout_.time)) return DataLayout::along_track;
      if (lies_along(*layout_.time, x) && lies_along(*layout_.time, y)) return DataLayout::swath;
    }
    const bool two_dimensional = x.dimensions.size() > 1 && y.dimensions.size() > 1;
    const bool axes =
        std::none_of(x.dimensions.begin(), x.dimensions.end(), [&](const NcDimension& d) { return is_along(&y, d); });
    return two_dimensional || axes ? DataLayout::grid : DataLayout::points;
  }

  // A satellite's own file: a grid's attributes list all that it was made from.
  bool is_of_one_platform() const { return layout_.layout == DataLayout::along_track || layout_.layout == DataLayout::swath; }

  void find_platform() {
    const std::string& option = options_.roles.platform;
    if (option == kNoRole) return;
    if (!option.empty()) {
      find_named_platform(option);
      return;
    }
    const Names usual = {"platform", "satellite", "mission"};
    const NcVariable* const variable = finder_.first_of(usual);
    layout_.platform = variable != nullptr && !variable->dimensions.empty() ? variable : text_along_value(usual);
    if (layout_.platform != nullptr) return;
    if (!is_of_one_platform()) return;
    for (const char* attribute : {"platform", "mission_name", "mission", "platform_name", "satellite"}) {
      layout_.platform_name = platform_called(file_.text(attribute).value_or(""));
      if (!layout_.platform_name.empty()) return;
    }
  }

  const NcVariable* text_along_value(const Names& names) const {
    for (const std::string_view name : names) {
      const NcVariable* const variable = file_.find(std::string(name));
      if (variable == nullptr || variable->is_number() || variable->dimensions.empty()) continue;
      if (is_along(&value_, variable->dimensions.front())) return variable;
    }
    return nullptr;
  }

  // A variable, of numbers or of text with one more dimension for its letters; or an attribute of the file.
  void find_named_platform(const std::string& name) {
    const NcVariable* const variable = file_.find(name);
    if (variable != nullptr && !variable->is_number()) {
      layout_.platform = variable;
      return;
    }
    layout_.platform_name = variable == nullptr ? file_.text(name).value_or("") : std::string();
    if (layout_.platform_name.empty()) layout_.platform = finder_.named(name, "platform");
  }

  void find_track() {
    const std::string& option = options_.roles.track;
    if (option == kNoRole) return;
    if (!option.empty()) {
      layout_.track = finder_.named(option, "track");
      if (!layout_.track->is_number()) fail_usage("variable '{}' (--track) holds text", layout_.track->name);
    } else {
      const Names usual = {"track", "pass", "pass_number"};
      const NcVariable* const found = finder_.first_of(preset_ != nullptr && !preset_->track.empty() ? preset_->track : usual);
      const bool whole_numbers = found != nullptr && found->type != NC_FLOAT && found->type != NC_DOUBLE;
      if (whole_numbers && !found->dimensions.empty()) layout_.track = found;
    }
    if (layout_.track != nullptr) {
      const NcVariable* const cycle = finder_.first_of({"cycle", "cycle_number"});
      if (cycle != nullptr && cycle != layout_.track) layout_.cycle = cycle;
    } else if (preset_ != nullptr && !preset_->pass_attribute.empty() && is_of_one_platform()) {
      const std::vector<double> pass = file_.numbers(std::string(preset_->pass_attribute));
      const std::vector<double> cycle = file_.numbers("cycle_number");
      if (pass.size() == 1) layout_.pass_label = fmt::format("{:g}/{:g}", cycle.size() == 1 ? cycle[0] : 0.0, pass[0]);
    }
    const bool has_passes = layout_.track != nullptr || !layout_.pass_label.empty();
    if (has_passes && layout_.time == nullptr && options_.roles.time != kNoRole && !told_of_times_) {
      layout_.warnings.emplace_back(kPassesWithoutTimes);
    }
  }

  void fill_roles() {
    Roles& roles = layout_.roles;
    const auto name = [](const NcVariable* variable) { return variable == nullptr ? std::string() : variable->name; };
    (layout_.on_plane || !layout_.crs.empty() ? roles.x : roles.lon) = name(layout_.x);
    (layout_.on_plane || !layout_.crs.empty() ? roles.y : roles.lat) = name(layout_.y);
    roles.time = name(layout_.time);
    roles.value = name(layout_.value);
    roles.sigma = name(layout_.sigma);
    roles.track = name(layout_.track);
    roles.platform = name(layout_.platform);
  }

  const NcSource& file_;
  const ReadOptions& options_;
  const PresetRow* preset_;
  const NcVariable& value_;
  NcRoleFinder finder_;
  NcLayout layout_;
  bool told_of_times_ = false;  // that a variable may hold them
};

}  // namespace

std::vector<NcLayout> find_layouts(const NcSource& file, const ReadOptions& options, const RowFilter& filter) {
  const PresetRow* const preset = find_preset(options.preset, file);
  std::vector<NcLayout> layouts;
  for (const NcVariable* value : find_values(file, options.roles.value, preset)) {
    layouts.push_back(LayoutFinder(file, *value, preset, options, filter).find());
  }
  return layouts;
}

std::string quality_words(const NcLayout& layout, const Range& valid) {
  return fmt::format("{} from {:g} to {:g}", layout.info.name, valid.low, valid.high);
}

std::vector<std::string> quality_words(const NcLayout& layout) {
  std::vector<std::string> words;
  for (const Condition& condition : layout.conditions) {
    if (condition.quality) words.push_back(condition.text);
  }
  if (layout.quality_valid) words.push_back(quality_words(layout, *layout.quality_valid));
  return words;
}

}  // namespace drift
