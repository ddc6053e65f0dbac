#include "geo/crs_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "drift/error.h"

namespace drift {
namespace {

constexpr std::size_t kLongest = std::size_t{64} << 10;  // bytes; the WKT of a compound CRS has a few thousand
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", kDigits = "0123456789";

bool all_of(std::string_view text, std::string_view more) {
  for (const char c : text) {
    if (kLetters.find(c) == std::string_view::npos && kDigits.find(c) == std::string_view::npos &&
        more.find(c) == std::string_view::npos)
      return false;
  }
  return !text.empty();
}

// "EPSG:6931", "IAU_2015:30100", and as a URN.
bool is_code(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  return all_of(text.substr(0, colon), "_-") && all_of(text.substr(colon + 1), text.starts_with("urn:") ? "_-.:" : "_-.");
}

// "PROJCRS[...", or with parentheses. PROJ takes other words for a name, for which it searches its whole database: seconds.
bool is_wkt(std::string_view text) {
  constexpr std::array<std::string_view, 18> kSystems = {
      "PROJCS",      "GEOGCS",       "GEOCCS",      "COMPD_CS",       "VERT_CS",       "LOCAL_CS",
      "PROJCRS",     "PROJECTEDCRS", "GEODCRS",     "GEOGCRS",        "GEOGRAPHICCRS", "BOUNDCRS",
      "COMPOUNDCRS", "VERTCRS",      "VERTICALCRS", "DERIVEDPROJCRS", "GEODETICCRS",   "ENGCRS"};
  const std::size_t end = text.find_first_of("[(");
  if (end == std::string_view::npos) return false;
  std::string word(text.substr(0, text.find_last_not_of(" \t\r\n", end - 1) + 1));
  for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return std::find(kSystems.begin(), kSystems.end(), word) != kSystems.end();
}

bool is_parameters(std::string_view text) {
  return text.find("proj=") != std::string_view::npos && text.find('{') == std::string_view::npos;
}

// Parameters that name files, also within the PROJ.4 text of a WKT; "@null" is none.
bool names_file(std::string_view text) {
  if (text.find("PARAMETERFILE") != std::string_view::npos) return true;
  for (const std::string_view key : std::array<std::string_view, 5>{"init", "grids", "file", "catalog", "model"}) {
    for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
      std::size_t value = at + key.size();
      while (value < text.size() && std::isspace(static_cast<unsigned char>(text[value])) != 0) ++value;
      if (value >= text.size() || text[value] != '=') continue;
      const std::string_view rest = text.substr(value + 1);
      if (rest.substr(0, rest.find_first_of(" \"+")) != "@null") return true;
    }
  }
  return false;
}

}  // namespace

bool is_plain_crs(const std::string& text) {
  const bool known = is_code(text) || is_wkt(text) || is_parameters(text);
  return text.size() <= kLongest && known && !names_file(text);
}

void check_crs_text(const std::string& text) {
  if (is_plain_crs(text)) return;
  constexpr std::size_t kShown = 100;
  throw UsageError(
      fmt::format("coordinate reference system '{}{}': must be an authority's code (EPSG:6931), WKT, or PROJ parameters "
                  "(+proj=laea +lat_0=90) that name no file",
                  text.substr(0, kShown), text.size() > kShown ? "..." : ""));
}

}  // namespace drift
