// Built in the CUDA engine's place where there is no CUDA.

#include "drift/bench.h"
#include "drift/engine.h"
#include "drift/error.h"

namespace drift {

std::unique_ptr<Engine> make_cuda_engine(const EngineOptions&) {
  throw Error(
      "this drift was built without CUDA and cannot use a GPU: choose --backend cpu, or build drift where CUDA is installed");
}

std::optional<ProductSpeed> card_product(Precision, int) { return std::nullopt; }

std::string why_no_cuda() { return "this drift was built without CUDA"; }

}  // namespace drift
