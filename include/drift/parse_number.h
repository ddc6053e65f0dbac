#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// The whole text as a number, whatever the locale: "12", "+0.5", "1e-3". None if anything is left over, if the number does not
// fit the type, and for infinity and NaN.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);  // which from_chars does not know
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(number)) return std::nullopt;
  }
  return number;
}

// Exactly `count` numbers with a separator between them: "-30,60,20,80".
template <class Number>
std::optional<std::vector<Number>> parse_numbers(std::string_view text, char separator, std::size_t count) {
  std::vector<Number> numbers;
  while (true) {
    const std::size_t end = text.find(separator);
    const std::optional<Number> number = parse_number<Number>(text.substr(0, end));
    if (!number || numbers.size() == count) return std::nullopt;
    numbers.push_back(*number);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return numbers.size() == count ? std::optional(std::move(numbers)) : std::nullopt;
}

}  // namespace drift
