#pragma once

#include <Eigen/Core>
#include <cstddef>

namespace drift {

// A size as Eigen's signed index.
inline Eigen::Index index(std::size_t size) { return static_cast<Eigen::Index>(size); }

}  // namespace drift
