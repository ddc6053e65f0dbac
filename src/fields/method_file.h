#pragma once

#include <memory>
#include <string>

#include "drift/domain.h"
#include "drift/interpolator.h"
#include "drift/state.h"
#include "network/model_file.h"

namespace drift {

// Another method in a model file (network/model_file.h): metadata "method", its text and the numbers and texts of its state
// (drift/state.h) as JSON, and the state's tensors as "method.<name>", of F32, F64 or I64.
struct StoredMethod {
  std::shared_ptr<const Interpolator> method;  // none where the file has none
  std::string text;
  bool own_noise = false;
};

// Tensors of the method, whose numbers it owns: keep it until the file is written.
class MethodTensors {
 public:
  MethodTensors(const Interpolator& method, const std::string& text, bool own_noise);
  void add_to(ModelParts& parts) const;

 private:
  State state_;
  std::string metadata_;
};

// Throws Error, beginning with the path. `coordinates` are those of the model's rows.
StoredMethod read_method(const SafetensorsFile& file, const Domain& domain);

}  // namespace drift
