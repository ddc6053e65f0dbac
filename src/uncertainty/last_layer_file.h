#pragma once

#include <span>

#include "drift/uncertainty.h"
#include "network/model_file.h"

namespace drift {

// The posteriors of last layers in a model file (network/model_file.h):
//   tensors  "last_layer.<place>.mean" [inputs, outputs] and ".inverse_factor" [inputs, inputs]
// One per member; ensemble and posteriors must outlive the file. load_last_layers (drift/uncertainty.h) reads them.
void add_last_layers(ModelParts& file, const Ensemble& ensemble, std::span<const LastLayerPosterior> posteriors);

}  // namespace drift
