#pragma once

#include <Eigen/Core>

namespace drift {

// Dense double-precision algebra by OpenBLAS, which picks the instruction set at run time (Eigen's own products are compiled for
// the oldest machine). Every call runs on the calling thread alone, so that results do not depend on the number of threads.
// Matrices are column-major; only the lower triangle of a factor is read.

using MatrixRef = Eigen::Ref<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
using ConstMatrixRef = Eigen::Ref<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;

// c = alpha op(a) op(b) + beta c.
void multiply(double alpha, const ConstMatrixRef& a, bool transpose_a, const ConstMatrixRef& b, bool transpose_b, double beta,
              MatrixRef c);
// lower triangle of c = alpha a a' + beta c, or a' a.
void multiply_self(double alpha, const ConstMatrixRef& a, bool transpose, double beta, MatrixRef c);

// The lower triangle becomes L with L L' = a. Returns 0, or the 1-based index of the first pivot that is not positive.
int factor_in_place(MatrixRef a);
// b becomes L^-1 b, or L'^-1 b.
void solve_lower(const ConstMatrixRef& l, bool transpose, MatrixRef b);
// b becomes b L^-1 or b L'^-1.
void solve_lower_right(const ConstMatrixRef& l, bool transpose, MatrixRef b);
// From L, the lower triangle of (L L')^-1, in place.
void invert_factored(MatrixRef l);
// From L, L^-1, in place.
void invert_lower(MatrixRef l);

}  // namespace drift
