#include "gp/factor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "drift/error.h"
#include "math/lapack.h"

namespace drift::gp {
namespace {

constexpr double kFirstJitter = 1e-10;  // times the mean of the diagonal
constexpr double kLastJitter = 1e-4;
// What OpenBLAS factors in one call takes half a second; of larger matrices so many columns at a time.
constexpr Eigen::Index kAtOnce = 4096, kPanel = 512;

// The upper triangle keeps the matrix while the lower one is overwritten by attempts.
void lower_to_upper(Eigen::MatrixXd& m) {
  for (Eigen::Index j = 1; j < m.cols(); ++j) m.col(j).head(j) = m.row(j).head(j).transpose();
}
void upper_to_lower(Eigen::MatrixXd& m, const Eigen::VectorXd& diagonal) {
  for (Eigen::Index j = 1; j < m.cols(); ++j) m.row(j).head(j) = m.col(j).head(j).transpose();
  m.diagonal() = diagonal;
}
void clear_upper(Eigen::MatrixXd& m) {
  for (Eigen::Index j = 1; j < m.cols(); ++j) m.col(j).head(j).setZero();
}

bool finite_below_diagonal(const Eigen::MatrixXd& m) {
  for (Eigen::Index j = 0; j < m.cols(); ++j) {
    if (!m.col(j).tail(m.rows() - j).allFinite()) return false;
  }
  return true;
}

// As factor_in_place, with looks at the stop.
int factor_stoppably(Eigen::MatrixXd& m, const Control& control) {
  const Eigen::Index n = m.rows();
  control.check_stop();
  if (n <= kAtOnce) return factor_in_place(m);
  for (Eigen::Index first = 0; first < n; first += kPanel) {
    const Eigen::Index cols = std::min(kPanel, n - first), below = n - first - cols;
    auto corner = m.block(first, first, cols, cols), rest = m.block(first + cols, first, below, cols);
    for (Eigen::Index before = 0; before < first; before += kPanel) {
      control.check_stop();
      const auto beside = m.block(first, before, cols, kPanel);
      multiply_self(-1.0, beside, false, 1.0, corner);
      multiply(-1.0, m.block(first + cols, before, below, kPanel), false, beside, true, 1.0, rest);
    }
    if (const int pivot = factor_in_place(corner); pivot != 0) return static_cast<int>(first) + pivot;
    solve_lower_right(corner, true, rest);
  }
  return 0;
}

}  // namespace

double Factor::log_determinant() const { return 2.0 * lower.diagonal().array().log().sum(); }

std::optional<Factor> try_factor(Eigen::MatrixXd matrix, const Control& control) {
  if (!finite_below_diagonal(matrix)) return std::nullopt;
  Factor out{.lower = std::move(matrix)};
  const Eigen::VectorXd diagonal = out.lower.diagonal();
  lower_to_upper(out.lower);
  const double mean = diagonal.size() > 0 ? diagonal.mean() : 1.0;
  for (double share = 0.0; share < 2.0 * kLastJitter; share = share == 0.0 ? kFirstJitter : 10.0 * share) {
    out.jitter = share * mean;
    if (share > 0.0) {
      upper_to_lower(out.lower, diagonal);
      out.lower.diagonal().array() += out.jitter;
    }
    if (factor_stoppably(out.lower, control) == 0) {
      clear_upper(out.lower);
      return out;
    }
  }
  return std::nullopt;
}

Factor factor(Eigen::MatrixXd matrix, const std::string& where, const std::string& advice, const Control& control) {
  const Eigen::Index n = matrix.rows();
  if (!finite_below_diagonal(matrix)) {
    throw Error(fmt::format("{}: the covariance of {} points holds a number that is not finite; {}", where, n, advice));
  }
  const double mean = n > 0 ? matrix.diagonal().mean() : 1.0;
  std::optional<Factor> out = try_factor(std::move(matrix), control);
  if (!out) {
    throw Error(fmt::format("{}: the covariance of {} points cannot be factored even with {:.3g} added to its diagonal; {}",
                            where, n, kLastJitter * mean, advice));
  }
  return std::move(*out);
}

}  // namespace drift::gp
