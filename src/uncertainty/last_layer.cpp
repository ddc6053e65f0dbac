// Bayesian linear regression on the inputs of the last trained matrix, streamed over the data (Bishop 2006, section 3.3; on the
// last layer of a network: Snoek et al. 2015). The sums are in double; A is at least the identity, so that its Cholesky factor
// exists and the entries of L^-1 are at most one.

#define EIGEN_DONT_PARALLELIZE  // threads are ours
#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/blocks.h"
#include "core/threads.h"
#include "drift/error.h"
#include "drift/uncertainty.h"
#include "engine/shapes.h"
#include "math/eigen_index.h"
#include "math/gemm.h"
#include "uncertainty/last_layer_blocks.h"

namespace drift {
namespace {

using Matrix = Eigen::MatrixXd;  // column-major
using FloatRows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Eigen::Index kPanel = 64;  // columns of A that a thread adds to at a time; fixed, so that threads change nothing

// A and Phi^T W y, both times sigma^2 and without the identity.
struct Sums {
  Matrix gram;   // [inputs, inputs], upper triangle by panels
  Matrix cross;  // [inputs, outputs]
};

void add_block(const FloatRows& inputs, const Matrix& values, const Eigen::VectorXd& weights, int threads, Sums& sums) {
  const Matrix phi = inputs.cast<double>();
  const Matrix weighted = weights.asDiagonal() * phi;
  const Eigen::Index size = phi.cols();
  std::atomic<Eigen::Index> next = 0;
  run_on_threads(threads, [&](int) {
    for (Eigen::Index first = kPanel * next++; first < size; first = kPanel * next++) {
      const Eigen::Index cols = std::min(kPanel, size - first);
      sums.gram.block(0, first, first + cols, cols).noalias() +=
          phi.leftCols(first + cols).transpose() * weighted.middleCols(first, cols);
    }
  });
  sums.cross.noalias() += weighted.transpose() * values;
}

// `network`: one member.
Sums sum_over(Predictor& network, std::size_t size, const TrainingSet& data, int threads, const Control& control) {
  const std::size_t outputs = data.values.cols;
  Sums sums{Matrix::Zero(index(size), index(size)), Matrix::Zero(index(size), index(outputs))};
  for_blocks(data.values.rows, kLastLayerRows, [&](std::size_t first, std::size_t rows) {
    control.check_stop();
    FloatRows inputs(index(rows), index(size));
    network.head_inputs(data.coordinates.middle_rows(first, rows), {inputs.data(), rows, size});
    Matrix values(index(rows), index(outputs));
    Eigen::VectorXd weights = Eigen::VectorXd::Ones(index(rows));
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t o = 0; o < outputs; ++o) values(index(row), index(o)) = data.values(first + row, o);
      if (!data.weights.empty()) weights(index(row)) = data.weights[first + row];
    }
    add_block(inputs, values, weights, threads, sums);
    control.report(static_cast<double>(first + rows) / static_cast<double>(data.values.rows), "last layers");
  });
  return sums;
}

LastLayerPosterior posterior_of(const Sums& sums, double noise_sd) {
  const double precision = 1.0 / (noise_sd * noise_sd);
  Matrix a = precision * sums.gram;
  a.diagonal().array() += 1.0;
  const Eigen::LLT<Matrix, Eigen::Upper> factor(a);  // a = U^T U, of the upper triangle alone; L = U^T
  if (factor.info() != Eigen::Success) throw Error("last layer: the posterior's precision is not a positive matrix");
  const Matrix mean = factor.solve(precision * sums.cross);
  const Matrix lower = factor.matrixL();
  const Matrix inverse = lower.triangularView<Eigen::Lower>().solve(Matrix::Identity(a.rows(), a.cols()));
  if (!mean.allFinite() || !inverse.allFinite()) throw Error("last layer: the posterior is not finite; check the observations");
  LastLayerPosterior posterior;
  posterior.inputs = static_cast<std::size_t>(a.rows());
  posterior.outputs = static_cast<std::size_t>(mean.cols());
  posterior.mean.resize(posterior.inputs * posterior.outputs);
  posterior.inverse_factor.resize(posterior.inputs * posterior.inputs);
  Eigen::Map<FloatRows>(posterior.mean.data(), mean.rows(), mean.cols()) = mean.cast<float>();
  Eigen::Map<FloatRows>(posterior.inverse_factor.data(), a.rows(), a.cols()) = inverse.cast<float>();
  return posterior;
}

void check_posteriors(const Ensemble& ensemble, std::span<const LastLayerPosterior> posteriors) {
  const std::size_t inputs = head_input_count(ensemble.spec), outputs = static_cast<std::size_t>(ensemble.spec.outputs);
  if (posteriors.size() != ensemble.members.size()) {
    throw UsageError(fmt::format("last layer: {} posteriors for {} members", posteriors.size(), ensemble.members.size()));
  }
  for (const LastLayerPosterior& posterior : posteriors) {
    const bool fits = posterior.inputs == inputs && posterior.outputs == outputs && posterior.mean.size() == inputs * outputs &&
                      posterior.inverse_factor.size() == inputs * inputs;
    if (fits) continue;
    throw UsageError(fmt::format("last layer: a posterior is [{},{}] but the network's last matrix is [{},{}]", posterior.inputs,
                                 posterior.outputs, inputs, outputs));
  }
}

// variances[row] += |L^-1 phi|^2 for the rows of a block.
void add_variances(const LastLayerPosterior& posterior, MatrixView<const float> inputs, int threads,
                   std::vector<double>& variances) {
  const std::size_t size = posterior.inputs, chunks = (inputs.rows + kLastLayerChunk - 1) / kLastLayerChunk;
  std::atomic<std::size_t> next = 0;
  run_on_threads(static_cast<int>(std::min(static_cast<std::size_t>(threads), chunks)), [&](int) {
    std::vector<float> whitened(kLastLayerChunk * size);
    for (std::size_t first = kLastLayerChunk * next++; first < inputs.rows; first = kLastLayerChunk * next++) {
      const std::size_t rows = std::min(kLastLayerChunk, inputs.rows - first);
      cpu::gemm(cpu::Gemm<float>{.transpose_b = cpu::Transpose::yes,
                                 .m = rows,
                                 .n = size,
                                 .k = size,
                                 .a = inputs.row(first),
                                 .lda = inputs.stride,
                                 .b = posterior.inverse_factor.data(),
                                 .ldb = size,
                                 .c = whitened.data(),
                                 .ldc = size});
      for (std::size_t row = 0; row < rows; ++row) {
        double sum = 0.0;
        for (std::size_t i = row * size; i < (row + 1) * size; ++i) sum += static_cast<double>(whitened[i]) * whitened[i];
        variances[first + row] += sum;
      }
    }
  });
}

// Adds the mean over the posteriors of phi^T A^-1 phi. phi: the head's inputs at a point or, by pairs, how they differ between
// points 2 i and 2 i + 1.
void add_within(Predictor& networks, const Ensemble& ensemble, std::span<const LastLayerPosterior> posteriors,
                MatrixView<const float> coordinates, bool by_pairs, int threads, std::span<double> variances) {
  threads = threads_or_all(threads);
  // All members at once, in whole passes of rows.
  const std::size_t size = head_input_count(ensemble.spec), members = posteriors.size(), points = by_pairs ? 2 : 1;
  const std::size_t block = std::max<std::size_t>(1, kLastLayerRows / members / kLastLayerChunk) * kLastLayerChunk;
  static_assert(kLastLayerChunk % 2 == 0, "pairs stay together");
  std::vector<float> memory(std::min(block, coordinates.rows) * members * size);
  for_blocks(coordinates.rows, block, [&](std::size_t first, std::size_t rows) {
    const MatrixView<float> inputs(memory.data(), rows, members * size);
    networks.head_inputs(coordinates.middle_rows(first, rows), inputs);
    std::vector<double> sums(rows / points, 0.0);
    for (std::size_t i = 0; by_pairs && i < sums.size(); ++i) {
      for (std::size_t k = 0; k < members * size; ++k) inputs(i, k) = inputs(2 * i + 1, k) - inputs(2 * i, k);
    }
    for (std::size_t member = 0; member < members; ++member)
      add_variances(posteriors[member], inputs.middle_rows(0, sums.size()).middle_cols(member * size, size), threads, sums);
    for (std::size_t i = 0; i < sums.size(); ++i) variances[first / points + i] += sums[i] / static_cast<double>(members);
  });
}

}  // namespace

std::vector<LastLayerPosterior> fit_last_layer(Engine& engine, const Ensemble& ensemble, const TrainingSet& data, double noise_sd,
                                               int threads, const Control& control) {
  if (!(noise_sd > 0.0) || !std::isfinite(noise_sd)) {
    throw UsageError(fmt::format("last layer: noise_sd is {} but must be a finite number greater than 0", noise_sd));
  }
  check_shapes(ensemble, data);
  threads = threads_or_all(threads == 0 ? engine.host_threads() : threads);
  std::vector<LastLayerPosterior> posteriors;
  const double step = 1.0 / static_cast<double>(std::max<std::size_t>(1, ensemble.members.size()));
  for (std::size_t member = 0; member < ensemble.members.size(); ++member) {
    const Control part = control.part(step * static_cast<double>(member), step * static_cast<double>(member + 1));
    const Ensemble one{ensemble.spec, ensemble.seed, {ensemble.members[member]}};
    const std::unique_ptr<Predictor> network = engine.prepare(one);
    posteriors.push_back(posterior_of(sum_over(*network, head_input_count(ensemble.spec), data, threads, part), noise_sd));
  }
  return posteriors;
}

void predict_last_layer(Predictor& networks, const Ensemble& ensemble, std::span<const LastLayerPosterior> posteriors,
                        MatrixView<const float> coordinates, const PredictionViews& out, int threads) {
  networks.predict(coordinates, out);
  check_posteriors(ensemble, posteriors);
  if (out.variance.empty()) return;
  std::vector<double> within(coordinates.rows);
  add_within(networks, ensemble, posteriors, coordinates, false, threads, within);
  for (std::size_t row = 0; row < coordinates.rows; ++row) {
    for (std::size_t o = 0; o < out.variance.cols; ++o) out.variance(row, o) += static_cast<float>(within[row]);
  }
}

void add_last_layer_differences(Predictor& networks, const Ensemble& ensemble, std::span<const LastLayerPosterior> posteriors,
                                MatrixView<const float> coordinates, std::span<double> variances, int threads) {
  check_posteriors(ensemble, posteriors);
  if (2 * variances.size() != coordinates.rows)
    throw UsageError(fmt::format("last layer: {} variances of differences for {} points", variances.size(), coordinates.rows));
  add_within(networks, ensemble, posteriors, coordinates, true, threads, variances);
}

}  // namespace drift
