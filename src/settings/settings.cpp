#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <type_traits>

#include "drift/error.h"
#include "drift/parse_number.h"
#include "drift/run_settings.h"
#include "settings/setting_list.h"

namespace drift {
namespace {

// Text of a flag into a field of any type a setting may have.
class FlagText {
 public:
  FlagText(std::string flag, const std::vector<std::string>& texts, const SettingRule& rule)
      : flag_(std::move(flag)), texts_(texts), rule_(rule) {}

  void into(std::string& field) const { field = readable(text()); }
  void into(std::vector<std::string>& field) const {
    field.clear();
    for (const std::string& text : texts_) field.push_back(readable(text));
  }
  template <FieldOfWords Field>
  void into(Field& field) const {
    into(field, text());
  }
  template <EnumWithWords E>
  void into(std::vector<E>& field) const {
    field.clear();
    for (const std::string& text : texts_) into(field.emplace_back(), text);
  }
  void into(std::optional<FitChoice>& field) const { field = text() == kAuto ? std::nullopt : std::optional(fit_choice(text())); }
  void into(bool& field) const { field = true; }
  void into(std::optional<Range>& field) const {
    const auto numbers = parse_numbers<double>(text(), ':', 2);
    if (!numbers || (*numbers)[0] > (*numbers)[1]) fail("must be LOW:HIGH, two numbers in ascending order");
    field = Range{(*numbers)[0], (*numbers)[1]};
  }
  void into(std::optional<std::array<double, 4>>& field) const {
    const auto numbers = parse_numbers<double>(text(), ',', 4);
    if (!numbers) fail("must be four numbers, LON0,LAT0,LON1,LAT1");
    field = {(*numbers)[0], (*numbers)[1], (*numbers)[2], (*numbers)[3]};
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void into(Number& field) const {
    const auto number = parse_number<double>(text());
    if (!number) fail("must be a number");
    if (const std::string why = misfit(rule_, *number, std::is_integral_v<Number>); !why.empty()) fail(why);
    field = static_cast<Number>(*number);
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void into(std::optional<Number>& field) const { into(field.emplace()); }

 private:
  template <FieldOfWords Field>
  void into(Field& field, const std::string& word) const {
    if (!set_from_word(field, word)) refuse_word(flag_, word, Words<Field>::all());
  }
  const std::string& readable(const std::string& text) const {
    if (const std::string why = misread(rule_, text); !why.empty()) throw UsageError(fmt::format("{}: {}", flag_, why));
    return text;
  }
  const std::string& text() const { return texts_.back(); }
  [[noreturn]] void fail(const std::string& why) const { throw UsageError(fmt::format("{} {}: {}", flag_, text(), why)); }

  std::string flag_;
  const std::vector<std::string>& texts_;
  const SettingRule& rule_;
};

template <class Field>
constexpr bool kIsList = false;
template <class Entry>
constexpr bool kIsList<std::vector<Entry>> = true;

template <class Field>
constexpr SettingType kTypeOf = std::is_same_v<Field, bool>       ? SettingType::truth
                                : std::is_integral_v<Field>       ? SettingType::whole_number
                                : std::is_floating_point_v<Field> ? SettingType::number
                                : EnumWithWords<Field>            ? SettingType::word
                                                                  : SettingType::text;
template <class Entry>
constexpr SettingType kTypeOf<std::vector<Entry>> = kTypeOf<Entry>;
template <class Value>
constexpr SettingType kTypeOf<std::optional<Value>> = kTypeOf<Value>;
template <>
constexpr SettingType kTypeOf<std::optional<Range>> = SettingType::range;
template <>
constexpr SettingType kTypeOf<std::optional<std::array<double, 4>>> = SettingType::box;

template <class Field>
std::string help_text(const SettingRule& rule) {
  const std::vector<std::string_view> words = Words<Field>::all();
  return words.empty() ? rule.help : fmt::format("{}: one of {}", rule.help, fmt::join(words, ", "));
}

template <class Field>
std::string fallback_text(const Field& field) {
  if constexpr (std::is_arithmetic_v<Field> && !std::is_same_v<Field, bool>) {
    return fmt::format("{:g}", static_cast<double>(field));
  } else if constexpr (std::is_same_v<Field, std::string>) {
    return field;
  } else if constexpr (EnumWithWords<Field>) {
    return std::string(word_of(field));
  } else if constexpr (std::is_same_v<Field, std::optional<FitChoice>>) {
    return field ? text_of(*field) : std::string(kAuto);
  } else if constexpr (FieldOfWords<Field>) {
    return std::string(field ? word_of(*field) : kAuto);
  } else {
    return "";
  }
}

}  // namespace

const std::vector<SettingInfo>& setting_infos() {
  static const std::vector<SettingInfo> infos = [] {
    std::vector<SettingInfo> list;
    const RunSettings defaults;
    visit_settings(defaults, [&](const char* table, const char* key, const auto& field, const SettingRule& rule) {
      using Field = std::remove_cvref_t<decltype(field)>;
      const std::vector<std::string_view> words = Words<Field>::all();
      list.push_back({table,
                      key,
                      rule.flag,
                      help_text<Field>(rule),
                      fallback_text(field),
                      std::is_same_v<Field, bool>,
                      kIsList<Field>,
                      kTypeOf<Field>,
                      {words.begin(), words.end()},
                      rule.lists_files});
    });
    return list;
  }();
  return infos;
}

void set_from_flag(RunSettings& settings, const std::string& flag, const std::vector<std::string>& texts,
                   const std::string& table, const std::string& called) {
  bool found = false;
  visit_settings(settings, [&](const char* its_table, const char*, auto& field, const SettingRule& rule) {
    if (flag != rule.flag || flag.empty() || found || (!table.empty() && table != its_table)) return;
    found = true;
    FlagText(called.empty() ? flag : called, texts, rule).into(field);
  });
  if (!found) throw UsageError(fmt::format("there is no setting with the flag {}", flag));
}

ReadOptions read_options(const RunSettings& settings) {
  check(settings);
  const DataSettings& data = settings.data;
  ReadOptions options;
  options.roles = data.roles;
  options.preset = data.preset;
  options.where = data.where;
  options.valid = data.valid;
  options.box = data.box;
  options.track_gap_s = data.track_gap_s;
  options.any_order = data.any_order;
  options.quality_control = !data.no_quality_control;
  options.time_units = data.time_units;
  options.units = data.units;
  options.standard_name = data.standard_name;
  options.long_name = data.long_name;
  options.bad_files = data.bad_files;
  options.open_limit_s = data.open_limit_s;
  options.threads = settings.threads;
  if (!data.from.empty() || !data.to.empty()) {
    constexpr double kEver = std::numeric_limits<double>::infinity();
    options.time = Range{data.from.empty() ? -kEver : time_of_text(data.from), data.to.empty() ? kEver : time_of_text(data.to)};
    if (options.time->low > options.time->high) {
      throw UsageError(fmt::format("[data] from {} is later than to {}", data.from, data.to));
    }
  }
  return options;
}

}  // namespace drift
