#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "gp/kernel_loops.h"
#include "gp/small_factor.h"
#include "process/parameters.h"

namespace drift {

// Of a place around a target, per unit that the target moves along x (east), y (north) and t.
struct PlaceMotion {
  std::array<double, 3> x = {}, y = {}, t = {};
  std::array<double, 3> value = {}, error_variance = {};
};

// The places around one target, in coordinates with the target at the origin: columns of equal length.
struct Neighbourhood {
  std::vector<double> x, y, t;         // t is zero without time
  std::vector<double> value;           // less the trend
  std::vector<double> error_variance;  // known, of the place's mean
  std::vector<double> count;           // observations in the place
  std::vector<std::int32_t> track;     // -1: none
  std::vector<std::int32_t> platform;
  std::vector<PlaceMotion> motion;                     // empty unless asked for
  std::vector<std::pair<std::size_t, double>> groups;  // that they come from, each with its share: 1, less where it fades
  std::array<double, 2> reach = {};  // how far near and far ones were searched for: a guess for the next target; 0: none yet

  std::size_t size() const { return x.size(); }
  void clear();
};

// Two points near a target, x, y and t from it, and what kriging says of the field's difference between them, b less a.
struct PlacePair {
  std::array<double, 3> a = {}, b = {};
};
struct PairForecast {
  double mean_a = 0.0, mean_b = 0.0;  // rounded means
  double variance = 0.0;              // of the difference
};

// q of a point (x, y, t) is this matrix times it: parameters.h.
Eigen::Matrix3d moving_frame(const ProcessParameters& parameters);
// Parameters of one structure with the scales and velocity of both, each as far as its share goes: the neighbours of a target are
// the nearest in its frame.
ProcessParameters search_parameters(const ProcessParameters& parameters);
// The same of both structures; without a second one its frame is not used.
using Frames = std::array<Eigen::Matrix3d, 2>;
Frames frames_of(const ProcessParameters& parameters);

// The parameters that a search varies, as numbers without bounds: logarithms, but the shear and the drifts as they are,
// and the second structure's share as its logit.
enum ProcessNumber : int {
  kLengthX,
  kLengthY,
  kShear,
  kTimeLength,
  kDriftX,
  kDriftY,
  kSill,
  kSecondShare,
  kSecondLength,
  kSecondTime,  // of a lasting structure alone
  kNugget,
  kTrackVariance,
  kTrackTime,
  kPlatformVariance,
  kByLatitude,  // and those that follow: coefficients, kLatitudeTerms for each of kOfLatitude
  kProcessNumbers = kByLatitude + kFrameNumbers * kLatitudeTerms
};
inline constexpr std::array<int, kFrameNumbers> kOfLatitude = {kLengthX, kLengthY, kTimeLength, kDriftX, kDriftY};
using ProcessNumbers = std::array<double, kProcessNumbers>;
ProcessNumbers packed(const ProcessParameters& parameters);
ProcessParameters unpacked(const ProcessNumbers& numbers, const ProcessParameters& rest);

// Ordinary kriging of the field at the origin. With K the covariance of the places, k that with the target and C the target's own
// variance, the weights solve  K w + mu 1 = k,  1'w = 1;  mean = w'y,  variance = C - 2 w'k + w'K w.
// The variance is stationary in w, so its derivative needs none of theirs, and with the dual weights c = K^-1 (y - mean_gls)
//   d mean = c'(dk - dK w),     d variance = dC - 2 w'dk + w'dK w.
//
// With nu = 1/2 the mean w'y has a kink at every place, a cone whose slope at the tip is undefined. A map shows
//   mean = mean_gls + c'k~,     k~ = sill rho(sqrt(r^2 + e^2)),
// the same process a little off the plane of the data, in a dimension of its own: cones within e = kRounded lengths of a place
// are rounded, and the mean has a slope everywhere. The variance is that of the field itself.
//
// The field's difference between two points, with d the difference of their covariances with the places, has the weights
// K w + mu 1 = d,  1'w = 0,  and so the mean c'd and the variance  2 (C - C_ab) - d'K^-1 d + (1'K^-1 d)^2 / (1'K^-1 1).  At nu =
// 1/2 it grows as their distance: a slope has a variance over a distance alone.
class Kriging {
 public:
  static constexpr double kRounded = 0.02;  // lengths; nu = 1/2 alone

  // target_platform: the target is an observation of this platform and shares its bias; kField: it is the field itself.
  static constexpr std::int32_t kField = -1;
  void solve(const ProcessParameters& parameters, const Neighbourhood& near, std::int32_t target_platform,
             std::span<const PlacePair> pairs = {});

  double mean() const { return mean_; }
  double variance() const { return variance_; }

  // For a map, after solve() for the field: the rounded mean, and its slope along x, y and t where the places have their motion;
  // frame_motion: of frames_of() as the target moves north.
  double rounded_mean() const { return gls_ + dual().dot(rounded_); }
  std::array<double, 3> slope(const Frames& frame_motion);

  // Of the pairs given to solve(), from the neighbours of the target.
  const std::vector<PairForecast>& pairs() const { return pairs_; }

  // After solve(): adds d_mean d mean / d number + d_variance d variance / d number to the gradient.
  void add_gradient(double d_mean, double d_variance, ProcessNumbers& gradient);

 private:
  static constexpr int kDimensions = 4;  // of q, and the one in which a rounded target lies off the data

  using Point = std::array<double, kDimensions>;  // its q, and how far it lies off the data

  // One term of the covariance.
  struct Structure {
    double share = 1.0, nu = 0.5;  // of the sill; smoothness
    double off = 0.0;              // of a rounded target from the data, in its q
    double drifts = 1.0;           // 0: it is at rest
    Eigen::Matrix3d frame;
    Eigen::MatrixXd points;                 // [n + 1, 4] q of the target, then of the places; 0
    Eigen::MatrixXd correlation;            // [n + 1, n + 1] lower triangle
    Eigen::MatrixXd pull;                   // [n + 1, n + 1] its -d / (r dr), lower triangle
    Eigen::VectorXd rounded, rounded_pull;  // [n] of the rounded target

    Point at(const std::array<double, 3>& place, double off_data) const;
    Point target(double off_data) const { return {0.0, 0.0, 0.0, off_data}; }
  };
  std::span<Structure> structures() { return std::span(structures_).first(second_ ? 2 : 1); }

  void place_points();
  void correlate(const Structure& structure, Eigen::Index j, const Point& point, int dimensions, double* value, double* pull);
  Eigen::VectorXd covariance_with(const std::array<double, 3>& place, bool rounded);
  double covariance_between(const std::array<double, 3>& a, const std::array<double, 3>& b);
  void fill_field();
  void fill_correlations();
  void add_frame_gradient(const Structure& structure, const Eigen::MatrixXd& count, ProcessNumbers& gradient);
  void add_pairs(std::span<const PlacePair> pairs, Eigen::Index first_side);
  void solve_pairs(std::span<const PlacePair> pairs, Eigen::Index first_side);
  void add_shared_errors();
  template <class Work>
  void for_pairs_of_a_track(const Work& work);
  // NOLINTBEGIN(readability-const-return-type): Eigen names the type so
  Eigen::MatrixXd::ConstColXpr weight() const { return back_.col(0); }  // w
  Eigen::MatrixXd::ConstColXpr dual() const { return back_.col(1); }    // c
  // NOLINTEND(readability-const-return-type)

  double& covariance_of(Eigen::Index i, Eigen::Index j) { return factor_.column(static_cast<std::size_t>(j))[i]; }  // i >= j

  const ProcessParameters* parameters_ = nullptr;
  const Neighbourhood* near_ = nullptr;
  std::int32_t target_platform_ = kField;
  Eigen::Index n_ = 0;  // places
  std::array<Structure, 2> structures_;
  bool second_ = false;                                          // there is a second structure
  Eigen::MatrixXd solved_;                                       // [n, 3 or 4] L^-1 times k, y, 1 and k~
  Eigen::MatrixXd back_;                                         // [n, 2 or 3] w, c and w~
  Eigen::MatrixXd to_place_;                                     // [n, 3]
  Eigen::VectorXd target_;                                       // [n] k
  Eigen::VectorXd rounded_, column_;                             // [n] k~; of one column
  gp::SmallFactor factor_;                                       // of K; beside it k, y, 1 and k~
  std::vector<std::pair<std::int32_t, std::int32_t>> by_track_;  // track and place
  Eigen::MatrixXd pair_covariance_;                              // [n, 2 pairs] k~ of each end
  std::vector<PairForecast> pairs_;
  double gls_ = 0.0, mean_ = 0.0, variance_ = 0.0;
};

}  // namespace drift
