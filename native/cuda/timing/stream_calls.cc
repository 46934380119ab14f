#include "stream_calls.h"

#include <utility>

namespace opscope::cuda {

void StreamCalls::record(CUstream stream, size_t set, int count) {
  drop();
  CUgraph graph = nullptr;
  check(api().StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "starting to record a graph");
  try {
    enqueue(stream, set, count);
  } catch (...) {
    // A stream left recording would refuse every later call.
    if (api().StreamEndCapture(stream, &graph) == CUDA_SUCCESS && graph) api().GraphDestroy(graph);
    throw;
  }
  check(api().StreamEndCapture(stream, &graph), "recording a graph");
  const CUresult made = api().GraphInstantiate(&graph_, graph, 0);
  api().GraphDestroy(graph);
  check(made, "preparing a graph");
}

void StreamCalls::launch(CUstream stream) { check(api().GraphLaunch(graph_, stream), "launching a graph"); }

void StreamCalls::drop() {
  if (graph_) api().GraphExecDestroy(std::exchange(graph_, nullptr));
}

}  // namespace opscope::cuda
