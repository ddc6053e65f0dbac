#pragma once

#include <cstddef>

namespace drift {

inline constexpr std::size_t kLastLayerRows = 4096;  // observations at a time
inline constexpr std::size_t kLastLayerChunk = 256;  // rows of a product, and of the CPU's passes

}  // namespace drift
