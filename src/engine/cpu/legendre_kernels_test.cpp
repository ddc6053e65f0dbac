#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <boost/math/special_functions/legendre.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "core/every_instruction_set.h"
#include "engine/cpu/kernels.h"

namespace drift::cpu {
namespace {

// Absolute errors of sqrt(2n + 1) P_n, per (n + 1). A feature's slope by the angle is about n + 1/2, so an error of the angle
// comes out n-fold; in float the chord, its root and the arcsine leave a few units of the last place (6e-8) in it. The inputs of
// both sides of a comparison are the same floats: the rounding of the vectors themselves is not counted.
constexpr double kFloatTolerance = 6e-7;
constexpr double kDoubleTolerance = 2e-15;
// The derivative by the angle, per (n + 1)^2 for the same reason; at the poles features are sqrt(2n + 1) high.
constexpr double kFloatGradientTolerance = 2e-7;

using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

Vector normalised(const Vector& v) {
  const double length = std::sqrt(dot(v, v));
  return {v[0] / length, v[1] / length, v[2] / length};
}

// At an angle from a, in the plane that holds b.
Vector turned(const Vector& a, const Vector& b, double angle) {
  const double along = dot(a, b);
  const Vector across = normalised({b[0] - along * a[0], b[1] - along * a[1], b[2] - along * a[2]});
  Vector result;
  for (std::size_t i = 0; i < 3; ++i) result[i] = std::cos(angle) * a[i] + std::sin(angle) * across[i];
  return result;
}

// Points, poles and degrees with scales sqrt(2n + 1), every number a float's.
template <class Real>
struct Sphere {
  LegendreBlock<Real> block() const { return block(features()); }
  LegendreBlock<Real> block(std::size_t stride) const {
    return {.rows = rows(),
            .features = features(),
            .points = points.data(),
            .point_stride = 3,
            .poles = poles.data(),
            .degrees = degrees.data(),
            .scales = scales.data(),
            .stride = stride};
  }
  std::size_t rows() const { return points.size() / 3; }
  std::size_t features() const { return degrees.size(); }
  Vector point(std::size_t row) const { return {points[3 * row], points[3 * row + 1], points[3 * row + 2]}; }
  Vector pole(std::size_t m) const { return {poles[m], poles[features() + m], poles[2 * features() + m]}; }

  std::vector<Real> features_of(bool accumulate = false, Real start = 0) const {
    std::vector<Real> result(rows() * features(), start);
    legendre_features(block(), result.data(), accumulate);
    return result;
  }
  std::vector<Real> gradient_of(const std::vector<Real>& feature_gradient) const {
    std::vector<Real> result(3 * rows());
    legendre_gradient(block(), feature_gradient.data(), result.data(), 3);
    return result;
  }
  Sphere<double> in_double() const {
    return {{points.begin(), points.end()},
            {poles.begin(), poles.end()},
            {degrees.begin(), degrees.end()},
            {scales.begin(), scales.end()}};
  }
  // With every vector's length 1 to the last bit of a double.
  Sphere<double> at_unit_length() const {
    Sphere<double> result = in_double();
    for (std::size_t row = 0; row < rows(); ++row) {
      const Vector unit = normalised(point(row));
      for (std::size_t i = 0; i < 3; ++i) result.points[3 * row + i] = unit[i];
    }
    for (std::size_t m = 0; m < features(); ++m) {
      const Vector unit = normalised(pole(m));
      for (std::size_t i = 0; i < 3; ++i) result.poles[i * features() + m] = unit[i];
    }
    return result;
  }
  // The features in another order.
  Sphere reordered(const std::vector<std::size_t>& order) const {
    Sphere result{points, std::vector<Real>(3 * order.size()), {}, {}};
    for (std::size_t k = 0; k < order.size(); ++k) {
      for (std::size_t i = 0; i < 3; ++i) result.poles[i * order.size() + k] = poles[i * features() + order[k]];
      result.degrees.push_back(degrees[order[k]]);
      result.scales.push_back(scales[order[k]]);
    }
    return result;
  }

  std::vector<Real> points, poles, degrees, scales;
};

// `rows` points for features of the given degrees: a third anywhere, a third 1e-4 to 1e-2 rad from a pole or its antipode, a
// third up to 1 rad from one.
Sphere<float> draw_sphere(std::size_t rows, const std::vector<int>& degrees, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const auto direction = [&] { return normalised({normal(random), normal(random), normal(random)}); };
  Sphere<float> sphere{{}, std::vector<float>(3 * degrees.size()), {degrees.begin(), degrees.end()}, {}};
  for (std::size_t m = 0; m < degrees.size(); ++m) {
    const Vector pole = direction();
    for (std::size_t i = 0; i < 3; ++i) sphere.poles[i * degrees.size() + m] = static_cast<float>(pole[i]);
    sphere.scales.push_back(std::sqrt(2.0f * static_cast<float>(degrees[m]) + 1));
  }
  for (std::size_t row = 0; row < rows; ++row) {
    Vector point = direction();
    if (row % 3 != 0) {
      const double angle = std::pow(100, uniform(random)) * (row % 3 == 1 ? 1e-4 : 1e-2);
      point = turned(sphere.pole(row % degrees.size()), point, row % 2 == 0 ? angle : std::numbers::pi - angle);
    }
    for (const double x : point) sphere.points.push_back(static_cast<float>(x));
  }
  return sphere;
}

// Every degree to 100, then some to `last`.
std::vector<int> degrees_to(int last) {
  std::vector<int> degrees;
  for (int n = 0; n <= last; n += n < 100 ? 1 : 37) degrees.push_back(n);
  degrees.push_back(last);
  return degrees;
}

// The greatest |a - b| / (n + 1).
template <class Real>
double worst_error(const Sphere<Real>& sphere, const std::vector<Real>& values, const std::vector<double>& reference) {
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(values[i] - reference[i]) / (sphere.degrees[i % sphere.features()] + 1);
    if (!(error <= worst)) worst = error;  // so that NaN counts
  }
  return worst;
}

std::vector<float> random_gradient(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> result(count);
  for (float& v : result) v = normal(random);
  return result;
}

TEST(LegendreFeaturesInDouble, AgreeWithBoostToDegreeOneThousand) {
  const Sphere<double> sphere = draw_sphere(60, degrees_to(1000), 1).at_unit_length();
  std::vector<double> reference;
  for (std::size_t row = 0; row < sphere.rows(); ++row) {
    for (std::size_t m = 0; m < sphere.features(); ++m) {
      // Near the poles the cosine must be exact to more than a double, and what is left of the lengths' rounding taken out.
      long double product = 0;
      long double point_squared = 0;
      long double pole_squared = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const long double s = sphere.point(row)[i];
        const long double b = sphere.pole(m)[i];
        product += s * b;
        point_squared += s * s;
        pole_squared += b * b;
      }
      const long double x = std::clamp(product / std::sqrt(point_squared * pole_squared), -1.0L, 1.0L);
      const auto degree = static_cast<int>(sphere.degrees[m]);
      reference.push_back(static_cast<double>(sphere.scales[m] * boost::math::legendre_p(degree, x)));
    }
  }
  EXPECT_LE(worst_error(sphere, sphere.features_of(), reference), kDoubleTolerance);
}

TEST(LegendreFeatures, AgreeWithDoubleToDegreeTwoThousandEverywhereOnTheSphere) {
  const Sphere<float> sphere = draw_sphere(60, degrees_to(2000), 2);
  const std::vector<double> reference = sphere.in_double().features_of();
  for_every_instruction_set([&] { EXPECT_LE(worst_error(sphere, sphere.features_of(), reference), kFloatTolerance); });
}

TEST(LegendreFeatures, AreOneAtThePoleAndPlusOrMinusOneAtTheAntipode) {
  for_every_instruction_set([] {
    Sphere<float> sphere = draw_sphere(1, degrees_to(2000), 3);
    for (std::size_t m = 0; m < sphere.features(); ++m) {
      for (const float sign : {1.0f, -1.0f}) {
        sphere.points.clear();
        for (const double x : sphere.pole(m)) sphere.points.push_back(sign * static_cast<float>(x));
        const bool negative = sign < 0 && static_cast<int>(sphere.degrees[m]) % 2 == 1;
        ASSERT_EQ(sphere.features_of()[m], negative ? -sphere.scales[m] : sphere.scales[m]) << "degree " << sphere.degrees[m];
      }
    }
  });
}

TEST(LegendreFeatures, OnTheEquatorAreZeroForOddDegreesAndWallissProductForEven) {
  Sphere<float> sphere = draw_sphere(1, degrees_to(2000), 4);
  std::vector<double> reference;
  for (std::size_t m = 0; m < sphere.features(); ++m) {
    for (std::size_t i = 0; i < 3; ++i) sphere.poles[i * sphere.features() + m] = i == 2 ? 1 : 0;
    double value = 1;
    const auto degree = static_cast<int>(sphere.degrees[m]);
    for (int k = 2; k <= degree; k += 2) value *= -(k - 1.0) / k;
    reference.push_back(degree % 2 == 1 ? 0 : sphere.scales[m] * value);
  }
  sphere.points = {0.6f, -0.8f, 0};
  for_every_instruction_set([&] { EXPECT_LE(worst_error(sphere, sphere.features_of(), reference), kFloatTolerance); });
}

TEST(LegendreFeatures, DoNotFeelTheirNeighbours) {
  for_every_instruction_set([] {
    const Sphere<float> sphere = draw_sphere(9, degrees_to(300), 5);
    const std::vector<float> together = sphere.features_of();
    std::vector<std::size_t> order(sphere.features());
    std::iota(order.begin(), order.end(), 0u);
    std::mt19937 random(6);
    std::shuffle(order.begin(), order.end(), random);
    const std::vector<float> shuffled = sphere.reordered(order).features_of();
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::vector<float> alone = sphere.reordered({order[k]}).features_of();
      for (std::size_t row = 0; row < sphere.rows(); ++row) {
        ASSERT_EQ(shuffled[row * order.size() + k], together[row * order.size() + order[k]])
            << "degree " << sphere.degrees[order[k]];
        ASSERT_EQ(alone[row], together[row * order.size() + order[k]]) << "degree " << sphere.degrees[order[k]];
      }
    }
  });
}

TEST(LegendreFeatures, AreAddedToWhatIsThereWhenAccumulating) {
  for_every_instruction_set([] {
    const Sphere<float> sphere = draw_sphere(7, degrees_to(200), 7);
    const std::vector<float> fresh = sphere.features_of(false, 3.0f);
    const std::vector<float> added = sphere.features_of(true, 3.0f);
    for (std::size_t i = 0; i < fresh.size(); ++i) ASSERT_EQ(added[i], 3.0f + fresh[i]);
  });
}

TEST(LegendreFeatures, AreRightForEveryTailLengthAndTouchNothingElse) {
  for_every_instruction_set([] {
    for (const int lowest : {0, 20, 400}) {  // the recurrence alone, both, mostly the expansion
      for (int count = 1; count <= 40; ++count) {
        std::vector<int> degrees(static_cast<std::size_t>(count));
        std::iota(degrees.begin(), degrees.end(), lowest);
        const Sphere<float> sphere = draw_sphere(6, degrees, 8);
        const std::vector<double> reference = sphere.in_double().features_of();
        const std::size_t stride = degrees.size() + 3;
        std::vector<float> values(sphere.rows() * stride, -77);
        legendre_features(sphere.block(stride), values.data(), false);
        for (std::size_t i = 0; i < values.size(); ++i) {
          const std::size_t m = i % stride;
          const double expected = m < degrees.size() ? reference[i / stride * degrees.size() + m] : -77;
          ASSERT_NEAR(values[i], expected, kFloatTolerance * (lowest + count)) << count << " features from degree " << lowest;
        }
      }
    }
  });
}

TEST(LegendreFeatures, APointThatIsNotANumberSpoilsItsOwnRowOnly) {
  for_every_instruction_set([] {
    std::vector<int> degrees(45);
    std::iota(degrees.begin(), degrees.end(), 1);
    Sphere<float> sphere = draw_sphere(5, degrees, 9);
    sphere.points[3 * 2 + 1] = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> values = sphere.features_of();
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(std::isnan(values[i]), i / degrees.size() == 2);
  });
}

// d/dt of sum_m g_m feature_m as the point moves along the sphere towards `aim`, by central differences of the double version.
double directional_difference(Sphere<double> sphere, const std::vector<double>& g, const Vector& aim) {
  constexpr double kStep = 1e-6;
  const Vector point = sphere.point(0);
  double total[2];
  for (int side = 0; side < 2; ++side) {
    const Vector moved = turned(normalised(point), aim, side == 0 ? -kStep : kStep);
    sphere.points.assign(moved.begin(), moved.end());
    const std::vector<double> values = sphere.features_of();
    total[side] = std::inner_product(values.begin(), values.end(), g.begin(), 0.0);
  }
  return (total[1] - total[0]) / (2 * kStep);
}

// |difference - gradient . direction| for one point, over the size of the features' own slopes.
double gradient_mismatch(const Sphere<double>& one_point, const std::vector<double>& g, const std::vector<double>& gradient) {
  double scale = 0;
  for (std::size_t m = 0; m < g.size(); ++m) scale += std::abs(g[m]) * (one_point.degrees[m] + 1);
  double worst = 0;
  for (const Vector& aim : {Vector{1, 0.2, 0}, Vector{0, 1, 0.2}, Vector{0.2, 0, 1}}) {
    const Vector along = turned(one_point.point(0), aim, std::numbers::pi / 2);
    const double expected = dot({gradient[0], gradient[1], gradient[2]}, along);
    worst = std::max(worst, std::abs(directional_difference(one_point, g, aim) - expected) / scale);
  }
  return worst;
}

TEST(LegendreGradientInDouble, IsTheDerivativeAlongTheSphereAndAFlippedSignIsNot) {
  std::vector<int> degrees(60);
  std::iota(degrees.begin(), degrees.end(), 0);
  degrees.insert(degrees.end(), {100, 200, 300});
  const Sphere<double> sphere = draw_sphere(30, degrees, 10).in_double();
  const std::vector<float> drawn = random_gradient(degrees.size(), 11);
  const std::vector<double> g(drawn.begin(), drawn.end());
  for (std::size_t row = 0; row < sphere.rows(); ++row) {
    Sphere<double> one_point = sphere;
    const Vector point = normalised(sphere.point(row));
    one_point.points.assign(point.begin(), point.end());
    std::vector<double> gradient = one_point.gradient_of(g);
    EXPECT_LE(gradient_mismatch(one_point, g, gradient), 1e-7) << "row " << row;
    std::vector<double> flipped = g;
    flipped[50] = -flipped[50];
    EXPECT_GE(gradient_mismatch(one_point, g, one_point.gradient_of(flipped)), 1e-6) << "row " << row;
  }
}

TEST(LegendreGradient, AgreesWithDoubleIsTangentAndAddsToWhatIsThere) {
  const Sphere<float> sphere = draw_sphere(31, degrees_to(1000), 12);
  const std::vector<float> g = random_gradient(sphere.rows() * sphere.features(), 13);
  const std::vector<double> reference = sphere.in_double().gradient_of({g.begin(), g.end()});
  double scale = 0;
  for (const float degree : sphere.degrees) scale += std::pow(degree + 1.0, 4);
  for_every_instruction_set([&] {
    std::vector<float> gradient(4 * sphere.rows(), 0);
    legendre_gradient(sphere.block(), g.data(), gradient.data(), 4);
    for (std::size_t row = 0; row < sphere.rows(); ++row) {
      const Vector found = {gradient[4 * row], gradient[4 * row + 1], gradient[4 * row + 2]};
      for (std::size_t i = 0; i < 3; ++i) {
        // The errors of many features add up like a random walk.
        ASSERT_NEAR(found[i], reference[3 * row + i], kFloatGradientTolerance * std::sqrt(scale)) << "row " << row;
      }
      ASSERT_LE(std::abs(dot(found, sphere.point(row))), 2e-7 * std::sqrt(dot(found, found))) << "row " << row;
      ASSERT_EQ(gradient[4 * row + 3], 0) << "behind row " << row;
    }
    std::vector<float> twice = gradient;
    legendre_gradient(sphere.block(), g.data(), twice.data(), 4);
    for (std::size_t i = 0; i < twice.size(); ++i) ASSERT_FLOAT_EQ(twice[i], 2 * gradient[i]);
  });
}

TEST(LegendreGradient, VanishesAtThePole) {
  for_every_instruction_set([] {
    Sphere<float> sphere = draw_sphere(1, {1000}, 14);
    sphere.points = sphere.poles;
    for (const float value : sphere.gradient_of({1.0f})) EXPECT_EQ(value, 0);
  });
}

}  // namespace
}  // namespace drift::cpu
