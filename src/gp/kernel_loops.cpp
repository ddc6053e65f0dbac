// Matérn with z = sqrt(2 nu) r, and -k'(r) / r:
//   1/2   e^-z                        e^-z / r
//   3/2   (1 + z) e^-z                3 e^-z
//   5/2   (1 + z + z^2 / 3) e^-z      5/3 (1 + z) e^-z
//   SE    e^(-r^2 / 2)                e^(-r^2 / 2)
// Rasmussen & Williams 2006, section 4.2.

#include "gp/kernel_loops.h"

#include <fmt/format.h>

#include "drift/error.h"

#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#define HWY_TARGET_INCLUDE "gp/kernel_loops.cpp"
// foreach_target.h comes before what it includes again.
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "hwy/contrib/math/math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace drift::gp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<double>;
using Vector = hn::Vec<Tag>;

HWY_INLINE Vector constant(double x) { return hn::Set(Tag(), x); }

// e^-x for x >= 0; 0 beyond 700, before numbers become denormal and slow.
HWY_INLINE Vector decay(Vector x) {
  const Vector limit = constant(700.0);
  const Vector e = hn::Exp(Tag(), hn::Neg(hn::Min(x, limit)));
  return hn::IfThenElseZero(hn::Lt(x, limit), e);
}

HWY_INLINE Vector square_at(const PlanarColumn& c, std::size_t i) {
  const Tag tag;
  Vector sum = hn::Zero(tag);
  for (int d = 0; d < c.count; ++d) {
    const Vector u = hn::Sub(hn::LoadU(tag, c.points + static_cast<std::size_t>(d) * c.stride + i), hn::Set(tag, c.point[d]));
    sum = hn::MulAdd(u, u, sum);
  }
  return sum;
}

struct ValueAndPull {
  Vector value;
  Vector pull;
};

template <PlanarForm kForm>
HWY_INLINE ValueAndPull evaluate(Vector square) {
  if constexpr (kForm == PlanarForm::squared_exponential) {
    const Vector e = decay(hn::Mul(constant(0.5), square));
    return {e, e};
  }
  const Vector r = hn::Sqrt(square);
  const Vector one = constant(1.0);
  if constexpr (kForm == PlanarForm::matern_1_2) {
    const Vector e = decay(r);
    const Vector positive = hn::Max(r, constant(1e-150));
    return {e, hn::IfThenElseZero(hn::Gt(r, hn::Zero(Tag())), hn::Div(e, positive))};
  } else if constexpr (kForm == PlanarForm::matern_3_2) {
    const Vector z = hn::Mul(constant(1.7320508075688772935), r);
    const Vector e = decay(z);
    return {hn::Mul(hn::Add(one, z), e), hn::Mul(constant(3.0), e)};
  } else {
    const Vector z = hn::Mul(constant(2.2360679774997896964), r);
    const Vector e = decay(z);
    const Vector pull = hn::Mul(hn::Mul(constant(5.0 / 3.0), hn::Add(one, z)), e);
    return {hn::Mul(hn::MulAdd(hn::Mul(z, constant(1.0 / 3.0)), z, hn::Add(one, z)), e), pull};
  }
}

// The last few points go through a buffer of one vector, so that the loop's body is one.
template <class Body>
HWY_INLINE void for_vectors(const PlanarColumn& c, const Body& body) {
  const std::size_t lanes = hn::Lanes(Tag());
  std::size_t i = 0;
  for (; i + lanes <= c.n; i += lanes) body(i, square_at(c, i), lanes);
  if (i == c.n) return;
  HWY_ALIGN double tail[hn::MaxLanes(Tag())] = {};
  for (std::size_t k = 0; i + k < c.n; ++k) {
    for (int d = 0; d < c.count; ++d) {
      const double u = c.points[static_cast<std::size_t>(d) * c.stride + i + k] - c.point[d];
      tail[k] += u * u;
    }
  }
  body(i, hn::Load(Tag(), tail), c.n - i);
}

HWY_INLINE void store(Vector v, double* to, std::size_t count) {
  const Tag tag;
  if (count == hn::Lanes(tag)) return hn::StoreU(v, tag, to);
  HWY_ALIGN double whole[hn::MaxLanes(Tag())];
  hn::Store(v, tag, whole);
  for (std::size_t k = 0; k < count; ++k) to[k] = whole[k];
}

template <PlanarForm kForm>
void values_of(const PlanarColumn& c, double scale, double* value) {
  for_vectors(c, [&](std::size_t i, Vector square, std::size_t count) {
    store(hn::Mul(constant(scale), evaluate<kForm>(square).value), value + i, count);
  });
}

template <PlanarForm kForm>
void values_and_pulls_of(const PlanarColumn& c, double* value, double* pull) {
  for_vectors(c, [&](std::size_t i, Vector square, std::size_t count) {
    const ValueAndPull both = evaluate<kForm>(square);
    store(both.value, value + i, count);
    store(both.pull, pull + i, count);
  });
}

void run_values(const PlanarColumn& c, double scale, double* value) {
  switch (c.form) {
    case PlanarForm::matern_1_2:
      return values_of<PlanarForm::matern_1_2>(c, scale, value);
    case PlanarForm::matern_3_2:
      return values_of<PlanarForm::matern_3_2>(c, scale, value);
    case PlanarForm::matern_5_2:
      return values_of<PlanarForm::matern_5_2>(c, scale, value);
    case PlanarForm::squared_exponential:
      return values_of<PlanarForm::squared_exponential>(c, scale, value);
  }
}

void run_values_and_pulls(const PlanarColumn& c, double* value, double* pull) {
  switch (c.form) {
    case PlanarForm::matern_1_2:
      return values_and_pulls_of<PlanarForm::matern_1_2>(c, value, pull);
    case PlanarForm::matern_3_2:
      return values_and_pulls_of<PlanarForm::matern_3_2>(c, value, pull);
    case PlanarForm::matern_5_2:
      return values_and_pulls_of<PlanarForm::matern_5_2>(c, value, pull);
    case PlanarForm::squared_exponential:
      return values_and_pulls_of<PlanarForm::squared_exponential>(c, value, pull);
  }
}

void run_squares(const PlanarColumn& c, double* out) {
  for_vectors(c, [&](std::size_t i, Vector square, std::size_t count) { store(square, out + i, count); });
}

PullSums run_pull_sums(const double* w, const double* x, double z, std::size_t n, double factor, double* gradient) {
  const Tag tag;
  const std::size_t lanes = hn::Lanes(tag);
  Vector square = hn::Zero(tag);
  Vector first = hn::Zero(tag);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Vector u = hn::Sub(hn::LoadU(tag, x + i), hn::Set(tag, z));
    const Vector wu = hn::Mul(hn::LoadU(tag, w + i), u);
    square = hn::MulAdd(wu, u, square);
    first = hn::Add(first, wu);
    if (gradient != nullptr) {
      hn::StoreU(hn::NegMulAdd(hn::Set(tag, factor), wu, hn::LoadU(tag, gradient + i)), tag, gradient + i);
    }
  }
  PullSums out{hn::GetLane(hn::SumOfLanes(tag, square)), hn::GetLane(hn::SumOfLanes(tag, first))};
  for (; i < n; ++i) {
    const double u = x[i] - z;
    out.square += w[i] * u * u;
    out.first += w[i] * u;
    if (gradient != nullptr) gradient[i] -= factor * w[i] * u;
  }
  return out;
}

}  // namespace drift::gp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace drift::gp {

PlanarForm planar_form(const Covariance& covariance) {
  if (covariance.family == Family::squared_exponential) return PlanarForm::squared_exponential;
  if (covariance.nu == 0.5) return PlanarForm::matern_1_2;
  if (covariance.nu == 1.5) return PlanarForm::matern_3_2;
  if (covariance.nu == 2.5) return PlanarForm::matern_5_2;
  throw UsageError(fmt::format("covariance on the plane: Matérn's nu must be 0.5, 1.5 or 2.5, not {}", covariance.nu));
}

HWY_EXPORT(run_values);
HWY_EXPORT(run_values_and_pulls);
HWY_EXPORT(run_squares);
HWY_EXPORT(run_pull_sums);

void planar_values(const PlanarColumn& column, double scale, double* value) {
  HWY_DYNAMIC_DISPATCH(run_values)(column, scale, value);
}

void planar_values_and_pulls(const PlanarColumn& column, double* value, double* pull) {
  HWY_DYNAMIC_DISPATCH(run_values_and_pulls)(column, value, pull);
}

void squared_distances(const PlanarColumn& column, double* out) { HWY_DYNAMIC_DISPATCH(run_squares)(column, out); }

PullSums pull_sums(const double* w, const double* x, double z, std::size_t n, double factor, double* gradient) {
  return HWY_DYNAMIC_DISPATCH(run_pull_sums)(w, x, z, n, factor, gradient);
}

}  // namespace drift::gp
#endif  // HWY_ONCE
