#pragma once

// For tests: one-layer networks and made-up observations, with the network's features evaluated in double by their formula.

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "core/random.h"
#include "drift/engine.h"
#include "math/legendre.h"
#include "network/draw.h"
#include "network/plan.h"

namespace drift::uncertainty_testing {

using FloatRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline NetworkSpec one_layer(Space space, int features) {
  NetworkSpec spec = default_spec(space, space == Space::plane ? 2 : 3, false);
  spec.spatial.layers = 1;
  spec.features = features;
  spec.frequencies = Frequencies::independent;
  spec.spatial.lengthscales = {space == Space::plane ? 0.7 : 0.5};
  spec.spatial.amplitude = 1.3;
  return spec;
}

struct Observations {
  FloatRows coordinates, values;
  std::vector<float> weights;

  TrainingSet set() const { return {view(coordinates), view(values), weights}; }
  static MatrixView<const float> view(const FloatRows& matrix) {
    return {matrix.data(), static_cast<std::size_t>(matrix.rows()), static_cast<std::size_t>(matrix.cols())};
  }
};

// Points of the square [-1, 1]^2, or of the sphere, with a field and a little noise.
inline Observations observations(Space space, Eigen::Index count, std::uint64_t seed, Eigen::Index outputs = 1) {
  RandomStream random({.seed = seed, .purpose = Purpose::simulation});
  Observations result{FloatRows(count, space == Space::plane ? 2 : 3), FloatRows(count, outputs), {}};
  for (Eigen::Index i = 0; i < count; ++i) {
    Eigen::RowVector3d s(random.normal(), random.normal(), random.normal());
    s.normalize();
    if (space == Space::plane) s = Eigen::RowVector3d(2 * random.uniform() - 1, 2 * random.uniform() - 1, 0.0);
    result.coordinates.row(i) = s.head(result.coordinates.cols()).cast<float>();
    for (Eigen::Index o = 0; o < outputs; ++o) {
      const double field = std::sin(3.0 * s(0) + static_cast<double>(o)) * std::cos(2.0 * s(1)) + s(2);
      result.values(i, o) = static_cast<float>(field + 0.1 * random.normal());
    }
  }
  return result;
}

// [points, H] features of a one-layer network, such that f = features . bottleneck.
inline Eigen::MatrixXd features(const NetworkSpec& spec, const Member& member, const FloatRows& points) {
  const Plan plan = make_plan(spec);
  const LayerPlan& layer = plan.layers[0];
  const Eigen::Index count = layer.features;
  const auto fixed = [&](std::size_t offset, Eigen::Index rows) {
    return Eigen::MatrixXd(Eigen::Map<const FloatRows>(member.fixed.data() + offset, rows, count).cast<double>());
  };
  const double amplitude = spec.spatial.amplitude / std::sqrt(static_cast<double>(count));
  const Eigen::MatrixXd x = points.cast<double>();
  if (layer.sphere) {
    const Eigen::MatrixXd cosines = x * fixed(layer.poles, 3), degrees = fixed(layer.degrees, 1);
    return Eigen::MatrixXd::NullaryExpr(x.rows(), count, [&](Eigen::Index i, Eigen::Index m) {
      const double degree = degrees(0, m);
      return amplitude * std::sqrt(2 * degree + 1) * legendre(static_cast<int>(degree), std::clamp(cosines(i, m), -1.0, 1.0));
    });
  }
  Eigen::MatrixXd phase = x / spec.spatial.lengthscales[0] * fixed(layer.coordinate_frequencies, layer.coordinates);
  phase.rowwise() += Eigen::RowVectorXd(fixed(layer.phases, 1).row(0));
  return amplitude * std::numbers::sqrt2 * (2 * std::numbers::pi * phase.array()).cos();
}

}  // namespace drift::uncertainty_testing
