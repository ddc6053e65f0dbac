#include "process/place_finder.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <tuple>

namespace drift {
namespace {

// Lengthscales beyond which a group is taken whole, two sides of its cell; within half of that it is opened into its places, and
// in between they are drawn together. No more groups than so many are opened.
constexpr double kWhole = 0.4;
constexpr std::size_t kMostOpened = 12;
constexpr double kStay = 0.4;  // of the way from the groups' mean distance to the first that is left out: from there on they fade

// A number and its slope as the target moves along x, y and t.
struct Moving {
  double value = 0.0;
  std::array<double, 3> slope = {};
};
// f(a, b) with the derivatives of f.
Moving chain(double f, double by_a, const Moving& a, double by_b = 0.0, const Moving& b = {}) {
  Moving out{f, {}};
  for (std::size_t d = 0; d < 3; ++d) out.slope.at(d) = by_a * a.slope.at(d) + by_b * b.slope.at(d);
  return out;
}
Moving ratio(const Moving& a, const Moving& b) {
  return chain(a.value / b.value, 1.0 / b.value, a, -a.value / (b.value * b.value), b);
}

// Neighbours come and go without a step in the map: one that is about to go has an error variance, in sills, that grows without
// bound (Gribov & Krivoruchko 2004). share: 0 stays, 1 is gone.
Moving fading(const Moving& share) {
  constexpr double kGone = 1e6;
  const double s = share.value, left = 1.0 - s;
  if (s <= 0.0) return {};
  if (s * s >= kGone * left * left || left <= 0.0) return {kGone, {}};
  return chain(s * s / (left * left), 2.0 * s / (left * left * left), share);
}

// From 0 at 0 to 1 at 1, level at both.
Moving ramp(const Moving& share) {
  const double s = share.value;
  if (s <= 0.0) return {0.0, {}};
  if (s >= 1.0) return {1.0, {}};
  return chain(s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s), share);
}

double dot(const std::array<double, 3>& a, const float* b) {
  return a[0] * static_cast<double>(b[0]) + a[1] * static_cast<double>(b[1]) + a[2] * static_cast<double>(b[2]);
}

}  // namespace

LocalFrame::LocalFrame(Space space, bool has_time, const EnginePosition& target, std::size_t columns)
    : sphere_(space == Space::sphere), has_time_(has_time), columns_(columns), target_(target) {
  if (!sphere_) return;
  constexpr double kNearPole = 1e-6;  // the tangent has no bound; frames there are round, so that turning them changes nothing
  const double lon = std::atan2(target_[1], target_[0]);
  const double sin_lat = target_[2], cos_lat = std::hypot(target_[0], target_[1]);
  east_ = {-std::sin(lon), std::cos(lon), 0.0};
  north_ = {-sin_lat * std::cos(lon), -sin_lat * std::sin(lon), cos_lat};
  tan_lat_ = sin_lat / std::max(cos_lat, kNearPole);
}

std::array<double, 3> LocalFrame::operator()(const float* row) const {
  const double t = has_time_ ? static_cast<double>(row[columns_ - 1]) - target_.at(columns_ - 1) : 0.0;
  if (!sphere_) {
    const double y = columns_ - (has_time_ ? 1 : 0) > 1 ? static_cast<double>(row[1]) - target_[1] : 0.0;
    return {static_cast<double>(row[0]) - target_[0], y, t};
  }
  const double x = dot(east_, row), y = dot(north_, row), z = dot({target_[0], target_[1], target_[2]}, row);
  const double sine = std::sqrt(x * x + y * y);
  const double stretch = sine > 1e-12 ? std::atan2(sine, z) / sine : 1.0;
  return {x * stretch, y * stretch, t};
}

std::vector<float> LocalFrame::moved(std::size_t direction, double step) const {
  std::array<double, 4> to = target_;
  if (direction == 2) {
    to.at(columns_ - 1) += step;
  } else if (!sphere_) {
    to.at(direction) += step;
  } else {
    const std::array<double, 3>& along = direction == 0 ? east_ : north_;
    for (std::size_t d = 0; d < 3; ++d) to.at(d) = to.at(d) * std::cos(step) + along.at(d) * std::sin(step);
  }
  return {to.begin(), to.begin() + static_cast<std::ptrdiff_t>(columns_)};
}

// With x = e.p, y = n.p, z = s.p for the target s, its east e and its north n: moving s east turns e towards n by tan(lat) and
// down, moving it north turns n down. The plane then has (x, y) a / sin(a), a the arc to the place.
PlaceMotion LocalFrame::motion(const float* row) const {
  PlaceMotion out;
  if (has_time_) out.t[2] = -1.0;
  if (!sphere_) {
    out.x[0] = -1.0;
    if (columns_ - (has_time_ ? 1 : 0) > 1) out.y[1] = -1.0;
    return out;
  }
  const double x = dot(east_, row), y = dot(north_, row), z = dot({target_[0], target_[1], target_[2]}, row);
  const double square = x * x + y * y, sine = std::sqrt(square);
  const bool close = sine < 1e-4 && z > 0.0;  // where a / sin(a) is 1 + sin(a)^2 / 6
  const double arc = std::atan2(sine, z), stretch = close ? 1.0 + square / 6.0 : arc / sine;
  const std::array<double, 2> dx = {-z + tan_lat_ * y, 0.0}, dy = {-tan_lat_ * x, -z}, dz = {x, y};
  for (std::size_t d = 0; d < 2; ++d) {
    const double half = x * dx.at(d) + y * dy.at(d);  // of d sin(a)^2
    const double stretches =
        close ? half / 3.0 : ((z * half / sine - sine * dz.at(d)) / (square + z * z) - stretch * half / sine) / sine;
    out.x.at(d) = dx.at(d) * stretch + x * stretches;
    out.y.at(d) = dy.at(d) * stretch + y * stretches;
  }
  return out;
}

PlaceFinder::PlaceFinder(Space space, bool has_time, const Places& places, const ProcessParameters& parameters, std::size_t far)
    : space_(space), has_time_(has_time), parameters_(parameters), places_(places), groups_(groups_of(places, space)), far_(far) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i == 0 || places.group[i] != places.group[i - 1]) first_.push_back(i);
  }
  first_.push_back(places.size());
  const Eigen::Index dimensions = space == Space::sphere ? 4 : 3;
  Eigen::MatrixXd points(dimensions, static_cast<Eigen::Index>(groups_.size()));
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const EnginePosition at = in_tree(position_of(groups_.rows().row(i), places.columns));
    for (Eigen::Index d = 0; d < dimensions; ++d) points(d, static_cast<Eigen::Index>(i)) = at.at(static_cast<std::size_t>(d));
  }
  if (far_ > 0) {
    std::vector<Eigen::Index> kept;  // of each cell the group nearest its centre
    std::vector<double> nearest;
    const std::vector<Eigen::Index> cells = gp::cells_of(points, kThinned);  // numbered by first appearance
    for (Eigen::Index i = 0; i < points.cols(); ++i) {
      const Eigen::ArrayXd at = points.col(i).array() / kThinned;
      const double off = (at - at.floor() - 0.5).matrix().norm();
      const auto cell = static_cast<std::size_t>(cells[static_cast<std::size_t>(i)]);
      if (cell == kept.size()) kept.push_back(i), nearest.push_back(off);
      if (off < nearest[cell]) kept[cell] = i, nearest[cell] = off;
    }
    Eigen::MatrixXd few = points(Eigen::all, kept);
    thinned_ = std::make_unique<gp::NeighbourTree>(std::move(few), std::move(kept));
  }
  all_ = std::make_unique<gp::NeighbourTree>(std::move(points));
}

// On the plane q itself. On the sphere, where east and north turn, chords and times in lengthscales at rest.
EnginePosition PlaceFinder::in_tree(const EnginePosition& at) const {
  const double t = has_time_ ? at.at(places_.columns - 1) : 0.0;
  if (space_ == Space::sphere) {
    const double both = std::sqrt(parameters_.length_x * parameters_.length_y);
    return {at[0] / both, at[1] / both, at[2] / both, t / parameters_.time_length};
  }
  const bool has_y = places_.columns - (has_time_ ? 1 : 0) > 1;
  const Eigen::Vector3d q = moving_frame(parameters_) * Eigen::Vector3d(at[0], has_y ? at[1] : 0.0, t);
  return {q[0], q[1], q[2], 0.0};
}

// The least that a distance in the moving frame may be of that in the tree: an arc is no shorter than its chord.
double PlaceFinder::least_of_tree(const Eigen::Matrix3d& to_q) const {
  if (space_ == Space::plane) return 1.0 - 1e-9;
  const double both = std::sqrt(parameters_.length_x * parameters_.length_y);
  const Eigen::Matrix3d from_still = to_q * Eigen::Vector3d(both, both, parameters_.time_length).asDiagonal();
  const Eigen::Matrix3d square = from_still.transpose() * from_still;
  return std::sqrt(Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d>(square, Eigen::EigenvaluesOnly).eigenvalues()[0]) *
         (1.0 - 1e-9);
}

// One target's search, with what all its places share.
class PlaceFinder::Search {
 public:
  Search(const PlaceFinder& finder, const EnginePosition& target, Motion motion, Neighbourhood& out)
      : finder_(finder),
        frame_(finder.space_, finder.has_time_, target, finder.places_.columns),
        to_q_(moving_frame(at_target(finder.parameters_, finder.space_, target))),
        moves_(motion == Motion::wanted),
        out_(out) {
    if (moves_) turning_ = frame_motion(finder.parameters_, finder.space_, target)[0];
  }

  const LocalFrame& frame() const { return frame_; }
  const Eigen::Matrix3d& to_q() const { return to_q_; }

  Moving distance(const Candidate& candidate) const {
    Moving out{candidate.distance, {}};
    if (!moves_ || candidate.distance == 0.0) return out;
    const PlaceMotion motion = frame_.motion(finder_.groups_.rows().row(candidate.group));
    const Eigen::Map<const Eigen::Vector3d> local(candidate.local.data());
    const Eigen::Vector3d towards = to_q_ * local / candidate.distance;
    for (std::size_t d = 0; d < 3; ++d) {
      out.slope.at(d) = towards.dot(to_q_ * Eigen::Vector3d(motion.x.at(d), motion.y.at(d), motion.t.at(d)));
    }
    out.slope[1] += towards.dot(turning_ * local);
    return out;
  }

  // error: beyond its own, in sills.
  void add_whole(const Candidate& candidate, const Moving& error) { add(point(finder_.groups_, candidate.group), error); }

  // The group's places, drawn towards its mean by a share; all of it: six places there weigh as much as the one.
  void add_opened(const Candidate& candidate, const Moving& share, const Moving& error) {
    const Point mean = point(finder_.groups_, candidate.group);
    for (std::size_t i = finder_.first_[candidate.group]; i < finder_.first_[candidate.group + 1]; ++i) {
      Point place = point(finder_.places_, i);
      const double parts = mean.count / place.count;
      if (share.value > 0.0) {
        place.x = between(place.x, mean.x, share);
        place.y = between(place.y, mean.y, share);
        place.t = between(place.t, mean.t, share);
        place.value = between(place.value, mean.value, share);
        place.error_variance = between(place.error_variance, chain(parts * mean.error_variance.value, 0.0, {}), share);
      }
      add(place, chain(parts * error.value, parts, error));
    }
  }

 private:
  struct Point {
    Moving x, y, t, value, error_variance;
    double count = 0.0;
    std::int32_t track = 0, platform = 0;
  };

  static Moving between(const Moving& from, const Moving& to, const Moving& share) {
    Moving out = chain(from.value + share.value * (to.value - from.value), 1.0 - share.value, from, share.value, to);
    for (std::size_t d = 0; d < 3; ++d) out.slope.at(d) += share.slope.at(d) * (to.value - from.value);
    return out;
  }

  Point point(const Places& from, std::size_t place) const {
    const float* row = from.rows().row(place);
    const std::array<double, 3> local = frame_(row);
    const std::array<double, 3>& trend = finder_.parameters_.trend;
    double mean = trend[0];
    if (finder_.space_ == Space::plane) mean += trend[1] * static_cast<double>(row[0]) + trend[2] * static_cast<double>(row[1]);
    const PlaceMotion motion = moves_ ? frame_.motion(row) : PlaceMotion();
    return {.x = {local[0], motion.x},
            .y = {local[1], motion.y},
            .t = {local[2], motion.t},
            .value = {static_cast<double>(from.value[place]) - mean, {}},
            .error_variance = {static_cast<double>(from.error_variance[place]), {}},
            .count = static_cast<double>(from.count[place]),
            .track = from.track[place],
            .platform = from.platform[place]};
  }

  void add(const Point& place, const Moving& error) {
    const double sill = finder_.parameters_.sill;
    const Moving variance = chain(place.error_variance.value + sill * error.value, 1.0, place.error_variance, sill, error);
    out_.x.push_back(place.x.value);
    out_.y.push_back(place.y.value);
    out_.t.push_back(place.t.value);
    out_.value.push_back(place.value.value);
    out_.error_variance.push_back(variance.value);
    out_.count.push_back(place.count);
    out_.track.push_back(place.track);
    out_.platform.push_back(place.platform);
    if (moves_) out_.motion.push_back({place.x.slope, place.y.slope, place.t.slope, place.value.slope, variance.slope});
  }

  const PlaceFinder& finder_;
  LocalFrame frame_;
  Eigen::Matrix3d to_q_, turning_ = Eigen::Matrix3d::Zero();
  bool moves_;
  Neighbourhood& out_;
};

// The k nearest in the moving frame and one more, which says where the edge is; all of them, since the tree is searched as far as
// any may lie. `reach`, a guess of how far that is and then what it was, changes nothing but the time.
std::vector<PlaceFinder::Candidate> PlaceFinder::candidates(const gp::NeighbourTree& tree, const EnginePosition& target,
                                                            const Search& search, std::size_t k, const Exclusion& exclusion,
                                                            double& reach) const {
  const EnginePosition at = in_tree(target);
  const double least = least_of_tree(search.to_q());
  const auto total = static_cast<std::size_t>(tree.points().cols());
  const auto tree_distance = [&](Eigen::Index group) {
    const EnginePosition there = in_tree(position_of(groups_.rows().row(static_cast<std::size_t>(group)), places_.columns));
    return (Eigen::Map<const Eigen::Vector4d>(at.data()) - Eigen::Map<const Eigen::Vector4d>(there.data())).norm();
  };
  const auto nearer = [](const Candidate& a, const Candidate& b) {
    return std::tie(a.distance, a.group) < std::tie(b.distance, b.group);
  };
  std::vector<Eigen::Index> found;
  std::vector<Candidate> kept;
  if (total <= k + 1) reach = INFINITY;
  if (reach <= 0.0) {
    tree.find(at.data(), k + 1, found);
    reach = 1.1 * tree_distance(found.back()) + 1e-12;
  }
  for (;;) {
    tree.within(at.data(), reach, found);
    kept.clear();
    for (const Eigen::Index index : found) {
      const auto group = static_cast<std::size_t>(index);
      if (exclusion.fold != kNoFold && groups_.fold[group] == exclusion.fold) continue;
      if (groups_.track[group] == exclusion.track) continue;
      if (exclusion.gap > 0.0 && tree_distance(index) < exclusion.gap) continue;
      const std::array<double, 3> local = search.frame()(groups_.rows().row(group));
      kept.push_back({(search.to_q() * Eigen::Map<const Eigen::Vector3d>(local.data())).norm(), group, local});
    }
    if (found.size() >= total) break;
    if (kept.size() <= k) {
      reach *= 1.5;
      continue;
    }
    std::nth_element(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(k), kept.end(), nearer);
    const double needed = kept[k].distance / least;
    const bool complete = needed < reach;
    reach = 1.05 * needed;
    if (complete) break;
  }
  const std::size_t taken = std::min(k + 1, kept.size());
  std::partial_sort(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(taken), kept.end(), nearer);
  kept.resize(taken);
  return kept;
}

// A neighbour with how far it has faded.
struct PlaceFinder::Chosen : Candidate {
  Moving reach, leaving;  // distance; error variance beyond its own, in sills
};

// The nearest, nearest first, then those of the thinning that are not among them. What belongs to both fades with the farther.
std::vector<PlaceFinder::Chosen> PlaceFinder::chosen(const EnginePosition& target, const Search& search, std::size_t k,
                                                     const Exclusion& exclusion, Edges edges,
                                                     std::array<double, 2>& reach) const {
  const auto nearest = [&](const gp::NeighbourTree& tree, std::size_t count, double& guess) {
    const std::vector<Candidate> found = candidates(tree, target, search, count, exclusion, guess);
    std::vector<Chosen> out;
    for (std::size_t i = 0; i < std::min(count, found.size()); ++i) out.push_back({found[i], search.distance(found[i]), {}});
    if (edges == Edges::sharp || found.size() <= count || found.back().distance <= 0.0) return out;
    // (A share of the last distance alone would not do: seen from within a gap all neighbours are about equally far, and would
    // all fade.)
    const Moving edge = search.distance(found.back());
    Moving stay = chain(kStay * edge.value, kStay, edge);
    for (const Chosen& one : out) {
      const double share = (1.0 - kStay) / static_cast<double>(count);
      stay = chain(stay.value + share * one.reach.value, 1.0, stay, share, one.reach);
    }
    const Moving band = chain(std::max(edge.value - stay.value, 1e-12), 1.0, edge, -1.0, stay);
    for (Chosen& one : out) {
      one.leaving = fading(ratio(chain(one.reach.value - stay.value, 1.0, one.reach, -1.0, stay), band));
    }
    return out;
  };
  std::vector<Chosen> out = nearest(*all_, k, reach[0]);
  if (far_ == 0) return out;
  const auto near = static_cast<std::ptrdiff_t>(out.size());
  for (const Chosen& one : nearest(*thinned_, far_, reach[1])) {
    const auto same =
        std::find_if(out.begin(), out.begin() + near, [&](const Chosen& other) { return other.group == one.group; });
    if (same == out.begin() + near) {
      out.push_back(one);
    } else if (one.leaving.value < same->leaving.value) {
      same->leaving = one.leaving;
    }
  }
  return out;
}

void PlaceFinder::find(const EnginePosition& target, std::size_t k, const Exclusion& exclusion, Edges edges, Motion motion,
                       Neighbourhood& out) const {
  out.clear();
  Search search(*this, target, motion, out);
  const std::vector<Chosen> around = chosen(target, search, k, exclusion, edges, out.reach);
  Moving whole_at = {kWhole, {}};
  if (around.size() > kMostOpened && around[kMostOpened].distance < kWhole) whole_at = around[kMostOpened].reach;
  for (const Chosen& one : around) {
    const std::size_t places = first_[one.group + 1] - first_[one.group];
    Moving whole = {1.0, {}};
    if (edges == Edges::sharp) {
      whole.value = places > 1 && one.distance < 0.75 * kWhole && out.size() + places <= k ? 0.0 : 1.0;
    } else if (places > 1 && one.distance < whole_at.value) {
      const Moving share = ratio(one.reach, whole_at);
      whole = ramp(chain(2.0 * share.value - 1.0, 2.0, share));
    }
    out.groups.emplace_back(one.group, 1.0 / (1.0 + one.leaving.value));
    if (whole.value >= 1.0) {
      search.add_whole(one, one.leaving);
    } else {
      search.add_opened(one, whole, one.leaving);
    }
  }
}

}  // namespace drift
