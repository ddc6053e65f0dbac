#include <fmt/format.h>

#include "drift/engine.h"
#include "drift/error.h"

namespace drift {

std::unique_ptr<Engine> make_engine(Backend backend, const EngineOptions& options) {
  const bool cuda = backend == Backend::cuda || (backend == Backend::automatic && why_no_cuda().empty());
  return cuda ? make_cuda_engine(options) : make_cpu_engine(options);
}

Backend backend_named(const std::string& word) {
  if (word == "auto") return Backend::automatic;
  if (word == "cpu") return Backend::cpu;
  if (word == "cuda") return Backend::cuda;
  throw UsageError(fmt::format("there is no backend '{}'; choose auto, cpu or cuda", word));
}

Precision precision_named(const std::string& word) {
  if (word == "float32") return Precision::float32;
  if (word == "tf32") return Precision::tf32;
  if (word == "bf16") return Precision::bf16;
  throw UsageError(fmt::format("there is no precision '{}'; choose float32, tf32 or bf16", word));
}

}  // namespace drift
