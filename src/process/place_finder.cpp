#include "process/place_finder.h"

#include <algorithm>
#include <cmath>

namespace drift {
namespace {

// Lengthscales beyond which a group is taken whole, two sides of its cell; within half of that it is opened into its places. No
// more groups than so many are opened.
constexpr double kWhole = 0.4;
constexpr std::size_t kMostOpened = 12;
constexpr double kEdge = 0.8;  // of the distance of the first group left out: from there on places fade

// Neighbours come and go without a step in the map: one that is about to go has an error variance, in sills, that grows without
// bound (Gribov & Krivoruchko 2004). share: 0 stays, 1 is gone.
double fading(double share) {
  constexpr double kGone = 1e6;
  if (share <= 0.0) return 0.0;
  return share >= 1.0 ? kGone : std::min(kGone, share * share / ((1.0 - share) * (1.0 - share)));
}
constexpr std::size_t kMostCandidates = std::size_t{1} << 15;

double dot(const std::array<double, 3>& a, const float* b) {
  return a[0] * static_cast<double>(b[0]) + a[1] * static_cast<double>(b[1]) + a[2] * static_cast<double>(b[2]);
}

}  // namespace

LocalFrame::LocalFrame(Space space, bool has_time, const float* target, std::size_t columns)
    : sphere_(space == Space::sphere), has_time_(has_time), columns_(columns) {
  for (std::size_t d = 0; d < columns; ++d) target_.at(d) = static_cast<double>(target[d]);
  if (!sphere_) return;
  const double lon = std::atan2(target_[1], target_[0]);
  const double sin_lat = target_[2], cos_lat = std::hypot(target_[0], target_[1]);
  east_ = {-std::sin(lon), std::cos(lon), 0.0};
  north_ = {-sin_lat * std::cos(lon), -sin_lat * std::sin(lon), cos_lat};
}

std::array<double, 3> LocalFrame::operator()(const float* row) const {
  const double t = has_time_ ? static_cast<double>(row[columns_ - 1]) - target_.at(columns_ - 1) : 0.0;
  if (!sphere_) {
    const double y = columns_ - (has_time_ ? 1 : 0) > 1 ? static_cast<double>(row[1]) - target_[1] : 0.0;
    return {static_cast<double>(row[0]) - target_[0], y, t};
  }
  const double x = dot(east_, row), y = dot(north_, row), z = dot({target_[0], target_[1], target_[2]}, row);
  const double sine = std::hypot(x, y);
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

ProcessParameters at_target(const ProcessParameters& parameters, Space space, const float* target) {
  if (space != Space::sphere) return parameters;
  constexpr double kFades = 0.05;  // cosine of the latitude at which half is left
  const double cosine = std::hypot(static_cast<double>(target[0]), static_cast<double>(target[1]));
  const double left = cosine * cosine / (cosine * cosine + kFades * kFades);
  const double both = std::sqrt(parameters.length_x * parameters.length_y);
  ProcessParameters out = parameters;
  out.length_x = both * std::pow(parameters.length_x / both, left);
  out.length_y = both * std::pow(parameters.length_y / both, left);
  out.drift_x *= left, out.drift_y *= left;
  return out;
}

PlaceFinder::PlaceFinder(Space space, bool has_time, const Places& places, const ProcessParameters& parameters)
    : space_(space), has_time_(has_time), parameters_(parameters), places_(places), groups_(groups_of(places, space)) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (i == 0 || places.group[i] != places.group[i - 1]) first_.push_back(i);
  }
  first_.push_back(places.size());
  const double both = std::sqrt(parameters.length_x * parameters.length_y);
  for (std::size_t d = 0; d < places.columns; ++d) {
    const bool time = has_time && d + 1 == places.columns;
    const double plane = d == 0 ? parameters.length_x : parameters.length_y;
    inverse_.at(d) = 1.0 / (time ? parameters.time_length : space == Space::sphere ? both : plane);
  }
  Eigen::MatrixXd points(static_cast<Eigen::Index>(places.columns), static_cast<Eigen::Index>(groups_.size()));
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const std::array<double, 4> at = scaled(groups_.rows().row(i));
    for (std::size_t d = 0; d < places.columns; ++d) {
      points(static_cast<Eigen::Index>(d), static_cast<Eigen::Index>(i)) = at.at(d);
    }
  }
  tree_ = std::make_unique<gp::NeighbourTree>(std::move(points));
}

std::array<double, 4> PlaceFinder::scaled(const float* row) const {
  std::array<double, 4> out = {};
  for (std::size_t d = 0; d < places_.columns; ++d) out.at(d) = static_cast<double>(row[d]) * inverse_.at(d);
  return out;
}

// The tree stands still, so twice as many are taken as are wanted, and ordered in the moving frame.
std::vector<PlaceFinder::Candidate> PlaceFinder::candidates(const float* target, const LocalFrame& frame, std::size_t k,
                                                            const Exclusion& exclusion) const {
  const std::array<double, 4> at = scaled(target);
  const ProcessParameters p = at_target(parameters_, space_, target);
  std::vector<Eigen::Index> found;
  std::vector<Candidate> kept;
  for (std::size_t asked = 2 * k;; asked *= 2) {
    tree_->find(at.data(), asked, found);
    kept.clear();
    for (const Eigen::Index index : found) {
      const auto group = static_cast<std::size_t>(index);
      if (exclusion.fold != kNoFold && groups_.fold[group] == exclusion.fold) continue;
      if (groups_.track[group] == exclusion.track) continue;
      if (exclusion.gap > 0.0) {
        double sum = 0.0;
        for (std::size_t d = 0; d < places_.columns; ++d) {
          const double apart = at.at(d) - tree_->points()(static_cast<Eigen::Index>(d), index);
          sum += apart * apart;
        }
        if (sum < exclusion.gap * exclusion.gap) continue;
      }
      const std::array<double, 3> local = frame(groups_.rows().row(group));
      const double t = local[2] / p.time_length;
      kept.push_back({std::hypot(local[0] / p.length_x - p.drift_x * t, local[1] / p.length_y - p.drift_y * t, t), group});
    }
    if (kept.size() >= 2 * k || found.size() >= groups_.size() || asked >= kMostCandidates) break;
    if (kept.size() >= k && exclusion.gap > 0.0) break;
  }
  const std::size_t taken = std::min(k + 1, kept.size());  // one more, which says where the edge is
  std::partial_sort(
      kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(taken), kept.end(),
      [](const Candidate& a, const Candidate& b) { return std::tie(a.distance, a.group) < std::tie(b.distance, b.group); });
  kept.resize(taken);
  return kept;
}

void PlaceFinder::add(const Places& from, std::size_t place, const LocalFrame& frame, double fade, Neighbourhood& out) const {
  const float* row = from.rows().row(place);
  const std::array<double, 3> local = frame(row);
  const std::array<double, 3>& trend = parameters_.trend;
  double mean = trend[0];
  if (space_ == Space::plane) mean += trend[1] * static_cast<double>(row[0]) + trend[2] * static_cast<double>(row[1]);
  out.x.push_back(local[0]);
  out.y.push_back(local[1]);
  out.t.push_back(local[2]);
  out.value.push_back(static_cast<double>(from.value[place]) - mean);
  out.error_variance.push_back(static_cast<double>(from.error_variance[place]) + fade * parameters_.sill);
  out.count.push_back(static_cast<double>(from.count[place]));
  out.track.push_back(from.track[place]);
  out.platform.push_back(from.platform[place]);
}

void PlaceFinder::find(const float* target, std::size_t k, const Exclusion& exclusion, Edges edges, Neighbourhood& out) const {
  out.clear();
  const LocalFrame frame(space_, has_time_, target, places_.columns);
  const std::vector<Candidate> near = candidates(target, frame, k, exclusion);
  const bool sharp = edges == Edges::sharp;
  const double edge = near.size() > k && !sharp ? near.back().distance : INFINITY;
  const double whole_at = near.size() > kMostOpened ? std::min(kWhole, near[kMostOpened].distance) : kWhole;
  for (std::size_t i = 0; i < std::min(k, near.size()); ++i) {
    const auto [distance, group] = near[i];
    const std::size_t first = first_[group], last = first_[group + 1];
    const double leaving = std::isfinite(edge) ? fading((distance / edge - kEdge) / (1.0 - kEdge)) : 0.0;
    double whole = last - first == 1 ? 1.0 : 2.0 * distance / whole_at - 1.0;
    if (sharp) whole = last - first > 1 && distance < 0.75 * kWhole && out.size() + (last - first) <= k ? 0.0 : 1.0;
    if (whole > 0.0) add(groups_, group, frame, leaving + fading(1.0 - whole), out);
    if (whole >= 1.0) continue;
    for (std::size_t place = first; place < last; ++place) add(places_, place, frame, leaving + fading(whole), out);
  }
}

}  // namespace drift
