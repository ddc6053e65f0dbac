#pragma once

#include <fmt/format.h>

#include "drift/parse_number.h"

namespace drift {

// The nearest number of so many digits: 0.35 for 0.35000000000000003.
inline double to_digits(double number, int digits) {
  return parse_number<double>(fmt::format("{:.{}g}", number, digits)).value_or(number);
}

}  // namespace drift
