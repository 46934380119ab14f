#include "plan.h"

#include <algorithm>

namespace opscope::cuda {

namespace {

std::vector<OpKernels>& registry() {
  static std::vector<OpKernels> ops;
  return ops;
}

}  // namespace

const std::vector<OpKernels>& registered_ops() { return registry(); }

const OpKernels* find_op(const std::string& op) {
  for (const auto& entry : registry())
    if (op == entry.op) return &entry;
  return nullptr;
}

Register::Register(const char* op, std::vector<Dtype> dtypes, OpShape shape, PlanFunction plan) { registry().push_back({op, std::move(dtypes), shape, plan}); }

void check_shape(const CaseSpec& spec, const OpShape& shape) {
  const auto refuse = [&](const std::string& what) { throw Error("internal", "malformed " + spec.op + " case: " + what); };
  if (spec.dims.size() != shape.dims) refuse("expected " + std::to_string(shape.dims) + " dims, received " + std::to_string(spec.dims.size()));
  // Kernels index rows and columns with 32 bits; a list of elements (dims of one or two) may be longer.
  double product = 1;
  for (const int64_t d : spec.dims) {
    if (d < 0 || d > int64_t{1} << 40) refuse("dim " + std::to_string(d) + " is outside 0 .. 2^40");
    product *= static_cast<double>(std::max<int64_t>(1, d));
  }
  if (product > 1e15) refuse("the dims multiply to more than 10^15");
  const auto sizes = shape.elements(spec.dims);
  if (spec.inputs.size() + 1 != sizes.size()) refuse("expected " + std::to_string(sizes.size() - 1) + " inputs, received " + std::to_string(spec.inputs.size()));
  for (size_t i = 0; i < sizes.size(); i++) {
    const bool output = i == spec.inputs.size();
    const int64_t given = output ? spec.output_elements : spec.inputs[i].elements;
    if (given != sizes[i] || given < 1)
      refuse((output ? "the output" : "input " + std::to_string(i)) + " should have " + std::to_string(sizes[i]) + " elements, received " + std::to_string(given));
  }
}

void Launch::enqueue(CUstream stream) const {
  void* pointers[32];
  for (size_t i = 0; i < arguments_.size(); i++) pointers[i] = const_cast<std::byte*>(arguments_[i].bytes.data());
  CUlaunchAttribute attributes[1] = {};
  CUlaunchConfig config = {};
  config.gridDimX = grid_.x;
  config.gridDimY = grid_.y;
  config.gridDimZ = grid_.z;
  config.blockDimX = threads_;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shared_bytes_;
  config.hStream = stream;
  if (cluster_ > 1) {
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[0].value.clusterDim = {cluster_, 1, 1};
    config.attrs = attributes;
    config.numAttrs = 1;
  }
  check(api().LaunchKernelEx(&config, function_, pointers, nullptr), "launching a kernel");
}

std::string Planner::dtype() const {
  switch (spec.dtype) {
    case Dtype::f32: return "f32";
    case Dtype::f16: return "f16";
    case Dtype::bf16: return "bf16";
    case Dtype::tf32: return "tf32";
  }
  return "f32";
}

CUfunction Planner::kernel_in(const std::string& module, const std::string& name, unsigned shared_bytes) const {
  const CUfunction function = context_.kernel(module, name);
  if (shared_bytes > 48 * 1024)
    check(api().FuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shared_bytes)),
          "asking for shared memory");
  return function;
}

CUdeviceptr Planner::workspace(int64_t bytes) {
  auto& buffer = workspaces_.emplace_back(bytes);
  check(api().MemsetD8Async(buffer.address(), 0, static_cast<size_t>(bytes), context_.stream()), "clearing the workspace");
  return buffer.address();
}

}  // namespace opscope::cuda
