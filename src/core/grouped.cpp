#include "drift/grouped.h"

#include <fmt/format.h>

#include <cmath>

namespace drift {

std::string grouped(double number) {
  const std::string digits = fmt::format("{:.0f}", std::abs(number));
  std::string text = number <= -0.5 ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace drift
