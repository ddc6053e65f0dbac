#include "gp/nearest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/threads.h"
#include "drift/error.h"
#include "gp/factor.h"
#include "math/lapack.h"

namespace drift::gp {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

MatrixXd scaled(const MatrixXd& points, const VectorXd& inverse) { return inverse.asDiagonal() * points; }

std::uint64_t morton_code(const VectorXd& cell, int bits) {
  std::uint64_t code = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    for (Index d = 0; d < cell.size(); ++d) {
      code = code << 1U | (static_cast<std::uint64_t>(cell[d]) >> static_cast<unsigned>(bit) & 1U);
    }
  }
  return code;
}

}  // namespace

VectorXd inverse_lengthscales(const KernelSpec& spec, const KernelParameters& parameters) {
  VectorXd out = VectorXd::Ones(spec.dimensions);
  for (const KernelPart& part : spec.parts) {
    for (int d = 0; d < part.count; ++d) {
      const int l = part.lengthscale_of[part.space == Space::sphere ? 0 : static_cast<std::size_t>(d)];
      out[part.first + d] = std::exp(-parameters[l]);
    }
  }
  return out;
}

GpData in_place_order(const GpData& data) {
  const Index n = data.size();
  if (n == 0) return data;
  const int bits = static_cast<int>(std::min<Index>(16, 63 / data.points.rows()));
  const VectorXd low = data.points.rowwise().minCoeff();
  const VectorXd range = (data.points.rowwise().maxCoeff() - low).cwiseMax(1e-300);
  const double cells = std::ldexp(1.0, bits) - 1.0;
  std::vector<std::pair<std::uint64_t, Index>> codes(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    const VectorXd cell = cells * (data.points.col(i) - low).cwiseQuotient(range);
    codes[static_cast<std::size_t>(i)] = {morton_code(cell, bits), i};
  }
  std::sort(codes.begin(), codes.end());
  std::vector<Index> rows;
  rows.reserve(codes.size());
  for (const auto& [code, row] : codes) rows.push_back(row);
  return subset(data, rows);
}

GpData merged(const KernelSpec& spec, const GpParameters& parameters, const GpData& data, double side) {
  const Index n = data.size();
  GpData out = data;
  out.fold.clear();
  out.known_variance = VectorXd::Constant(n, parameters.noise_variance());
  if (data.known_variance.size() > 0) out.known_variance += data.known_variance;
  if (side <= 0.0) return out;
  const std::vector<Index> cells = cells_of(scaled(data.points, inverse_lengthscales(spec, parameters.kernel)), side);
  const Index count = cells.empty() ? 0 : *std::max_element(cells.begin(), cells.end()) + 1;
  MatrixXd points = MatrixXd::Zero(data.points.rows(), count);
  VectorXd values = VectorXd::Zero(count);
  VectorXd weights = VectorXd::Zero(count);
  for (Index i = 0; i < n; ++i) {
    const Index cell = cells[static_cast<std::size_t>(i)];
    const double weight = 1.0 / std::max(out.known_variance[i], 1e-300);
    points.col(cell) += weight * data.points.col(i);
    values[cell] += weight * data.values[i];
    weights[cell] += weight;
  }
  out.points = points * weights.cwiseInverse().asDiagonal();
  out.values = values.cwiseQuotient(weights);
  out.known_variance = weights.cwiseInverse();
  return out;
}

NearestGp::NearestGp(KernelSpec spec, GpParameters parameters, const GpData& data, const NearestSettings& settings)
    : kernel_(std::move(spec), parameters.kernel),
      parameters_(std::move(parameters)),
      data_(merged(kernel_.spec(), parameters_, data, settings.merge)),
      neighbours_(settings.neighbours),
      mean_(settings.mean),
      inverse_lengthscale_(inverse_lengthscales(kernel_.spec(), parameters_.kernel)),
      finder_(scaled(data_.points, inverse_lengthscale_), random_order(data_.size(), settings.seed), settings.thinning) {}

// Room for one point's kriging, kept from point to point.
struct NearestGp::Kriging {
  const NearestGp& gp;
  std::vector<Index> rows = {};
  MatrixXd near = {};   // [dimensions, k]
  MatrixXd lower = {};  // [k, k]
  MatrixXd right = {};  // [k, 3] y - m, the covariance with the point, and ones
  VectorXd noise = {};  // [k]

  void gather(const VectorXd& point) {
    const VectorXd place = point.cwiseProduct(gp.inverse_lengthscale_);
    gp.finder_.find(place.data(), gp.neighbours_, rows);
    const auto k = static_cast<Index>(rows.size());
    near.resize(gp.data_.points.rows(), k);
    right.resize(k, 3);
    right.col(2).setOnes();
    noise.resize(k);
    for (Index i = 0; i < k; ++i) {
      const Index row = rows[static_cast<std::size_t>(i)];
      near.col(i) = gp.data_.points.col(row);
      right(i, 0) = gp.data_.values[row] - gp.parameters_.mean;
      noise[i] = gp.data_.known_variance[row];
    }
    gp.kernel_.matrix(near, point, right.middleCols(1, 1));
  }

  void factor_near(const VectorXd& point) {
    lower.resize(near.cols(), near.cols());
    gp.kernel_.lower(near, lower);
    lower.diagonal() += noise;
    if (factor_in_place(lower) == 0) return;
    gp.kernel_.lower(near, lower);
    lower.diagonal() += noise;
    lower = factor(lower,
                   fmt::format("nearest-neighbour GP at ({:.4g}) (engine's units)", fmt::join(point.begin(), point.end(), ", ")),
                   "leave out observations that repeat, or give a shorter lengthscale")
                .lower;
  }
};

void NearestGp::predict(Points points, VectorXd& mean, VectorXd& variance) const {
  Kriging kriging{.gp = *this};
  for (Index p = 0; p < points.cols(); ++p) {
    const VectorXd point = points.col(p);
    kriging.gather(point);
    kriging.factor_near(point);
    MatrixXd& right = kriging.right;
    solve_lower(kriging.lower, false, right);
    mean[p] = parameters_.mean + right.col(0).dot(right.col(1));
    double left = kernel_.variance() - right.col(1).squaredNorm();
    if (mean_ == MeanKind::local) {
      const double ones = right.col(2).squaredNorm(), missing = 1.0 - right.col(2).dot(right.col(1));
      mean[p] += missing * right.col(2).dot(right.col(0)) / ones;
      left += missing * missing / ones;
    }
    variance[p] = std::max(0.0, left);
  }
}

}  // namespace drift::gp
