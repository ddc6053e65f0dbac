// Spherical random features: feature = scale P_n(x), x = s . b, for degrees from 0 to thousands in single precision.
//
// The angle. Near the poles x = cos(theta) says little about theta, so it is never used for more than its sign: by
// P_n(-x) = (-1)^n P_n(x) the nearer of b and -b is taken as the pole, and all else follows from the chord c to it,
//   c^2 = |s -+ b|^2,  delta = 1 - |x| = c^2 / 2,  theta = 2 asin(c / 2),  sin(theta)^2 = c^2 (1 - c^2 / 4).
//
// Low degrees, and any degree near a pole: the three-term recurrence, written in differences so that it stays accurate where
// P_n(x) is close to 1. With F_k = sum_{j<k} (2j + 1) P_j (Christoffel's sum):
//   F_{k+1} = F_k + (2k + 1) P_k,   P_{k+1} = P_k - delta / (k + 1) F_{k+1},   P_n'(|x|) = (F_n + n P_n) / (2 - delta).
//
// Elsewhere: Stieltjes' expansion, whose cost does not grow with the degree (DLMF 18.15.10 with lambda = 1/2; Bogaert, Michiels,
// Fostier 2012 computed with it):
//   P_n(cos t) = C_n sum_m h_m cos((n + m + 1/2) t - (m + 1/2) pi / 2) / (2 sin t)^(m + 1/2),
//   C_n = 2 / sqrt(pi) Gamma(n + 1) / Gamma(n + 3/2),   h_m = (1/2)_m^2 / (m! (n + 3/2)_m).
// With w = (1 - i cot t) / 2 the sum is Re[e^(i alpha) sum_m h_m w^m] / sqrt(2 sin t), alpha = (n + 1/2) t - pi / 4. The error
// is below twice the first term left out: with kTerms terms and (n + 1/2) sin t >= kLeastArgument 5e-7 of the amplitude, which is
// little beside the rounding of the phase, 1e-7 n.

#include <cstdint>
#include <cstring>

#include "engine/cpu/kernels.h"

// Vectors are kept in arrays, which instruction sets without a fixed vector size cannot do.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#define HWY_TARGET_INCLUDE "engine/cpu/legendre_kernels.cpp"
// foreach_target.h comes before what it includes again.
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "engine/cpu/turns-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace drift::cpu::HWY_NAMESPACE {

constexpr int kTerms = 5;
constexpr float kLeastArgument = 16;        // of (n + 1/2) sin(theta) for the expansion
constexpr float kLeastExpandedDegree = 32;  // below it the recurrence is as fast
constexpr std::size_t kGroup = 4;           // vectors whose recurrences run together, to hide their latency
constexpr std::size_t kMaxLanes = hn::MaxLanes(FloatTag());

using IndexTag = hn::RebindToUnsigned<FloatTag>;

HWY_INLINE FloatVector set(double value) { return hn::Set(FloatTag(), static_cast<float>(value)); }

struct Vector3 {
  FloatVector x, y, z;
};

// From the nearer of b and -b to s.
struct Chord {
  Vector3 difference;
  FloatVector squared;  // 2 delta
  FloatVector sign;     // the sign bit of s . b, alone
};

HWY_INLINE Chord chord(const Vector3& s, const Vector3& b) {
  const FloatVector x = hn::MulAdd(s.x, b.x, hn::MulAdd(s.y, b.y, hn::Mul(s.z, b.z)));
  Chord result;
  result.sign = hn::And(x, hn::SignBit(FloatTag()));
  result.difference = {hn::Sub(s.x, hn::Xor(b.x, result.sign)), hn::Sub(s.y, hn::Xor(b.y, result.sign)),
                       hn::Sub(s.z, hn::Xor(b.z, result.sign))};
  const Vector3& d = result.difference;
  result.squared = hn::MulAdd(d.x, d.x, hn::MulAdd(d.y, d.y, hn::Mul(d.z, d.z)));
  return result;
}

HWY_INLINE Vector3 point(const LegendreBlock<float>& block, std::size_t row) {
  const float* s = block.points + row * block.point_stride;
  return {set(s[0]), set(s[1]), set(s[2])};
}

// The sign bit where the degree is odd, else 0.
HWY_INLINE FloatVector odd_sign_bit(FloatVector degree) {
  const FloatVector half = hn::Mul(degree, set(0.5));
  return hn::IfThenElseZero(hn::Ne(half, hn::Floor(half)), hn::SignBit(FloatTag()));
}

// P_n and F_n of `kGroup` vectors. A lane stands still once it has reached its own degree: it does not feel its neighbours.
struct Recurrence {
  FloatVector degree[kGroup];
  FloatVector squared_chord[kGroup];
  FloatVector value[kGroup];
  FloatVector sum[kGroup];

  HWY_INLINE void run() {
    const FloatTag d;
    FloatVector lowest = degree[0];
    FloatVector highest = degree[0];
    FloatVector delta[kGroup];
    for (std::size_t i = 0; i < kGroup; ++i) {
      lowest = hn::Min(lowest, degree[i]);
      highest = hn::Max(highest, degree[i]);
      delta[i] = hn::Mul(squared_chord[i], set(0.5));
      value[i] = set(1);
      sum[i] = hn::Zero(d);
    }
    const auto common = static_cast<std::int32_t>(hn::GetLane(hn::MinOfLanes(d, lowest)));
    const auto last = static_cast<std::int32_t>(hn::GetLane(hn::MaxOfLanes(d, highest)));
    std::int32_t k = 0;
    for (; k < common; ++k) {
      const FloatVector odd = hn::Set(d, static_cast<float>(2 * k + 1));
      const FloatVector inverse = hn::Set(d, 1.0f / static_cast<float>(k + 1));
      for (std::size_t i = 0; i < kGroup; ++i) step(i, odd, hn::Mul(delta[i], inverse));
    }
    for (; k < last; ++k) {
      const FloatVector odd = hn::Set(d, static_cast<float>(2 * k + 1));
      const FloatVector inverse = hn::Set(d, 1.0f / static_cast<float>(k + 1));
      for (std::size_t i = 0; i < kGroup; ++i) {
        const FloatMask running = hn::Gt(degree[i], hn::Set(d, static_cast<float>(k)));
        step(i, hn::IfThenElseZero(running, odd), hn::IfThenElseZero(running, hn::Mul(delta[i], inverse)));
      }
    }
  }

 private:
  HWY_INLINE void step(std::size_t i, FloatVector odd, FloatVector delta_over_next) {
    sum[i] = hn::MulAdd(odd, value[i], sum[i]);
    value[i] = hn::NegMulAdd(delta_over_next, sum[i], value[i]);
  }
};

// Constants of one vector's features, common to all rows.
class FeatureColumn {
 public:
  template <class SomeLanes>
  HWY_INLINE FeatureColumn(const LegendreBlock<float>& block, std::size_t feature, const SomeLanes& lanes) {
    pole = {lanes.load(block.poles + feature), lanes.load(block.poles + block.features + feature),
            lanes.load(block.poles + 2 * block.features + feature)};
    degree = lanes.load(block.degrees + feature);
    scale = lanes.load(block.scales + feature);
    odd = odd_sign_bit(degree);
    middle_ = hn::Add(degree, set(0.5));
    const FloatVector least_sine = hn::Div(set(kLeastArgument), middle_);
    least_squared_sine_ = hn::IfThenElse(hn::Ge(degree, set(kLeastExpandedDegree)), hn::Mul(least_sine, least_sine), set(2));
    for (int m = 0; m + 1 < kTerms; ++m) {
      const double numerator = (m + 0.5) * (m + 0.5) / (2 * (m + 1));  // of h_{m+1} / (2 h_m)
      half_ratio_[m] = hn::Div(set(numerator), hn::Add(degree, set(m + 1.5)));
    }
    // C_n / sqrt(2), by DLMF 5.11.14 in N = n + 3/4: error 3e-8 from degree 8 on.
    const FloatVector inverse = hn::Div(set(1), hn::Add(degree, set(0.75)));
    const FloatVector inverse2 = hn::Mul(inverse, inverse);
    const FloatVector series = hn::MulAdd(hn::MulAdd(set(21.0 / 8192), inverse2, set(-1.0 / 64)), inverse2, set(1));
    amplitude_ = hn::Mul(hn::Mul(set(0.7978845608028654), scale), hn::Mul(hn::Sqrt(inverse), series));
  }

  // True if every lane is of low degree.
  HWY_INLINE bool is_low() const { return hn::AllTrue(FloatTag(), hn::Lt(degree, set(kLeastExpandedDegree))); }

  // Where the expansion holds; elsewhere `expand` gives anything.
  HWY_INLINE FloatMask may_expand(FloatVector squared_sine) const { return hn::Ge(squared_sine, least_squared_sine_); }

  // scale P_n, by the expansion.
  HWY_INLINE FloatVector expand(const Chord& c, FloatVector squared_sine) const {
    const FloatVector inverse_sine = hn::Div(set(1), hn::Sqrt(squared_sine));
    const FloatVector cotangent = hn::Mul(hn::NegMulAdd(c.squared, set(0.5), set(1)), inverse_sine);
    FloatVector re = hn::Add(half_ratio_[kTerms - 2], set(1));
    FloatVector im = hn::Neg(hn::Mul(half_ratio_[kTerms - 2], cotangent));
    for (int m = kTerms - 3; m >= 0; --m) {
      const FloatVector turned_re = hn::MulAdd(cotangent, im, re);  // (1 - i cot t) times the sum so far
      const FloatVector turned_im = hn::NegMulAdd(cotangent, re, im);
      re = hn::MulAdd(half_ratio_[m], turned_re, set(1));
      im = hn::Mul(half_ratio_[m], turned_im);
    }
    const Turn alpha(reduced_phase(c.squared));
    const FloatVector oscillation = hn::NegMulAdd(alpha.sine(), im, hn::Mul(alpha.cosine(), re));
    const FloatVector value = hn::Mul(hn::Mul(amplitude_, hn::Sqrt(inverse_sine)), oscillation);
    return hn::Xor(value, hn::And(c.sign, odd));
  }

  Vector3 pole;
  FloatVector degree;
  FloatVector scale;
  FloatVector odd;

 private:
  // alpha in turns, less whole turns. theta / 2 pi = c p(c^2), p of relative error 2.2e-9 for c^2 <= 2 (Remez exchange in long
  // double). The fused product keeps the reduction exact, so that the angle's own rounding is all that the degree magnifies.
  HWY_INLINE FloatVector reduced_phase(FloatVector squared_chord) const {
    constexpr float kTurns[] = {0.15915494f,    6.63143e-3f,   7.4636843e-4f,  1.094218e-4f, 2.2713948e-5f,
                                -1.5751805e-6f, 4.4622577e-6f, -1.4101138e-6f, 3.1225085e-7f};
    const FloatVector turns = hn::Mul(polynomial(kTurns, squared_chord), hn::Sqrt(squared_chord));
    const FloatVector eighth = set(0.125);
    const FloatVector whole = hn::Round(hn::MulSub(middle_, turns, eighth));
    return hn::Sub(hn::MulSub(middle_, turns, whole), eighth);
  }

  FloatVector middle_;                  // n + 1/2
  FloatVector least_squared_sine_;      // for the expansion; 2, out of reach, for low degrees
  FloatVector half_ratio_[kTerms - 1];  // h_{m+1} / (2 h_m)
  FloatVector amplitude_;               // scale C_n / sqrt(2)
};

// Elements that want the recurrence, from wherever they are, gathered until they fill a group of vectors.
class PendingElements {
 public:
  HWY_INLINE PendingElements(const LegendreBlock<float>& block, float* feature, bool accumulate)
      : block_(block), feature_(feature), accumulate_(accumulate) {}

  HWY_INLINE void add(const Chord& c, FloatMask wanted, std::size_t row, std::size_t feature) {
    const IndexTag index;
    hn::StoreU(hn::Compress(hn::Or(c.squared, c.sign), wanted), FloatTag(), signed_chord_ + count_);
    const auto features = hn::Iota(index, static_cast<std::uint32_t>(feature));
    hn::StoreU(hn::Compress(features, hn::RebindMask(index, wanted)), index, features_ + count_);
    hn::StoreU(hn::Set(index, static_cast<std::uint32_t>(row)), index, rows_ + count_);
    count_ += hn::CountTrue(FloatTag(), wanted);
    const std::size_t capacity = kGroup * hn::Lanes(FloatTag());
    if (count_ < capacity) return;
    flush(capacity);
    count_ -= capacity;
    std::memmove(signed_chord_, signed_chord_ + capacity, count_ * sizeof(float));
    std::memmove(features_, features_ + capacity, count_ * sizeof(std::uint32_t));
    std::memmove(rows_, rows_ + capacity, count_ * sizeof(std::uint32_t));
  }

  HWY_INLINE void finish() {
    if (count_ > 0) flush(count_);
    count_ = 0;
  }

 private:
  HWY_NOINLINE void flush(std::size_t count) {
    const FloatTag d;
    const std::size_t lanes = hn::Lanes(d);
    HWY_ALIGN float degrees[kGroup * kMaxLanes] = {};
    HWY_ALIGN float scales[kGroup * kMaxLanes] = {};
    for (std::size_t i = 0; i < count; ++i) {
      degrees[i] = block_.degrees[features_[i]];
      scales[i] = block_.scales[features_[i]];
    }
    for (std::size_t i = count; i < kGroup * lanes; ++i) signed_chord_[i] = 0;
    Recurrence recurrence;
    for (std::size_t i = 0; i < kGroup; ++i) {
      recurrence.degree[i] = hn::Load(d, degrees + i * lanes);
      recurrence.squared_chord[i] = hn::Abs(hn::Load(d, signed_chord_ + i * lanes));
    }
    recurrence.run();
    HWY_ALIGN float values[kGroup * kMaxLanes];
    for (std::size_t i = 0; i < kGroup; ++i) {
      const FloatVector sign = hn::And(hn::Load(d, signed_chord_ + i * lanes), odd_sign_bit(recurrence.degree[i]));
      const FloatVector value = hn::Mul(hn::Load(d, scales + i * lanes), recurrence.value[i]);
      hn::Store(hn::Xor(value, sign), d, values + i * lanes);
    }
    for (std::size_t i = 0; i < count; ++i) {
      float& out = feature_[rows_[i] * block_.stride + features_[i]];
      out = accumulate_ ? out + values[i] : values[i];
    }
  }

  const LegendreBlock<float>& block_;
  float* feature_;
  bool accumulate_;
  std::size_t count_ = 0;
  // `add` stores whole vectors from count_ on.
  HWY_ALIGN float signed_chord_[(kGroup + 1) * kMaxLanes];  // squared, with the sign of s . b
  HWY_ALIGN std::uint32_t features_[(kGroup + 1) * kMaxLanes];
  HWY_ALIGN std::uint32_t rows_[(kGroup + 1) * kMaxLanes];
};

template <class SomeLanes>
HWY_INLINE void write(FloatVector value, bool accumulate, const SomeLanes& lanes, float* to) {
  lanes.store(accumulate ? hn::Add(lanes.load(to), value) : value, to);
}

// Rows `row` and after, as far as there are any; the last one stands in for those behind the end.
HWY_INLINE std::size_t row_of_group(const LegendreBlock<float>& block, std::size_t row, std::size_t i) {
  return row + i < block.rows ? row + i : block.rows - 1;
}

// A vector of low degrees: the recurrence for all rows.
template <class SomeLanes>
HWY_INLINE void evaluate_low(const LegendreBlock<float>& block, const FeatureColumn& column, std::size_t feature,
                             const SomeLanes& lanes, float* out, bool accumulate) {
  for (std::size_t row = 0; row < block.rows; row += kGroup) {
    Recurrence recurrence;
    FloatVector sign[kGroup];
    for (std::size_t i = 0; i < kGroup; ++i) {
      const Chord c = chord(point(block, row_of_group(block, row, i)), column.pole);
      recurrence.degree[i] = column.degree;
      recurrence.squared_chord[i] = c.squared;
      sign[i] = hn::And(c.sign, column.odd);
    }
    recurrence.run();
    for (std::size_t i = 0; i < kGroup && row + i < block.rows; ++i) {
      const FloatVector value = hn::Xor(hn::Mul(column.scale, recurrence.value[i]), sign[i]);
      write(value, accumulate, lanes, out + (row + i) * block.stride + feature);
    }
  }
}

// Any degrees: the expansion where it holds, the rest to `pending`.
template <class SomeLanes>
HWY_INLINE void evaluate_high(const LegendreBlock<float>& block, const FeatureColumn& column, std::size_t feature,
                              const SomeLanes& lanes, float* out, bool accumulate, PendingElements& pending) {
  for (std::size_t row = 0; row < block.rows; ++row) {
    const Chord c = chord(point(block, row), column.pole);
    const FloatVector squared_sine = hn::Mul(c.squared, hn::NegMulAdd(c.squared, set(0.25), set(1)));
    const FloatMask good = column.may_expand(squared_sine);
    const FloatVector value = hn::IfThenElseZero(good, column.expand(c, squared_sine));
    write(value, accumulate, lanes, out + row * block.stride + feature);
    if (HWY_UNLIKELY(!hn::AllTrue(FloatTag(), good))) pending.add(c, hn::AndNot(good, lanes.mask()), row, feature);
  }
}

template <class SomeLanes>
HWY_INLINE void evaluate_column(const LegendreBlock<float>& block, std::size_t feature, const SomeLanes& lanes, float* out,
                                bool accumulate, PendingElements& pending) {
  const FeatureColumn column(block, feature, lanes);
  if (column.is_low()) {
    evaluate_low(block, column, feature, lanes, out, accumulate);
  } else {
    evaluate_high(block, column, feature, lanes, out, accumulate, pending);
  }
}

void run_features(const LegendreBlock<float>& block, float* out, bool accumulate) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  PendingElements pending(block, out, accumulate);
  std::size_t feature = 0;
  for (; feature + lanes <= block.features; feature += lanes) {
    evaluate_column(block, feature, AllLanes(), out, accumulate, pending);
  }
  if (feature < block.features) {
    evaluate_column(block, feature, FirstLanes{block.features - feature}, out, accumulate, pending);
  }
  pending.finish();
}

// The gradient of scale P_n(s . b) along the sphere is scale P_n'(x) (b - x s). With sigma the sign of x, b - x s and
// b - sigma s = -sigma (s - sigma b) differ along s only, so the sum is taken over the short differences, and what is left
// along s is removed at the end. P_n'(x) = sigma^(n + 1) P_n'(|x|), hence sigma^n in all.
template <class SomeLanes>
HWY_INLINE void add_gradient(const LegendreBlock<float>& block, const float* feature_gradient, std::size_t row,
                             std::size_t feature, const SomeLanes& lanes, Vector3 (&sum)[kGroup]) {
  const FeatureColumn column(block, feature, lanes);
  Recurrence recurrence;
  Chord chords[kGroup];
  for (std::size_t i = 0; i < kGroup; ++i) {
    chords[i] = chord(point(block, row_of_group(block, row, i)), column.pole);
    recurrence.degree[i] = column.degree;
    recurrence.squared_chord[i] = chords[i].squared;
  }
  recurrence.run();
  for (std::size_t i = 0; i < kGroup; ++i) {
    const FloatVector given = lanes.load(feature_gradient + row_of_group(block, row, i) * block.stride + feature);
    const FloatVector derivative = hn::Div(hn::MulAdd(column.degree, recurrence.value[i], recurrence.sum[i]),
                                           hn::NegMulAdd(chords[i].squared, set(0.5), set(2)));
    const FloatVector factor = hn::Xor(hn::Mul(hn::Mul(given, column.scale), derivative), hn::And(chords[i].sign, column.odd));
    sum[i].x = hn::NegMulAdd(factor, chords[i].difference.x, sum[i].x);
    sum[i].y = hn::NegMulAdd(factor, chords[i].difference.y, sum[i].y);
    sum[i].z = hn::NegMulAdd(factor, chords[i].difference.z, sum[i].z);
  }
}

// gradient[0..2] += the part of `sum`, added up over its lanes, that is tangent to the sphere at s.
HWY_INLINE void add_tangent(const float* s, const Vector3& sum, float* gradient) {
  const FloatTag d;
  const double total[3] = {hn::GetLane(hn::SumOfLanes(d, sum.x)), hn::GetLane(hn::SumOfLanes(d, sum.y)),
                           hn::GetLane(hn::SumOfLanes(d, sum.z))};
  double radial = 0;
  double squared_length = 0;
  for (int i = 0; i < 3; ++i) {
    radial += s[i] * total[i];
    squared_length += static_cast<double>(s[i]) * s[i];
  }
  for (int i = 0; i < 3; ++i) gradient[i] += static_cast<float>(total[i] - radial / squared_length * s[i]);
}

void run_gradient(const LegendreBlock<float>& block, const float* feature_gradient, float* gradient,
                  std::size_t gradient_stride) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  for (std::size_t row = 0; row < block.rows; row += kGroup) {
    Vector3 sum[kGroup];
    for (Vector3& s : sum) s = {hn::Zero(FloatTag()), hn::Zero(FloatTag()), hn::Zero(FloatTag())};
    std::size_t feature = 0;
    for (; feature + lanes <= block.features; feature += lanes) {
      add_gradient(block, feature_gradient, row, feature, AllLanes(), sum);
    }
    if (feature < block.features) {
      add_gradient(block, feature_gradient, row, feature, FirstLanes{block.features - feature}, sum);
    }
    for (std::size_t i = 0; i < kGroup && row + i < block.rows; ++i) {
      add_tangent(block.points + (row + i) * block.point_stride, sum[i], gradient + (row + i) * gradient_stride);
    }
  }
}

}  // namespace drift::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace drift::cpu {

HWY_EXPORT(run_features);
HWY_EXPORT(run_gradient);

void legendre_features(const LegendreBlock<float>& block, float* feature, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(run_features)(block, feature, accumulate);
}

void legendre_gradient(const LegendreBlock<float>& block, const float* feature_gradient, float* gradient,
                       std::size_t gradient_stride) {
  HWY_DYNAMIC_DISPATCH(run_gradient)(block, feature_gradient, gradient, gradient_stride);
}

}  // namespace drift::cpu
#endif  // HWY_ONCE
