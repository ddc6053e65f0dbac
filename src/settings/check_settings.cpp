#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "drift/did_you_mean.h"
#include "drift/error.h"
#include "drift/text.h"
#include "settings/setting_list.h"

namespace drift {
namespace {

// One setting against its rule; the type of the field tells what is asked of it.
class OneSetting {
 public:
  OneSetting(const char* table, const char* key, const SettingRule& rule) : table_(table), key_(key), rule_(rule) {}

  void check(bool) const {}
  void check(const std::string& text) const {  // settings are kept with the model, as TOML
    require(is_utf8(text), fmt::format("'{}'", printable(text)), "must be UTF-8; rename the file or column");
    if (rule_.programs_may_differ) return;
    if (const std::string why = misread(rule_, text); !why.empty()) throw UsageError(fmt::format("{}: {}", name(), why));
  }
  void check(const FitChoice& choice) const {
    const bool own = choice.parts != FitMethod::other;
    require(own || !choice.name.empty(), "\"\"", "must name a method");
    require(!own || (choice.name.empty() && choice.options.empty()), text_of(choice), "has options of another method");
    fit_choice(text_of(choice));
  }
  void check(const Range& range) const {
    for (const double end : {range.low, range.high}) require(std::isfinite(end), end, "must be finite");
    require(range.low <= range.high, fmt::format("[{}, {}]", range.low, range.high), "must have its lower end first");
  }
  void check(const std::array<double, 4>& box) const {
    for (const double side : box) require(std::isfinite(side), side, "must be finite");
  }
  template <class Number>
  requires std::is_arithmetic_v<Number>
  void check(Number number) const {
    const std::string why = misfit(rule_, static_cast<double>(number), std::is_integral_v<Number>);
    require(why.empty(), number, why);
  }
  template <EnumWithWords E>
  void check(E value) const {
    require(!word_of(value).empty(), fmt::format("enumerator {}", static_cast<int>(value)), must_be_one_of("", words_of<E>()));
  }
  template <class T>
  void check(const std::optional<T>& value) const {
    if (value) check(*value);
  }
  template <class T>
  void check(const std::vector<T>& values) const {
    for (const T& value : values) check(value);
  }

 private:
  template <class Value>
  void require(bool good, const Value& value, const std::string& why) const {
    if (good) return;
    throw UsageError(fmt::format("{} is {}; it {}", name(), value, why));
  }
  std::string name() const { return *table_ == '\0' ? key_ : fmt::format("[{}] {}", table_, key_); }

  const char* table_;
  const char* key_;
  const SettingRule& rule_;
};

}  // namespace

std::string misfit(const SettingRule& rule, double number, bool whole) {
  if (!std::isfinite(number)) return "must be finite";
  if (whole && number != std::floor(number)) return "must be a whole number";
  const bool good = (rule.more_than_least ? number > rule.least : number >= rule.least) && number <= rule.most;
  if (good) return "";
  std::string range =
      rule.more_than_least ? fmt::format("must be more than {:g}", rule.least) : fmt::format("must be at least {:g}", rule.least);
  if (std::isfinite(rule.most)) range += fmt::format(" and at most {:g}", rule.most);
  return range;
}

void check(const RunSettings& settings) {
  visit_settings(settings, [](const char* table, const char* key, const auto& field, const SettingRule& rule) {
    OneSetting(table, key, rule).check(field);
  });
}

}  // namespace drift
