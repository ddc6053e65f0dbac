#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "process/parameters.h"

namespace drift {

// The places around one target, in coordinates with the target at the origin: columns of equal length.
struct Neighbourhood {
  std::vector<double> x, y, t;         // t is zero without time
  std::vector<double> value;           // less the trend
  std::vector<double> error_variance;  // known, of the place's mean
  std::vector<double> count;           // observations in the place
  std::vector<std::int32_t> track;     // -1: none
  std::vector<std::int32_t> platform;

  std::size_t size() const { return x.size(); }
  void clear();
};

// The parameters that a search varies, as numbers without bounds of sign: logarithms, except the two drifts.
enum ProcessNumber : int {
  kLengthX,
  kLengthY,
  kTimeLength,
  kDriftX,
  kDriftY,
  kSill,
  kNugget,
  kTrackVariance,
  kTrackTime,
  kPlatformVariance,
  kProcessNumbers
};
using ProcessNumbers = std::array<double, kProcessNumbers>;
ProcessNumbers packed(const ProcessParameters& parameters);
ProcessParameters unpacked(const ProcessNumbers& numbers, const ProcessParameters& rest);

// Ordinary kriging of the field at the origin. With K the covariance of the places, k that with the target and C the target's own
// variance, the weights solve  K w + mu 1 = k,  1'w = 1;  mean = w'y,  variance = C - 2 w'k + w'K w.
// The variance is stationary in w, so its derivative needs none of theirs, and with the dual weights c = K^-1 (y - mean_gls)
//   d mean = c'(dk - dK w),     d variance = dC - 2 w'dk + w'dK w.
class Kriging {
 public:
  // target_platform: the target is an observation of this platform and shares its bias; kField: it is the field itself.
  static constexpr std::int32_t kField = -1;
  void solve(const ProcessParameters& parameters, const Neighbourhood& near, std::int32_t target_platform);

  double mean() const { return mean_; }
  double variance() const { return variance_; }

  // After solve(): adds d_mean d mean / d number + d_variance d variance / d number to the gradient.
  void add_gradient(double d_mean, double d_variance, ProcessNumbers& gradient);

 private:
  void place_points();
  void fill_covariances(bool pulls);
  double shared_error(std::size_t i, std::size_t j) const;

  const ProcessParameters* parameters_ = nullptr;
  const Neighbourhood* near_ = nullptr;
  std::int32_t target_platform_ = kField;
  Eigen::Index n_ = 0;             // places
  Eigen::MatrixXd points_;         // [n + 1, 3] q of the target, then of the places
  Eigen::MatrixXd correlation_;    // [n + 1, n + 1] rho, lower triangle
  Eigen::MatrixXd pull_;           // [n + 1, n + 1] -rho'(r) / r, both triangles
  Eigen::MatrixXd factor_;         // [n, n] of K
  Eigen::MatrixXd solved_;         // [n, 3] K^-1 times k, y and 1
  Eigen::VectorXd weight_, dual_;  // [n] w and c
  double mean_ = 0.0, variance_ = 0.0;
};

}  // namespace drift
