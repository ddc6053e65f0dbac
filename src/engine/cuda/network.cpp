#include "engine/cuda/network.h"

#include "engine/cuda/kernels.h"
#include "features/structured.h"

namespace drift::cuda {

Network::Network(std::span<const NetworkMember> members, bool log_sds, const Stream& stream)
    : plan_(members.front().resolver->plan()),
      members_(members.size()),
      fixed_(members_ * plan_.fixed_size),
      parameters_(members_ * plan_.parameter_size),
      written_out_(plan_.layers.size()),
      scales_(*members.front().resolver, members_) {
  if (log_sds) {
    log_sds_ = DeviceArray<float>(parameters_.size());
    variances_ = DeviceArray<float>(parameters_.size());
  }
  for (std::size_t i = 0; i < members_; ++i) {
    const Member& member = *members[i].member;
    fixed_.upload(member.fixed.data(), member.fixed.size(), i * plan_.fixed_size, stream);
    parameters_.upload(member.parameters.data(), member.parameters.size(), i * plan_.parameter_size, stream);
    if (log_sds) log_sds_.upload(member.log_sd.data(), member.log_sd.size(), i * plan_.parameter_size, stream);
    scales_.set(i, members[i].resolver->resolve(member.fixed.data(), member.parameters.data()), stream);
  }
  if (log_sds) exponential_of_twice(log_sds_.data(), variances_.data(), variances_.size(), stream.get());
  for (std::size_t i = 0; i < plan_.layers.size(); ++i) {
    const LayerPlan& layer = plan_.layers[i];
    if (!layer.structured) continue;
    const auto hidden = static_cast<std::size_t>(layer.hidden), features = static_cast<std::size_t>(layer.features);
    written_out_[i] = DeviceArray<float>(members_ * hidden * features);
    const auto n = static_cast<int>(hadamard_size(hidden));
    expand_structured({.members = this->members(),
                       .hidden = layer.hidden,
                       .features = layer.features,
                       .n = n,
                       .signs = fixed(layer.hidden_signs, n),
                       .lengths = fixed(layer.hidden_lengths, n),
                       .frequencies = {written_out_[i].data(), features, hidden * features}},
                      stream.get());
  }
}

ConstMatrices Network::frequencies(std::size_t index) const {
  const LayerPlan& layer = plan_.layers[index];
  const auto features = static_cast<std::size_t>(layer.features);
  if (!layer.structured) return fixed(layer.hidden_frequencies, layer.features);
  return {written_out_[index].data(), features, static_cast<std::size_t>(layer.hidden) * features};
}

void Network::download(std::size_t index, Member& member, const Stream& stream) const {
  const std::size_t place = index * plan_.parameter_size;
  parameters_.download(member.parameters.data(), member.parameters.size(), place, stream);
  if (!log_sds_.empty()) log_sds_.download(member.log_sd.data(), member.log_sd.size(), place, stream);
}

}  // namespace drift::cuda
