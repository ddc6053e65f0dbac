#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <vector>

namespace drift {

// A Gaussian process over places in the unit cube, with a constant mean m and the Matérn 5/2 covariance
//   k(r) = s (1 + sqrt5 r + 5 r^2 / 3) exp(-sqrt5 r),   r^2 = sum_j (d_j / l_j)^2,
// d_j the difference of two places in coordinate j, or for a choice 1 where the words differ and 0 where they do not. Values are
// seen with noise of variance v. Rasmussen & Williams 2006, chapters 2, 4 and 5.

struct GpHyperparameters {
  Eigen::VectorXd lengthscale;  // l_j, one a coordinate
  double variance = 1.0;        // s
  double noise = 1e-4;          // v
  double mean = 0.0;            // m
};

// The hyperparameters as the fit sees them: [log l_1 ... log l_d, log s, log v, m].
Eigen::VectorXd pack(const GpHyperparameters& hyperparameters);
GpHyperparameters unpack(const Eigen::VectorXd& packed);

// Known values at places.
struct GpData {
  Eigen::MatrixXd places;       // [rows, coordinates]
  Eigen::VectorXd values;       // [rows]
  std::vector<bool> is_choice;  // [coordinates]
};

// log p(values | hyperparameters) and its gradient in the packed hyperparameters:
//   -1/2 (y-m)' K^-1 (y-m) - 1/2 log|K| - n/2 log 2pi,   1/2 tr((aa' - K^-1) dK),  a = K^-1 (y-m).
// Squared differences are kept between calls.
class MarginalLikelihood {
 public:
  explicit MarginalLikelihood(const GpData& data);
  // Minus infinity where K cannot be factored.
  double operator()(const Eigen::VectorXd& packed, Eigen::VectorXd& gradient) const;

 private:
  Eigen::VectorXd values_;
  Eigen::MatrixXd squares_;  // [pairs of rows (i > j), coordinates]: d_j^2
};

class GaussianProcess {
 public:
  GaussianProcess(GpData data, GpHyperparameters hyperparameters);

  struct Posterior {
    double mean = 0.0;
    double variance = 0.0;       // of the function, without noise
    Eigen::VectorXd mean_slope;  // [coordinates]; 0 for choices
    Eigen::VectorXd variance_slope;
  };
  Posterior at(const Eigen::VectorXd& place) const;
  // Without slopes, for many places at once.
  void at(const Eigen::MatrixXd& places, Eigen::VectorXd& mean, Eigen::VectorXd& variance) const;
  Eigen::VectorXd mean_at(const Eigen::MatrixXd& places) const;

  // The process that believes its own mean at `place` (the kriging believer): the mean stays as it is, the variance falls.
  GaussianProcess believing(const Eigen::VectorXd& place) const;

  const GpData& data() const { return data_; }
  const GpHyperparameters& hyperparameters() const { return hyperparameters_; }

 private:
  Eigen::MatrixXd covariance_with(const Eigen::MatrixXd& places) const;  // [rows of data, places]

  GpData data_;
  GpHyperparameters hyperparameters_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
  Eigen::VectorXd weights_;  // K^-1 (y - m)
};

}  // namespace drift
