#include "gp/exact.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/random.h"
#include "gp/evidence.h"
#include "math/lapack.h"

namespace drift::gp {
namespace {

Eigen::MatrixXd noisy_covariance(const Kernel& kernel, const GpParameters& parameters, const GpData& data) {
  Eigen::MatrixXd k(data.size(), data.size());
  kernel.lower(data.points, k);
  k.diagonal().array() += parameters.noise_variance();
  if (data.known_variance.size() > 0) k.diagonal() += data.known_variance;
  return k;
}

}  // namespace

std::vector<Eigen::Index> drawn_rows(Eigen::Index n, std::size_t count, std::uint64_t seed) {
  std::vector<Eigen::Index> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), 0);
  if (rows.size() <= count) return rows;
  RandomStream random({.seed = seed, .purpose = Purpose::split});
  for (std::size_t i = 0; i < count; ++i) {  // the first steps of Fisher and Yates's shuffle
    const auto left = static_cast<double>(rows.size() - i);
    std::swap(rows[i], rows[i + static_cast<std::size_t>(random.uniform() * left)]);
  }
  rows.resize(count);
  std::sort(rows.begin(), rows.end());
  return rows;
}

Found fit_exact(const KernelSpec& spec, const GpData& data, const ExactSettings& settings, const std::string& where,
                const Control& control) {
  const GpData part = subset(data, drawn_rows(data.size(), settings.subset, settings.seed));
  const SearchBox box = search_box(spec, part, settings.lengthscales);
  const auto evidence = [&](const Eigen::VectorXd& theta, Eigen::VectorXd& gradient, double& mean) {
    Evidence e = log_evidence(spec, part, theta, std::nullopt, true);
    gradient = std::move(e.gradient);
    mean = e.mean;
    return e.value;
  };
  return search(evidence, box, settings.evaluations, settings.threads, where, control);
}

ExactGp::ExactGp(KernelSpec spec, GpParameters parameters, GpData data, const std::string& where, const Control& control)
    : kernel_(std::move(spec), parameters.kernel),
      parameters_(std::move(parameters)),
      data_(std::move(data)),
      factor_(factor(noisy_covariance(kernel_, parameters_, data_), where,
                     "give a shorter lengthscale, or leave out observations that repeat", control)),
      weights_(data_.values.array() - parameters_.mean) {
  solve_lower(factor_.lower, false, weights_);
  solve_lower(factor_.lower, true, weights_);
}

void ExactGp::predict(Points points, Eigen::Ref<Eigen::VectorXd> mean, Eigen::VectorXd* variance) const {
  Eigen::MatrixXd k(data_.size(), points.cols());
  kernel_.matrix(data_.points, points, k);
  mean = (k.transpose() * weights_).array() + parameters_.mean;
  if (variance == nullptr) return;
  solve_lower(factor_.lower, false, k);
  *variance = (kernel_.variance() - k.colwise().squaredNorm().transpose().array()).max(0.0);
}

}  // namespace drift::gp
