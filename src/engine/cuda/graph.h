#pragma once

#include <functional>

#include "engine/cuda/device.h"

namespace drift::cuda {

// A CUDA graph, once captured.
class Graph {
 public:
  Graph(const Stream& stream, const std::function<void(cudaStream_t)>& enqueue);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch(const Stream& stream) const;

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace drift::cuda
