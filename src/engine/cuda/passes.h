#pragma once

#include <cstdint>
#include <vector>

#include "drift/engine.h"
#include "engine/cuda/device.h"
#include "engine/cuda/kernels.h"
#include "engine/cuda/network.h"

namespace drift::cuda {

// The forward and backward passes of all members over one block of rows, put into a stream as kernels; engine/cpu/passes.h has
// the mathematics. A bias is one more row of its matrix, so features get one more column, of ones.

struct Wanted {
  bool backward = false;
  bool hyper = false;
  bool coordinates = false;
  bool dropout = false;
  bool variational = false;
};

// Sources of a pass's randomness.
struct PassNoise {
  const StepNumbers* numbers;    // [members]
  const MemberNumbers* members;  // [members]
  std::uint32_t first_row;
  double dropout;
};

// Destinations of the parameters' gradients.
struct GradientPlace {
  float* data = nullptr;  // [members, stride]: parameters, then, of variational weights, their variances; nullptr: not wanted
  std::size_t stride = 0;
  bool accumulate = false;
  double* hyper = nullptr;  // [members, hyperparameters], added to
};

class Passes {
 public:
  Passes(const Network& network, std::size_t capacity, Wanted wanted, Precision precision);

  // Of device memory that a row of all members takes.
  static std::size_t bytes_per_row(const Plan& plan, std::size_t members, Wanted wanted);

  std::size_t capacity() const { return capacity_; }
  float* coordinates() { return coordinates_.data(); }  // [members, capacity, coordinates], to be filled before forward()
  float* scaled() { return scaled_.data(); }            // the same over their lengthscales, likewise
  float* output() { return output_.data(); }            // [members, capacity, outputs]
  float* output_gradient() { return output_gradient_.data(); }
  float* coordinate_gradient() { return coordinate_gradient_.data(); }
  // The factor of the last trained matrix, before its scale.
  ConstMatrices last_input() const;

  void forward(int rows, const PassNoise* noise, cudaStream_t stream);
  void backward(int rows, const GradientPlace& gradient, const PassNoise* noise, cudaStream_t stream);

 private:
  // A trained matrix as a pass meets it.
  struct TrainedMatrix {
    std::size_t index;  // the head's comes after the layers'
    std::size_t offset;
    int rows, cols;  // with the bias
    int droppable;   // columns of the input
    ConstMatrices scale;
    Matrices input;
    Precision precision;
  };

  Matrices packed(DeviceArray<float>& memory, std::size_t cols, std::size_t first = 0) const {
    return {memory.data() + first, cols, capacity_ * cols};
  }
  std::size_t feature_stride(const LayerPlan& layer) const;
  std::size_t feature_place(std::size_t layer) const;
  bool wants_feature_gradient(const LayerPlan& layer) const;
  bool wants_slope(const LayerPlan& layer) const;
  Matrices feature(std::size_t layer);
  Matrices slope(std::size_t layer);
  Matrices destination(const LayerPlan& layer);
  Matrices destination_gradient(const LayerPlan& layer);
  TrainedMatrix matrix_of(std::size_t index);
  TrainedMatrix head();
  NoisePlace noise_place(const TrainedMatrix& matrix, const PassNoise& noise) const;

  // `index` is the number of a layer.
  void make_features(std::size_t index, int rows, cudaStream_t stream);
  void random_features(std::size_t index, int rows, cudaStream_t stream);
  void apply(const TrainedMatrix& matrix, const Matrices& out, int rows, const PassNoise* noise, cudaStream_t stream);
  void layer_backward(std::size_t index, int rows, const GradientPlace& gradient, const PassNoise* noise, cudaStream_t stream);
  void matrix_gradient(const TrainedMatrix& matrix, const Matrices& out_gradient, int rows, const GradientPlace& gradient,
                       cudaStream_t stream);
  void input_gradient(const TrainedMatrix& matrix, const Matrices& out_gradient, int rows, const PassNoise* noise,
                      const Matrices& result, cudaStream_t stream);
  void sphere_backward(std::size_t index, int rows, const GradientPlace& gradient, cudaStream_t stream);
  void planar_backward(std::size_t index, int rows, const GradientPlace& gradient, cudaStream_t stream);
  void coordinates_backward(int rows, const GradientPlace& gradient, cudaStream_t stream);
  Legendre legendre(std::size_t index, int rows);
  void dot(int rows, int cols, const Matrices& a, const Matrices& b, ConstMatrices weight, double sign, int index,
           const GradientPlace& gradient, cudaStream_t stream) const;

  const Network& network_;
  const Plan& plan_;
  std::size_t members_, capacity_;
  Wanted wanted_;
  Precision precision_;
  std::size_t columns_, outputs_;
  std::vector<DeviceArray<float>> input_, input_gradient_, feature_, slope_, spread_;  // by layer, some of them shared
  DeviceArray<float> coordinates_, scaled_, scaled_gradient_, coordinate_gradient_;
  DeviceArray<float> head_input_, head_dropped_, head_gradient_, output_, output_gradient_;
  DeviceArray<float> feature_gradient_, sphere_feature_, square_gradient_, variance_;
  bool dropped_ = false, drawn_ = false;
};

}  // namespace drift::cuda
