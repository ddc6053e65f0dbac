#pragma once

#include <cstddef>
#include <vector>

#include "drift/engine.h"
#include "engine/cuda/device.h"
#include "engine/cuda/kernels.h"

namespace drift::cuda {

// The observations where kernels can read them: on the device, or, where they would take more than `limit` bytes of it, in the
// host's own memory, made readable from the device. A batch is then fetched over the bus, row by row.
class DeviceData {
 public:
  DeviceData(const TrainingSet& data, std::size_t limit, const Stream& stream);
  ~DeviceData();
  DeviceData(const DeviceData&) = delete;
  DeviceData& operator=(const DeviceData&) = delete;

  bool on_host() const { return !registered_.empty(); }
  // Fills in what is known of the data.
  void describe(Gather& gather) const;

 private:
  DeviceArray<float> coordinates_, values_, weights_;
  std::vector<void*> registered_;
  Gather known_ = {};
};

}  // namespace drift::cuda
