#pragma once

#include <Eigen/Core>
#include <cstdint>

namespace drift {

// `count` places in the unit cube, one in each of `count` equal slices of every coordinate (McKay, Beckman, Conover 1979), at a
// random place within its slice. Of several such designs the one whose nearest two places lie furthest apart (maximin: Johnson,
// Moore, Ylvisaker 1990). Same arguments, same design.
Eigen::MatrixXd latin_hypercube(Eigen::Index count, Eigen::Index coordinates, std::uint64_t seed);  // [count, coordinates]

// The smallest distance between two rows.
double smallest_distance(const Eigen::MatrixXd& places);

}  // namespace drift
