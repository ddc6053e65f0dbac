#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "drift/engine.h"

namespace drift::cuda {

// Choices that make_cuda_engine() makes by itself and tests make otherwise.
struct CudaOptions {
  std::vector<int> devices;  // at least one; a device that is named twice is used by two threads
  Precision precision = Precision::tf32;
  int host_threads = 0;                  // for what is done beside the engine; 0: one per core
  std::size_t members_at_once = 0;       // on a device, at most; 0: as many as fit
  std::size_t rows_of_a_device = 16384;  // points for which a further device is worth while
};
std::unique_ptr<Engine> make_engine_on(const CudaOptions& options);

}  // namespace drift::cuda
