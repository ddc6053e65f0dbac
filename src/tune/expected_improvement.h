#pragma once

#include "tune/gaussian_process.h"

namespace drift {

// Expected improvement below the value b of a function with posterior N(mu, sd^2) (Mockus 1975; Jones, Schonlau, Welch 1998):
//   EI = sd h(z),  z = (b - mu) / sd,  h(z) = phi(z) + z Phi(z).
// Far from the best points z is so negative that EI and its slope are 0 to the computer, and a gradient search sees nothing.
// So its logarithm is taken, in a form that holds for every z (Ament, Daulton, Eriksson, Balandat, Bakshy, "Unexpected
// improvements to expected improvement", 2023).
//
// With t = -z > 0 and I_n the n-fold repeated integral of the normal density from t to infinity (I_-1 = phi, I_0 = 1 - Phi, I_1 =
// h), n I_n = I_{n-2} - t I_{n-1}. Their ratios r_n = I_n / I_{n-1} are the continued fraction r_{n-1} = 1 / (t + n r_n), all of
// whose terms are positive (Gautschi 1961), so
//   log h = -z^2/2 - log(2 pi)/2 + log(r_0 r_1),   d log h / dz = 1 / r_1
// without any loss: relative error below 1e-13 for z <= -2, and asymptotically log h = -z^2/2 - log(2 pi)/2 - 2 log t, as in the
// paper's third branch. Where z > -2 the plain formula is good.
struct LogH {
  double value = 0.0;
  double slope = 0.0;
};
LogH log_h(double z);

struct LogImprovement {
  double value = 0.0;
  Eigen::VectorXd slope;  // [coordinates]
};
LogImprovement log_expected_improvement(const GaussianProcess& process, double best, const Eigen::VectorXd& place);

// For many places at once, without slopes: [places]
Eigen::VectorXd log_expected_improvement(const GaussianProcess& process, double best, const Eigen::MatrixXd& places);

}  // namespace drift
