#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace drift::cuda {

// Throws Error, quoting CUDA's own words; out of memory has a sentence of its own.
void check_cuda(cudaError_t status, const char* doing);

// Why this process cannot use a GPU, in one sentence; empty where it can.
std::string why_no_gpu();
// The GPUs it can use, by CUDA's numbers.
std::vector<int> usable_devices();

// Directs the calling thread's CUDA calls to `device` until the end of the scope.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

// Of the present device, as all that follows:

std::size_t free_device_bytes();
// True if it is a Hopper, and its own matrix instructions (wgmma) are in the kernels that it runs. Where they are not, as in a
// library built for 90-virtual without 90a, the fused kernels would do nothing at all; the plain passes take their place. The
// first call for a device runs a kernel, so it must not come while the thread records a graph: an engine calls it when it is
// made.
bool is_hopper();
bool wgmma_is_compiled();  // the latter alone, asked anew: hopper_probe.cu
int multiprocessors();

class Stream {
 public:
  explicit Stream(bool urgent = true);  // blocks of threads of urgent streams go first
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  cudaStream_t get() const { return stream_; }
  void wait() const;  // for everything put into the stream so far

 private:
  cudaStream_t stream_ = nullptr;
};

// Orders one stream's work after another's; also while a graph is recorded.
class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  // Work submitted to `later` from now on waits for all that `earlier` holds.
  void order(cudaStream_t earlier, cudaStream_t later) const;
  void record(const Stream& stream) const;
  void wait() const;  // for what was in the stream when recorded; at once where nothing was

 private:
  cudaEvent_t event_ = nullptr;
};

void* allocate_on_device(std::size_t bytes);
void free_on_device(void* memory) noexcept;
float* allocate_pinned(std::size_t floats);
void free_pinned(float* memory) noexcept;

// Memory of the host that the device copies from and to while both go on working.
class PinnedArray {
 public:
  explicit PinnedArray(std::size_t size) : data_(size == 0 ? nullptr : allocate_pinned(size)) {}
  ~PinnedArray() { free_pinned(data_); }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  float* data() { return data_; }

 private:
  float* data_;
};

// Plain memory on the device.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size)
      : data_(size == 0 ? nullptr : static_cast<T*>(allocate_on_device(size * sizeof(T)))), size_(size) {}
  ~DeviceArray() { free_on_device(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  DeviceArray(DeviceArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // The host's memory may be used again on return.
  void upload(const T* from, std::size_t count, std::size_t first, const Stream& stream) {
    check_cuda(cudaMemcpyAsync(data_ + first, from, count * sizeof(T), cudaMemcpyHostToDevice, stream.get()),
               "copying to the GPU");
    stream.wait();
  }
  void upload(const std::vector<T>& from, const Stream& stream) { upload(from.data(), from.size(), 0, stream); }
  void download(T* to, std::size_t count, std::size_t first, const Stream& stream) const {
    check_cuda(cudaMemcpyAsync(to, data_ + first, count * sizeof(T), cudaMemcpyDeviceToHost, stream.get()),
               "copying from the GPU");
    stream.wait();
  }
  void clear(const Stream& stream) {
    if (size_ > 0) check_cuda(cudaMemsetAsync(data_, 0, size_ * sizeof(T), stream.get()), "clearing memory");
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Matrix in a set of equal ones, one for each member: element (z, row, col) lies at data[z * member_stride + row * stride + col].
template <class T>
struct Batched {
  T* data = nullptr;
  std::size_t stride = 0;
  std::size_t member_stride = 0;
};
using Matrices = Batched<float>;
using ConstMatrices = Batched<const float>;
inline ConstMatrices constant(const Matrices& m) { return {m.data, m.stride, m.member_stride}; }

}  // namespace drift::cuda
