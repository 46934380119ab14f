// Everything one call of a case touches: inputs, output and workspace on the GPU, and the launches that compute it. A case
// has one set, or many in mode `rotated`; all sets of a case hold the same inputs.
#pragma once
#include <vector>

#include "../driver/context.h"
#include "../kernels/plan.h"
#include "prepared.h"

namespace opscope::cuda {

class BufferSet {
 public:
  // Takes memory for the case and plans its launches (without a plan: none); the inputs are not filled yet. Throws Error "out-of-memory".
  BufferSet(const CaseSpec& spec, PlanFunction plan, Context& context);

  // Queue on the context's stream: the inputs by the rule in core/random.ts, one Fill per input; the sentinel.
  void fill(const std::vector<Fill>& fills);
  void poison();
  // Waits for the count of output elements that hold the sentinel.
  int64_t count_unwritten();
  const std::vector<Launch>& launches() const { return launches_; }
  size_t inputs() const { return inputs_.size(); }
  CUdeviceptr input(size_t index) const { return inputs_[index].address(); }
  CUdeviceptr output() const { return output_.address(); }
  Dtype dtype() const { return dtype_; }
  // Bytes of all buffers.
  int64_t bytes() const;
  // Bytes that one call reads or writes at least: inputs and output, without workspace.
  int64_t tensor_bytes() const;

 private:
  Context& context_;
  Dtype dtype_;
  int64_t elements_;
  std::vector<int64_t> input_elements_;
  std::vector<DeviceBuffer> inputs_, workspaces_;
  DeviceBuffer output_, found_;
  std::vector<Launch> launches_;
};

}  // namespace opscope::cuda
