#include "kernel_calls.h"

#include <algorithm>
#include <utility>

namespace opscope::cuda {

KernelCalls::KernelCalls(std::vector<const std::vector<Launch>*> launches) : launches_(std::move(launches)) {
  sets = launches_.size();
  entries = static_cast<int>(std::max<size_t>(1, launches_[0]->size()));
  for (const auto& launch : *launches_[0]) library_ = library_ || launch.is_library_call();
}

void KernelCalls::enqueue(CUstream stream, size_t set, int count) {
  for (int i = 0; i < count; i++)
    for (const auto& launch : *launches_[set]) launch.enqueue(stream);
}

void KernelCalls::record(CUstream stream, size_t set, int count) {
  drop();
  CUgraph graph = nullptr;
  check(api().StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "starting to record a graph");
  enqueue(stream, set, count);
  check(api().StreamEndCapture(stream, &graph), "recording a graph");
  const CUresult made = api().GraphInstantiate(&graph_, graph, 0);
  api().GraphDestroy(graph);
  check(made, "preparing a graph");
}

void KernelCalls::launch(CUstream stream) { check(api().GraphLaunch(graph_, stream), "launching a graph"); }

void KernelCalls::drop() {
  if (graph_) api().GraphExecDestroy(std::exchange(graph_, nullptr));
}

}  // namespace opscope::cuda
