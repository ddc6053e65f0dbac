#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "drift/matrix_view.h"
#include "drift/network_spec.h"

namespace drift {

inline constexpr int kNoFold = -1;

// Observations as a process takes them. Spans that the data lack are empty.
struct PlaceData {
  MatrixView<const float> coordinates;          // [n, columns] engine's rows: space (2, or a unit vector of 3), then time
  std::span<const float> values;                // [n]
  std::span<const float> error_variance = {};   // [n] known, of each observation
  std::span<const std::int32_t> track = {};     // [n]
  std::span<const std::uint8_t> platform = {};  // [n]
  std::span<const std::uint8_t> fold = {};      // [n] that members leave out together; whole tracks, or blocks
  std::size_t groups = 0;                       // tracks or blocks in all folds; 0: not known

  std::size_t size() const { return values.size(); }
};

// Superobservations: the observations of one track (and fold) within a cell, as their mean. Along a track the nearest hundred
// observations lie seconds apart and say the same thing a hundred times over; as means of cells they come from many tracks.
// Cells are nested: a *group* of places is one coarse cell, taken as a whole from afar and place by place from nearby.
struct Places {
  std::size_t columns = 0;
  std::vector<float> coordinates;      // [n, columns] mean position (on the sphere of length one) and time
  std::vector<float> value;            // [n] mean
  std::vector<float> error_variance;   // [n] of the mean, as far as known; 0: unknown
  std::vector<float> count;            // [n] observations
  std::vector<std::int32_t> track;     // [n], -1: none
  std::vector<std::int32_t> platform;  // [n], 0 where there is one alone
  std::vector<std::int32_t> fold;      // [n], kNoFold where there are none
  std::vector<std::int32_t> group;     // [n] ascending from 0: places of one group lie together

  std::size_t size() const { return value.size(); }
  MatrixView<const float> rows() const { return {coordinates.data(), size(), columns}; }
};

// Sides of the cells in the engine's units; 0: every observation is a place of its own.
struct CellSides {
  double space = 0.0;
  double time = 0.0;
  int finer = 6;  // places along a side of a group
};
// group_of, if given: [n] the group of each observation.
Places gather_places(Space space, bool has_time, const PlaceData& data, const CellSides& sides,
                     std::vector<std::uint32_t>* group_of = nullptr);

// The groups as places of their own, one each: what predictions take from afar.
Places groups_of(const Places& places, Space space);

}  // namespace drift
