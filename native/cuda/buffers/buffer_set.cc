#include "buffer_set.h"

#include <algorithm>

#include "composite.h"

namespace opscope::cuda {

namespace {

// In scratch buffers before a run: numbers that are large and finite in every dtype, for a kernel may multiply what lies behind a tensor by zero.
constexpr unsigned char scratch_byte = 0x7b;

}  // namespace

BufferSet::BufferSet(const CaseSpec& spec, PlanFunction plan, Context& context) : context_(context) {
  std::vector<CUdeviceptr> addresses;
  own_ = spec.tensors.size();
  for (const auto& description : buffers_of(spec)) {
    if (description.role != Role::in && tensors_.size() < own_) outputs_.push_back(tensors_.size());
    addresses.push_back(tensors_.emplace_back(description, context_).address());
  }
  std::vector<Fill> fills;
  for (const auto& description : spec.tensors)
    if (description.role != Role::out) fills.push_back(description.fill);
  fill(fills);
  if (plan) take_plan(spec, plan, addresses, fills);
  counts_ = DeviceBuffer(static_cast<int64_t>(std::max<size_t>(1, tensors_.size() + workspaces_.size()) * sizeof(ScanCounts)));
}

void BufferSet::take_plan(const CaseSpec& spec, PlanFunction plan, const std::vector<CUdeviceptr>& addresses, const std::vector<Fill>& fills) {
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
  for (size_t i = 0; i < own_; i++) tensors_[i].poison();
  for (size_t i = own_; i < tensors_.size(); i++)
    check(api().MemsetD8Async(tensors_[i].address(), scratch_byte, static_cast<size_t>(tensors_[i].bytes()), context_.stream()), "filling a scratch buffer");
}

std::vector<ScanCounts> BufferSet::scan() const {
  std::vector<ScanCounts> counts(tensors_.size() + workspaces_.size());
  check(api().MemsetD8Async(counts_.address(), 0, static_cast<size_t>(counts_.bytes()), context_.stream()), "searching the outputs");
  const auto place = [&](size_t i) { return counts_.address() + static_cast<CUdeviceptr>(i * sizeof(ScanCounts)); };
  for (size_t i = 0; i < tensors_.size(); i++) tensors_[i].scan(place(i));
  for (size_t i = 0; i < workspaces_.size(); i++) workspaces_[i].scan(place(tensors_.size() + i), context_);
  context_.synchronize("searching the outputs");
  check(api().MemcpyDtoH(counts.data(), counts_.address(), counts.size() * sizeof(ScanCounts)), "searching the outputs");
  for (size_t i = 0; i < counts.size(); i++) {
    if (counts[i].outside == 0) continue;
    const std::string where = i < tensors_.size() ? tensors_[i].name() : "workspace " + std::to_string(i - tensors_.size() + 1) + " of " + std::to_string(workspaces_.size());
    throw Error("kernel-failed", "The kernel wrote outside " + where + ": " + std::to_string(counts[i].outside) + " bytes next to it changed.");
  }
  std::vector<ScanCounts> found;
  for (const size_t i : outputs_) found.push_back(counts[i]);
  return found;
}

int64_t BufferSet::tensor_bytes() const {
  int64_t bytes = 0;
  for (size_t i = 0; i < own_; i++) bytes += tensors_[i].bytes();
  return bytes;
}

int64_t BufferSet::bytes() const {
  int64_t bytes = 0;
  for (const Tensor& tensor : tensors_) bytes += tensor.allocated_bytes();
  for (const auto& buffer : workspaces_) bytes += buffer.allocated_bytes();
  return bytes;
}

}  // namespace opscope::cuda
