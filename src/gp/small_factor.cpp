// Left-looking, four columns at a time: what the columns before them take away is summed in registers,
//   A[i, j..j+3] -= sum over k < j of L[i, k] L[j..j+3, k],
// kVectors vectors of rows at once; then the four are factored among themselves (Golub & Van Loan 2013, section 4.2.5).

#include "gp/small_factor.h"

#include <algorithm>
#include <cmath>

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#define HWY_TARGET_INCLUDE "gp/small_factor.cpp"
// foreach_target.h comes before what it includes again.
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace drift::gp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<double>;
using Vector = hn::Vec<Tag>;
constexpr std::size_t kVectors = 3;  // with four columns twelve sums: AVX2 has sixteen registers

// Rows i to i + kVectors vectors of kColumns columns from j on.
template <std::size_t kColumns>
HWY_INLINE void take_away(double* a, std::size_t stride, std::size_t i, std::size_t j) {
  const Tag tag;
  const std::size_t lanes = hn::Lanes(tag);
  Vector sum[kVectors][kColumns];
  for (std::size_t v = 0; v < kVectors; ++v) {
    for (std::size_t c = 0; c < kColumns; ++c) sum[v][c] = hn::LoadU(tag, a + (j + c) * stride + i + v * lanes);
  }
  for (std::size_t k = 0; k < j; ++k) {
    const double* const from = a + k * stride;
    Vector row[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) row[v] = hn::LoadU(tag, from + i + v * lanes);
    for (std::size_t c = 0; c < kColumns; ++c) {
      const Vector factor = hn::Set(tag, from[j + c]);
      for (std::size_t v = 0; v < kVectors; ++v) sum[v][c] = hn::NegMulAdd(row[v], factor, sum[v][c]);
    }
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    for (std::size_t c = 0; c < kColumns; ++c) hn::StoreU(sum[v][c], tag, a + (j + c) * stride + i + v * lanes);
  }
}

// The columns from j on among themselves, down to row `end`. Returns the first whose pivot is not positive, or kColumns.
template <std::size_t kColumns>
HWY_INLINE std::size_t factor_among(double* a, std::size_t stride, std::size_t j, std::size_t end) {
  const Tag tag;
  const std::size_t lanes = hn::Lanes(tag);
  for (std::size_t c = 0; c < kColumns; ++c) {
    double* const column = a + (j + c) * stride;
    const double pivot = column[j + c];
    if (!(pivot > 0.0)) return c;
    const Vector inverse = hn::Set(tag, 1.0 / std::sqrt(pivot));
    for (std::size_t i = j + c; i < end; i += lanes) {
      hn::StoreU(hn::Mul(hn::LoadU(tag, column + i), inverse), tag, column + i);
    }
    for (std::size_t to = c + 1; to < kColumns; ++to) {
      double* const other = a + (j + to) * stride;
      const Vector factor = hn::Set(tag, column[j + to]);
      for (std::size_t i = j + to; i < end; i += lanes) {
        hn::StoreU(hn::NegMulAdd(hn::LoadU(tag, column + i), factor, hn::LoadU(tag, other + i)), tag, other + i);
      }
    }
  }
  return kColumns;
}

template <std::size_t kColumns>
HWY_INLINE std::size_t factor_columns(double* a, std::size_t stride, std::size_t j, std::size_t end) {
  for (std::size_t i = j; i < end; i += kVectors * hn::Lanes(Tag())) take_away<kColumns>(a, stride, i, j);
  return factor_among<kColumns>(a, stride, j, end);
}

int run_factor(double* a, std::size_t stride, std::size_t n, std::size_t sides) {
  std::size_t j = 0;
  for (; j + 4 <= n; j += 4) {
    const std::size_t done = factor_columns<4>(a, stride, j, n + sides);
    if (done < 4) return static_cast<int>(j + done + 1);
  }
  for (; j < n; ++j) {
    if (factor_columns<1>(a, stride, j, n + sides) < 1) return static_cast<int>(j + 1);
  }
  return 0;
}

// Row by row from the last: what the rows below take away is a sum down the factor's column.
template <std::size_t kCount>
void solve_all(const double* l, std::size_t stride, std::size_t n, double* b) {
  const Tag tag;
  const std::size_t lanes = hn::Lanes(tag);
  for (std::size_t j = n; j-- > 0;) {
    const double* const column = l + j * stride;
    Vector sum[kCount];
    for (std::size_t c = 0; c < kCount; ++c) sum[c] = hn::Zero(tag);
    std::size_t i = j + 1;
    for (; i + lanes <= n; i += lanes) {
      const Vector factor = hn::LoadU(tag, column + i);
      for (std::size_t c = 0; c < kCount; ++c) sum[c] = hn::MulAdd(factor, hn::LoadU(tag, b + c * n + i), sum[c]);
    }
    for (std::size_t c = 0; c < kCount; ++c) {
      double rest = b[c * n + j] - hn::GetLane(hn::SumOfLanes(tag, sum[c]));
      for (std::size_t k = i; k < n; ++k) rest -= column[k] * b[c * n + k];
      b[c * n + j] = rest / column[j];
    }
  }
}

void run_solve(const double* l, std::size_t stride, std::size_t n, double* b, std::size_t count) {
  switch (count) {
    case 1:
      return solve_all<1>(l, stride, n, b);
    case 2:
      return solve_all<2>(l, stride, n, b);
    case 3:
      return solve_all<3>(l, stride, n, b);
    default:
      return solve_all<4>(l, stride, n, b);
  }
}

// Rows that a last block of rows may run into.
std::size_t run_padding() { return kVectors * hn::Lanes(Tag()); }

}  // namespace drift::gp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace drift::gp {

HWY_EXPORT(run_factor);
HWY_EXPORT(run_solve);
HWY_EXPORT(run_padding);

void SmallFactor::resize(std::size_t n, std::size_t sides) {
  n_ = n, sides_ = sides;
  stride_ = n + sides + HWY_DYNAMIC_DISPATCH(run_padding)();
  rows_.resize(std::max(rows_.size(), stride_ * n));
  // Padding takes part in the sums: it must hold numbers.
  for (std::size_t j = 0; j < n; ++j) std::fill(column(j) + n + sides, column(j) + stride_, 0.0);
}

int SmallFactor::factor() { return HWY_DYNAMIC_DISPATCH(run_factor)(rows_.data(), stride_, n_, sides_); }

void SmallFactor::solve_transposed(double* b, std::size_t count) const {
  HWY_DYNAMIC_DISPATCH(run_solve)(rows_.data(), stride_, n_, b, count);
}

}  // namespace drift::gp
#endif  // HWY_ONCE
