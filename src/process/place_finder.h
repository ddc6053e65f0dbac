#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "gp/nearest_neighbours.h"
#include "process/kriging.h"
#include "process/latitudes.h"
#include "process/places.h"

namespace drift {

// A plane about one target: tangent to the sphere (azimuthal equidistant, east and north), or the plane itself.
class LocalFrame {
 public:
  LocalFrame(Space space, bool has_time, const EnginePosition& target, std::size_t columns);
  LocalFrame(Space space, bool has_time, const float* target, std::size_t columns)
      : LocalFrame(space, has_time, position_of(target, columns), columns) {}
  std::array<double, 3> operator()(const float* row) const;  // x, y, t with the target at the origin; t = 0 without time
  std::vector<float> moved(std::size_t direction, double step) const;  // the target's row, moved along x, y or t

  // Of (*this)(row), per unit that the target moves along x, y and t; on the sphere the frame turns with it.
  PlaceMotion motion(const float* row) const;

 private:
  bool sphere_, has_time_;
  std::size_t columns_;
  EnginePosition target_ = {};
  std::array<double, 3> east_ = {}, north_ = {};
  double tan_lat_ = 0.0;
};

// Places that may not take part in a prediction.
struct Exclusion {
  static constexpr std::int32_t kNoTrack = -2;
  int fold = kNoFold;
  std::int32_t track = kNoTrack;
  double gap = 0.0;  // those nearer than this, in lengthscales
};

// How neighbours come and go as the target moves: a map needs them without a step, the search for parameters uses all of each.
enum class Edges { fading, sharp };
enum class Motion { none, wanted };

// The places that a target is predicted from: groups by distance in the moving frame, those close by opened into their places.
// The choice changes with the target without a step in what is predicted, and without losing what is known: a group's places are
// drawn together until they are one. (To let the group fade in while they fade out, each as if it had errors of its own, would
// leave a ring around every track where it counts for little.)
//
// Beside the nearest come `far` of a thinning, which keeps the middle group of each cell of kThinned lengthscales: beyond the
// edge of dense tracks the nearest hundred groups all lie along that edge and say little of the field further in.
class PlaceFinder {
 public:
  static constexpr double kThinned = 0.75;

  PlaceFinder(Space space, bool has_time, const Places& places, const ProcessParameters& parameters, std::size_t far = 0);

  // The k nearest groups and those of the thinning, a dozen of them opened at most; fewer where there are no more. Motions are
  // those of fading edges. Safe from several threads.
  void find(const EnginePosition& target, std::size_t k, const Exclusion& exclusion, Edges edges, Motion motion,
            Neighbourhood& out) const;
  void find(const float* target, std::size_t k, const Exclusion& exclusion, Edges edges, Neighbourhood& out) const {
    find(position_of(target, places_.columns), k, exclusion, edges, Motion::none, out);
  }

 private:
  struct Candidate {
    double distance;
    std::size_t group;
    std::array<double, 3> local;
  };
  struct Chosen;
  class Search;
  EnginePosition in_tree(const EnginePosition& at) const;
  double least_of_tree(const Eigen::Matrix3d& to_q) const;
  std::vector<Candidate> candidates(const gp::NeighbourTree& tree, const EnginePosition& target, const Search& search,
                                    std::size_t k, const Exclusion& exclusion, double& reach) const;
  std::vector<Chosen> chosen(const EnginePosition& target, const Search& search, std::size_t k, const Exclusion& exclusion,
                             Edges edges, std::array<double, 2>& reach) const;

  Space space_;
  bool has_time_;
  ProcessParameters parameters_;
  const Places& places_;
  Places groups_;
  std::vector<std::size_t> first_;  // [groups + 1] of each group's places
  std::size_t far_;
  std::unique_ptr<gp::NeighbourTree> all_, thinned_;
};

}  // namespace drift
