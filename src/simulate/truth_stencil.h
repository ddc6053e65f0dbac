#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "drift/position.h"
#include "simulate/truth_layout.h"

namespace drift {

// The grid points that a value is made of: sum of weight * value at `at`. Weights of zero do not count.
struct Stencil {
  std::array<std::size_t, 4> at = {};  // row * columns + column of a slice
  std::array<double, 4> weight = {};   // they sum to one; all zero: outside the grid
};

// Finds the stencils of points on a grid. For several threads.
class StencilFinder {
 public:
  virtual ~StencilFinder() = default;
  virtual void find(std::span<const UnitVector> points, std::span<Stencil> stencils) const = 0;

  // Shape of the slices that the stencils point into: those of the file, with rows at the poles and a column around the Earth
  // added where the grid goes around it.
  std::size_t rows = 0, columns = 0;
  bool pole_south = false, pole_north = false, closed = false;
};

// Throws UsageError for a plain plane, which lies nowhere on the Earth.
std::unique_ptr<StencilFinder> make_stencil_finder(const GriddedVariable& gridded);

}  // namespace drift
