#include "number_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "drift/did_you_mean.h"
#include "drift/parse_number.h"

namespace {

CLI::Validator finite_number(bool zero_allowed) {
  const auto check = [zero_allowed](std::string& text) -> std::string {
    const std::optional<double> number = drift::parse_number<double>(text);
    if (number && (*number > 0.0 || (zero_allowed && *number == 0.0))) return "";
    return fmt::format("'{}' is not a number {}", text, zero_allowed ? "that is zero or more" : "greater than zero");
  };
  return CLI::Validator(check, "");
}

}  // namespace

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto check = [least, most](std::string& text) -> std::string {
    const std::optional<std::uint64_t> number = drift::parse_number<std::uint64_t>(text);
    if (number && *number >= least && *number <= most) return "";
    return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
  };
  return CLI::Validator(check, "");
}

CLI::Validator positive_number() { return finite_number(false); }
CLI::Validator non_negative_number() { return finite_number(true); }

CLI::Validator one_of(std::vector<std::string_view> words) {
  const auto check = [words = std::move(words)](std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return "";
    return fmt::format("'{}' {}", text, drift::must_be_one_of(text, words));
  };
  return CLI::Validator(check, "");
}

CLI::Validator one_of_numbers(std::vector<double> numbers) {
  const auto check = [numbers = std::move(numbers)](std::string& text) -> std::string {
    const std::optional<double> number = drift::parse_number<double>(text);
    if (number && std::find(numbers.begin(), numbers.end(), *number) != numbers.end()) return "";
    return fmt::format("'{}' must be one of {}", text, fmt::join(numbers, ", "));
  };
  return CLI::Validator(check, "");
}
