#include "math/gemm.h"

#include <gtest/gtest.h>
#include <sys/time.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <vector>

namespace drift::cpu {
namespace {

// Plain triple loop in double.
template <class Real>
double entry(const Gemm<Real>& p, const std::vector<Real>& before, std::size_t row, std::size_t col) {
  double sum = 0;
  for (std::size_t i = 0; i < p.k; ++i) {
    const double a = p.transpose_a == Transpose::yes ? p.a[i * p.lda + row] : p.a[row * p.lda + i];
    const double b = p.transpose_b == Transpose::yes ? p.b[col * p.ldb + i] : p.b[i * p.ldb + col];
    sum += a * b;
  }
  return p.alpha * sum + (p.beta == 0 ? 0.0 : p.beta * before[row * p.ldc + col]);
}

template <class Real>
void expect_matches_plain_loop(double tolerance) {
  for (const Transpose ta : {Transpose::no, Transpose::yes}) {
    for (const Transpose tb : {Transpose::no, Transpose::yes}) {
      for (const Real beta : {Real(0), Real(1)}) {
        const std::size_t m = 7, n = 33, k = 19, pad = 3;
        std::vector<Real> a((m + k) * (m + k + pad)), b((n + k) * (n + k + pad)), c(m * (n + pad), Real(0.5));
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<Real>(std::sin(1.0 + 0.7 * static_cast<double>(i)));
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<Real>(std::cos(2.0 + 0.3 * static_cast<double>(i)));
        const auto before = c;
        Gemm<Real> p{.transpose_a = ta,
                     .transpose_b = tb,
                     .m = m,
                     .n = n,
                     .k = k,
                     .alpha = Real(0.75),
                     .a = a.data(),
                     .lda = (ta == Transpose::yes ? m : k) + pad,
                     .b = b.data(),
                     .ldb = (tb == Transpose::yes ? k : n) + pad,
                     .beta = beta,
                     .c = c.data(),
                     .ldc = n + pad};
        gemm(p);
        for (std::size_t row = 0; row < m; ++row) {
          for (std::size_t col = 0; col < n; ++col) ASSERT_NEAR(c[row * p.ldc + col], entry(p, before, row, col), tolerance);
          for (std::size_t col = n; col < n + pad; ++col)
            ASSERT_EQ(c[row * p.ldc + col], Real(0.5)) << "wrote beyond its columns";
        }
      }
    }
  }
}

TEST(Gemm, InFloatMatchesThePlainLoop) { expect_matches_plain_loop<float>(2e-6); }  // 19 terms of size one, 6e-8 each
TEST(Gemm, InDoubleMatchesThePlainLoop) { expect_matches_plain_loop<double>(1e-13); }

std::atomic<int> signals_taken = 0;

// A signal that a program handles, such as ctrl-C or a profiler's, must leave the product, and the heap, as they are. Where the
// product's code lends its stack register to other uses, glibc finds a broken heap within this test and ends it.
TEST(Gemm, BearsSignalsInItsMidst) {
  struct sigaction count = {}, before = {};
  count.sa_handler = [](int) { ++signals_taken; };
  count.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGALRM, &count, &before), 0);
  const itimerval often{.it_interval = {0, 100}, .it_value = {0, 100}}, never{};
  ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);

  const std::size_t m = 64, n = 32, k = 256;
  const std::vector<float> a(m * k, 1.0f), b(k * n, 0.5f);
  bool right = true;
  while (signals_taken < 3000) {
    std::vector<float> c(m * n);
    gemm(Gemm<float>{.m = m, .n = n, .k = k, .a = a.data(), .lda = k, .b = b.data(), .ldb = n, .c = c.data(), .ldc = n});
    right &= c == std::vector<float>(m * n, 128.0f);
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_TRUE(right);
}

}  // namespace
}  // namespace drift::cpu
