#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "engine/cuda/cuda_testing.h"
#include "engine/cuda/fused.h"

namespace drift::cuda {
namespace {

using Vector = std::array<double, 3>;

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Vector unit(const Vector& a) {
  const double length = std::sqrt(dot(a, a));
  return {a[0] / length, a[1] / length, a[2] / length};
}
Vector as_float(const Vector& a) { return {static_cast<float>(a[0]), static_cast<float>(a[1]), static_cast<float>(a[2])}; }

double angle_between(const Vector& a, const Vector& b) {
  const Vector cross = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
  return std::atan2(std::sqrt(dot(cross, cross)), dot(a, b));
}

// The three-term recurrence in double.
double legendre(int degree, double x) {
  double before = 1, value = x;
  if (degree == 0) return 1;
  for (int k = 1; k < degree; ++k) {
    const double next = ((2 * k + 1) * x * value - k * before) / (k + 1);
    before = value;
    value = next;
  }
  return value;
}

double from_half(std::uint32_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = static_cast<int>(bits >> 10 & 0x1FU), fraction = static_cast<int>(bits & 0x3FFU);
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

// Of one member: points of which some lie on the poles, at their antipodes and close by, where one way of computing hands over
// to another.
struct Sphere {
  int features = 150, tiles = 3, rows = 128;
  std::vector<int> degrees;
  std::vector<Vector> poles, points;

  explicit Sphere(int seed) {
    const auto part = [&](double step, int i) { return std::fmod(step * (i + 1) + 0.137 * seed, 1.0) * 2 - 1; };
    for (int m = 0; m < features; ++m) {
      degrees.push_back(m < 70 ? m : static_cast<int>(70 * std::pow(2500.0 / 70, (m - 70) / 79.0)));
      poles.push_back(as_float(unit({part(0.7549, m), part(0.5698, m), part(0.4386, m)})));
    }
    for (int row = 0; row < rows; ++row) {
      const Vector& pole = poles[static_cast<std::size_t>(row * 31 % features)];
      const int degree = degrees[static_cast<std::size_t>(row * 31 % features)];
      const Vector anywhere = {part(0.8192, row), part(0.6711, row), part(0.5497, row)};
      const double step = row % 4 == 0 ? 0 : row % 4 == 3 ? 10 : 14.0 * (row % 7) / 6 / (degree + 0.5);
      const double side = row % 8 < 4 ? 1 : -1;
      points.push_back(as_float(
          unit({side * pole[0] + step * anywhere[0], side * pole[1] + step * anywhere[1], side * pole[2] + step * anywhere[2]})));
    }
  }
  double scale(int m) const { return std::sqrt(2.0 * degrees[static_cast<std::size_t>(m)] + 1) * 0.7; }
};

// Halves of all rows and features, the padding included: [members][rows][tiles * 64].
std::vector<std::vector<double>> features_of(const std::vector<Sphere>& members, double divisor) {
  const Sphere& first = members.front();
  const auto features = static_cast<std::size_t>(first.features), rows = static_cast<std::size_t>(first.rows);
  const auto tiles = static_cast<std::size_t>(first.tiles), count = members.size();
  std::vector<float> poles, degrees, scales, points, divisors(count, static_cast<float>(divisor));
  for (const Sphere& member : members) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (const Vector& pole : member.poles) poles.push_back(static_cast<float>(pole[i]));
    }
    for (int m = 0; m < member.features; ++m) {
      degrees.push_back(static_cast<float>(member.degrees[static_cast<std::size_t>(m)]));
      scales.push_back(static_cast<float>(member.scale(m)));
    }
    for (const Vector& point : member.points) {
      for (const double entry : point) points.push_back(static_cast<float>(entry));
      points.push_back(17.0F);  // time, of no matter here
    }
  }
  const Stream stream;
  const auto on_device = [&](const std::vector<float>& numbers) {
    DeviceArray<float> array(numbers.size());
    array.upload(numbers, stream);
    return array;
  };
  const DeviceArray<float> poles_there = on_device(poles), degrees_there = on_device(degrees), scales_there = on_device(scales),
                           points_there = on_device(points), divisors_there = on_device(divisors);
  DeviceArray<SphericalFeature> constants(count * tiles * 64);
  DeviceArray<uint4> halves(count * rows / 64 * tiles * 512);
  make_spherical(static_cast<int>(count), first.features, first.tiles, {poles_there.data(), features, 3 * features},
                 {degrees_there.data(), features, features}, {scales_there.data(), features, features},
                 {divisors_there.data(), 1, 1}, constants.data(), stream.get());
  fused_sphere({.members = static_cast<int>(count),
                .row_blocks = first.rows / kFusedRows,
                .tiles = first.tiles,
                .points = {points_there.data(), 4, rows * 4},
                .features = constants.data(),
                .halves = halves.data()},
               stream.get());
  std::vector<uint4> packed(halves.size());
  halves.download(packed.data(), packed.size(), 0, stream);
  stream.wait();
  std::vector<std::vector<double>> result(count, std::vector<double>(rows * tiles * 64));
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const std::size_t thread = i % 128, quarter = i / 128 % 4, tile = i / 512 % tiles, block = i / 512 / tiles;
    const std::uint32_t pairs[] = {packed[i].x, packed[i].y, packed[i].z, packed[i].w};
    for (std::size_t j = 0; j < 8; ++j) {
      const std::size_t row = block % (rows / 64) * 64 + thread / 32 * 16 + thread % 32 / 4 + j / 2 % 2 * 8;
      const std::size_t feature = tile * 64 + quarter * 16 + j / 4 * 8 + thread % 4 * 2 + j % 2;
      result[block / (rows / 64)][row * tiles * 64 + feature] =
          from_half(j % 2 == 0 ? pairs[j / 2] & 0xFFFFU : pairs[j / 2] >> 16);
    }
  }
  return result;
}

// A half rounds by up to 2^-11, the expansions leave 1e-4 of the amplitude, and angles are rounded to 2e-7.
TEST(FusedSphere, WritesLegendrePolynomialsOfAllDegreesAsHalves) {
  DRIFT_NEEDS_GPU();
  const std::vector<Sphere> members = {Sphere(1), Sphere(2)};
  const double divisor = 1.25;
  const auto found = features_of(members, divisor);
  for (std::size_t z = 0; z < members.size(); ++z) {
    const Sphere& sphere = members[z];
    for (int row = 0; row < sphere.rows; ++row) {
      for (int m = 0; m < sphere.tiles * kFusedTile; ++m) {
        const double value = found[z][static_cast<std::size_t>(row * sphere.tiles * kFusedTile + m)];
        if (m >= sphere.features) {
          EXPECT_EQ(value, 0.0);
          continue;
        }
        const int degree = sphere.degrees[static_cast<std::size_t>(m)];
        const double angle =
            angle_between(sphere.points[static_cast<std::size_t>(row)], sphere.poles[static_cast<std::size_t>(m)]);
        const double scale = sphere.scale(m) / divisor, middle = degree + 0.5;
        const double amplitude = std::min(1.0, std::sqrt(2 / (std::numbers::pi * middle * std::max(std::sin(angle), 1e-9))));
        ASSERT_NEAR(value, scale * legendre(degree, std::cos(angle)), scale * amplitude * (7e-4 + 4e-7 * middle))
            << "degree " << degree << " at " << angle;
      }
    }
  }
}

}  // namespace
}  // namespace drift::cuda
