#include "baselines/method_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drift/did_you_mean.h"
#include "drift/error.h"
#include "drift/parse_number.h"

namespace drift {
namespace {

std::vector<std::string> option_names(const MethodInfo& method) {
  std::vector<std::string> names;
  for (const MethodOption& option : method.options) names.push_back(option.name);
  return names;
}

std::string among(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

double parse(const std::string& method, const std::string& name, const std::string& text) {
  if (const auto value = parse_number<double>(text)) return *value;
  throw UsageError(fmt::format("method {}: {} must be a number, not '{}'", method, name, text));
}

}  // namespace

MethodSettings::MethodSettings(const MethodInfo& method, const std::string& text) : method_(method.name) {
  const std::vector<std::string> names = option_names(method);
  for (std::size_t first = 0; first < text.size();) {
    const std::size_t comma = std::min(text.find(',', first), text.size());
    const std::string entry = text.substr(first, comma - first);
    first = comma + 1;
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == entry.size()) {
      throw UsageError(fmt::format("method {}: '{}' must have the form option=value, as in {}:{}=...; options: {}", method_,
                                   entry, method_, names.empty() ? "option" : names.front(), among(names)));
    }
    const std::string name = entry.substr(0, equals);
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const std::vector<std::string_view> known(names.begin(), names.end());
      throw UsageError(fmt::format("method {} has no option '{}'{}", method_, name, did_you_mean(name, known)));
    }
    if (!texts_.emplace(name, entry.substr(equals + 1)).second) {
      throw UsageError(fmt::format("method {}: {} is given twice", method_, name));
    }
  }
}

std::optional<double> MethodSettings::number(const std::string& name, double low, double high) const {
  const auto found = texts_.find(name);
  if (found == texts_.end()) return std::nullopt;
  const double value = parse(method_, name, found->second);
  if (value < low || value > high) {
    throw UsageError(fmt::format("method {}: {} is {} but must be from {:g} to {:g}", method_, name, found->second, low, high));
  }
  return value;
}

double MethodSettings::number(const std::string& name, double fallback, double low, double high) const {
  return number(name, low, high).value_or(fallback);
}

std::size_t MethodSettings::count(const std::string& name, std::size_t fallback, std::size_t low, std::size_t high) const {
  const auto value = number(name, static_cast<double>(low), static_cast<double>(high));
  if (!value) return fallback;
  if (*value != std::floor(*value)) {
    throw UsageError(fmt::format("method {}: {} must be a whole number, not {}", method_, name, texts_.at(name)));
  }
  return static_cast<std::size_t>(*value);
}

std::string MethodSettings::word(const std::string& name, const std::string& fallback,
                                 const std::vector<std::string>& choices) const {
  const auto found = texts_.find(name);
  if (found == texts_.end()) return fallback;
  if (std::find(choices.begin(), choices.end(), found->second) == choices.end()) {
    throw UsageError(fmt::format("method {}: {} is '{}' but must be one of {}", method_, name, found->second, among(choices)));
  }
  return found->second;
}

bool MethodSettings::either(const char* one, const char* other, const std::string& name, bool fallback) const {
  return word(name, fallback ? one : other, {one, other}) == one;
}

std::string words_text(const std::vector<std::string_view>& words) {
  return words.size() < 2 ? fmt::format("{}", fmt::join(words, ""))
                          : fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

}  // namespace drift
