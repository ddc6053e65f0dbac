#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <span>

namespace drift {

inline constexpr std::size_t kNoCell = std::numeric_limits<std::size_t>::max();

// Finds the cell of a grid with two-dimensional longitudes and latitudes that a position lies in: that with the nearest centre,
// which is no further than half a cell's diagonal away. Cells without a position are none. For several threads.
class NearestCell {
 public:
  NearestCell(std::span<const double> lon_deg, std::span<const double> lat_deg, std::size_t columns);  // [rows, columns]
  ~NearestCell();
  NearestCell(const NearestCell&) = delete;
  NearestCell& operator=(const NearestCell&) = delete;
  NearestCell(NearestCell&&) noexcept;
  NearestCell& operator=(NearestCell&&) noexcept;

  // kNoCell outside the grid, and where the position is NaN.
  void find(std::span<const double> lon_deg, std::span<const double> lat_deg, std::span<std::size_t> cell) const;

 private:
  struct Index;
  std::unique_ptr<const Index> index_;
};

}  // namespace drift
