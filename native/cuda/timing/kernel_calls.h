// Launches of our own kernels as what is called.
#pragma once
#include <vector>

#include "../kernels/plan.h"
#include "calls.h"

namespace opscope::cuda {

class KernelCalls final : public Calls {
 public:
  // The launches of one call for each set of buffers; they outlive this.
  explicit KernelCalls(std::vector<const std::vector<Launch>*> launches);
  ~KernelCalls() override { drop(); }
  KernelCalls(const KernelCalls&) = delete;

  void enqueue(CUstream stream, size_t set, int count) override;
  void record(CUstream stream, size_t set, int count) override;
  void launch(CUstream stream) override;
  void drop() override;
  // Libraries may allocate or load code.
  bool may_wait() const override { return library_; }

 private:
  std::vector<const std::vector<Launch>*> launches_;
  CUgraphExec graph_ = nullptr;
  bool library_ = false;
};

}  // namespace opscope::cuda
