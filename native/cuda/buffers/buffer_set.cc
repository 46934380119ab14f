#include "buffer_set.h"

#include <algorithm>

namespace opscope::cuda {

namespace {

uint32_t sentinel(Dtype dtype) { return dtype == Dtype::f16 ? 0x7ede : dtype == Dtype::bf16 ? 0x7fde : 0x7fedc0de; }

// Kernels may read (never write) up to the end of the last 16-byte vector.
int64_t padded_bytes(int64_t elements, Dtype dtype) { return ceil_div(elements * static_cast<int64_t>(dtype_bytes(dtype)), 256) * 256; }

Dim3 grid_for(int64_t elements, const Traits& device) { return {static_cast<unsigned>(std::clamp<int64_t>(ceil_div(elements, 256), 1, device.sm_count * 16))}; }

}  // namespace

BufferSet::BufferSet(const CaseSpec& spec, PlanFunction plan, Context& context) : context_(context), dtype_(spec.dtype), elements_(spec.output_elements) {
  std::vector<CUdeviceptr> addresses;
  for (const auto& input : spec.inputs) {
    input_elements_.push_back(input.elements);
    addresses.push_back(inputs_.emplace_back(padded_bytes(input.elements, dtype_)).address());
  }
  output_ = DeviceBuffer(padded_bytes(elements_, dtype_));
  found_ = DeviceBuffer(256);
  if (!plan) return;
  Planner planner(spec, context, spec.op, addresses, output_.address());
  plan(planner);
  launches_ = planner.take_launches();
  workspaces_ = planner.take_workspaces();
}

void BufferSet::fill(const std::vector<Fill>& fills) {
  if (fills.size() != inputs_.size())
    throw Error("internal", "filling the inputs: expected " + std::to_string(inputs_.size()) + " fills, received " + std::to_string(fills.size()));
  const char* kernel = dtype_ == Dtype::f16 ? "fill_f16" : dtype_ == Dtype::bf16 ? "fill_bf16" : "fill_f32";
  for (size_t i = 0; i < inputs_.size(); i++)
    Launch(context_.kernel("service", kernel), grid_for(input_elements_[i], context_.traits()), 256, 0, inputs_[i].address(), static_cast<long long>(input_elements_[i]),
           fills[i].key0, fills[i].key1, fills[i].factor, static_cast<int>(fills[i].positive))
        .enqueue(context_.stream());
}

void BufferSet::poison() {
  const auto count = static_cast<size_t>(elements_);
  check(dtype_bytes(dtype_) == 2 ? api().MemsetD16Async(output_.address(), static_cast<unsigned short>(sentinel(dtype_)), count, context_.stream())
                                 : api().MemsetD32Async(output_.address(), sentinel(dtype_), count, context_.stream()),
        "filling the output with the sentinel");
}

int64_t BufferSet::count_unwritten() {
  check(api().MemsetD8Async(found_.address(), 0, 8, context_.stream()), "counting unwritten elements");
  const char* kernel = dtype_bytes(dtype_) == 2 ? "count_16" : "count_32";
  Launch(context_.kernel("service", kernel), grid_for(elements_, context_.traits()), 256, 0, output_.address(), static_cast<long long>(elements_), sentinel(dtype_), found_.address())
      .enqueue(context_.stream());
  context_.synchronize("counting unwritten elements");
  unsigned long long found = 0;
  check(api().MemcpyDtoH(&found, found_.address(), sizeof found), "counting unwritten elements");
  return static_cast<int64_t>(found);
}

int64_t BufferSet::tensor_bytes() const {
  int64_t bytes = output_.bytes();
  for (const auto& buffer : inputs_) bytes += buffer.bytes();
  return bytes;
}

int64_t BufferSet::bytes() const {
  int64_t bytes = tensor_bytes();
  for (const auto& buffer : workspaces_) bytes += buffer.bytes();
  return bytes;
}

}  // namespace opscope::cuda
