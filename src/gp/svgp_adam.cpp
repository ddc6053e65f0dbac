#include "gp/svgp_adam.h"

#include <algorithm>
#include <cmath>

#include "gp/variational_layer_parts.h"

namespace drift::gp {
namespace {

// In engine's units, where values and coordinates are of order one.
constexpr double kLogLeast = -6.907755278982137;  // log 1e-3: a noise or lengthscale beyond which nothing is resolved in float32
constexpr double kLogMost = 6.907755278982137;    // log 1e3

struct Rates {
  double beta1, beta2, epsilon;
  double rate;             // corrected for the first moment's bias
  double root_correction;  // 1 / sqrt(1 - beta2^t)

  // The step, to be subtracted.
  template <class T>
  T move(T gradient, T& first, T& second) const {
    const T b1 = static_cast<T>(beta1), b2 = static_cast<T>(beta2);
    first = b1 * first + (1 - b1) * gradient;
    second = b2 * second + (1 - b2) * gradient * gradient;
    return static_cast<T>(rate) * first / (std::sqrt(second) * static_cast<T>(root_correction) + static_cast<T>(epsilon));
  }
};

template <class Matrix>
void update(const Rates& rates, const Matrix& gradient, Matrix& first, Matrix& second, Matrix& parameters) {
  for (Eigen::Index i = 0; i < parameters.size(); ++i) {
    parameters.data()[i] -= rates.move(gradient.data()[i], first.data()[i], second.data()[i]);
  }
}

template <class Real>
void update_root(const Rates& rates, const RowMatrix<Real>& gradient, RowMatrix<Real>& first, RowMatrix<Real>& second,
                 RowMatrix<Real>& root, int threads) {
  const auto m = static_cast<std::size_t>(root.rows());
  run_tasks(threads, range_count(m, kBlock), [&](std::size_t task) {
    const Range rows = range_at(m, kBlock, task);
    for (auto i = static_cast<Eigen::Index>(rows.first); i < static_cast<Eigen::Index>(rows.last); ++i) {
      Real* s = root.row(i).data();
      const Real* g = gradient.row(i).data();
      Real *a = first.row(i).data(), *b = second.row(i).data();
      for (Eigen::Index j = 0; j < i; ++j) s[j] -= rates.move(g[j], a[j], b[j]);
      s[i] *= std::exp(-rates.move(g[i] * s[i], a[i], b[i]));
    }
  });
}

void back_to_the_sphere(const KernelSpec& kernel, Eigen::MatrixXd& points) {
  for (const KernelPart& part : kernel.parts) {
    if (part.space != Space::sphere) continue;
    for (Eigen::Index i = 0; i < points.cols(); ++i) points.col(i).segment(part.first, 3).normalize();
  }
}

}  // namespace

template <class Real>
DeepAdam<Real>::DeepAdam(const DeepSpec& spec, const DeepParameters<Real>& parameters, const AdamOptions& options)
    : spec_(spec), options_(options), first_(parameters.zero()), second_(parameters.zero()) {
  if (options.last_posterior) return;
  for (DeepParameters<Real>* moments : {&first_, &second_}) moments->layers.back().root.clear();  // not needed: save the memory
}

template <class Real>
void DeepAdam<Real>::step(const DeepParameters<Real>& gradient, double rate, DeepParameters<Real>& parameters) {
  ++steps_;
  const auto t = static_cast<double>(steps_);
  const Rates rates{options_.beta1, options_.beta2, options_.epsilon, rate / (1.0 - std::pow(options_.beta1, t)),
                    1.0 / std::sqrt(1.0 - std::pow(options_.beta2, t))};
  for (std::size_t l = 0; l < parameters.layers.size(); ++l) {
    LayerParameters<Real>& layer = parameters.layers[l];
    const LayerParameters<Real>& g = gradient.layers[l];
    LayerParameters<Real>&first = first_.layers[l], &second = second_.layers[l];
    if (l + 1 < parameters.layers.size() || options_.last_posterior) {
      update(rates, g.mean, first.mean, second.mean, layer.mean);
      for (std::size_t p = 0; p < layer.root.size(); ++p) {
        update_root(rates, g.root[p], first.root[p], second.root[p], layer.root[p], options_.threads);
      }
    }
    if (options_.inducing || l > 0) {
      update(rates, g.inducing, first.inducing, second.inducing, layer.inducing);
      back_to_the_sphere(spec_.layers[l].kernel, layer.inducing);
    }
    if (options_.kernel) {
      update(rates, g.kernel, first.kernel, second.kernel, layer.kernel);
      layer.kernel = layer.kernel.cwiseMax(kLogLeast).cwiseMin(kLogMost);
    }
  }
  if (!options_.scale) return;
  parameters.log_scale -= rates.move(gradient.log_scale, first_.log_scale, second_.log_scale);
  parameters.log_scale = std::clamp(parameters.log_scale, kLogLeast, kLogMost);
}

template class DeepAdam<float>;
template class DeepAdam<double>;

}  // namespace drift::gp
