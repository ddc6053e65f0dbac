#include "uncertainty/spread_memory.h"

#include <algorithm>

#include "drift/engine.h"
#include "network/plan.h"
#include "uncertainty/last_layer_blocks.h"

namespace drift {
namespace {

double member_bytes(const NetworkSpec& spec) {
  const Plan plan = make_plan(spec);
  return sizeof(float) * static_cast<double>(plan.fixed_size + plan.parameter_size);
}

}  // namespace

double draws_bytes(const NetworkSpec& spec, std::size_t members, std::size_t draws) {
  const double log_sds = sizeof(float) * static_cast<double>(make_plan(spec).parameter_size);
  return static_cast<double>(members) * (static_cast<double>(draws + 1) * member_bytes(spec) + log_sds);
}

double last_layer_bytes(const NetworkSpec& spec, std::size_t members, std::size_t observations, int threads) {
  const auto inputs = static_cast<double>(head_input_count(spec)), count = static_cast<double>(members);
  const auto rows = static_cast<double>(std::min(kLastLayerRows, observations));
  // Of a block: inputs as they come, in double, and weighted. Of a posterior: the sums, the precision, its factor, the lower
  // triangle, the identity and the inverse.
  const double block = rows * inputs * (sizeof(float) + 2.0 * sizeof(double)) + inputs * inputs * sizeof(double);
  const double posterior = 6.0 * inputs * inputs * sizeof(double);
  const double whitened = threads * kLastLayerChunk * inputs * sizeof(float) + rows * inputs * sizeof(float);
  const double kept = count * (member_bytes(spec) + inputs * inputs * sizeof(float));
  return kept + member_bytes(spec) + std::max({block, posterior, whitened});
}

}  // namespace drift
