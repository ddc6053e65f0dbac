#pragma once

#include <cstddef>
#include <nanoflann.hpp>
#include <vector>

#include "drift/position.h"

namespace drift {

// Points in which distances are straight lines: unit vectors, or a plane's x, y and 0. With the names that nanoflann asks for.
struct PointCloud {
  std::vector<UnitVector> points;

  std::size_t kdtree_get_point_count() const { return points.size(); }
  double kdtree_get_pt(std::size_t index, std::size_t axis) const { return points[index][axis]; }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

using PointTree =
    nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, PointCloud>, PointCloud, 3, std::size_t>;

}  // namespace drift
