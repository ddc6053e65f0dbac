#pragma once

#include <Eigen/Core>

#include "drift/tune.h"

namespace drift {

// A point's place in the unit cube, one coordinate a setting, which is where the surrogate looks at it.
//   real       linear between low and high; log_real the same in logarithms
//   whole      value v lies in the middle of its own interval, [v - 1/2, v + 1/2] mapped to [0, 1] in all, so that each value
//              has the same share of the cube; log_whole the same in logarithms
//   choice     word i of n at (i + 1/2) / n; distances between words are no use, the surrogate asks only whether two differ
Eigen::VectorXd to_cube(const SearchSpace& space, const Point& point);
Point from_cube(const SearchSpace& space, const Eigen::VectorXd& place);  // place is cut to [0, 1]; whole numbers are rounded

// The place of the point that `place` stands for: whole numbers and choices at the middle of their intervals.
Eigen::VectorXd snap(const SearchSpace& space, const Eigen::VectorXd& place);

bool is_discrete(const Setting& setting);        // anything but a real number
double count_of_values(const Setting& setting);  // infinity for a real number

}  // namespace drift
