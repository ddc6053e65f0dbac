#include "process/places.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

namespace drift {
namespace {

using Cell = std::array<std::int64_t, 4>;
// Group first, so that sorting puts its places together.
using Owner = std::array<std::int32_t, 3>;  // track, platform, fold
using Key = std::tuple<Owner, Cell, Cell>;  // owner, coarse cell, fine cell

Cell cell_of(const float* row, std::size_t columns, bool has_time, const CellSides& sides, double divide) {
  Cell cell = {0, 0, 0, 0};
  for (std::size_t d = 0; d < columns; ++d) {
    const bool time = has_time && d + 1 == columns;
    const double side = (time ? sides.time : sides.space) / divide;
    if (side > 0.0) cell.at(d) = static_cast<std::int64_t>(std::floor(static_cast<double>(row[d]) / side));
  }
  return cell;
}

// Sums of one place or group, each observation weighted by its count.
struct Sum {
  std::array<double, 4> position = {};
  double value = 0.0, variance = 0.0, count = 0.0;

  void add(const float* row, std::size_t columns, double number, double error_variance, double weight) {
    for (std::size_t d = 0; d < columns; ++d) position.at(d) += weight * static_cast<double>(row[d]);
    value += weight * number;
    variance += weight * weight * error_variance;
    count += weight;
  }
};

void append(Places& places, Sum sum, Space space) {
  for (std::size_t d = 0; d < places.columns; ++d) sum.position.at(d) /= sum.count;
  if (space == Space::sphere) {
    const double norm = std::hypot(sum.position[0], sum.position[1], sum.position[2]);
    for (std::size_t d = 0; d < 3; ++d) sum.position.at(d) /= norm;
  }
  for (std::size_t d = 0; d < places.columns; ++d) places.coordinates.push_back(static_cast<float>(sum.position.at(d)));
  places.value.push_back(static_cast<float>(sum.value / sum.count));
  places.error_variance.push_back(static_cast<float>(sum.variance / (sum.count * sum.count)));
  places.count.push_back(static_cast<float>(sum.count));
}

}  // namespace

Places gather_places(Space space, bool has_time, const PlaceData& data, const CellSides& sides,
                     std::vector<std::uint32_t>* group_of) {
  const std::size_t n = data.size(), columns = data.coordinates.cols;
  const bool together = sides.space > 0.0;
  std::vector<Key> keys(n);
  for (std::size_t i = 0; i < n; ++i) {
    const float* row = data.coordinates.row(i);
    const Owner owner = {data.track.empty() ? -1 : data.track[i], data.platform.empty() ? 0 : data.platform[i],
                         data.fold.empty() ? kNoFold : data.fold[i]};
    keys[i] = {owner, cell_of(row, columns, has_time, sides, 1.0), cell_of(row, columns, has_time, sides, sides.finer)};
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (together) std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
  const auto same_group = [&](std::size_t a, std::size_t b) {
    return together && std::get<0>(keys[a]) == std::get<0>(keys[b]) && std::get<1>(keys[a]) == std::get<1>(keys[b]);
  };

  Places places;
  places.columns = columns;
  if (group_of) group_of->resize(n);
  std::int32_t group = -1;
  for (std::size_t first = 0; first < n;) {
    Sum sum;
    std::size_t last = first;
    for (; last < n && (last == first || (together && keys[order[last]] == keys[order[first]])); ++last) {
      const std::size_t row = order[last];
      sum.add(data.coordinates.row(row), columns, static_cast<double>(data.values[row]),
              data.error_variance.empty() ? 0.0 : static_cast<double>(data.error_variance[row]), 1.0);
    }
    const std::size_t row = order[first];
    if (first == 0 || !same_group(row, order[first - 1])) ++group;
    append(places, sum, space);
    const Owner& owner = std::get<0>(keys[row]);
    places.track.push_back(owner[0]);
    places.platform.push_back(owner[1]);
    places.fold.push_back(owner[2]);
    places.group.push_back(group);
    for (std::size_t i = first; i < last && group_of; ++i) (*group_of)[order[i]] = static_cast<std::uint32_t>(group);
    first = last;
  }
  return places;
}

Places groups_of(const Places& places, Space space) {
  Places out;
  out.columns = places.columns;
  for (std::size_t first = 0; first < places.size();) {
    Sum sum;
    std::size_t last = first;
    for (; last < places.size() && places.group[last] == places.group[first]; ++last) {
      sum.add(places.rows().row(last), places.columns, static_cast<double>(places.value[last]),
              static_cast<double>(places.error_variance[last]), static_cast<double>(places.count[last]));
    }
    append(out, sum, space);
    out.track.push_back(places.track[first]);
    out.platform.push_back(places.platform[first]);
    out.fold.push_back(places.fold[first]);
    out.group.push_back(places.group[first]);
    first = last;
  }
  return out;
}

}  // namespace drift
