#pragma once

#include "drift/enum_words.h"
#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

enum class Backend { automatic, cpu, cuda };
constexpr auto enum_words(Backend) {
  return std::to_array<EnumWord<Backend>>({{"auto", Backend::automatic}, {"cpu", Backend::cpu}, {"cuda", Backend::cuda}});
}

// Precision of the factors of matrix products on a GPU; sums, and the coordinates' contribution to phases, are always float32.
enum class Precision { float32, tf32, bf16 };
constexpr auto enum_words(Precision) {
  return std::to_array<EnumWord<Precision>>(
      {{"float32", Precision::float32}, {"tf32", Precision::tf32}, {"bf16", Precision::bf16}});
}

}  // namespace drift
