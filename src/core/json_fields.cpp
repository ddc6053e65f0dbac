#include "core/json_fields.h"

#include <algorithm>

#include "core/parse_json.h"
#include "drift/did_you_mean.h"

namespace drift {
namespace {

// Settings are a few kilobytes; a text far beyond that is not worth parsing.
constexpr std::size_t kMaxText = std::size_t{256} << 10;
constexpr std::size_t kLongestShown = 80;  // characters of what a user wrote, in a message

// A value in brief: nested ones by their type alone, since printing them would recurse as deep as they are nested.
std::string describe(const nlohmann::json& json) {
  if (json.is_structured()) return json.is_array() ? "an array" : "an object";
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > kLongestShown) text = text.substr(0, kLongestShown) + "...";
  return text;
}

}  // namespace

nlohmann::json JsonReader::parse_text(const std::string& text) const {
  if (text.size() > kMaxText) {
    throw Error(fmt::format("{}: the text has {} bytes but at most {} are read", subject_, text.size(), kMaxText));
  }
  return parse_json(text, subject_);
}

void JsonReader::check_keys(const Json& json, const std::string& where, std::span<const std::string_view> known,
                            std::span<const std::string_view> needed) const {
  const std::string prefix = where.empty() ? "" : where + ".";
  for (const auto& [full_key, value] : json.items()) {
    const std::string key = full_key.substr(0, kLongestShown);
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw Error(fmt::format("{}: unknown key \"{}{}\"{}", subject_, prefix, key, did_you_mean(key, known)));
    }
  }
  for (const std::string_view key : needed) {
    if (!json.contains(key)) throw Error(fmt::format("{}: key \"{}{}\" is missing", subject_, prefix, key));
  }
}

void JsonReader::refuse(const std::string& where, const char* wanted, const Json& json) const {
  throw Error(fmt::format("{}: {} must be {} but is {}", subject_, where.empty() ? "the text" : "\"" + where + "\"", wanted,
                          describe(json)));
}

void JsonReader::read(const Json& json, const std::string& where, bool& value) const {
  if (!json.is_boolean()) refuse(where, "true or false", json);
  value = json.get<bool>();
}

void JsonReader::read(const Json& json, const std::string& where, int& value) const {
  constexpr int kLow = std::numeric_limits<int>::min();
  constexpr int kHigh = std::numeric_limits<int>::max();
  if (!json.is_number_integer()) refuse(where, "a whole number", json);
  const bool fits = json.is_number_unsigned() ? json.get<std::uint64_t>() <= std::uint64_t{kHigh}
                                              : json.get<std::int64_t>() >= kLow && json.get<std::int64_t>() <= kHigh;
  if (!fits) refuse(where, "a whole number of ordinary size", json);
  value = json.get<int>();
}

void JsonReader::read(const Json& json, const std::string& where, std::size_t& value) const {
  if (!json.is_number_unsigned()) refuse(where, "a whole number, at least 0", json);
  value = json.get<std::size_t>();
}

void JsonReader::read(const Json& json, const std::string& where, std::optional<double>& value) const {
  if (!json.is_number() && !json.is_null()) refuse(where, "a number or null", json);
  value = json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

void JsonReader::read(const Json& json, const std::string& where, double& value) const {
  if (!json.is_number()) refuse(where, "a number", json);
  value = json.get<double>();
}

void JsonReader::read(const Json& json, const std::string& where, std::string& value) const {
  if (!json.is_string()) refuse(where, "text", json);
  value = json.get<std::string>();
}

void JsonReader::read(const Json& json, const std::string& where, std::vector<double>& value) const {
  if (!json.is_array()) refuse(where, "an array of numbers", json);
  value.assign(json.size(), 0.0);
  for (std::size_t i = 0; i < value.size(); ++i) read(json[i], fmt::format("{}[{}]", where, i), value[i]);
}

}  // namespace drift
