// The kernels of a composite case as what it calls: every thread of the team runs one part after the other, and waits for the others between them.
#pragma once
#include <vector>

#include "block.h"
#include "calls.h"
#include "kernel.h"
#include "prepared.h"

namespace opscope::cpu {

// A part, and what computes it.
struct Part {
  PartSpec spec;
  const Kernel* kernel;
  Run run;
};

class PartCalls final : public Calls {
 public:
  PartCalls(const CaseSpec& whole, std::vector<Part> parts) : threads_(whole.threads), element_bytes_(dtype_bytes(whole.dtype)), parts_(std::move(parts)) {}

  // Parts take the same memory in turn.
  size_t scratch_floats() const override;
  void set_seed(uint32_t seed) override { seed_ = seed; }
  void bind(const std::vector<Tensors>& sets, float* scratch, Team& team) override;
  void run(size_t set, int count) override;
  bool alone() const override { return false; }

 private:
  const int threads_;
  const size_t element_bytes_;
  const std::vector<Part> parts_;
  uint32_t seed_ = 0;
  Team* team_ = nullptr;
  Block arguments_;              // a Call for each part of each set, then the addresses that they name
  const Call* calls_ = nullptr;  // of part i of set s: calls_[s * parts_.size() + i]
};

}  // namespace opscope::cpu
