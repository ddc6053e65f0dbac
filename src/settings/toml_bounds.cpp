#include "settings/toml_bounds.h"

#include <fmt/format.h>

#include <algorithm>

#include "drift/error.h"

namespace drift {
namespace {

constexpr int kDeepest = 16;  // settings go two levels down

// The end of the string that begins at `at`: that of one line, or of several between triple quotes, the closing of which up to
// two more may precede, which are the string's own: """a""""" is a"".
std::size_t string_end(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const bool long_one = text.substr(at, 3) == std::string(3, quote);
  for (std::size_t i = at + (long_one ? 3 : 1); i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"')
      ++i;
    else if (long_one && text.substr(i, 3) == std::string(3, quote))
      return std::min(text.find_first_not_of(quote, i), i + 5) - 1;
    else if (!long_one && (text[i] == quote || text[i] == '\n'))
      return i;
  }
  return text.size();
}

}  // namespace

void check_toml_bounds(std::string_view text, const std::string& name) {
  if (text.size() > kMostTomlBytes) {
    throw UsageError(fmt::format("{}: {} bytes are more than a run file may have ({})", name, text.size(), kMostTomlBytes));
  }
  int brackets = 0, dots = 0;  // open; in the key at hand
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' || c == '\'') i = string_end(text, i);
    if (c == '#') i = std::min(text.find('\n', i), text.size());
    if (c == '\n' || c == '=' || c == ',' || c == '#') dots = 0;
    if (c == '.') ++dots;
    if (c == '[' || c == '{') ++brackets;
    if ((c == ']' || c == '}') && brackets > 0) --brackets;
    if (dots <= kDeepest && brackets <= kDeepest) continue;
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), '\n');
    throw UsageError(fmt::format("{}:{}: nested more than {} deep", name, line, kDeepest));
  }
}

}  // namespace drift
