// Everything one call of a case touches: its tensors and workspace on the GPU, and the launches that compute it. A case has
// one set, or many in mode `rotated`; all sets of a case are filled alike.
#pragma once
#include <vector>

#include "../kernels/plan.h"
#include "tensor.h"

namespace opscope::cuda {

class BufferSet {
 public:
  // Takes memory for the case, fills its inputs and plans its launches (without a plan: none); outputs are not poisoned yet. Planning
  // may run them: libraries choose an algorithm by its time. Throws Error "out-of-memory".
  BufferSet(const CaseSpec& spec, PlanFunction plan, Context& context);

  // Queue on the context's stream: the tensors with a fill, one Fill each; the sentinel in every `out` tensor, large numbers in scratch buffers.
  void fill(const std::vector<Fill>& fills) const;
  void poison() const;
  // Searches every output, and waits. Throws Error "kernel-failed" where something was written beside a tensor or a workspace.
  std::vector<ScanCounts> scan() const;

  const std::vector<Launch>& launches() const { return launches_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  // Tensors that are written, by their place among them.
  const Tensor& output(size_t index) const { return tensors_[outputs_.at(index)]; }
  size_t outputs() const { return outputs_.size(); }
  const std::vector<std::string>& notes() const { return notes_; }
  // Bytes of all buffers.
  int64_t bytes() const;
  // Bytes that one call reads or writes at least: those of its tensors.
  int64_t tensor_bytes() const;

 private:
  void take_plan(const CaseSpec& spec, PlanFunction plan, const std::vector<CUdeviceptr>& addresses, const std::vector<Fill>& fills);
  void write_seed(const std::vector<Fill>& fills) const;
  Context& context_;
  std::vector<Tensor> tensors_;  // those of the case, and behind them its scratch buffers
  size_t own_ = 0;               // of the case
  std::vector<size_t> outputs_;
  std::vector<GuardedBuffer> workspaces_;
  CUdeviceptr seed_ = 0;  // where kernels read it; 0 where none does
  DeviceBuffer counts_;  // of each tensor and each workspace
  std::vector<Launch> launches_;
  std::vector<std::string> notes_;
};

}  // namespace opscope::cuda
