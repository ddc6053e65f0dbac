#include "process/kriging.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "drift/error.h"
#include "gp/kernel_loops.h"
#include "math/lapack.h"

namespace drift {
namespace {

constexpr double kFineNu = 1.5;  // of a fine second structure

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

}  // namespace

void Neighbourhood::clear() {
  for (std::vector<double>* column : {&x, &y, &t, &value, &error_variance, &count}) column->clear();
  track.clear();
  platform.clear();
  motion.clear();
  groups.clear();
}

ProcessNumbers packed(const ProcessParameters& p) {
  ProcessNumbers numbers = {};
  numbers[kLengthX] = std::log(p.length_x);
  numbers[kLengthY] = std::log(p.length_y);
  numbers[kShear] = p.shear;
  numbers[kTimeLength] = std::log(p.time_length);
  numbers[kDriftX] = p.drift_x;
  numbers[kDriftY] = p.drift_y;
  numbers[kSill] = std::log(p.sill);
  const double share = std::clamp(p.second_share, 1e-9, 1.0 - 1e-9);
  numbers[kSecondShare] = std::log(share / (1.0 - share));
  numbers[kSecondLength] = std::log(p.second_length);
  numbers[kSecondTime] = std::log(std::max(p.second_time, 1e-12));
  numbers[kNugget] = std::log(std::max(p.nugget, 1e-12));
  numbers[kTrackVariance] = std::log(std::max(p.track_variance, 1e-12));
  numbers[kTrackTime] = std::log(p.track_time);
  numbers[kPlatformVariance] = std::log(std::max(p.platform_variance, 1e-12));
  std::copy(p.by_latitude.begin(), p.by_latitude.end(), numbers.begin() + kByLatitude);
  return numbers;
}

ProcessParameters unpacked(const ProcessNumbers& numbers, const ProcessParameters& rest) {
  ProcessParameters p = rest;
  p.length_x = std::exp(numbers[kLengthX]);
  p.length_y = std::exp(numbers[kLengthY]);
  p.shear = numbers[kShear];
  p.time_length = std::exp(numbers[kTimeLength]);
  p.drift_x = numbers[kDriftX];
  p.drift_y = numbers[kDriftY];
  p.sill = std::exp(numbers[kSill]);
  p.second_length = std::exp(numbers[kSecondLength]);
  p.nugget = std::exp(numbers[kNugget]);
  // A part that is left out stays out.
  p.second_share = rest.second_share > 0.0 ? 1.0 / (1.0 + std::exp(-numbers[kSecondShare])) : 0.0;
  p.second_time = rest.second_time > 0.0 ? std::exp(numbers[kSecondTime]) : 0.0;
  p.track_variance = rest.track_variance > 0.0 ? std::exp(numbers[kTrackVariance]) : 0.0;
  p.track_time = std::exp(numbers[kTrackTime]);
  p.platform_variance = rest.platform_variance > 0.0 ? std::exp(numbers[kPlatformVariance]) : 0.0;
  std::copy(numbers.begin() + kByLatitude, numbers.end(), p.by_latitude.begin());
  return p;
}

Eigen::Matrix3d moving_frame(const ProcessParameters& p) {
  Eigen::Matrix3d frame = Eigen::Matrix3d::Zero();
  frame(0, 0) = 1.0 / p.length_x, frame(0, 1) = p.shear / p.length_y, frame(0, 2) = -p.drift_x / p.time_length;
  frame(1, 1) = 1.0 / p.length_y, frame(1, 2) = -p.drift_y / p.time_length;
  frame(2, 2) = 1.0 / p.time_length;
  return frame;
}

ProcessParameters search_parameters(const ProcessParameters& p) {
  if (p.second_share <= 0.0 || p.second_time <= 0.0) return p;
  ProcessParameters out = p;
  const double length = std::pow(p.second_length, p.second_share), time = std::pow(p.second_time, p.second_share);
  out.length_x *= length, out.length_y *= length, out.time_length *= time;
  out.drift_x *= (1.0 - p.second_share) * time / length, out.drift_y *= (1.0 - p.second_share) * time / length;
  out.second_share = 0.0;
  return out;
}

Frames frames_of(const ProcessParameters& p) {
  const Eigen::Matrix3d first = moving_frame(p);
  if (p.second_time <= 0.0) return {first, first / p.second_length};
  ProcessParameters resting = p;
  resting.drift_x = resting.drift_y = 0.0;
  Eigen::Matrix3d second = moving_frame(resting) / p.second_length;
  second(2, 2) = 1.0 / (p.time_length * p.second_time);
  return {first, second};
}

Kriging::Point Kriging::Structure::at(const std::array<double, 3>& place, double off_data) const {
  const Eigen::Vector3d q = frame * Eigen::Map<const Eigen::Vector3d>(place.data());
  return {q[0], q[1], q[2], off_data};
}

// q of each point; the target's is zero.
void Kriging::place_points() {
  const ProcessParameters& p = *parameters_;
  const Frames frames = frames_of(p);
  const double off = p.nu == 0.5 ? kRounded : 0.0;
  second_ = p.second_share > 0.0;
  structures_[0].share = 1.0 - p.second_share, structures_[0].nu = p.nu, structures_[0].off = off;
  structures_[1].share = p.second_share, structures_[1].nu = p.second_time > 0.0 ? p.nu : kFineNu;
  structures_[1].off = off / p.second_length, structures_[1].drifts = p.second_time > 0.0 ? 0.0 : 1.0;
  for (std::size_t s = 0; s < structures().size(); ++s) {
    Structure& structure = structures_.at(s);
    structure.frame = frames.at(s);
    structure.points.resize(n_ + 1, kDimensions);
    structure.points.row(0).setZero();
    structure.points.col(3).setZero();
    for (Index i = 0; i < n_; ++i) {
      const auto row = static_cast<std::size_t>(i);
      for (Index a = 0; a < 3; ++a) {
        structure.points(i + 1, a) =
            structure.frame(a, 0) * near_->x[row] + structure.frame(a, 1) * near_->y[row] + structure.frame(a, 2) * near_->t[row];
      }
    }
  }
}

// Correlations of the points from the j-th on with a point, and their pulls if wanted.
void Kriging::correlate(const Structure& structure, Index j, const Point& point, int dimensions, double* value, double* pull) {
  const gp::PlanarColumn column = {.points = structure.points.data() + j,
                                   .stride = static_cast<std::size_t>(n_ + 1),
                                   .point = point.data(),
                                   .count = dimensions,
                                   .n = static_cast<std::size_t>(n_ + 1 - j),
                                   .form = gp::planar_form({.family = Family::matern, .nu = structure.nu})};
  if (pull) {
    gp::planar_values_and_pulls(column, value, pull);
  } else {
    gp::planar_values(column, 1.0, value);
  }
}

// Of the places with a point near the target.
VectorXd Kriging::covariance_with(const std::array<double, 3>& place, bool rounded) {
  VectorXd all = VectorXd::Zero(n_);
  column_.resize(n_);
  for (const Structure& structure : structures()) {
    correlate(structure, 1, structure.at(place, rounded ? structure.off : 0.0), rounded ? kDimensions : 3, column_.data(),
              nullptr);
    all += parameters_->sill * structure.share * column_;
  }
  return all;
}

// The lower triangle of K as far as it is the field's, k and k~; with motions, pulls too.
void Kriging::fill_field() {
  const double sill = parameters_->sill;
  const bool moves = !near_->motion.empty();
  target_.setZero(n_), rounded_.setZero(n_);
  column_.resize(n_);
  for (Structure& structure : structures()) {
    const double scale = sill * structure.share;
    if (moves) structure.pull.resize(n_ + 1, n_ + 1);
    for (Index j = 0; j < n_; ++j) {
      const Point point = {structure.points(j + 1, 0), structure.points(j + 1, 1), structure.points(j + 1, 2)};
      double* const pull = moves ? structure.pull.col(j + 1).data() + j + 1 : nullptr;
      VectorXd::MapType to(factor_.column(static_cast<std::size_t>(j)) + j, n_ - j);
      correlate(structure, j + 1, point, 3, column_.data(), pull);
      if (&structure == structures_.data()) {
        to = scale * column_.head(n_ - j);
      } else {
        to += scale * column_.head(n_ - j);
      }
    }
    correlate(structure, 1, structure.target(0.0), 3, column_.data(), nullptr);
    target_ += scale * column_;
    structure.rounded.resize(n_), structure.rounded_pull.resize(n_);
    correlate(structure, 1, structure.target(structure.off), kDimensions, structure.rounded.data(),
              structure.rounded_pull.data());
    rounded_ += scale * structure.rounded;
  }
}

// Columns of the lower triangles.
void Kriging::fill_correlations() {
  const Index size = n_ + 1;
  for (Structure& structure : structures()) {
    structure.correlation.resize(size, size), structure.pull.resize(size, size);
    for (Index j = 0; j < size; ++j) {
      const Point point = {structure.points(j, 0), structure.points(j, 1), structure.points(j, 2)};
      correlate(structure, j, point, 3, structure.correlation.col(j).data() + j, structure.pull.col(j).data() + j);
    }
    for (Index j = 0; j < size; ++j) {
      for (Index i = 0; i < j; ++i) {
        structure.correlation(i, j) = structure.correlation(j, i), structure.pull(i, j) = structure.pull(j, i);
      }
    }
  }
}

// Covariance of places' errors beyond their own: along a track, which decays with time, and of one platform.
void Kriging::add_shared_errors() {
  const ProcessParameters& p = *parameters_;
  if (p.platform_variance > 0.0) {
    const std::int32_t* const platform = near_->platform.data();
    for (Index j = 0; j < n_; ++j) {
      double* const to = factor_.column(static_cast<std::size_t>(j));
      for (Index i = j; i < n_; ++i) to[i] += platform[i] == platform[j] ? p.platform_variance : 0.0;
    }
  }
  for_pairs_of_a_track([&](Index i, Index j, double covariance, double) { covariance_of(i, j) += covariance; });
  if (p.track_variance <= 0.0) return;
  for (Index i = 0; i < n_; ++i) {
    if (near_->track[static_cast<std::size_t>(i)] >= 0) covariance_of(i, i) += p.track_variance;
  }
}

// work(i, j, covariance, time from j to i) for i > j on one track.
template <class Work>
void Kriging::for_pairs_of_a_track(const Work& work) {
  const ProcessParameters& p = *parameters_;
  if (p.track_variance <= 0.0) return;
  by_track_.clear();
  for (std::int32_t i = 0; i < n_; ++i) {
    const std::int32_t track = near_->track[static_cast<std::size_t>(i)];
    if (track >= 0) by_track_.emplace_back(track, i);
  }
  std::sort(by_track_.begin(), by_track_.end());
  for (std::size_t first = 0; first < by_track_.size(); ++first) {
    for (std::size_t next = first + 1; next < by_track_.size() && by_track_[next].first == by_track_[first].first; ++next) {
      const Index i = by_track_[next].second, j = by_track_[first].second;
      const double apart = near_->t[static_cast<std::size_t>(i)] - near_->t[static_cast<std::size_t>(j)];
      work(i, j, p.track_variance * std::exp(-std::abs(apart) / p.track_time), apart);
    }
  }
}

double Kriging::covariance_between(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  double all = 0.0;
  for (const Structure& structure : structures()) {
    const Point from = structure.at(a, 0.0), to = structure.at(b, 0.0);
    double value = 0.0;
    gp::planar_values({.points = from.data(),
                       .stride = 1,
                       .point = to.data(),
                       .count = 3,
                       .n = 1,
                       .form = gp::planar_form({.family = Family::matern, .nu = structure.nu})},
                      1.0, &value);
    all += parameters_->sill * structure.share * value;
  }
  return all;
}

// The rounded covariances of the pairs' ends, and the right-hand sides of their differences.
void Kriging::add_pairs(std::span<const PlacePair> pairs, Index first_side) {
  pair_covariance_.resize(n_, 2 * static_cast<Index>(pairs.size()));
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    const VectorXd difference = covariance_with(pairs[pair].b, false) - covariance_with(pairs[pair].a, false);
    pair_covariance_.col(2 * static_cast<Index>(pair)) = covariance_with(pairs[pair].a, true);
    pair_covariance_.col(2 * static_cast<Index>(pair) + 1) = covariance_with(pairs[pair].b, true);
    for (Index i = 0; i < n_; ++i)
      factor_.side(static_cast<std::size_t>(first_side) + pair, static_cast<std::size_t>(i)) = difference[i];
  }
}

void Kriging::solve_pairs(std::span<const PlacePair> pairs, Index first_side) {
  const auto ones = solved_.col(2);
  pairs_.resize(pairs.size());
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    const auto column = static_cast<Index>(2 * pair);
    const auto d = solved_.col(first_side + static_cast<Index>(pair));
    const double sum = ones.dot(d), sill = parameters_->sill;
    const double alone = 2.0 * (sill - covariance_between(pairs[pair].a, pairs[pair].b));
    pairs_[pair] = {.mean_a = gls_ + dual().dot(pair_covariance_.col(column)),
                    .mean_b = gls_ + dual().dot(pair_covariance_.col(column + 1)),
                    .variance = std::max(0.0, alone - d.squaredNorm() + sum * sum / ones.squaredNorm())};
  }
}

void Kriging::solve(const ProcessParameters& parameters, const Neighbourhood& near, std::int32_t target_platform,
                    std::span<const PlacePair> pairs) {
  parameters_ = &parameters;
  near_ = &near;
  target_platform_ = target_platform;
  n_ = static_cast<Index>(near.size());
  if (n_ == 0) throw Error("a process has no observations to predict from");
  const ProcessParameters& p = parameters;
  const bool moves = !near.motion.empty();
  const Index own_sides = moves ? 4 : 3, sides = own_sides + static_cast<Index>(pairs.size());
  factor_.resize(near.size(), static_cast<std::size_t>(sides));
  place_points();
  fill_field();
  add_shared_errors();
  for (Index i = 0; i < n_; ++i) {
    const auto row = static_cast<std::size_t>(i);
    covariance_of(i, i) += p.nugget / near.count[row] + near.error_variance[row] + 1e-9 * p.sill;
    if (near.platform[row] == target_platform) target_[i] += p.platform_variance;
    factor_.side(0, row) = target_[i];
    factor_.side(1, row) = near.value[row];
    factor_.side(2, row) = 1.0;
    if (moves) factor_.side(3, row) = rounded_[i];
  }
  if (!pairs.empty()) add_pairs(pairs, own_sides);
  if (factor_.factor() != 0) throw Error("the covariance of a process cannot be factored; give a larger nugget");
  solved_.resize(n_, sides);
  for (Index i = 0; i < n_; ++i) {
    for (Index side = 0; side < sides; ++side)
      solved_(i, side) = factor_.side(static_cast<std::size_t>(side), static_cast<std::size_t>(i));
  }
  // Now L^-1 of k, y, 1 and k~: the products below are those of K^-1.
  const double ones = solved_.col(2).squaredNorm();
  gls_ = solved_.col(2).dot(solved_.col(1)) / ones;
  const double lagrange = (solved_.col(2).dot(solved_.col(0)) - 1.0) / ones;
  back_.resize(n_, moves ? 3 : 2);
  back_.col(0) = solved_.col(0) - lagrange * solved_.col(2);
  back_.col(1) = solved_.col(1) - gls_ * solved_.col(2);
  if (moves) back_.col(2) = solved_.col(3) - (solved_.col(2).dot(solved_.col(3)) - 1.0) / ones * solved_.col(2);
  factor_.solve_transposed(back_.data(), static_cast<std::size_t>(back_.cols()));
  const double own = p.sill + (target_platform == kField ? 0.0 : p.platform_variance);
  mean_ = gls_ + dual().dot(target_);
  variance_ = std::max(1e-12 * p.sill, own - weight().dot(target_) - lagrange);
  solve_pairs(pairs, own_sides);
}

// d mean = c'(dk~ - dK w~) + w~'dy, where dK is that of the places' q, of their errors and of the times on one track. With
// S_ij = sill pull_ij (c_i w~_j + c_j w~_i), the first of these is  -c'dK w~ = sum over i > j of S_ij (q_i - q_j)(dq_i - dq_j),
// for each structure in its own frame.
std::array<double, 3> Kriging::slope(const Frames& frame_motion) {
  const ProcessParameters& p = *parameters_;
  const Eigen::MatrixXd::ConstColXpr c = dual(), w = std::as_const(back_).col(2);
  MatrixXd& to_place = to_place_;  // [n, 3] what a place's motion counts for
  to_place.setZero(n_, 3);
  double turned = 0.0;
  VectorXd s(n_), sd(n_);
  for (std::size_t which = 0; which < structures().size(); ++which) {
    const Structure& structure = structures_.at(which);
    const double scale = p.sill * structure.share;
    MatrixXd to_q = (scale * structure.rounded_pull.cwiseProduct(c)).asDiagonal() * (-structure.points.bottomLeftCorner(n_, 3));
    for (Index j = 0; j + 1 < n_; ++j) {
      const Index rest = n_ - 1 - j;
      s.head(rest) = scale * structure.pull.col(j + 1).tail(rest).cwiseProduct(w[j] * c.tail(rest) + c[j] * w.tail(rest));
      for (Index a = 0; a < 3; ++a) {
        const auto q = structure.points.col(a).tail(rest);
        sd.head(rest) = s.head(rest).cwiseProduct((q.array() - structure.points(j + 1, a)).matrix());
        to_q.col(a).tail(rest) += sd.head(rest);
        to_q(j, a) -= sd.head(rest).sum();
      }
    }
    to_place += to_q * structure.frame;
    for (Index i = 0; i < n_; ++i) {
      const auto row = static_cast<std::size_t>(i);
      turned +=
          to_q.row(i).dot((frame_motion.at(which) * Eigen::Vector3d(near_->x[row], near_->y[row], near_->t[row])).transpose());
    }
  }
  std::array<double, 3> slope = {0.0, turned, 0.0};
  for (Index i = 0; i < n_; ++i) {
    const PlaceMotion& motion = near_->motion[static_cast<std::size_t>(i)];
    for (std::size_t d = 0; d < 3; ++d) {
      slope.at(d) += to_place(i, 0) * motion.x.at(d) + to_place(i, 1) * motion.y.at(d) + to_place(i, 2) * motion.t.at(d) +
                     w[i] * motion.value.at(d) - c[i] * w[i] * motion.error_variance.at(d);
    }
  }
  for_pairs_of_a_track([&](Index i, Index j, double covariance, double apart) {
    const double count = (c[i] * w[j] + c[j] * w[i]) * covariance * (apart > 0.0 ? 1.0 : -1.0) / p.track_time;
    const PlaceMotion &a = near_->motion[static_cast<std::size_t>(i)], &b = near_->motion[static_cast<std::size_t>(j)];
    for (std::size_t d = 0; d < 3; ++d) slope.at(d) += count * (a.t.at(d) - b.t.at(d));
  });
  return slope;
}

// Of the numbers that a structure's q are made of. q_x = (x / l_x + shear y / l_y - u t / l_t) / length and so on, with u = v = 0
// at rest; each moment is a sum over i, j of m_ij (q_i - q_j)_a (q_i - q_j)_b.
void Kriging::add_frame_gradient(const Structure& structure, const MatrixXd& count, ProcessNumbers& gradient) {
  const ProcessParameters& p = *parameters_;
  const MatrixXd m = p.sill * structure.share * count.cwiseProduct(structure.pull);
  const VectorXd sums = m.rowwise().sum();
  MatrixXd moved(n_ + 1, 3);
  multiply(1.0, m, false, structure.points.leftCols(3), false, 0.0, moved);
  const auto moment = [&](Index a, Index b) {
    return 2.0 *
           (sums.cwiseProduct(structure.points.col(a)).dot(structure.points.col(b)) - structure.points.col(a).dot(moved.col(b)));
  };
  const double xx = moment(0, 0), yy = moment(1, 1), tt = moment(2, 2);
  const double xt = structure.drifts * moment(0, 2), yt = structure.drifts * moment(1, 2);
  const double sheared = moment(0, 1) + p.drift_y * xt;  // of q_x with y / l_y
  gradient[kLengthX] += xx + p.drift_x * xt - p.shear * sheared;
  gradient[kLengthY] += yy + p.drift_y * yt + p.shear * sheared;
  gradient[kShear] -= sheared;
  gradient[kTimeLength] += tt - p.drift_x * xt - p.drift_y * yt;
  gradient[kDriftX] += xt;
  gradient[kDriftY] += yt;
  if (&structure == structures_.data()) return;
  const bool lasting = p.second_time > 0.0;
  gradient[kSecondLength] += xx + yy + (lasting ? 0.0 : tt);
  if (lasting) gradient[kSecondTime] += tt;
}

void Kriging::add_gradient(double d_mean, double d_variance, ProcessNumbers& gradient) {
  const ProcessParameters& p = *parameters_;
  const Index size = n_ + 1;
  fill_correlations();
  const Eigen::MatrixXd::ConstColXpr weights = weight(), duals = dual();
  // What each covariance counts for: the target's first, then among the places; symmetric.
  MatrixXd count(size, size);
  count(0, 0) = d_variance;
  count.block(1, 0, n_, 1) = 0.5 * d_mean * duals - d_variance * weights;
  count.block(0, 1, 1, n_) = count.block(1, 0, n_, 1).transpose();
  count.bottomRightCorner(n_, n_) =
      d_variance * weights * weights.transpose() - 0.5 * d_mean * (duals * weights.transpose() + weights * duals.transpose());
  for (const Structure& structure : structures()) {
    gradient[kSill] += p.sill * structure.share * count.cwiseProduct(structure.correlation).sum();
    add_frame_gradient(structure, count, gradient);
  }
  if (second_) {
    gradient[kSecondShare] += p.sill * p.second_share * (1.0 - p.second_share) *
                              count.cwiseProduct(structures_[1].correlation - structures_[0].correlation).sum();
  }
  if (target_platform_ != kField) gradient[kPlatformVariance] += p.platform_variance * d_variance;
  for (Index i = 0; i < n_; ++i) {
    const auto row = static_cast<std::size_t>(i);
    gradient[kNugget] += count(i + 1, i + 1) * p.nugget / near_->count[row];
    if (near_->platform[row] == target_platform_) gradient[kPlatformVariance] += 2.0 * count(i + 1, 0) * p.platform_variance;
    if (p.track_variance <= 0.0 && p.platform_variance <= 0.0) continue;
    for (Index j = 0; j < n_; ++j) {
      const auto other = static_cast<std::size_t>(j);
      const double c = count(i + 1, j + 1);
      if (near_->platform[row] == near_->platform[other]) gradient[kPlatformVariance] += c * p.platform_variance;
      if (p.track_variance <= 0.0 || near_->track[row] < 0 || near_->track[row] != near_->track[other]) continue;
      const double apart = std::abs(near_->t[row] - near_->t[other]) / p.track_time;
      const double covariance = p.track_variance * std::exp(-apart);
      gradient[kTrackVariance] += c * covariance;
      gradient[kTrackTime] += c * covariance * apart;
    }
  }
}

}  // namespace drift
