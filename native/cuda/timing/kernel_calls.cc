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

}  // namespace opscope::cuda
