#pragma once

#include <memory>
#include <string>

#include "drift/engine.h"
#include "engine/cuda/device.h"

namespace drift::cuda {

// cuBLAS, where this machine has it: the bench sets drift's speed beside its product. The engine does without, so it is loaded
// when it is asked for and never linked.
class Cublas {
 public:
  static std::unique_ptr<Cublas> find();  // null: there is none; throws Error where there is one that does not work
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

  std::string name() const;  // "cuBLAS 13.0.2"

  // c = a . b, all [size, size] on the device, row-major; a and b are float, or the upper halves of floats for bf16.
  void multiply(Precision precision, int size, const void* a, const void* b, float* c, const Stream& stream);

 private:
  struct Functions;
  explicit Cublas(std::unique_ptr<Functions> functions);

  std::unique_ptr<Functions> functions_;
  void* handle_ = nullptr;
};

}  // namespace drift::cuda
