#pragma once

#include <span>

#include "drift/ensemble.h"
#include "engine/cuda/device.h"
#include "engine/cuda/scales.h"
#include "network/plan.h"

namespace drift::cuda {

// A member, and what resolves its scales: members of several runs go together.
struct NetworkMember {
  const Member* member;
  const ScaleResolver* resolver;  // plans have the same shapes; lengthscales and amplitudes may differ
};

// All members of a launch on the device: their two flat arrays, one member after the other, and their scales.
class Network {
 public:
  // `log_sds`: copy those too.
  Network(std::span<const NetworkMember> members, bool log_sds, const Stream& stream);

  const Plan& plan() const { return plan_; }  // the first member's
  int members() const { return static_cast<int>(members_); }
  const DeviceScales& scales() const { return scales_; }
  DeviceScales& scales() { return scales_; }

  // A tensor of the fixed numbers, rows `stride` apart.
  ConstMatrices fixed(std::size_t offset, int stride) const {
    return {fixed_.data() + offset, static_cast<std::size_t>(stride), plan_.fixed_size};
  }
  // [hidden, features]: structured ones are written out.
  ConstMatrices frequencies(std::size_t index) const;  // of a layer
  float* parameters() { return parameters_.data(); }
  ConstMatrices matrix(std::size_t offset, int cols) const {
    return {parameters_.data() + offset, static_cast<std::size_t>(cols), plan_.parameter_size};
  }
  bool variational() const { return !variances_.empty(); }
  float* log_sds() { return log_sds_.data(); }
  float* variances() { return variances_.data(); }
  ConstMatrices variance_matrix(std::size_t offset, int cols) const {
    return {variances_.data() + offset, static_cast<std::size_t>(cols), plan_.parameter_size};
  }
  const float* fixed_data() const { return fixed_.data(); }

  void download(std::size_t index, Member& member, const Stream& stream) const;

 private:
  const Plan& plan_;
  std::size_t members_;
  DeviceArray<float> fixed_, parameters_, log_sds_, variances_;
  std::vector<DeviceArray<float>> written_out_;  // [layers]
  DeviceScales scales_;
};

}  // namespace drift::cuda
