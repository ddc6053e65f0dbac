#include "engine/cuda/graph.h"

namespace drift::cuda {

Graph::Graph(const Stream& stream, const std::function<void(cudaStream_t)>& enqueue) {
  check_cuda(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "recording a step");
  cudaGraph_t graph = nullptr;
  try {
    enqueue(stream.get());
  } catch (...) {
    cudaStreamEndCapture(stream.get(), &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    throw;
  }
  check_cuda(cudaStreamEndCapture(stream.get(), &graph), "recording a step");
  const cudaError_t status = cudaGraphInstantiate(&graph_, graph, 0);
  cudaGraphDestroy(graph);
  check_cuda(status, "preparing a step");
}
Graph::~Graph() {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
}
void Graph::launch(const Stream& stream) const { check_cuda(cudaGraphLaunch(graph_, stream.get()), "starting a step"); }

}  // namespace drift::cuda
