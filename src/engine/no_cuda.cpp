// Built in the CUDA engine's place where there is no CUDA.

#include "drift/engine.h"
#include "drift/error.h"

namespace drift {

std::unique_ptr<Engine> make_cuda_engine(const EngineOptions&) {
  throw Error(
      "this drift was built without CUDA and cannot use a GPU: choose the cpu engine, or build drift where CUDA is installed");
}

std::string why_no_cuda() { return "this drift was built without CUDA"; }

}  // namespace drift
