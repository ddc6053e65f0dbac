#include "process/kriging.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "drift/error.h"
#include "gp/kernel_loops.h"
#include "math/lapack.h"

namespace drift {
namespace {

constexpr double kFineNu = 1.5;

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
  const double share = std::clamp(p.fine_share, 1e-9, 1.0 - 1e-9);
  numbers[kFineShare] = std::log(share / (1.0 - share));
  numbers[kFineLength] = std::log(p.fine_length);
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
  p.fine_length = std::exp(numbers[kFineLength]);
  p.nugget = std::exp(numbers[kNugget]);
  // A part that is left out stays out.
  p.fine_share = rest.fine_share > 0.0 ? 1.0 / (1.0 + std::exp(-numbers[kFineShare])) : 0.0;
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

// q of each point; the target's is zero.
void Kriging::place_points() {
  const Eigen::Matrix3d frame = moving_frame(*parameters_);
  points_.resize(n_ + 1, kDimensions);
  points_.row(0).setZero();
  points_.col(3).setZero();
  for (Index i = 0; i < n_; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (Index a = 0; a < 3; ++a) {
      points_(i + 1, a) = frame(a, 0) * near_->x[row] + frame(a, 1) * near_->y[row] + frame(a, 2) * near_->t[row];
    }
  }
  if (parameters_->fine_share > 0.0) fine_points_ = points_ / parameters_->fine_length;
}

// Correlations of the points from the j-th on with a point, and their pulls where they are wanted.
void Kriging::correlate(Index j, const std::array<double, kDimensions>& point, int dimensions, double* value, double* pull) {
  const ProcessParameters& p = *parameters_;
  const auto stride = static_cast<std::size_t>(n_ + 1);
  const Index count = n_ + 1 - j;
  const auto structure = [&](const MatrixXd& points, const double* at, double nu, double* to, double* to_pull) {
    const gp::PlanarColumn column = {.points = points.data() + j,
                                     .stride = stride,
                                     .point = at,
                                     .count = dimensions,
                                     .n = static_cast<std::size_t>(count),
                                     .form = gp::planar_form({.family = Family::matern, .nu = nu})};
    if (to_pull) {
      gp::planar_values_and_pulls(column, to, to_pull);
    } else {
      gp::planar_values(column, 1.0, to);
    }
  };
  structure(points_, point.data(), p.nu, value, pull);
  if (p.fine_share <= 0.0) return;
  std::array<double, kDimensions> fine_point = point;
  for (double& x : fine_point) x /= p.fine_length;
  fine_value_.resize(count), fine_slope_.resize(count);
  structure(fine_points_, fine_point.data(), kFineNu, fine_value_.data(), pull ? fine_slope_.data() : nullptr);
  Eigen::Map<VectorXd> values(value, count);
  values += p.fine_share * (fine_value_ - values);
  if (!pull) return;
  Eigen::Map<VectorXd> pulls(pull, count);
  pulls += p.fine_share * (fine_slope_ / (p.fine_length * p.fine_length) - pulls);
}

// The lower triangle of K as far as it is the field's, k and k~; with motions, pulls too.
void Kriging::fill_field() {
  const double sill = parameters_->sill;
  const bool moves = !near_->motion.empty();
  if (moves) pull_.resize(n_ + 1, n_ + 1);
  for (Index j = 0; j < n_; ++j) {
    const std::array<double, kDimensions> point = {points_(j + 1, 0), points_(j + 1, 1), points_(j + 1, 2)};
    double* const to = factor_.column(static_cast<std::size_t>(j)) + j;
    correlate(j + 1, point, 3, to, moves ? pull_.col(j + 1).data() + j + 1 : nullptr);
    VectorXd::Map(to, n_ - j) *= sill;
  }
  const std::array<double, kDimensions> target = {}, off = {0.0, 0.0, 0.0, parameters_->nu == 0.5 ? kRounded : 0.0};
  target_.resize(n_), rounded_.resize(n_), rounded_pull_.resize(n_);
  correlate(1, target, 3, target_.data(), nullptr);
  correlate(1, off, kDimensions, rounded_.data(), rounded_pull_.data());
  target_ *= sill, rounded_ *= sill, rounded_pull_ *= sill;
}

// Columns of the lower triangle.
void Kriging::fill_correlations() {
  const Index size = n_ + 1;
  const bool fine = parameters_->fine_share > 0.0;
  correlation_.resize(size, size), pull_.resize(size, size);
  if (fine) fine_.resize(size, size), fine_pull_.resize(size, size);
  for (Index j = 0; j < size; ++j) {
    const std::array<double, kDimensions> point = {points_(j, 0), points_(j, 1), points_(j, 2)};
    correlate(j, point, 3, correlation_.col(j).data() + j, pull_.col(j).data() + j);
    if (fine) fine_.col(j).tail(size - j) = fine_value_, fine_pull_.col(j).tail(size - j) = fine_slope_;
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

std::array<double, Kriging::kDimensions> Kriging::frame_point(const std::array<double, 3>& at) const {
  const Eigen::Vector3d q = moving_frame(*parameters_) * Eigen::Map<const Eigen::Vector3d>(at.data());
  return {q[0], q[1], q[2], 0.0};
}

double Kriging::covariance_between(const std::array<double, kDimensions>& a, const std::array<double, kDimensions>& b) {
  const ProcessParameters& p = *parameters_;
  const auto correlation = [&](double length, double nu) {
    std::array<double, 3> from = {}, to = {};
    for (std::size_t d = 0; d < 3; ++d) from.at(d) = a.at(d) / length, to.at(d) = b.at(d) / length;
    double value = 0.0;
    gp::planar_values({.points = from.data(),
                       .stride = 1,
                       .point = to.data(),
                       .count = 3,
                       .n = 1,
                       .form = gp::planar_form({.family = Family::matern, .nu = nu})},
                      1.0, &value);
    return value;
  };
  const double own = correlation(1.0, p.nu);
  return p.sill * (p.fine_share > 0.0 ? own + p.fine_share * (correlation(p.fine_length, kFineNu) - own) : own);
}

// The rounded covariances of the pairs' ends, and the right-hand sides of their differences.
void Kriging::add_pairs(std::span<const PlacePair> pairs, Index first_side) {
  const double sill = parameters_->sill;
  pair_covariance_.resize(n_, 2 * static_cast<Index>(pairs.size()));
  VectorXd difference(n_), end(n_);
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) {
    difference.setZero();
    for (const bool second : {false, true}) {
      std::array<double, kDimensions> at = frame_point(second ? pairs[pair].b : pairs[pair].a);
      correlate(1, at, 3, end.data(), nullptr);
      difference += (second ? sill : -sill) * end;
      at[3] = parameters_->nu == 0.5 ? kRounded : 0.0;
      correlate(1, at, kDimensions, end.data(), nullptr);
      pair_covariance_.col(2 * static_cast<Index>(pair) + (second ? 1 : 0)) = sill * end;
    }
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
    const double alone = 2.0 * (sill - covariance_between(frame_point(pairs[pair].a), frame_point(pairs[pair].b)));
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
// S_ij = sill pull_ij (c_i w~_j + c_j w~_i), the first of these is  -c'dK w~ = sum over i > j of S_ij (q_i - q_j)(dq_i - dq_j).
std::array<double, 3> Kriging::slope(const Eigen::Matrix3d& frame_motion) {
  const ProcessParameters& p = *parameters_;
  const Eigen::MatrixXd::ConstColXpr c = dual(), w = std::as_const(back_).col(2);
  MatrixXd& to_q = to_q_;  // [n, 3] what each dq counts for
  to_q = rounded_pull_.cwiseProduct(c).asDiagonal() * (-points_.bottomLeftCorner(n_, 3));
  VectorXd s(n_), sd(n_);
  for (Index j = 0; j + 1 < n_; ++j) {
    const Index rest = n_ - 1 - j;
    s.head(rest) = p.sill * pull_.col(j + 1).tail(rest).cwiseProduct(w[j] * c.tail(rest) + c[j] * w.tail(rest));
    for (Index a = 0; a < 3; ++a) {
      const auto q = points_.col(a).tail(rest);
      sd.head(rest) = s.head(rest).cwiseProduct((q.array() - points_(j + 1, a)).matrix());
      to_q.col(a).tail(rest) += sd.head(rest);
      to_q(j, a) -= sd.head(rest).sum();
    }
  }
  const Eigen::Matrix3d frame = moving_frame(p);
  std::array<double, 3> slope = {};
  for (Index i = 0; i < n_; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const PlaceMotion& motion = near_->motion[row];
    const Eigen::Vector3d counts = frame.transpose() * to_q.row(i).transpose();
    for (std::size_t d = 0; d < 3; ++d) {
      slope.at(d) += counts[0] * motion.x.at(d) + counts[1] * motion.y.at(d) + counts[2] * motion.t.at(d) +
                     w[i] * motion.value.at(d) - c[i] * w[i] * motion.error_variance.at(d);
    }
    slope[1] += to_q.row(i).dot((frame_motion * Eigen::Vector3d(near_->x[row], near_->y[row], near_->t[row])).transpose());
  }
  for_pairs_of_a_track([&](Index i, Index j, double covariance, double apart) {
    const double count = (c[i] * w[j] + c[j] * w[i]) * covariance * (apart > 0.0 ? 1.0 : -1.0) / p.track_time;
    const PlaceMotion &a = near_->motion[static_cast<std::size_t>(i)], &b = near_->motion[static_cast<std::size_t>(j)];
    for (std::size_t d = 0; d < 3; ++d) slope.at(d) += count * (a.t.at(d) - b.t.at(d));
  });
  return slope;
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
  for (Index j = 0; j < size; ++j) {
    for (Index i = 0; i < j; ++i) correlation_(i, j) = correlation_(j, i), pull_(i, j) = pull_(j, i);
    for (Index i = 0; i < j && p.fine_share > 0.0; ++i) fine_(i, j) = fine_(j, i), fine_pull_(i, j) = fine_pull_(j, i);
  }
  gradient[kSill] += p.sill * count.cwiseProduct(correlation_).sum();

  if (p.fine_share > 0.0) {
    gradient[kFineShare] += p.sill * p.fine_share * count.cwiseProduct(fine_ - correlation_).sum();
    const double scale = p.sill * p.fine_share / (p.fine_length * p.fine_length);
    const MatrixXd m = scale * count.cwiseProduct(fine_pull_);
    const auto q = points_.leftCols(3);
    gradient[kFineLength] += 2.0 * (m.rowwise().sum().dot(q.rowwise().squaredNorm()) - q.cwiseProduct(m * q).sum());
  }

  const MatrixXd m = p.sill * count.cwiseProduct(pull_);
  const VectorXd sums = m.rowwise().sum();
  MatrixXd moved(size, 3);
  multiply(1.0, m, false, points_.leftCols(3), false, 0.0, moved);
  // sum over i, j of m_ij (q_i - q_j)_a (q_i - q_j)_b
  const auto moment = [&](Index a, Index b) {
    return 2.0 * (sums.cwiseProduct(points_.col(a)).dot(points_.col(b)) - points_.col(a).dot(moved.col(b)));
  };
  const double xx = moment(0, 0), yy = moment(1, 1), tt = moment(2, 2), xt = moment(0, 2), yt = moment(1, 2);
  const double sheared = moment(0, 1) + p.drift_y * xt;  // of q_x with y / l_y
  gradient[kLengthX] += xx + p.drift_x * xt - p.shear * sheared;
  gradient[kLengthY] += yy + p.drift_y * yt + p.shear * sheared;
  gradient[kShear] -= sheared;
  gradient[kTimeLength] += tt - p.drift_x * xt - p.drift_y * yt;
  gradient[kDriftX] += xt;
  gradient[kDriftY] += yt;
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
