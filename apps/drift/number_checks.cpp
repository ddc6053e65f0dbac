#include "number_checks.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>

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
