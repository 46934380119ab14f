#include "plan.h"

#include <algorithm>

namespace opscope::cuda {

namespace {

std::vector<OpKernels>& registry() {
  static std::vector<OpKernels> ops;
  return ops;
}

const char* name_of(Role role) { return role == Role::in ? "in" : role == Role::out ? "out" : "inout"; }

}  // namespace

const std::vector<OpKernels>& registered_ops() { return registry(); }

const OpKernels* find_op(const std::string& op) {
  for (const auto& entry : registry())
    if (op == entry.op) return &entry;
  return nullptr;
}

Register::Register(OpKernels op) { registry().push_back(std::move(op)); }

void check_shape(const CaseSpec& spec, const OpKernels& op) {
  const auto refuse = [&](const std::string& what) { throw Error("internal", "malformed " + spec.op + " case: " + what); };
  if (std::find(op.dims.begin(), op.dims.end(), spec.dims.size()) == op.dims.end()) {
    std::string counts;
    for (const size_t count : op.dims) counts += (counts.empty() ? "" : " or ") + std::to_string(count);
    refuse("expected " + counts + " dims, received " + std::to_string(spec.dims.size()));
  }
  if (spec.scalars.size() != op.scalars) refuse("expected " + std::to_string(op.scalars) + " scalars, received " + std::to_string(spec.scalars.size()));
  // What the kernels of an operation cannot index with 32 bits, its plan refuses.
  double product = 1;
  for (const int64_t d : spec.dims) {
    if (d < 0 || d > MAX_ELEMENTS) refuse("dim " + std::to_string(d) + " is outside 0 .. 2^40");
    product *= static_cast<double>(std::max<int64_t>(1, d));
  }
  if (product > 4e18 && !op.bounds_dims) refuse("the dims multiply to more than 4e18");
  const auto shapes = op.tensors(op, spec.dims);
  if (spec.tensors.size() != shapes.size()) refuse("expected " + std::to_string(shapes.size()) + " tensors, received " + std::to_string(spec.tensors.size()));
  for (size_t i = 0; i < shapes.size(); i++) {
    const TensorDesc& given = spec.tensors[i];
    const std::string name = "tensor " + std::to_string(i) + " (" + given.name + ")";
    if (given.role != shapes[i].role) refuse(name + " should be " + name_of(shapes[i].role) + ", is " + name_of(given.role));
    if (given.storage != shapes[i].storage.value_or(storage_of(spec.dtype))) refuse(name + " has another storage type than the kernels take");
    if (given.elements != shapes[i].elements || given.elements < 1)
      refuse(name + " should have " + std::to_string(shapes[i].elements) + " elements, received " + std::to_string(given.elements));
  }
}

void Launch::set_grid(const Dim3& grid) {
  if (grid.x < 1 || grid.y < 1 || grid.z < 1 || grid.x > max_blocks_x || grid.y > max_blocks_yz || grid.z > max_blocks_yz)
    throw Error("unsupported", "This size needs a grid of " + std::to_string(grid.x) + " x " + std::to_string(grid.y) + " x " + std::to_string(grid.z) +
                                   " blocks; a launch has at most 2^31 - 1 x 65535 x 65535. Choose a smaller size.");
  grid_[0] = static_cast<unsigned>(grid.x);
  grid_[1] = static_cast<unsigned>(grid.y);
  grid_[2] = static_cast<unsigned>(grid.z);
}

void Launch::store(const void* value, size_t bytes) {
  argument_bytes_ += bytes;
  if (arguments_.size() == max_arguments || bytes > sizeof(Argument) || argument_bytes_ > max_argument_bytes)
    throw Error("unsupported", "A kernel of this case takes more than a launch can pass: at most " + std::to_string(max_arguments) + " arguments of " + std::to_string(sizeof(Argument)) +
                                   " bytes each, " + std::to_string(max_argument_bytes) + " bytes together.");
  std::memcpy(arguments_.emplace_back().bytes.data(), value, bytes);
}

void Launch::enqueue(CUstream stream) const {
  if (library_) return library_(stream);
  void* pointers[max_arguments];
  for (size_t i = 0; i < arguments_.size(); i++) pointers[i] = const_cast<std::byte*>(arguments_[i].bytes.data());
  CUlaunchAttribute attributes[2] = {};
  CUlaunchConfig config = {};
  config.gridDimX = grid_[0];
  config.gridDimY = grid_[1];
  config.gridDimZ = grid_[2];
  config.blockDimX = threads_;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shared_bytes_;
  config.hStream = stream;
  config.attrs = attributes;
  if (cluster_ > 1) {
    CUlaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim = {cluster_, 1, 1};
  }
  if (early_) {
    CUlaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
  }
  check(api().LaunchKernelEx(&config, function_, pointers, nullptr), "launching a kernel");
}

LaunchInfo Launch::info(const Context& context) const {
  LaunchInfo info;
  info.kernel = context.name_of(function_);
  info.part = part_;
  std::copy(std::begin(grid_), std::end(grid_), info.blocks);
  info.threads = static_cast<int>(threads_);
  info.cluster = static_cast<int>(cluster_);
  const auto read = [&](CUfunction_attribute which) {
    int value = -1;
    return api().FuncGetAttribute(&value, which, function_) == CUDA_SUCCESS ? value : -1;
  };
  info.registers = read(CU_FUNC_ATTRIBUTE_NUM_REGS);
  info.local_bytes = read(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  if (const int fixed = read(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES); fixed >= 0) info.shared_bytes = fixed + static_cast<int64_t>(shared_bytes_);
  int blocks = 0;
  if (api().OccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function_, info.threads, shared_bytes_) != CUDA_SUCCESS || blocks < 1) return info;
  const Traits& traits = context.traits();
  info.blocks_per_sm = blocks;
  info.occupancy = static_cast<double>(blocks * ceil_div(info.threads, 32) * 32) / attribute(traits.ordinal, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  info.waves = static_cast<double>(grid_[0]) * grid_[1] * grid_[2] / (static_cast<double>(blocks) * traits.sm_count);
  return info;
}

Planner::Planner(const CaseSpec& case_spec, Context& context, const std::vector<CUdeviceptr>& buffers) : spec(case_spec), device(context.traits()), context_(context), buffers_(buffers) {
  for (size_t i = 0; i < spec.tensors.size(); i++) {
    if (spec.tensors[i].role != Role::out) inputs_.push_back(buffers.at(i));
    if (spec.tensors[i].role != Role::in) outputs_.push_back(buffers.at(i));
  }
}

std::string Planner::dtype() const {
  switch (spec.dtype) {
    case Dtype::f32: return "f32";
    case Dtype::f16: return "f16";
    case Dtype::bf16: return "bf16";
    case Dtype::tf32: return "tf32";
    case Dtype::i8: return "i8";
    case Dtype::f8e4m3: return "f8e4m3";
  }
  return "f32";
}

CUfunction Planner::kernel_in(const std::string& module, const std::string& name, unsigned shared_bytes) const {
  const CUfunction function = context_.kernel(module, name);
  if (shared_bytes == 0) return function;
  const auto read = [&](CUfunction_attribute which) {
    int value = 0;
    check(api().FuncGetAttribute(&value, which, function), "reading what a kernel has of shared memory");
    return value;
  };
  constexpr int unasked = 48 << 10;
  const int asked = static_cast<int>(shared_bytes), all = asked + read(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  if (all <= unasked) return function;
  const auto kib = [](int64_t bytes) { return std::to_string(ceil_div(bytes, 1024)) + " KiB"; };
  if (all > device.shared_bytes_per_block)
    throw Error("unsupported", "Kernel " + name + " needs " + kib(all) + " of shared memory for each block, and this GPU has " + kib(device.shared_bytes_per_block) + ". Choose another size.");
  // What is granted is never lowered: another case may be launched with more.
  check(api().FuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, std::max(asked, read(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES))), "asking for shared memory");
  return function;
}

CUdeviceptr Planner::workspace(int64_t bytes) {
  auto& buffer = workspaces_.emplace_back(bytes, context_);
  check(api().MemsetD8Async(buffer.address(), 0, static_cast<size_t>(bytes), context_.stream()), "clearing the workspace");
  return buffer.address();
}

CUdeviceptr Planner::seed() {
  if (seed_ == 0) seed_ = workspace(4);
  return seed_;
}

}  // namespace opscope::cuda
