#pragma once

#include <memory>

#include "drift/field_model.h"
#include "network/model_file.h"
#include "process/process.h"

namespace drift {

// A process in a model file (network/model_file.h): metadata "process", its parameters and weight as JSON, and tensors
//   "process.coordinates" [places, columns], "process.value", ".error_variance", ".count", ".track", ".platform", ".group"
//   [places], and "process.surprise" [groups] where the spread is local
// Tracks are numbered anew, so that float32 holds them.
struct StoredProcess {
  std::shared_ptr<const Process> process;
  BlendWeight weight;
};

// Tensors of the process, whose numbers it owns: keep it until the file is written.
class ProcessTensors {
 public:
  ProcessTensors(const Process& process, const BlendWeight& weight);
  void add_to(ModelParts& parts) const;

 private:
  const Places& places_;
  const LocalSpread& spread_;
  std::string metadata_;
  std::vector<float> track_, platform_, group_;
};

// No process where the file has none. Throws Error, beginning with the path.
StoredProcess read_process(const SafetensorsFile& file, Space space, bool has_time, std::size_t columns);

}  // namespace drift
