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

PlaceFinder::PlaceFinder(Space space, bool has_time, const Places& places, const ProcessParameters& parameters)
    : space_(space), has_time_(has_time), parameters_(parameters), places_(places), groups_(groups_of(places, space)) {
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
  tree_ = std::make_unique<gp::NeighbourTree>(std::move(points));
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

// The k nearest in the moving frame and one more, which says where the edge is; all of them, since the tree is searched as far as
// any may lie. `reach`, a guess of how far that is and then what it was, changes nothing but the time.
std::vector<PlaceFinder::Candidate> PlaceFinder::candidates(const EnginePosition& target, const LocalFrame& frame,
                                                            const Eigen::Matrix3d& to_q, std::size_t k,
                                                            const Exclusion& exclusion, double& reach) const {
  const EnginePosition at = in_tree(target);
  const double least = least_of_tree(to_q);
  const auto nearer = [](const Candidate& a, const Candidate& b) {
    return std::tie(a.distance, a.group) < std::tie(b.distance, b.group);
  };
  std::vector<Eigen::Index> found;
  std::vector<Candidate> kept;
  if (groups_.size() <= k + 1) reach = INFINITY;
  if (reach <= 0.0) {
    tree_->find(at.data(), k + 1, found);
    reach = 1.1 * tree_distance(at, found.back()) + 1e-12;
  }
  for (;;) {
    tree_->within(at.data(), reach, found);
    kept.clear();
    for (const Eigen::Index index : found) {
      const auto group = static_cast<std::size_t>(index);
      if (exclusion.fold != kNoFold && groups_.fold[group] == exclusion.fold) continue;
      if (groups_.track[group] == exclusion.track) continue;
      if (exclusion.gap > 0.0 && tree_distance(at, index) < exclusion.gap) continue;
      const std::array<double, 3> local = frame(groups_.rows().row(group));
      kept.push_back({(to_q * Eigen::Map<const Eigen::Vector3d>(local.data())).norm(), group, local});
    }
    if (found.size() >= groups_.size()) break;
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

double PlaceFinder::tree_distance(const EnginePosition& at, Eigen::Index group) const {
  double sum = 0.0;
  for (Eigen::Index d = 0; d < tree_->points().rows(); ++d) {
    const double apart = at.at(static_cast<std::size_t>(d)) - tree_->points()(d, group);
    sum += apart * apart;
  }
  return std::sqrt(sum);
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

void PlaceFinder::find(const EnginePosition& target, std::size_t k, const Exclusion& exclusion, Edges edges, Motion motion,
                       Neighbourhood& out) const {
  out.clear();
  Search search(*this, target, motion, out);
  const std::vector<Candidate> near = candidates(target, search.frame(), search.to_q(), k, exclusion, out.reach);
  const bool sharp = edges == Edges::sharp, fades = !sharp && near.size() > k && near.back().distance > 0.0;
  // (A share of the last distance alone would not do: seen from within a gap all neighbours are about equally far, and would all
  // fade.)
  const Moving edge = fades ? search.distance(near.back()) : Moving{};
  Moving stay = chain(kStay * edge.value, kStay, edge);
  for (std::size_t i = 0; i < k && fades; ++i) {
    const double share = (1.0 - kStay) / static_cast<double>(k);
    const Moving distance = search.distance(near[i]);
    stay = chain(stay.value + share * distance.value, 1.0, stay, share, distance);
  }
  const Moving band = chain(std::max(edge.value - stay.value, 1e-12), 1.0, edge, -1.0, stay);
  Moving whole_at = {kWhole, {}};
  if (near.size() > kMostOpened && near[kMostOpened].distance < kWhole) whole_at = search.distance(near[kMostOpened]);
  for (std::size_t i = 0; i < std::min(k, near.size()); ++i) {
    const Candidate& candidate = near[i];
    const std::size_t places = first_[candidate.group + 1] - first_[candidate.group];
    const Moving distance = search.distance(candidate);
    Moving leaving, whole = {1.0, {}};
    if (fades) {
      leaving = fading(ratio(chain(distance.value - stay.value, 1.0, distance, -1.0, stay), band));
    }
    if (sharp) {
      whole.value = places > 1 && distance.value < 0.75 * kWhole && out.size() + places <= k ? 0.0 : 1.0;
    } else if (places > 1 && distance.value < whole_at.value) {
      const Moving share = ratio(distance, whole_at);
      whole = ramp(chain(2.0 * share.value - 1.0, 2.0, share));
    }
    out.groups.emplace_back(candidate.group, 1.0 / (1.0 + leaving.value));
    if (whole.value >= 1.0) {
      search.add_whole(candidate, leaving);
    } else {
      search.add_opened(candidate, whole, leaving);
    }
  }
}

}  // namespace drift
