#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "core/random.h"
#include "gp/variational_layer.h"

namespace drift::gp {

inline Eigen::MatrixXd normals(Eigen::Index rows, Eigen::Index cols, std::uint64_t seed) {
  RandomStream stream({.seed = seed, .purpose = Purpose::simulation});
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [&] { return stream.normal(); });
}

// Coordinates of space and time: on the sphere the first three are a unit vector.
inline Eigen::MatrixXd places(const KernelSpec& spec, Eigen::Index n, std::uint64_t seed) {
  Eigen::MatrixXd x = normals(spec.dimensions, n, seed);
  for (const KernelPart& part : spec.parts) {
    if (part.space != Space::sphere) continue;
    for (Eigen::Index i = 0; i < n; ++i) x.col(i).segment(part.first, 3).normalize();
  }
  return x;
}

template <class Real>
LayerParameters<Real> random_layer(const LayerSpec& spec, Eigen::Index inducing, std::uint64_t seed) {
  auto out = initial_layer<Real>(spec, places(spec.kernel, inducing, seed),
                                 0.3 * normals(spec.kernel.lengthscales + 1, 1, seed + 1), 1.0);
  out.mean = normals(inducing, spec.outputs, seed + 2);
  for (std::size_t p = 0; p < out.root.size(); ++p) {
    const Eigen::MatrixXd s = 0.2 * normals(inducing, inducing, seed + 3 + p);
    out.root[p] = s.cast<Real>();
    out.root[p].template triangularView<Eigen::StrictlyUpper>().setZero();
    out.root[p].diagonal() = (0.5 + s.diagonal().array().abs()).template cast<Real>();
  }
  return out;
}

// All trained numbers of a layer one after the other: Z, covariance, m, lower triangles of S.
template <class Real>
Eigen::VectorXd flat(const LayerParameters<Real>& layer) {
  std::vector<double> out;
  const auto append = [&](const auto& matrix) { out.insert(out.end(), matrix.data(), matrix.data() + matrix.size()); };
  append(layer.inducing);
  append(layer.kernel);
  append(layer.mean);
  for (const RowMatrix<Real>& s : layer.root) {
    for (Eigen::Index i = 0; i < s.rows(); ++i) {
      for (Eigen::Index j = 0; j <= i; ++j) out.push_back(static_cast<double>(s(i, j)));
    }
  }
  return Eigen::Map<Eigen::VectorXd>(out.data(), static_cast<Eigen::Index>(out.size()));
}
template <class Real>
Eigen::Index unflatten(const Eigen::VectorXd& from, Eigen::Index at, LayerParameters<Real>& layer) {
  const auto take = [&](auto& matrix) {
    std::copy(from.data() + at, from.data() + at + matrix.size(), matrix.data());
    at += matrix.size();
  };
  take(layer.inducing);
  take(layer.kernel);
  take(layer.mean);
  for (RowMatrix<Real>& s : layer.root) {
    for (Eigen::Index i = 0; i < s.rows(); ++i) {
      for (Eigen::Index j = 0; j <= i; ++j) s(i, j) = static_cast<Real>(from[at++]);
    }
  }
  return at;
}

// The largest difference between a gradient and central differences of f, as a share of the gradient's largest entry.
inline double difference_from_slopes(const std::function<double(const Eigen::VectorXd&)>& f, const Eigen::VectorXd& x,
                                     const Eigen::VectorXd& gradient, double step = 1e-5) {
  double worst = 0.0;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    Eigen::VectorXd high = x, low = x;
    high[i] += step;
    low[i] -= step;
    worst = std::max(worst, std::abs((f(high) - f(low)) / (2.0 * step) - gradient[i]));
  }
  return worst / std::max(1e-300, gradient.cwiseAbs().maxCoeff());
}

}  // namespace drift::gp
