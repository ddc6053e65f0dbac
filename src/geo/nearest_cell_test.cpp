#include "geo/nearest_cell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace drift {
namespace {

using testing::ElementsAre;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::size_t> found(const NearestCell& cells, std::vector<double> lon, std::vector<double> lat) {
  std::vector<std::size_t> cell(lon.size());
  cells.find(lon, lat, cell);
  return cell;
}

TEST(NearestCell, HoldsThePositionOrThereIsNone) {
  const NearestCell cells(std::vector{178.0, 179.0, -180.0, 178.0, 179.0, -180.0}, std::vector{0.0, 0.0, 0.0, 1.0, 1.0, 1.0}, 3);
  EXPECT_THAT(found(cells, {178.1, 180.4, -179.6, 178.6, 178.0, 181.0}, {0.1, 0.2, 0.9, 0.6, -0.9, 0.0}),
              ElementsAre(0, 2, 5, 4, kNoCell, kNoCell));
  EXPECT_THAT(found(cells, {kNan, 178.0}, {0.0, kNan}), ElementsAre(kNoCell, kNoCell));
}

TEST(NearestCell, LeavesOutCellsWithoutAPosition) {
  const NearestCell cells(std::vector{0.0, kNan, 2.0, 3.0}, std::vector{0.0, 0.0, 0.0, 0.0}, 4);
  EXPECT_THAT(found(cells, {1.0, 2.2, 3.1}, {0.0, 0.0, 0.0}), ElementsAre(kNoCell, 2, 3));
  EXPECT_THAT(found(NearestCell({}, {}, 4), {0.0}, {0.0}), ElementsAre(kNoCell));
}

}  // namespace
}  // namespace drift
