#pragma once

#include <cstddef>
#include <vector>

#include "drift/engine.h"
#include "engine/cuda/device.h"
#include "engine/cuda/kernels.h"

namespace drift::cuda {

// The observations where kernels can read them: on the device, or, where they would take more than `limit` bytes of it, in the
// host's own memory, made readable from the device. A batch is then fetched over the bus, row by row. Those of several devices
// for the same observations share what the host had to do for the first: none is used after that is gone.
class DeviceData {
 public:
  DeviceData(const TrainingSet& data, std::size_t limit, const Stream& stream);
  ~DeviceData();
  DeviceData(const DeviceData&) = delete;
  DeviceData& operator=(const DeviceData&) = delete;

  bool on_host() const { return on_host_; }
  // Fills in what is known of the data.
  void describe(Gather& gather) const;

 private:
  DeviceArray<float> coordinates_, values_, weights_;
  DeviceArray<std::uint8_t> folds_;  // always on the device: a byte each
  std::vector<void*> registered_;
  bool on_host_ = false;
  Gather known_ = {};
};

}  // namespace drift::cuda
