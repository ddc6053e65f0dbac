#include "fields/model_words.h"

#include "drift/error.h"
#include "fields/part.h"

namespace drift {
std::optional<RunSettings> settings_of(const FieldModel& model) {
  if (model.settings.empty()) return std::nullopt;
  try {
    return run_settings_from_toml(model.settings, "settings");
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::string parts_text(const FieldModel& model) {
  std::string text;
  for (const Part& part : parts_of(model)) text += (text.empty() ? "" : " and ") + part.words().text;
  return text;
}

std::string references_of(const FieldModel& model) {
  std::string references;
  for (const Part& part : parts_of(model)) {
    const std::string own = part.words().references;
    if (!own.empty()) references += (references.empty() ? "" : "; ") + own;
  }
  return references;
}

}  // namespace drift
