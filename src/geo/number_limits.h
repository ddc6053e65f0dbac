#pragma once

namespace drift {

// Values and their standard deviations are no larger than this, standard deviations no smaller than its inverse: predictions,
// their squares and a map's float32 hold all of them.
inline constexpr double kLargestNumber = 1e30;

}  // namespace drift
