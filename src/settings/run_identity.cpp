#include "settings/run_identity.h"

#include <fmt/format.h>

#include <vector>

#include "data/observation_columns.h"
#include "settings/setting_text.h"

namespace drift {
namespace {

struct NamedText {
  std::string name;  // "[model] members"
  std::string text;  // its value as TOML; empty: none
};

std::vector<NamedText> texts_of(const RunSettings& settings, unsigned bearing_on) {
  std::vector<NamedText> texts;
  visit_settings(settings, [&](const char* table, const char* key, const auto& field, const SettingRule& rule) {
    if ((rule.bears & bearing_on) == 0) return;
    texts.push_back({*table == '\0' ? key : fmt::format("[{}] {}", table, key), TomlText()(field)});
  });
  return texts;
}

}  // namespace

void add_settings(Fingerprint& print, const RunSettings& settings, unsigned bearing_on) {
  for (const NamedText& setting : texts_of(settings, bearing_on)) {
    print.add(setting.name);
    print.add(setting.text);
  }
}

void add_observations(Fingerprint& print, const Observations& observations) {
  for_each_column(observations, [&](const auto& column) { print.add(std::span(column)); });
  for (const std::string& name : observations.platform_names) print.add(name);
}

std::string settings_that_differ(const RunSettings& before, const RunSettings& now, unsigned bearing_on) {
  const std::vector<NamedText> was = texts_of(before, bearing_on), is = texts_of(now, bearing_on);
  const auto or_none = [](const std::string& text) { return text.empty() ? "not set" : text; };
  std::string differences;
  for (std::size_t i = 0; i < is.size(); ++i) {
    if (was[i].text == is[i].text) continue;
    differences += fmt::format("{}{} was {} and is {} now", differences.empty() ? "" : "; ", is[i].name, or_none(was[i].text),
                               or_none(is[i].text));
  }
  return differences;
}

}  // namespace drift
