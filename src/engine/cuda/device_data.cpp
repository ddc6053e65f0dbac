#include "engine/cuda/device_data.h"

#include <tuple>
#include <utility>

namespace drift::cuda {

DeviceData::DeviceData(const TrainingSet& data, std::size_t limit, const Stream& stream) {
  const std::size_t rows = data.values.rows;
  const std::size_t bytes = (data.coordinates.cols + data.values.cols + (data.weights.empty() ? 0 : 1)) * rows * sizeof(float);
  const bool on_device = bytes <= limit;
  const auto put = [&](MatrixView<const float> view, DeviceArray<float>& memory) -> std::pair<const float*, std::size_t> {
    if (on_device) {
      memory = DeviceArray<float>(rows * view.cols);
      check_cuda(cudaMemcpy2DAsync(memory.data(), view.cols * sizeof(float), view.data, view.stride * sizeof(float),
                                   view.cols * sizeof(float), rows, cudaMemcpyHostToDevice, stream.get()),
                 "copying observations");
      stream.wait();
      return {memory.data(), view.cols};
    }
    // Only read; the interface has no pointer to constant memory.
    auto* memory_of_host = const_cast<float*>(view.data);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    const std::size_t floats = (rows - 1) * view.stride + view.cols;
    const cudaError_t status =
        cudaHostRegister(memory_of_host, floats * sizeof(float), cudaHostRegisterMapped | cudaHostRegisterPortable);
    if (status == cudaErrorHostMemoryAlreadyRegistered) {
      cudaGetLastError();  // by another device's
    } else {
      check_cuda(status, "reaching the host's observations");
      registered_.push_back(memory_of_host);
    }
    on_host_ = true;
    void* seen = nullptr;
    check_cuda(cudaHostGetDevicePointer(&seen, memory_of_host, 0), "reaching the host's observations");
    return {static_cast<const float*>(seen), view.stride};
  };
  std::tie(known_.coordinates, known_.coordinate_stride) = put(data.coordinates, coordinates_);
  std::tie(known_.values, known_.value_stride) = put(data.values, values_);
  if (!data.weights.empty()) known_.weights = put({data.weights.data(), rows, 1}, weights_).first;
  if (!data.folds.empty()) {
    folds_ = DeviceArray<std::uint8_t>(rows);
    check_cuda(cudaMemcpyAsync(folds_.data(), data.folds.data(), rows, cudaMemcpyHostToDevice, stream.get()), "copying folds");
    stream.wait();
    known_.folds = folds_.data();
    known_.fold_count = data.fold_count;
  }
}

DeviceData::~DeviceData() {
  for (void* memory : registered_) cudaHostUnregister(memory);
}

void DeviceData::describe(Gather& gather) const {
  gather.coordinates = known_.coordinates;
  gather.coordinate_stride = known_.coordinate_stride;
  gather.values = known_.values;
  gather.value_stride = known_.value_stride;
  gather.weights = known_.weights;
  gather.folds = known_.folds;
  gather.fold_count = known_.fold_count;
}

}  // namespace drift::cuda
