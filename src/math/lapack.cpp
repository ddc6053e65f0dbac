#include "math/lapack.h"

#include <cblas.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>

#include "drift/error.h"

// LAPACK's Fortran routines, which OpenBLAS carries. The trailing length of the character arguments is left out, as by every C
// caller of single letters.
// NOLINTBEGIN(readability-identifier-naming): Fortran's names
extern "C" {
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dlauum_(const char* uplo, const int* n, double* a, const int* lda, int* info);
void dtrtri_(const char* uplo, const char* diag, const int* n, double* a, const int* lda, int* info);
}
// NOLINTEND(readability-identifier-naming)

namespace drift {
namespace {

// OpenBLAS would share a product among threads of its own, beside ours. Where a fork has ended these, it starts them anew before
// it is told to use none; where it cannot, it raises SIGINT, which nobody is to take for ctrl-C.
void use_the_calling_thread() {
  static const bool done = [] {
    sigset_t interrupt, before;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    pthread_sigmask(SIG_BLOCK, &interrupt, &before);
    openblas_set_num_threads(1);
    constexpr timespec kAtOnce = {};
    siginfo_t raised = {};
    const bool came = sigtimedwait(&interrupt, &raised, &kAtOnce) == SIGINT, its_own = raised.si_pid == ::getpid();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (came && its_own) throw Error("the system starts no more threads; end other programs, or raise its limit (ulimit -u)");
    if (came) raise(SIGINT);
    return true;
  }();
  static_cast<void>(done);
}

// Compiled with OpenMP's flag, Eigen would share its products among all cores, whatever --threads says.
[[maybe_unused]] const bool kEigenOnTheCallingThread = (Eigen::setNbThreads(1), true);

CBLAS_TRANSPOSE flag(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

template <class Matrix>
int rows(const Matrix& m) {
  return static_cast<int>(m.rows());
}
template <class Matrix>
int cols(const Matrix& m) {
  return static_cast<int>(m.cols());
}
template <class Matrix>
int stride(const Matrix& m) {
  return static_cast<int>(std::max<Eigen::Index>({1, m.outerStride(), m.rows()}));
}

[[noreturn]] void reject(const char* what, Eigen::Index a, Eigen::Index b) {
  throw Error(fmt::format("{}: sizes {} and {} do not go together", what, a, b));
}

void check_square(const char* what, Eigen::Index row_count, Eigen::Index col_count) {
  if (row_count != col_count) reject(what, row_count, col_count);
}

// M becomes the lower triangle of M' M, by halves: of [A 0; B C] it is [A'A + B'B; C'B, C'C]. OpenBLAS's own dlauum takes three
// times as long at 500 rows.
void multiply_by_own_transpose(MatrixRef m) {
  constexpr int kSmall = 64;
  const int n = rows(m);
  const int ldm = stride(m);
  if (n <= kSmall) {
    int info = 0;
    dlauum_("L", &n, m.data(), &ldm, &info);
    return;
  }
  const int half = n / 2;
  const int rest = n - half;
  multiply_by_own_transpose(m.topLeftCorner(half, half));
  multiply_self(1.0, m.bottomLeftCorner(rest, half), true, 1.0, m.topLeftCorner(half, half));
  cblas_dtrmm(CblasColMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, rest, half, 1.0, &m(half, half), ldm, &m(half, 0),
              ldm);
  multiply_by_own_transpose(m.bottomRightCorner(rest, rest));
}

}  // namespace

void multiply(double alpha, const ConstMatrixRef& a, bool transpose_a, const ConstMatrixRef& b, bool transpose_b, double beta,
              MatrixRef c) {
  const Eigen::Index inner = transpose_a ? a.rows() : a.cols();
  if (inner != (transpose_b ? b.cols() : b.rows())) reject("matrix product", inner, transpose_b ? b.cols() : b.rows());
  if (c.rows() != (transpose_a ? a.cols() : a.rows())) reject("rows of a matrix product", c.rows(), a.rows());
  if (c.cols() != (transpose_b ? b.rows() : b.cols())) reject("columns of a matrix product", c.cols(), b.cols());
  if (c.size() == 0) return;
  use_the_calling_thread();
  cblas_dgemm(CblasColMajor, flag(transpose_a), flag(transpose_b), rows(c), cols(c), static_cast<int>(inner), alpha, a.data(),
              stride(a), b.data(), stride(b), beta, c.data(), stride(c));
}

void multiply_self(double alpha, const ConstMatrixRef& a, bool transpose, double beta, MatrixRef c) {
  check_square("product of a matrix with itself", c.rows(), c.cols());
  if (c.rows() != (transpose ? a.cols() : a.rows())) reject("product of a matrix with itself", c.rows(), a.rows());
  if (c.size() == 0) return;
  use_the_calling_thread();
  cblas_dsyrk(CblasColMajor, CblasLower, flag(transpose), rows(c), transpose ? rows(a) : cols(a), alpha, a.data(), stride(a),
              beta, c.data(), stride(c));
}

int factor_in_place(MatrixRef a) {
  check_square("Cholesky factor", a.rows(), a.cols());
  if (a.size() == 0) return 0;
  use_the_calling_thread();
  const int n = rows(a);
  const int lda = stride(a);
  int info = 0;
  dpotrf_("L", &n, a.data(), &lda, &info);
  return info;
}

void solve_lower(const ConstMatrixRef& l, bool transpose, MatrixRef b) {
  check_square("triangular solve", l.rows(), l.cols());
  if (l.rows() != b.rows()) reject("triangular solve", l.rows(), b.rows());
  if (b.size() == 0) return;
  use_the_calling_thread();
  if (b.cols() == 1) {
    cblas_dtrsv(CblasColMajor, CblasLower, flag(transpose), CblasNonUnit, rows(l), l.data(), stride(l), b.data(), 1);
    return;
  }
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, flag(transpose), CblasNonUnit, rows(b), cols(b), 1.0, l.data(), stride(l),
              b.data(), stride(b));
}

void solve_lower_right(const ConstMatrixRef& l, bool transpose, MatrixRef b) {
  check_square("triangular solve", l.rows(), l.cols());
  if (l.rows() != b.cols()) reject("triangular solve", l.rows(), b.cols());
  if (b.size() == 0) return;
  use_the_calling_thread();
  cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, flag(transpose), CblasNonUnit, rows(b), cols(b), 1.0, l.data(), stride(l),
              b.data(), stride(b));
}

void invert_factored(MatrixRef l) {  // NOLINT(performance-unnecessary-value-param): it is written to
  invert_lower(l);
  if (l.size() > 0) multiply_by_own_transpose(l);
}

void invert_lower(MatrixRef l) {
  check_square("inverse", l.rows(), l.cols());
  if (l.size() == 0) return;
  use_the_calling_thread();
  const int n = rows(l);
  const int lda = stride(l);
  int info = 0;
  dtrtri_("L", "N", &n, l.data(), &lda, &info);
  if (info != 0) throw Error(fmt::format("inverse: the factor's diagonal entry {} is zero", info));
}

}  // namespace drift
