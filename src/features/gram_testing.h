#pragma once

// For tests: features evaluated in double from the drawn floats, their Gram matrices, and how the Gram error falls with their
// number.

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "core/random.h"
#include "features/covariance.h"
#include "features/fourier.h"
#include "features/spherical.h"
#include "math/legendre.h"

namespace drift::gram {

using Points = Eigen::MatrixXd;  // [points, coordinates]
using FloatMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct PlanarDraw {
  FloatMatrix frequencies;    // [d, H]
  std::vector<float> phases;  // [H]
};

inline PlanarDraw draw_planar(const FourierDraw& draw, Eigen::Index coordinates, Eigen::Index features) {
  PlanarDraw result{FloatMatrix(coordinates, features), std::vector<float>(static_cast<std::size_t>(features))};
  draw_fourier(draw, {result.frequencies.data(), static_cast<std::size_t>(coordinates), static_cast<std::size_t>(features)},
               result.phases);
  return result;
}

// [points, H]: sqrt(2/H) cos(2 pi (x . w + b)), x already divided by its lengthscales.
inline Eigen::MatrixXd planar_features(const PlanarDraw& draw, const Points& points) {
  Eigen::MatrixXd phase = points * draw.frequencies.cast<double>();
  phase.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(draw.phases.data(), phase.cols()).cast<double>();
  return std::sqrt(2.0 / static_cast<double>(phase.cols())) * (2.0 * std::numbers::pi * phase.array()).cos();
}

struct SphereDraw {
  std::vector<float> degrees;  // [H]
  FloatMatrix poles;           // [3, H]
};

inline SphereDraw draw_sphere(const SphericalSpectrum& spectrum, const RandomKey& key, Eigen::Index features) {
  SphereDraw result{std::vector<float>(static_cast<std::size_t>(features)), FloatMatrix(3, features)};
  draw_spherical(spectrum, key, result.degrees, {result.poles.data(), 3, static_cast<std::size_t>(features)});
  return result;
}

// [points, H]: sqrt((2n + 1)/H) P_n(s . b).
inline Eigen::MatrixXd sphere_features(const SphereDraw& draw, const Points& points) {
  const Eigen::MatrixXd cosines = points * draw.poles.cast<double>();
  Eigen::MatrixXd features(cosines.rows(), cosines.cols());
  for (Eigen::Index m = 0; m < features.cols(); ++m) {
    const int degree = static_cast<int>(draw.degrees[static_cast<std::size_t>(m)]);
    const double scale = std::sqrt((2.0 * degree + 1.0) / static_cast<double>(features.cols()));
    for (Eigen::Index i = 0; i < features.rows(); ++i) {
      // Rounded poles may put the cosine a little beyond 1.
      features(i, m) = scale * legendre(degree, std::clamp(cosines(i, m), -1.0, 1.0));
    }
  }
  return features;
}

// [points, points] of a covariance between two points.
inline Eigen::MatrixXd exact_gram(const Points& points,
                                  const std::function<double(const Eigen::RowVectorXd&, const Eigen::RowVectorXd&)>& covariance) {
  Eigen::MatrixXd gram(points.rows(), points.rows());
  for (Eigen::Index i = 0; i < points.rows(); ++i) {
    for (Eigen::Index j = 0; j < points.rows(); ++j) gram(i, j) = covariance(points.row(i), points.row(j));
  }
  return gram;
}

inline Eigen::MatrixXd exact_planar_gram(const Covariance& covariance, const Points& points) {
  return exact_gram(points, [&](const auto& x, const auto& y) { return planar_covariance(covariance, (x - y).norm()); });
}

inline Eigen::MatrixXd exact_sphere_gram(const SphericalSpectrum& spectrum, const Points& points) {
  return exact_gram(
      points, [&](const auto& s, const auto& t) { return spherical_covariance(spectrum, std::clamp(s.dot(t), -1.0, 1.0)); });
}

// Normal points, so scaled that two of them are `distance` apart in root mean square.
inline Points plane_points(Eigen::Index count, Eigen::Index coordinates, double distance, std::uint64_t seed) {
  RandomStream random({.seed = seed, .purpose = Purpose::simulation});
  const double scale = distance / std::sqrt(2.0 * static_cast<double>(coordinates));
  return Points::NullaryExpr(count, coordinates, [&] { return scale * random.normal(); });
}

inline Points sphere_points(Eigen::Index count, std::uint64_t seed) {
  return plane_points(count, 3, 1.0, seed).rowwise().normalized();
}

inline Eigen::Matrix3d random_rotation(std::uint64_t seed) {
  Eigen::Matrix3d rotation = plane_points(3, 3, 1.0, seed).householderQr().householderQ();
  return rotation.determinant() < 0.0 ? Eigen::Matrix3d(-rotation) : rotation;
}

// Numbers of features over which errors are compared, and draws of each over which they are averaged.
inline const std::vector<Eigen::Index> kWidths = {64, 256, 1024, 4096};
inline constexpr std::uint64_t kSeeds = 16;

struct ErrorCurve {
  std::vector<double> errors;  // root mean square over pairs of points and seeds, one a width

  // d log error / d log H, by least squares: -1/2 where the features are right on average.
  double slope() const {
    const auto n = static_cast<double>(errors.size());
    double mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0;
    for (std::size_t i = 0; i < errors.size(); ++i) {
      mean_x += std::log(static_cast<double>(kWidths[i])) / n;
      mean_y += std::log(errors[i]) / n;
    }
    for (std::size_t i = 0; i < errors.size(); ++i) {
      const double x = std::log(static_cast<double>(kWidths[i])) - mean_x;
      xx += x * x;
      xy += x * (std::log(errors[i]) - mean_y);
    }
    return xy / xx;
  }
  // Root mean square of error sqrt(H): the error of a single feature, were it to be all of them.
  double single_feature_error() const {
    double square = 0.0;
    for (std::size_t i = 0; i < errors.size(); ++i) square += errors[i] * errors[i] * static_cast<double>(kWidths[i]);
    return std::sqrt(square / static_cast<double>(errors.size()));
  }
};

// `gram` gives the approximate Gram matrix of H features drawn from a seed; no two widths share a seed.
inline ErrorCurve error_curve(const Eigen::MatrixXd& exact,
                              const std::function<Eigen::MatrixXd(Eigen::Index features, std::uint64_t seed)>& gram) {
  ErrorCurve curve;
  for (const Eigen::Index width : kWidths) {
    double square = 0.0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      square += (gram(width, 1000 * static_cast<std::uint64_t>(width) + seed) - exact).squaredNorm();
    }
    curve.errors.push_back(std::sqrt(square / static_cast<double>(kSeeds) / static_cast<double>(exact.size())));
  }
  return curve;
}

inline Eigen::MatrixXd gram_of(const Eigen::MatrixXd& features) { return features * features.transpose(); }

// A Gram matrix of 12 points has few independent errors, some 4 a draw at least, hence 64 a width: its mean square is known to
// sqrt(2/64) = 18 %, the root mean square to 9 %, the slope over the four widths to 0.09 / 3.1 = 0.03. Three of those:
inline constexpr double kSlopeTolerance = 0.09;
// and of all four widths together, 4.5 % of the single-feature error; three of those:
inline constexpr double kErrorTolerance = 0.14;

inline std::string name_of(const Covariance& covariance) {
  if (covariance.family == Family::squared_exponential) return "SquaredExponential";
  return "MaternNuTenths" + std::to_string(static_cast<int>(std::lround(10.0 * covariance.nu)));
}

}  // namespace drift::gram
