// A kernel of ours as what a case calls: every thread of the team runs it together.
#pragma once
#include <vector>

#include "block.h"
#include "calls.h"
#include "kernel.h"

namespace opscope::cpu {

// What does not depend on the kernel, of calls whose tensors have so many bytes, of which some are written.
Call call_of(int threads, int64_t tensor_bytes, int64_t written_bytes, Team& team);

class KernelCalls final : public Calls {
 public:
  KernelCalls(const CaseSpec& spec, const Kernel& kernel, Run run) : dims_(spec.dims), scalars_(spec.scalars), threads_(spec.threads), element_bytes_(dtype_bytes(spec.dtype)), kernel_(kernel), run_(run) {}

  size_t scratch_floats() const override { return kernel_.scratch ? kernel_.scratch(dims_.data(), static_cast<int>(dims_.size()), threads_, element_bytes_) : 0; }
  void set_seed(uint32_t seed) override;
  void bind(const std::vector<Tensors>& sets, float* scratch, Team& team) override;
  void run(size_t set, int count) override;
  bool alone() const override { return false; }

 private:
  const std::vector<int64_t> dims_;
  const std::vector<double> scalars_;
  const int threads_;
  const size_t element_bytes_;
  const Kernel& kernel_;
  const Run run_;
  uint32_t seed_ = 0;
  Team* team_ = nullptr;
  Block arguments_;             // a Call for each set, then dims and scalars
  Call* calls_ = nullptr;
  size_t call_count_ = 0;
};

}  // namespace opscope::cpu
