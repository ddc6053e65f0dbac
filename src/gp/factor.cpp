#include "gp/factor.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "drift/error.h"
#include "math/lapack.h"

namespace drift::gp {
namespace {

constexpr double kFirstJitter = 1e-10;  // times the mean of the diagonal
constexpr double kLastJitter = 1e-4;

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

}  // namespace

double Factor::log_determinant() const { return 2.0 * lower.diagonal().array().log().sum(); }

std::optional<Factor> try_factor(Eigen::MatrixXd matrix) {
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
    if (factor_in_place(out.lower) == 0) {
      clear_upper(out.lower);
      return out;
    }
  }
  return std::nullopt;
}

Factor factor(Eigen::MatrixXd matrix, const std::string& where, const std::string& advice) {
  const Eigen::Index n = matrix.rows();
  if (!finite_below_diagonal(matrix)) {
    throw Error(fmt::format("{}: the covariance of {} points holds a number that is not finite; {}", where, n, advice));
  }
  const double mean = n > 0 ? matrix.diagonal().mean() : 1.0;
  std::optional<Factor> out = try_factor(std::move(matrix));
  if (!out) {
    throw Error(fmt::format("{}: the covariance of {} points cannot be factored even with {:.3g} added to its diagonal; {}",
                            where, n, kLastJitter * mean, advice));
  }
  return std::move(*out);
}

}  // namespace drift::gp
