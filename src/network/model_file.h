#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "drift/ensemble.h"
#include "network/safetensors.h"

namespace drift {

// A model as a safetensors file. Tensors are "member.<place>." and the plan's names; metadata are
//   format, format_version, drift_version, spec (JSON), seed, members (their indices: "0,1,2"), and the caller's as "user.<key>".
// A file that holds more (a checkpoint) adds tensors and metadata under other first words; load_model passes over them.
struct ModelParts {
  std::vector<TensorSource> tensors;  // their numbers are the ensemble's own, which must outlive them, or kept here
  std::map<std::string, std::string> metadata;
  std::vector<std::shared_ptr<const void>> kept = {};

  // Numbers made for the file alone.
  template <class Made>
  const Made& keep(Made made) {
    auto whole = std::make_shared<const Made>(std::move(made));
    kept.push_back(whole);
    return *whole;
  }
};

// Throws Error when the ensemble is not what its spec says, or holds a number that is not finite.
ModelParts model_parts(const Ensemble& ensemble, const Metadata& metadata);

// Throws Error, beginning with the path, unless the file holds a whole and valid model.
Model read_model(const SafetensorsFile& file);

}  // namespace drift
