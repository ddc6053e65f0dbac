#include <fmt/format.h>

#include <algorithm>

#include "drift/did_you_mean.h"
#include "drift/domain.h"
#include "drift/error.h"
#include "drift/interpolator.h"
#include "drift/run_settings.h"

namespace drift {

FitChoice fit_choice(const std::string& text) {
  if (const auto own = from_word<FitMethod>(text)) return *own;
  const std::size_t colon = std::min(text.find(':'), text.size());
  FitChoice choice(FitMethod::other);
  choice.name = text.substr(0, colon);
  std::vector<std::string_view> known = words_of<FitMethod>();
  for (const MethodInfo& method : method_infos()) known.push_back(method.name);
  if (from_word<FitMethod>(choice.name) || std::find(known.begin(), known.end(), choice.name) == known.end()) {
    throw UsageError(fmt::format("[fit] method: there is no method '{}'{}", text, did_you_mean(choice.name, known)));
  }
  make_interpolator(text, sphere_domain());  // refuses names, values and ranges of options; any domain does
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
