#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/aligned_vector.h"
#include "drift/matrix_view.h"
#include "engine/cpu/passes.h"

namespace drift {

// The conditional neural process (Garnelo et al. 2018). With c observations (x_i, y_i) as context,
//   r = mean over i of encoder(x_i, y_i)            [width], the same whatever their order
//   (m, s) = decoder(x, r),   sd = kLeastSd + log(1 + e^s)
//   p(y | x, context) = N(m, sd^2)
// trained by the mean of -log p over the observations of a batch, some of which, a random number, are its context. Encoder and
// decoder are two dense networks (network/plan.h): their passes are the engine's, and the decoder's gradient with respect to its
// coordinates is, summed over rows and divided by c, that of every output of the encoder.

inline constexpr double kLeastSd = 0.01;  // of the standardised values: keeps the likelihood bounded

struct ProcessSpecs {
  NetworkSpec encoder;  // coordinates + 1 -> width
  NetworkSpec decoder;  // coordinates + width -> 2
};
// `depth` matrices in the encoder, >= 2, and one more in the decoder, as the paper counts.
ProcessSpecs process_specs(int coordinates, int depth, int width);

// Observations of one step. The first `context` of them are the context, all of them are targets.
template <class Real>
struct ProcessBatch {
  std::vector<Real> coordinates;  // [rows, coordinates]
  std::vector<Real> values;       // [rows]
  std::vector<Real> weights;      // [rows], multiply the targets' losses
  std::size_t context = 1;

  std::size_t rows() const { return values.size(); }
};

// m and s of a decoder's output row.
struct Forecast {
  double mean, sd;
};
Forecast forecast_of(double mean, double raw_sd);

// One step's loss and gradients. Rows are cut into slices of fixed size, each on one thread, their sums taken in order: results
// do not depend on threads. In float it trains, in double it is checked by finite differences.
template <class Real>
class ProcessPass {
 public:
  static constexpr std::size_t kSliceRows = 64;  // 16 slices of a batch of 1,024, work for as many threads

  ProcessPass(const ProcessSpecs& specs, std::size_t max_rows, int threads);

  // Returns the weighted mean loss, in nats, and leaves the gradients of the two networks' parameters.
  double run(const Real* encoder, const Real* decoder, const ProcessBatch<Real>& batch);

  // [slice][parameters] of the last run, to be summed in this order.
  std::vector<const Real*> encoder_gradients() const { return gradients(encoder_slices_, used_context_slices_); }
  std::vector<const Real*> decoder_gradients() const { return gradients(decoder_slices_, used_slices_); }

 private:
  struct Slice {
    cpu::Workspace<Real> workspace;
    AlignedVector<Real> gradient;
    std::vector<double> sums;  // [width] over the slice's rows: of encodings, or of the code's gradients
    double loss = 0.0;
  };
  using Slices = std::vector<std::unique_ptr<Slice>>;

  static std::vector<const Real*> gradients(const Slices& slices, std::size_t used);
  void encode(const cpu::Network<Real>& network, const ProcessBatch<Real>& batch, std::size_t index);
  void decode(const cpu::Network<Real>& network, const ProcessBatch<Real>& batch, std::size_t index, double total_weight);
  void encode_back(const cpu::Network<Real>& network, const ProcessBatch<Real>& batch, std::size_t index);
  std::vector<Real> mean_of_sums(const Slices& slices, std::size_t used, std::size_t rows) const;

  ScaleResolver encoder_, decoder_;
  std::size_t coordinates_, width_;
  int threads_;
  Slices encoder_slices_, decoder_slices_;
  std::size_t used_context_slices_ = 0, used_slices_ = 0;
  std::vector<Real> code_;           // [width] r
  std::vector<Real> code_gradient_;  // [width] dL / dr over the context's rows
};

// The code r of any number of observations, on `threads` threads: [width]
std::vector<float> encode_context(const ProcessSpecs& specs, const std::vector<float>& encoder,
                                  MatrixView<const float> coordinates, MatrixView<const float> values,
                                  const std::vector<std::size_t>& rows, int threads);

// m and sd at `points`, given the code; into mean and sd [n], of which either may be empty.
void decode_points(const ProcessSpecs& specs, const std::vector<float>& decoder, const std::vector<float>& code,
                   MatrixView<const float> points, std::span<double> mean, std::span<double> sd, int threads);

}  // namespace drift
