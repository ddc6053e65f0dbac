#include "engine/cuda/device.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "drift/error.h"

namespace drift::cuda {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

constexpr int kLeastMajor = 8;  // compute capability

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, device), "looking at the GPU");
  return value;
}
int attribute(cudaDeviceAttr which) {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "looking for the GPU");
  return attribute(which, device);
}

}  // namespace

void check_cuda(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // so that the next call does not find this error again
  throw Error(fmt::format("the GPU failed while {}: {} ({})", doing, cudaGetErrorString(status), cudaGetErrorName(status)));
}

std::string why_no_gpu() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) return "this machine has no GPU that CUDA can see";
  if (status == cudaErrorInsufficientDriver) return "this machine has no GPU driver, or one too old for CUDA 13";
  if (status != cudaSuccess) return fmt::format("CUDA says: {}", cudaGetErrorString(status));
  if (!usable_devices().empty()) return "";
  cudaDeviceProp device = {};
  check_cuda(cudaGetDeviceProperties(&device, 0), "looking at the GPU");
  return fmt::format("the GPU ({}) has compute capability {}.{}, and at least {}.0 is needed", device.name, device.major,
                     device.minor, kLeastMajor);
}

std::vector<int> usable_devices() {
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "looking for GPUs");
  std::vector<int> usable;
  for (int device = 0; device < count; ++device) {
    if (attribute(cudaDevAttrComputeCapabilityMajor, device) >= kLeastMajor) usable.push_back(device);
  }
  return usable;
}

OnDevice::OnDevice(int device) {
  check_cuda(cudaGetDevice(&before_), "looking for the GPU");
  check_cuda(cudaSetDevice(device), "turning to a GPU");
}
OnDevice::~OnDevice() { cudaSetDevice(before_); }

std::size_t free_device_bytes() {
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "asking for its free memory");
  return free;
}

bool is_hopper() {
  if (attribute(cudaDevAttrComputeCapabilityMajor) != 9 || attribute(cudaDevAttrComputeCapabilityMinor) != 0) return false;
  static std::mutex mutex;
  static std::map<int, bool> known;  // by device: asked once, as the answer takes a kernel
  int device = 0;
  check_cuda(cudaGetDevice(&device), "looking for the GPU");
  const std::lock_guard lock(mutex);
  const auto found = known.find(device);
  return found != known.end() ? found->second : known.emplace(device, wgmma_is_compiled()).first->second;
}

int multiprocessors() { return attribute(cudaDevAttrMultiProcessorCount); }

Stream::Stream(bool urgent) {
  int least = 0, greatest = 0;
  check_cuda(cudaDeviceGetStreamPriorityRange(&least, &greatest), "starting");
  check_cuda(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, urgent ? greatest : least), "starting");
}
Stream::~Stream() { cudaStreamDestroy(stream_); }
void Stream::wait() const { check_cuda(cudaStreamSynchronize(stream_), "computing"); }

Event::Event() { check_cuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "starting"); }
Event::~Event() { cudaEventDestroy(event_); }
void Event::order(cudaStream_t earlier, cudaStream_t later) const {
  check_cuda(cudaEventRecord(event_, earlier), "ordering its work");
  check_cuda(cudaStreamWaitEvent(later, event_, 0), "ordering its work");
}

void Event::record(const Stream& stream) const { check_cuda(cudaEventRecord(event_, stream.get()), "ordering its work"); }
void Event::wait() const { check_cuda(cudaEventSynchronize(event_), "computing"); }

float* allocate_pinned(std::size_t floats) {
  void* memory = nullptr;
  check_cuda(cudaMallocHost(&memory, floats * sizeof(float)), "reserving memory of the host");
  return static_cast<float*>(memory);
}
void free_pinned(float* memory) noexcept {
  if (memory != nullptr) cudaFreeHost(memory);
}

void* allocate_on_device(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error(
        fmt::format("the GPU's memory is used up: {:.2f} GiB more were wanted and {:.2f} GiB are free; use fewer members at a "
                    "time, a smaller batch, fewer features, or --backend cpu",
                    static_cast<double>(bytes) / kGiB, static_cast<double>(free_device_bytes()) / kGiB));
  }
  check_cuda(status, "reserving memory");
  return memory;
}

void free_on_device(void* memory) noexcept {
  if (memory != nullptr) cudaFree(memory);
}

}  // namespace drift::cuda
