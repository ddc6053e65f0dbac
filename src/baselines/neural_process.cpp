#include "baselines/neural_process.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <numbers>
#include <span>

#include "core/threads.h"
#include "gp/variational_layer_tasks.h"

namespace drift {
namespace {

constexpr std::size_t kBlockRows = 256;  // of one forward pass

double sigmoid(double s) { return 1.0 / (1.0 + std::exp(-s)); }

std::size_t slices_of(std::size_t rows, std::size_t slice_rows) { return (rows + slice_rows - 1) / slice_rows; }

NetworkSpec network(int coordinates, int layers, int width, int outputs) {
  NetworkSpec spec = dense_spec(Space::plane, coordinates, false, {.layers = layers, .width = width});
  spec.outputs = outputs;
  return spec;
}

}  // namespace

ProcessSpecs process_specs(int coordinates, int depth, int width) {
  return {.encoder = network(coordinates + 1, depth - 1, width, width), .decoder = network(coordinates + width, depth, width, 2)};
}

Forecast forecast_of(double mean, double raw_sd) {
  const double softplus = raw_sd > 30.0 ? raw_sd : std::log1p(std::exp(raw_sd));
  return {.mean = mean, .sd = kLeastSd + softplus};
}

template <class Real>
ProcessPass<Real>::ProcessPass(const ProcessSpecs& specs, std::size_t max_rows, int threads)
    : encoder_(make_plan(specs.encoder)),
      decoder_(make_plan(specs.decoder)),
      coordinates_(static_cast<std::size_t>(specs.encoder.coordinates()) - 1),
      width_(static_cast<std::size_t>(specs.encoder.outputs)),
      threads_(threads) {
  const std::size_t slices = slices_of(max_rows, kSliceRows), rows = std::min(max_rows, kSliceRows);
  const auto make = [&](const Plan& plan, cpu::Wanted wanted) {
    return std::make_unique<Slice>(Slice{.workspace = cpu::Workspace<Real>(plan, rows, wanted),
                                         .gradient = AlignedVector<Real>(plan.parameter_size),
                                         .sums = std::vector<double>(width_)});
  };
  for (std::size_t i = 0; i < slices; ++i) {
    encoder_slices_.push_back(make(encoder_.plan(), {.backward = true}));
    decoder_slices_.push_back(make(decoder_.plan(), {.backward = true, .coordinates = true}));
  }
}

template <class Real>
double ProcessPass<Real>::run(const Real* encoder, const Real* decoder, const ProcessBatch<Real>& batch) {
  const cpu::Network<Real> encoding(encoder_, nullptr, encoder), decoding(decoder_, nullptr, decoder);
  used_context_slices_ = slices_of(batch.context, kSliceRows);
  used_slices_ = slices_of(batch.rows(), kSliceRows);
  double total_weight = 0.0;
  for (const Real weight : batch.weights) total_weight += static_cast<double>(weight);
  gp::run_tasks(threads_, used_context_slices_, [&](std::size_t slice) { encode(encoding, batch, slice); });
  code_ = mean_of_sums(encoder_slices_, used_context_slices_, batch.context);
  gp::run_tasks(threads_, used_slices_, [&](std::size_t slice) { decode(decoding, batch, slice, total_weight); });
  code_gradient_ = mean_of_sums(decoder_slices_, used_slices_, batch.context);
  gp::run_tasks(threads_, used_context_slices_, [&](std::size_t slice) { encode_back(encoding, batch, slice); });
  double loss = 0.0;
  for (std::size_t i = 0; i < used_slices_; ++i) loss += decoder_slices_[i]->loss;
  return loss / total_weight;
}

// Leaves the sum of the slice's encodings.
template <class Real>
void ProcessPass<Real>::encode(const cpu::Network<Real>& network, const ProcessBatch<Real>& batch, std::size_t index) {
  Slice& slice = *encoder_slices_[index];
  const std::size_t first = index * kSliceRows, rows = std::min(kSliceRows, batch.context - first);
  const MatrixView<Real> input = slice.workspace.coordinates(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    std::copy_n(batch.coordinates.data() + (first + row) * coordinates_, coordinates_, input.row(row));
    input(row, coordinates_) = batch.values[first + row];
  }
  cpu::forward(network, slice.workspace, rows);
  const MatrixView<Real> output = slice.workspace.output(rows);
  std::fill(slice.sums.begin(), slice.sums.end(), 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < width_; ++i) slice.sums[i] += static_cast<double>(output(row, i));
  }
}

// Leaves the slice's loss, its gradient, and the sum over its rows of dL / dr.
template <class Real>
void ProcessPass<Real>::decode(const cpu::Network<Real>& network, const ProcessBatch<Real>& batch, std::size_t index,
                               double total_weight) {
  Slice& slice = *decoder_slices_[index];
  cpu::Workspace<Real>& ws = slice.workspace;
  const std::size_t first = index * kSliceRows, rows = std::min(kSliceRows, batch.rows() - first);
  const MatrixView<Real> input = ws.coordinates(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    std::copy_n(batch.coordinates.data() + (first + row) * coordinates_, coordinates_, input.row(row));
    std::copy_n(code_.data(), width_, input.row(row) + coordinates_);
  }
  cpu::forward(network, ws, rows);
  slice.loss = 0.0;
  for (std::size_t row = 0; row < rows; ++row) {
    const double raw = static_cast<double>(ws.output(rows)(row, 1)), weight = static_cast<double>(batch.weights[first + row]);
    const auto [mean, sd] = forecast_of(static_cast<double>(ws.output(rows)(row, 0)), raw);
    const double z = (mean - static_cast<double>(batch.values[first + row])) / sd;
    slice.loss += weight * (0.5 * std::log(2.0 * std::numbers::pi) + std::log(sd) + 0.5 * z * z);
    const double share = weight / total_weight;
    ws.output_gradient(rows)(row, 0) = static_cast<Real>(share * z / sd);
    ws.output_gradient(rows)(row, 1) = static_cast<Real>(share * (1.0 - z * z) / sd * sigmoid(raw));
  }
  cpu::backward(network, ws, rows, slice.gradient.data(), false);
  std::fill(slice.sums.begin(), slice.sums.end(), 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    const Real* gradient = ws.coordinate_gradient(rows).row(row) + coordinates_;
    for (std::size_t i = 0; i < width_; ++i) slice.sums[i] += static_cast<double>(gradient[i]);
  }
}

template <class Real>
void ProcessPass<Real>::encode_back(const cpu::Network<Real>& network, const ProcessBatch<Real>& batch, std::size_t index) {
  Slice& slice = *encoder_slices_[index];
  const std::size_t rows = std::min(kSliceRows, batch.context - index * kSliceRows);
  const MatrixView<Real> gradient = slice.workspace.output_gradient(rows);
  for (std::size_t row = 0; row < rows; ++row) std::copy_n(code_gradient_.data(), width_, gradient.row(row));
  cpu::backward(network, slice.workspace, rows, slice.gradient.data(), false);
}

template <class Real>
std::vector<Real> ProcessPass<Real>::mean_of_sums(const Slices& slices, std::size_t used, std::size_t rows) const {
  std::vector<Real> mean(width_);
  for (std::size_t i = 0; i < width_; ++i) {
    double sum = 0.0;
    for (std::size_t slice = 0; slice < used; ++slice) sum += slices[slice]->sums[i];
    mean[i] = static_cast<Real>(sum / static_cast<double>(rows));
  }
  return mean;
}

template <class Real>
std::vector<const Real*> ProcessPass<Real>::gradients(const Slices& slices, std::size_t used) {
  std::vector<const Real*> out;
  for (std::size_t i = 0; i < used; ++i) out.push_back(slices[i]->gradient.data());
  return out;
}

template class ProcessPass<float>;
template class ProcessPass<double>;

std::vector<float> encode_context(const ProcessSpecs& specs, const std::vector<float>& encoder,
                                  MatrixView<const float> coordinates, MatrixView<const float> values,
                                  const std::vector<std::size_t>& rows, int threads) {
  const ScaleResolver resolver(make_plan(specs.encoder));
  const cpu::Network<float> network(resolver, nullptr, encoder.data());
  const auto width = static_cast<std::size_t>(specs.encoder.outputs);
  const std::size_t blocks = slices_of(rows.size(), kBlockRows);
  std::vector<double> sums(blocks * width, 0.0);
  gp::run_tasks(threads, blocks, [&](std::size_t block) {
    cpu::Workspace<float> ws(resolver.plan(), kBlockRows, {});
    const std::size_t first = block * kBlockRows, count = std::min(kBlockRows, rows.size() - first);
    const MatrixView<float> input = ws.coordinates(count);
    for (std::size_t i = 0; i < count; ++i) {
      std::copy_n(coordinates.row(rows[first + i]), coordinates.cols, input.row(i));
      input(i, coordinates.cols) = values(rows[first + i], 0);
    }
    cpu::forward(network, ws, count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < width; ++j) sums[block * width + j] += static_cast<double>(ws.output(count)(i, j));
    }
  });
  std::vector<float> code(width);
  for (std::size_t j = 0; j < width; ++j) {
    double sum = 0.0;
    for (std::size_t block = 0; block < blocks; ++block) sum += sums[block * width + j];
    code[j] = static_cast<float>(sum / static_cast<double>(rows.size()));
  }
  return code;
}

void decode_points(const ProcessSpecs& specs, const std::vector<float>& decoder, const std::vector<float>& code,
                   MatrixView<const float> points, std::span<double> mean, std::span<double> sd, int threads) {
  const ScaleResolver resolver(make_plan(specs.decoder));
  const cpu::Network<float> network(resolver, nullptr, decoder.data());
  const std::size_t blocks = slices_of(points.rows, kBlockRows);
  std::atomic<std::size_t> next = 0;
  const auto used = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(std::max(threads, 1)), blocks));
  run_on_threads(used, [&](int) {
    cpu::Workspace<float> ws(resolver.plan(), kBlockRows, {});
    for (std::size_t block = next++; block < blocks; block = next++) {
      const std::size_t first = block * kBlockRows, count = std::min(kBlockRows, points.rows - first);
      const MatrixView<float> input = ws.coordinates(count);
      for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(points.row(first + i), points.cols, input.row(i));
        std::copy_n(code.data(), code.size(), input.row(i) + points.cols);
      }
      cpu::forward(network, ws, count);
      for (std::size_t i = 0; i < count; ++i) {
        const Forecast forecast = forecast_of(ws.output(count)(i, 0), ws.output(count)(i, 1));
        if (!mean.empty()) mean[first + i] = forecast.mean;
        if (!sd.empty()) sd[first + i] = forecast.sd;
      }
    }
  });
}

}  // namespace drift
