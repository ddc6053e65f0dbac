// Built in the CUDA engine's place where there is no CUDA.

#include "drift/bench.h"
#include "drift/engine.h"
#include "drift/error.h"
#include "engine/training_memory.h"

namespace drift {

std::unique_ptr<Engine> make_cuda_engine(const EngineOptions&) {
  throw Error(
      "this drift was built without its GPU engine: choose --backend cpu, or build drift on a machine that has nvcc and a GPU, "
      "or with "
      "-D DRIFT_CUDA_ARCHITECTURES=all");
}

std::optional<ProductSpeed> card_product(Precision, int) { return std::nullopt; }

std::optional<double> gpu_training_bytes(const NetworkSpec&, const Recipe&, std::size_t, std::size_t, bool, Precision) {
  return std::nullopt;
}

std::string why_no_cuda() { return "this drift was built without its GPU engine"; }

}  // namespace drift
