#include "process/kriging.h"

#include <algorithm>
#include <cmath>

#include "drift/error.h"
#include "gp/factor.h"
#include "gp/kernel_loops.h"
#include "math/lapack.h"

namespace drift {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

gp::PlanarForm form_of(double nu) {
  if (nu == 0.5) return gp::PlanarForm::matern_1_2;
  return nu == 1.5 ? gp::PlanarForm::matern_3_2 : gp::PlanarForm::matern_5_2;
}

}  // namespace

void Neighbourhood::clear() {
  for (std::vector<double>* column : {&x, &y, &t, &value, &error_variance, &count}) column->clear();
  track.clear();
  platform.clear();
}

ProcessNumbers packed(const ProcessParameters& p) {
  ProcessNumbers numbers = {};
  numbers[kLengthX] = std::log(p.length_x);
  numbers[kLengthY] = std::log(p.length_y);
  numbers[kTimeLength] = std::log(p.time_length);
  numbers[kDriftX] = p.drift_x;
  numbers[kDriftY] = p.drift_y;
  numbers[kSill] = std::log(p.sill);
  numbers[kNugget] = std::log(std::max(p.nugget, 1e-12));
  numbers[kTrackVariance] = std::log(std::max(p.track_variance, 1e-12));
  numbers[kTrackTime] = std::log(p.track_time);
  numbers[kPlatformVariance] = std::log(std::max(p.platform_variance, 1e-12));
  return numbers;
}

ProcessParameters unpacked(const ProcessNumbers& numbers, const ProcessParameters& rest) {
  ProcessParameters p = rest;
  p.length_x = std::exp(numbers[kLengthX]);
  p.length_y = std::exp(numbers[kLengthY]);
  p.time_length = std::exp(numbers[kTimeLength]);
  p.drift_x = numbers[kDriftX];
  p.drift_y = numbers[kDriftY];
  p.sill = std::exp(numbers[kSill]);
  p.nugget = std::exp(numbers[kNugget]);
  // A part that is left out stays out.
  p.track_variance = rest.track_variance > 0.0 ? std::exp(numbers[kTrackVariance]) : 0.0;
  p.track_time = std::exp(numbers[kTrackTime]);
  p.platform_variance = rest.platform_variance > 0.0 ? std::exp(numbers[kPlatformVariance]) : 0.0;
  return p;
}

// q of each point; the target's is zero.
void Kriging::place_points() {
  const ProcessParameters& p = *parameters_;
  points_.resize(n_ + 1, 3);
  points_.row(0).setZero();
  for (Index i = 0; i < n_; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double t = near_->t[row] / p.time_length;
    points_(i + 1, 0) = near_->x[row] / p.length_x - p.drift_x * t;
    points_(i + 1, 1) = near_->y[row] / p.length_y - p.drift_y * t;
    points_(i + 1, 2) = t;
  }
}

// Columns of the lower triangle; pulls on request.
void Kriging::fill_covariances(bool pulls) {
  const Index size = n_ + 1;
  correlation_.resize(size, size);
  if (pulls) pull_.resize(size, size);
  gp::PlanarColumn column = {.stride = static_cast<std::size_t>(size), .count = 3, .form = form_of(parameters_->nu)};
  for (Index j = 0; j < size; ++j) {
    const std::array<double, 3> point = {points_(j, 0), points_(j, 1), points_(j, 2)};
    column.points = points_.data() + j;
    column.point = point.data();
    column.n = static_cast<std::size_t>(size - j);
    if (pulls) {
      gp::planar_values_and_pulls(column, correlation_.col(j).data() + j, pull_.col(j).data() + j);
    } else {
      gp::planar_values(column, 1.0, correlation_.col(j).data() + j);
    }
  }
}

// Covariance of two places' errors beyond their own.
double Kriging::shared_error(std::size_t i, std::size_t j) const {
  const ProcessParameters& p = *parameters_;
  double covariance = near_->platform[i] == near_->platform[j] ? p.platform_variance : 0.0;
  if (p.track_variance > 0.0 && near_->track[i] >= 0 && near_->track[i] == near_->track[j]) {
    covariance += p.track_variance * std::exp(-std::abs(near_->t[i] - near_->t[j]) / p.track_time);
  }
  return covariance;
}

void Kriging::solve(const ProcessParameters& parameters, const Neighbourhood& near, std::int32_t target_platform) {
  parameters_ = &parameters;
  near_ = &near;
  target_platform_ = target_platform;
  n_ = static_cast<Index>(near.size());
  if (n_ == 0) throw Error("a process has no observations to predict from");
  const ProcessParameters& p = parameters;
  place_points();
  fill_covariances(false);

  MatrixXd& k = factor_;
  k = p.sill * correlation_.bottomRightCorner(n_, n_);
  const bool shared = p.platform_variance > 0.0 || p.track_variance > 0.0;
  for (Index j = 0; j < n_; ++j) {
    const auto row = static_cast<std::size_t>(j);
    if (shared) {
      for (Index i = j; i < n_; ++i) k(i, j) += shared_error(static_cast<std::size_t>(i), row);
    }
    k(j, j) += p.nugget / near.count[row] + near.error_variance[row] + 1e-9 * p.sill;
  }
  solved_.resize(n_, 3);
  for (Index i = 0; i < n_; ++i) {
    const auto row = static_cast<std::size_t>(i);
    solved_(i, 0) = p.sill * correlation_(i + 1, 0) + (near.platform[row] == target_platform ? p.platform_variance : 0.0);
    solved_(i, 1) = near.value[row];
    solved_(i, 2) = 1.0;
  }
  const VectorXd target = solved_.col(0);
  if (factor_in_place(factor_) != 0) throw Error("the covariance of a process cannot be factored; give a larger nugget");
  solve_lower(factor_, false, solved_);
  // Now L^-1 of k, y and 1: the products below are those of K^-1.
  const double ones = solved_.col(2).squaredNorm();
  const double gls = solved_.col(2).dot(solved_.col(1)) / ones;
  const double lagrange = (solved_.col(2).dot(solved_.col(0)) - 1.0) / ones;
  MatrixXd back(n_, 2);
  back.col(0) = solved_.col(0) - lagrange * solved_.col(2);
  back.col(1) = solved_.col(1) - gls * solved_.col(2);
  solve_lower(factor_, true, back);
  weight_ = back.col(0);
  dual_ = back.col(1);
  const double own = p.sill + (target_platform == kField ? 0.0 : p.platform_variance);
  mean_ = gls + dual_.dot(target);
  variance_ = std::max(1e-12 * p.sill, own - weight_.dot(target) - lagrange);
}

void Kriging::add_gradient(double d_mean, double d_variance, ProcessNumbers& gradient) {
  const ProcessParameters& p = *parameters_;
  const Index size = n_ + 1;
  fill_covariances(true);
  // What each covariance counts for: the target's first, then among the places; symmetric.
  MatrixXd count(size, size);
  count(0, 0) = d_variance;
  count.block(1, 0, n_, 1) = 0.5 * d_mean * dual_ - d_variance * weight_;
  count.block(0, 1, 1, n_) = count.block(1, 0, n_, 1).transpose();
  count.bottomRightCorner(n_, n_) =
      d_variance * weight_ * weight_.transpose() - 0.5 * d_mean * (dual_ * weight_.transpose() + weight_ * dual_.transpose());
  for (Index j = 0; j < size; ++j) {
    for (Index i = 0; i < j; ++i) correlation_(i, j) = correlation_(j, i), pull_(i, j) = pull_(j, i);
  }
  gradient[kSill] += p.sill * count.cwiseProduct(correlation_).sum();

  const MatrixXd m = p.sill * count.cwiseProduct(pull_);
  const VectorXd sums = m.rowwise().sum();
  MatrixXd moved(size, 3);
  multiply(1.0, m, false, points_, false, 0.0, moved);
  // sum over i, j of m_ij (q_i - q_j)_a (q_i - q_j)_b
  const auto moment = [&](Index a, Index b) {
    return 2.0 * (sums.cwiseProduct(points_.col(a)).dot(points_.col(b)) - points_.col(a).dot(moved.col(b)));
  };
  const double xx = moment(0, 0), yy = moment(1, 1), tt = moment(2, 2), xt = moment(0, 2), yt = moment(1, 2);
  gradient[kLengthX] += xx + p.drift_x * xt;
  gradient[kLengthY] += yy + p.drift_y * yt;
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
