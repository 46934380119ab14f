#include "buffer_set.h"

#include <algorithm>

namespace opscope::cuda {

BufferSet::BufferSet(const CaseSpec& spec, PlanFunction plan, Context& context) : context_(context) {
  std::vector<CUdeviceptr> addresses;
  for (const auto& description : spec.tensors) {
    if (description.role != Role::in) outputs_.push_back(tensors_.size());
    addresses.push_back(tensors_.emplace_back(description, context_).address());
  }
  counts_ = DeviceBuffer(static_cast<int64_t>(std::max<size_t>(1, outputs_.size()) * sizeof(ScanCounts)));
  std::vector<Fill> fills;
  for (const auto& description : spec.tensors)
    if (description.role != Role::out) fills.push_back(description.fill);
  fill(fills);
  if (!plan) return;
  Planner planner(spec, context_, addresses);
  plan(planner);
  launches_ = planner.take_launches();
  workspaces_ = planner.take_workspaces();
  notes_ = planner.take_notes();
  seed_ = planner.seed_asked_for();
  if (seed_ != 0) write_seed(fills);
}

void BufferSet::fill(const std::vector<Fill>& fills) const {
  const auto filled = static_cast<size_t>(std::count_if(tensors_.begin(), tensors_.end(), [](const Tensor& tensor) { return tensor.filled(); }));
  if (fills.size() != filled) throw Error("internal", "filling the inputs: expected " + std::to_string(filled) + " fills, received " + std::to_string(fills.size()));
  size_t next = 0;
  for (const Tensor& tensor : tensors_)
    if (tensor.filled()) tensor.fill(fills[next++]);
  if (seed_ != 0) write_seed(fills);
}

void BufferSet::write_seed(const std::vector<Fill>& fills) const {
  if (!fills.empty()) check(api().MemsetD32Async(seed_, seed_of(fills[0]), 1, context_.stream()), "writing the seed");
}

void BufferSet::poison() const {
  for (const Tensor& tensor : tensors_) tensor.poison();
}

std::vector<ScanCounts> BufferSet::scan() const {
  std::vector<ScanCounts> counts(outputs_.size());
  check(api().MemsetD8Async(counts_.address(), 0, static_cast<size_t>(counts_.bytes()), context_.stream()), "searching the outputs");
  for (size_t i = 0; i < outputs_.size(); i++) output(i).scan(counts_.address() + static_cast<CUdeviceptr>(i * sizeof(ScanCounts)));
  context_.synchronize("searching the outputs");
  check(api().MemcpyDtoH(counts.data(), counts_.address(), counts.size() * sizeof(ScanCounts)), "searching the outputs");
  for (size_t i = 0; i < outputs_.size(); i++)
    if (counts[i].outside > 0)
      throw Error("kernel-failed", "The kernel wrote outside " + output(i).name() + ": " + std::to_string(counts[i].outside) + " bytes next to it changed.");
  return counts;
}

int64_t BufferSet::tensor_bytes() const {
  int64_t bytes = 0;
  for (const Tensor& tensor : tensors_) bytes += tensor.bytes();
  return bytes;
}

int64_t BufferSet::bytes() const {
  int64_t bytes = 0;
  for (const Tensor& tensor : tensors_) bytes += tensor.allocated_bytes();
  for (const auto& buffer : workspaces_) bytes += buffer.bytes();
  return bytes;
}

}  // namespace opscope::cuda
