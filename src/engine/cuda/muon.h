#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "drift/engine.h"
#include "engine/cuda/device.h"
#include "engine/cuda/fused.h"
#include "engine/cuda/kernels.h"

namespace drift::cuda {

// Orthogonalised momentum (engine/cpu/muon.h has the mathematics) for the bottlenecks of one shape of all members together.
inline constexpr float kMuonA = 3.4445F, kMuonB = -4.7750F, kMuonC = 2.0315F;

struct MuonArrays {
  int members, layers;         // matrices: members * layers, a member's side by side
  std::size_t size;            // entries of a matrix
  const std::size_t* offsets;  // [layers] into a member's parameters
  const float* factors;        // [layers] on the rate
  float mu;
  float* weights;
  std::size_t weights_stride;
  const float* gradient;
  std::size_t gradient_stride;
  float* momentum;
  std::size_t moment_stride;
  float* x;         // [matrices, size]
  double* partial;  // [matrices, momentum_partials(size)]
};
int momentum_partials(std::size_t size);
// Momentum, X_0 without its division by |U|, and scales [matrices, 3]: 1 / |U|, 1 / |U|^2 (0 where |U| is next to nothing), and
// the update's length -rate root factor.
void muon_momentum(const MuonArrays& a, const StepNumbers* numbers, float root, float* scales, cudaStream_t stream);
// sum [matrices, n, n] of `slices` Gram matrices of each one's slices, times scale[3 z] where given.
void sum_grams(int n, int matrices, int slices, const float* grams, const float* scale, float* sum, cudaStream_t stream);
void muon_polynomial(int n, int matrices, const float* gram, const float* square, float* polynomial, cudaStream_t stream);
void scale_matrices(int size, int matrices, const float* scale, float* x, cudaStream_t stream);  // x *= scale[3 z]
void muon_apply(const MuonArrays& a, const float* scales, cudaStream_t stream);                  // weights += length X

// Images of a bottleneck (fused.h) that the update writes as well.
struct MuonImages {
  ImageWord* rows;
  ImageWord* columns;
};
// All of it in one kernel, in tf32, where it fits.
struct FusedMuon {
  MuonArrays arrays;  // without x and partial
  const StepNumbers* numbers;
  int rows, iterations;
  float root;                // of `rows`
  int tiles;                 // of the images
  const MuonImages* images;  // [layers], or nullptr
  Precision image_precision;
};
bool fused_muon_fits(int rows, int cols);
void fused_muon(const FusedMuon& m, cudaStream_t stream);

class Muon {
 public:
  static inline bool fusing_allowed = true;  // tests compare with the products one by one NOLINT(*-non-const-global-variables)

  // `arrays` without offsets, factors, x and partial, which live here.
  Muon(MuonArrays arrays, int rows, int cols, const std::vector<std::size_t>& offsets, const std::vector<float>& factors,
       int iterations, Precision precision, const Stream& stream);

  void enqueue(const StepNumbers* numbers, cudaStream_t stream);

  // True if a bottleneck can be updated by itself, with its images.
  bool is_fused() const { return fused_; }
  // Address of the images of the bottleneck at an offset.
  using ImagesOf = std::function<MuonImages(std::size_t offset)>;
  void write_images(int tiles, const ImagesOf& images_of, const Stream& stream);
  // Of all members the bottleneck at `offset`; nothing where it is not one of these.
  void enqueue_one(std::size_t offset, const StepNumbers* numbers, cudaStream_t stream) const;

 private:
  void allocate();
  float root_of_rows() const { return static_cast<float>(std::sqrt(static_cast<double>(rows_))); }
  FusedMuon fused_step(const StepNumbers* numbers) const;
  void make_gram(bool first, cudaStream_t stream);
  void make_factor(int steps, cudaStream_t stream);
  void apply_factor(cudaStream_t stream);
  void multiply(const DeviceArray<float>& a, const DeviceArray<float>& b, DeviceArray<float>& c, cudaStream_t stream) const;

  MuonArrays arrays_;
  int rows_, cols_, small_;
  int iterations_;
  int steps_per_gram_;
  Precision precision_;  // of products
  Precision image_precision_;
  bool fused_;
  std::vector<std::size_t> host_offsets_;
  DeviceArray<std::size_t> offsets_;
  DeviceArray<float> factors_;
  int slices_ = 1;  // of a Gram matrix's long sum, each a product of its own
  DeviceArray<float> x_, next_x_, gram_, square_, polynomial_, factor_, product_, grams_, scales_;
  DeviceArray<double> partial_;
  DeviceArray<MuonImages> images_;
  int tiles_ = 0;
};

}  // namespace drift::cuda
