#include "drift/engine.h"

namespace drift {

std::unique_ptr<Engine> make_engine(Backend backend, const EngineOptions& options) {
  const bool cuda = backend == Backend::cuda || (backend == Backend::automatic && why_no_cuda().empty());
  return cuda ? make_cuda_engine(options) : make_cpu_engine(options);
}

}  // namespace drift
