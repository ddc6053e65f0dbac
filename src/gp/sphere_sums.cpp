// The recurrence of math/legendre.h for several points at once:
//   e_{n+1} = (n e_n + (2n + 1) P_n) / (n + 1),   P_{n+1} = P_n - g e_{n+1},   P_n' = n (P_n + e_n) / (2 - g).

#include "gp/sphere_sums.h"

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#define HWY_TARGET_INCLUDE "gp/sphere_sums.cpp"
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

constexpr std::size_t kAtOnce = 4;  // vectors: the recurrence is a chain, several of them hide its latency

HWY_INLINE void sum_block(const LegendreSums& s, const double* gaps, double (*out)[kAtOnce * hn::MaxLanes(Tag())]) {
  const Tag tag;
  const std::size_t lanes = hn::Lanes(tag);
  Vector gap[kAtOnce], p[kAtOnce], e[kAtOnce], sum[kAtOnce][4];
  for (std::size_t v = 0; v < kAtOnce; ++v) {
    gap[v] = hn::Load(tag, gaps + v * lanes);
    p[v] = hn::Set(tag, 1.0);
    e[v] = hn::Zero(tag);
    sum[v][0] = hn::Set(tag, s.a[0]);
    sum[v][2] = hn::Set(tag, s.b[0]);
    sum[v][1] = sum[v][3] = hn::Zero(tag);
  }
  for (std::size_t n = 1; n < s.degrees; ++n) {
    const auto m = static_cast<double>(n);
    const Vector from_e = hn::Set(tag, (m - 1.0) / m);
    const Vector from_p = hn::Set(tag, (2.0 * m - 1.0) / m);
    const Vector a = hn::Set(tag, s.a[n]);
    const Vector b = hn::Set(tag, s.b[n]);
    const Vector na = hn::Set(tag, m * s.a[n]);
    const Vector nb = hn::Set(tag, m * s.b[n]);
    for (std::size_t v = 0; v < kAtOnce; ++v) {
      e[v] = hn::MulAdd(from_e, e[v], hn::Mul(from_p, p[v]));
      p[v] = hn::NegMulAdd(gap[v], e[v], p[v]);
      const Vector both = hn::Add(p[v], e[v]);
      sum[v][0] = hn::MulAdd(a, p[v], sum[v][0]);
      sum[v][1] = hn::MulAdd(na, both, sum[v][1]);
      sum[v][2] = hn::MulAdd(b, p[v], sum[v][2]);
      sum[v][3] = hn::MulAdd(nb, both, sum[v][3]);
    }
  }
  for (std::size_t v = 0; v < kAtOnce; ++v) {
    const Vector divisor = hn::Sub(hn::Set(tag, 2.0), gap[v]);
    for (std::size_t k = 0; k < 4; ++k) {
      hn::Store(k % 2 == 1 ? hn::Div(sum[v][k], divisor) : sum[v][k], tag, out[k] + v * lanes);
    }
  }
}

void run_sums(const LegendreSums& s) {
  const std::size_t block = kAtOnce * hn::Lanes(Tag());
  HWY_ALIGN double gaps[kAtOnce * hn::MaxLanes(Tag())];
  HWY_ALIGN double out[4][kAtOnce * hn::MaxLanes(Tag())];
  for (std::size_t first = 0; first < s.n; first += block) {
    const std::size_t count = s.n - first < block ? s.n - first : block;
    for (std::size_t i = 0; i < block; ++i) gaps[i] = i < count ? s.gap[first + i] : 0.0;
    sum_block(s, gaps, out);
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < count; ++i) s.out[k][first + i] = out[k][i];
    }
  }
}

}  // namespace drift::gp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace drift::gp {

HWY_EXPORT(run_sums);

void legendre_sums(const LegendreSums& sums) { HWY_DYNAMIC_DISPATCH(run_sums)(sums); }

}  // namespace drift::gp
#endif  // HWY_ONCE
