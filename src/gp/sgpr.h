#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>

#include "gp/evidence.h"
#include "gp/factor.h"
#include "gp/gp_data.h"

namespace drift::gp {

// Regression through M inducing points u (Titsias 2009), for more observations than an exact process takes: n M^2 time. With
// Q = K_fu K_uu^-1 K_uf and S = diag(noise^2 + known),
//   bound = log N(y; m, Q + S) - 1/2 tr(S^-1 (K_ff - Q))  <=  log p(y),
// equal where the inducing points are the observations' places. As log_evidence, with gradient and a mean by least squares; the
// inducing points stay where they are.
Evidence sgpr_bound(const KernelSpec& spec, const GpData& data, const Eigen::MatrixXd& inducing, const Eigen::VectorXd& theta,
                    const std::optional<double>& mean, bool with_gradient);

class SgprGp {
 public:
  // The mean of the parameters is used as it is. Throws Error as factor() does.
  SgprGp(KernelSpec spec, const GpParameters& parameters, const GpData& data, Eigen::MatrixXd inducing, const std::string& where);

  // Of the field at points; variances without noise.
  void predict(Points points, Eigen::Ref<Eigen::VectorXd> mean, Eigen::VectorXd* variance) const;

 private:
  Kernel kernel_;
  double mean_;
  Eigen::MatrixXd inducing_;
  Eigen::MatrixXd lower_;    // of K_uu
  Eigen::MatrixXd inner_;    // of B = I + A A',  A = L^-1 K_uf S^-1/2
  Eigen::VectorXd weights_;  // inner^-1 A S^-1/2 (y - m)
};

}  // namespace drift::gp
