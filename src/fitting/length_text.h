#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "drift/grouped.h"

namespace drift {

// Three digits of a length: "0.25", "870", "2,570".
inline std::string length_text(double length) {
  return length < 1000.0 ? fmt::format("{:.3g}", length) : grouped(std::round(length / 10.0) * 10.0);
}

}  // namespace drift
