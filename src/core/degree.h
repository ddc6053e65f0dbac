#pragma once

#include <numbers>

namespace drift {

inline constexpr double kDegree = std::numbers::pi / 180.0;  // in radians

}  // namespace drift
