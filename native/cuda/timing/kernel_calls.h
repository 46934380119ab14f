// Launches of our own kernels as what is called.
#pragma once
#include <vector>

#include "../kernels/plan.h"
#include "stream_calls.h"

namespace opscope::cuda {

class KernelCalls final : public StreamCalls {
 public:
  // The launches of one call for each set of buffers; they outlive this.
  explicit KernelCalls(std::vector<const std::vector<Launch>*> launches);

  void enqueue(CUstream stream, size_t set, int count) override;
  // Libraries may allocate or load code.
  bool may_wait() const override { return library_; }

 private:
  std::vector<const std::vector<Launch>*> launches_;
  bool library_ = false;
};

}  // namespace opscope::cuda
