#include "gp/deep_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/random.h"
#include "gp/variational_layer_tasks.h"
#include "math/eigen_index.h"

namespace drift::gp {
namespace {}  // namespace

template <class Real>
DeepParameters<Real> DeepParameters<Real>::zero() const {
  DeepParameters out;
  for (const LayerParameters<Real>& layer : layers) out.layers.push_back(layer.zero());
  return out;
}

template <class Real>
void DeepParameters<Real>::set_zero() {
  for (LayerParameters<Real>& layer : layers) {
    layer.inducing.setZero();
    layer.kernel.setZero();
    layer.mean.setZero();
    for (RowMatrix<Real>& s : layer.root) s.setZero();
  }
  log_scale = 0.0;
}

template <class Real>
DeepModel<Real>::DeepModel(DeepSpec spec, int threads)
    : spec_(std::move(spec)),
      likelihood_(spec_.likelihood),
      threads_(threads),
      layers_(spec_.layers.size()),
      works_(spec_.layers.size()),
      hidden_(spec_.layers.size()),
      epsilon_(spec_.layers.size()),
      dmean_(spec_.layers.size()),
      dvariance_(spec_.layers.size()) {}

template <class Real>
double DeepModel<Real>::evaluate(const DeepParameters<Real>& parameters, const DeepBatch& batch, const DrawKey& key,
                                 const Wanted& wanted) {
  jitter_ = 0.0;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (layers_[l])
      layers_[l]->renew(parameters.layers[l]);
    else
      layers_[l] = std::make_unique<VariationalLayer<Real>>(spec_.layers[l], parameters.layers[l], threads_);
    jitter_ = std::max(jitter_, layers_[l]->jitter());
  }
  forward(batch, key, wanted.quick);
  double dlog_scale = 0.0;
  double loss = expected(parameters, batch, &dlog_scale);
  for (const auto& layer : layers_) loss += layer->divergence();
  if (wanted.gradient == nullptr) return loss;
  wanted.gradient->set_zero();
  wanted.gradient->log_scale = dlog_scale;
  backward(wanted);
  return loss;
}

template <class Real>
void DeepModel<Real>::forward(const DeepBatch& batch, const DrawKey& key, bool quick) {
  using Solve = typename VariationalLayer<Real>::Solve;
  points_ = static_cast<std::size_t>(batch.x.cols());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    layers_[l]->forward(l == 0 ? batch.x : hidden_[l - 1], works_[l], quick ? Solve::quick : Solve::precise);
    if (l + 1 < layers_.size()) draw_hidden(l, key);
  }
}

// Columns [draw * points, (draw + 1) * points) are those of a draw.
template <class Real>
void DeepModel<Real>::draw_hidden(std::size_t layer, const DrawKey& key) {
  const LayerWork<Real>& work = works_[layer];
  const Eigen::Index outputs = work.mean.cols(), n = index(points_);
  const Eigen::Index columns = n * spec_.draws;
  hidden_[layer].resize(outputs, columns);
  epsilon_[layer].resize(outputs, columns);
  run_tasks(threads_, static_cast<std::size_t>(spec_.draws), [&](std::size_t draw) {
    RandomStream stream(
        {.seed = key.seed, .member = key.step, .layer = static_cast<std::uint16_t>(layer), .purpose = Purpose::weight_noise},
        static_cast<std::uint32_t>(draw));
    for (Eigen::Index i = 0; i < n; ++i) {
      const Eigen::Index column = index(draw) * n + i, from = layer == 0 ? i : column;
      for (Eigen::Index p = 0; p < outputs; ++p) {
        const double epsilon = stream.normal();
        epsilon_[layer](p, column) = epsilon;
        hidden_[layer](p, column) = work.mean(from, p) + std::sqrt(work.variance(from, p)) * epsilon;
      }
    }
  });
}

// Minus the expected log likelihood of all observations, its slopes in the last layer's mean and variance.
template <class Real>
double DeepModel<Real>::expected(const DeepParameters<Real>& parameters, const DeepBatch& batch, double* dlog_scale) {
  const LayerWork<Real>& last = works_.back();
  const std::size_t columns = last.points, draws = columns / points_;
  const double factor = batch.all_over_batch / static_cast<double>(draws), scale = std::exp(parameters.log_scale);
  last_mean_ = last.mean.col(0);
  last_dmean_.resize(index(columns));
  last_dvariance_.resize(index(columns));
  constexpr std::size_t kPart = 64;
  const std::size_t parts = range_count(columns, kPart);
  std::vector<double> values(parts), slopes(parts);
  run_tasks(threads_, parts, [&](std::size_t part) {
    const Range range = range_at(columns, kPart, part);
    for (std::size_t column = range.first; column < range.last; ++column) {
      const Eigen::Index c = index(column), i = index(column % points_);
      const double s = batch.known.size() > 0 ? std::sqrt(scale * scale + batch.known[i]) : scale;
      const Likelihood::Expected e = likelihood_.expected(batch.y[i], last.mean(c, 0), last.variance(c, 0), s);
      values[part] -= factor * e.value;
      slopes[part] -= factor * e.log_scale * (scale * scale) / (s * s);
      last_dmean_[c] = -factor * e.mean;
      last_dvariance_[c] = -factor * e.variance;
    }
  });
  double sum = 0.0;
  for (std::size_t part = 0; part < parts; ++part) {
    sum += values[part];
    *dlog_scale += slopes[part];
  }
  return sum;
}

template <class Real>
void DeepModel<Real>::backward(const Wanted& wanted) {
  const Eigen::Index n = index(points_);
  dmean_.back() = last_dmean_;
  dvariance_.back() = last_dvariance_;
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const bool last = l + 1 == layers_.size();
    LayerParameters<Real>& gradient = wanted.gradient->layers[l];
    Eigen::MatrixXd dinput;
    if (l > 0) dinput = Eigen::MatrixXd::Zero(works_[l].inputs.rows(), works_[l].inputs.cols());
    layers_[l]->backward(
        dmean_[l], dvariance_[l], works_[l],
        {.gradient = &gradient, .inputs = l > 0 ? &dinput : nullptr, .root = !last || wanted.last_root, .kernel = wanted.kernel});
    if (!last || wanted.last_root) layers_[l]->add_divergence_gradient(1.0, gradient);
    if (l == 0) break;
    // h = mean + sqrt(variance) epsilon; the first layer's mean and variance serve every draw.
    const LayerWork<Real>& below = works_[l - 1];
    const Eigen::MatrixXd& epsilon = epsilon_[l - 1];
    dmean_[l - 1] = Eigen::MatrixXd::Zero(below.mean.rows(), below.mean.cols());
    dvariance_[l - 1] = dmean_[l - 1];
    for (Eigen::Index column = 0; column < dinput.cols(); ++column) {
      const Eigen::Index from = l == 1 ? column % n : column;
      for (Eigen::Index p = 0; p < dinput.rows(); ++p) {
        dmean_[l - 1](from, p) += dinput(p, column);
        dvariance_[l - 1](from, p) += 0.5 * dinput(p, column) * epsilon(p, column) / std::sqrt(below.variance(from, p));
      }
    }
  }
}

template <class Real>
typename DeepModel<Real>::LastLayer DeepModel<Real>::last_layer() const {
  return {&works_.back().a, works_.back().points, &last_mean_, &last_dmean_, &last_dvariance_};
}

template <class Real>
DeepPredictor<Real>::DeepPredictor(const DeepSpec& spec, const DeepParameters<Real>& parameters, std::uint64_t seed, int threads)
    : spec_(spec), works_(spec.layers.size()) {
  for (std::size_t l = 0; l < spec.layers.size(); ++l) {
    layers_.push_back(std::make_unique<VariationalLayer<Real>>(spec.layers[l], parameters.layers[l], threads));
    if (l + 1 == spec.layers.size()) break;
    Eigen::MatrixXd epsilon(spec.layers[l].outputs, spec.draws);
    RandomStream stream({.seed = seed, .layer = static_cast<std::uint16_t>(l), .purpose = Purpose::draws});
    for (Eigen::Index draw = 0; draw < epsilon.cols(); ++draw) {
      for (Eigen::Index p = 0; p < epsilon.rows(); ++p) {
        epsilon(p, draw) = draw % 2 == 1 ? -epsilon(p, draw - 1) : stream.normal();
      }
    }
    epsilon_.push_back(std::move(epsilon));
  }
}

template <class Real>
void DeepPredictor<Real>::predict(Points x, std::span<double> mean, std::span<double> variance) {
  const std::size_t chunk = layers_.size() == 1 ? 2048 : std::max<std::size_t>(64, 8192 / static_cast<std::size_t>(spec_.draws));
  const auto n = static_cast<std::size_t>(x.cols());
  for (std::size_t first = 0; first < n; first += chunk) {
    const std::size_t count = std::min(chunk, n - first);
    predict_chunk(x.middleCols(index(first), index(count)), mean.subspan(first, count), variance.subspan(first, count));
  }
}

template <class Real>
void DeepPredictor<Real>::predict_chunk(Points x, std::span<double> mean, std::span<double> variance) {
  const Eigen::Index n = x.cols();
  Eigen::MatrixXd inputs = x;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    layers_[l]->forward(inputs, works_[l]);
    const LayerWork<Real>& work = works_[l];
    if (l + 1 == layers_.size()) break;
    inputs.resize(work.mean.cols(), n * spec_.draws);
    for (Eigen::Index column = 0; column < inputs.cols(); ++column) {
      const Eigen::Index from = l == 0 ? column % n : column;
      for (Eigen::Index p = 0; p < inputs.rows(); ++p) {
        inputs(p, column) = work.mean(from, p) + std::sqrt(work.variance(from, p)) * epsilon_[l](p, column / n);
      }
    }
  }
  const LayerWork<Real>& last = works_.back();
  const Eigen::Index draws = last.mean.rows() / n;
  for (Eigen::Index i = 0; i < n; ++i) {
    double first = 0.0, within = 0.0, between = 0.0;
    for (Eigen::Index d = 0; d < draws; ++d) {
      first += last.mean(d * n + i, 0) / static_cast<double>(draws);
      within += last.variance(d * n + i, 0) / static_cast<double>(draws);
    }
    for (Eigen::Index d = 0; d < draws; ++d) {
      between += std::pow(last.mean(d * n + i, 0) - first, 2) / static_cast<double>(draws);
    }
    mean[static_cast<std::size_t>(i)] = first;
    variance[static_cast<std::size_t>(i)] = within + between;
  }
}

template struct DeepParameters<float>;
template struct DeepParameters<double>;
template class DeepModel<float>;
template class DeepModel<double>;
template class DeepPredictor<float>;
template class DeepPredictor<double>;

}  // namespace drift::gp
