#include <fmt/format.h>

#include <algorithm>

#include "drift/did_you_mean.h"
#include "drift/domain.h"
#include "drift/error.h"
#include "drift/interpolator.h"
#include "drift/run_settings.h"
#include "settings/own_method.h"
#include "settings/setting_list.h"

namespace drift {

void check_method_text(const std::string& text) {
  const std::string own = kOwnMethod, name = text.substr(0, text.find(':'));
  std::vector<std::string_view> known = {kOwnMethod, "all"};
  for (const MethodInfo& method : method_infos()) known.push_back(method.name);
  if (std::find(known.begin(), known.end(), name) == known.end())
    throw UsageError(fmt::format("there is no method '{}'{}", name, did_you_mean(name, known)));
  if (text == own || text.starts_with(own + ":"))
    own_settings(MethodSettings(drift_method_info(), text.substr(std::min(text.size(), own.size() + 1))), {});
  else if (text != "all")
    make_interpolator(text, sphere_domain());  // refuses names, values and ranges of options; any domain does
}

FitChoice fit_choice(const std::string& text) {
  if (const auto own = from_word<FitMethod>(text)) return *own;
  const std::size_t colon = std::min(text.find(':'), text.size());
  FitChoice choice(FitMethod::other);
  choice.name = text.substr(0, colon);
  std::vector<std::string_view> known = words_of<FitMethod>();
  known.emplace_back(kOwnMethod);
  for (const MethodInfo& method : method_infos()) known.push_back(method.name);
  if (from_word<FitMethod>(choice.name) || std::find(known.begin(), known.end(), choice.name) == known.end()) {
    throw UsageError(fmt::format("[fit] method: there is no method '{}'{}", text, did_you_mean(choice.name, known)));
  }
  check_method_text(text);
  for (std::size_t first = colon + 1; first < text.size();) {
    const std::size_t comma = std::min(text.find(',', first), text.size());
    const std::string entry = text.substr(first, comma - first);
    const std::size_t equals = entry.find('=');
    choice.options.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
    first = comma + 1;
  }
  return choice;
}

std::string text_of(const FitChoice& choice) {
  if (choice.parts != FitMethod::other) return std::string(word_of(choice.parts));
  std::string text = choice.name;
  for (const auto& [name, value] : choice.options) {
    text += fmt::format("{}{}={}", text.size() == choice.name.size() ? ":" : ",", name, value);
  }
  return text;
}

}  // namespace drift
