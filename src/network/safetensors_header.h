#pragma once

#include <map>
#include <string>

#include "network/safetensors.h"

namespace drift {

inline constexpr const char* kSafetensorsMetadata = "__metadata__";

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::map<std::string, TensorEntry> tensors;
};

// Parses the JSON, accepting nothing but the container's own two levels: no more nesting, no unknown or repeated key.
// Throws Error with a message that speaks of "the header", without a path.
SafetensorsHeader parse_safetensors_header(const std::string& text);

}  // namespace drift
