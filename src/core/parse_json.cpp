#include "core/parse_json.h"

#include <fmt/format.h>

#include "drift/error.h"

namespace drift {
namespace {

constexpr int kDeepest = 16;  // of drift's own files a study is the deepest: 4

bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == '[' || c == '{') && ++depth > kDeepest)
      return true;
    else if (!in_string && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& subject) {
  if (is_too_deep(text)) throw Error(fmt::format("{}: the JSON is nested more than {} deep", subject, kDeepest));
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) throw Error(fmt::format("{}: the text is not valid JSON, or is cut short", subject));
  return json;
}

}  // namespace drift
