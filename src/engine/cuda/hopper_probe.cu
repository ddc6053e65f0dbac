// Whether the kernels that this process would run on a Hopper hold wgmma. They do only where they were compiled for sm_90a: code
// for sm_90, or PTX for compute_90 that the driver compiles, has empty bodies in their place (hopper.cuh), and neither the card
// nor a kernel's attributes tell the two apart. So a kernel of the same kind is asked.

#include "engine/cuda/device.h"
#include "engine/cuda/hopper.cuh"

namespace drift::cuda {
namespace {

__global__ void report_wgmma([[maybe_unused]] int* compiled) {
#ifdef DRIFT_WGMMA
  *compiled = 1;
#endif
}

}  // namespace

bool wgmma_is_compiled() {
  const Stream stream;
  DeviceArray<int> compiled(1);
  compiled.clear(stream);
  report_wgmma<<<1, 1, 0, stream.get()>>>(compiled.data());
  check_cuda(cudaGetLastError(), "starting a kernel");
  int answer = 0;
  compiled.download(&answer, 1, 0, stream);
  return answer == 1;
}

}  // namespace drift::cuda
