#include "context.h"

#include <memory>
#include <utility>
#include <vector>

#include "../module/fatbins.h"
#include "../module/nvrtc.h"
#include "../nvml/holders.h"
#include "../words.h"
#include "prepared.h"

namespace opscope::cuda {

int attribute(int ordinal, CUdevice_attribute which) {
  int value = 0;
  check(api().DeviceGetAttribute(&value, which, ordinal), "reading the device's attributes");
  return value;
}

Context& Context::of(int ordinal) {
  static std::map<int, std::unique_ptr<Context>> contexts;
  auto& slot = contexts[ordinal];
  if (!slot) slot.reset(new Context(ordinal));
  return *slot;
}

Context& Context::of_number(int ordinal) {
  if (!api().missing.empty()) throw Error("unsupported", api().missing);
  int count = 0;
  check(api().DeviceGetCount(&count), "counting the GPUs");
  if (ordinal < 0 || ordinal >= count)
    throw Error("unsupported", "There is no GPU number " + std::to_string(ordinal) + " here; this process sees " + std::to_string(count) + ".");
  return of(ordinal);
}

Context::Context(int ordinal) {
  if (!api().missing.empty()) throw Error("unsupported", api().missing);
  CUdevice device = 0;
  check(api().DeviceGet(&device, ordinal), "opening the device");
  traits_.ordinal = ordinal;
  const KernelCode code = kernel_code(attribute(ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), attribute(ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  origin_ = code.origin;
  traits_.major = code.major;
  traits_.minor = code.minor;
  traits_.sm_count = attribute(ordinal, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  traits_.l2_bytes = attribute(ordinal, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  traits_.shared_bytes_per_block = attribute(ordinal, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  check(api().DevicePrimaryCtxRetain(&context_, device), "creating the GPU context");
  hold_gpu();
  use();
  check(api().StreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "creating a stream");
}

void Context::use() const { check(api().CtxSetCurrent(context_), "selecting the GPU context"); }

CUfunction Context::kernel(const std::string& module, const std::string& name) {
  // Two modules may have kernels of one name: fill_f32 makes inputs, and is an operation.
  const std::string key = module + "/" + name;
  if (auto known = functions_.find(key); known != functions_.end()) return known->second;
  const bool compiled = origin_ == CodeOrigin::compiled || origin_ == CodeOrigin::none;
  CompiledKernel made{name, {}};
  // A kernel that NVRTC compiled is a module of its own.
  auto loaded = modules_.find(module);
  if (compiled || loaded == modules_.end()) {
    if (compiled) made = compiles_in_background() ? kernel_when_compiled(module, name, traits_.major, traits_.minor) : compiled_kernel(module, name, traits_.major, traits_.minor);
    const void* image = compiled ? made.image.data() : find_fatbin(module);
    if (!image) throw Error("unsupported", "This build has no CUDA kernels for " + module + ".");
    CUmodule handle = nullptr;
    check(api().ModuleLoadData(&handle, image), "loading the kernels");
    loaded = modules_.emplace(compiled ? key : module, handle).first;
  }
  CUfunction function = nullptr;
  const CUresult result = api().ModuleGetFunction(&function, loaded->second, made.symbol.c_str());
  if (result == CUDA_ERROR_NOT_FOUND) throw Error("unsupported", "This build has no CUDA kernel named " + name + ".");
  check(result, "looking up a kernel");
  functions_.emplace(key, function);
  return function;
}

std::string Context::name_of(CUfunction function) const {
  for (const auto& [key, known] : functions_)
    if (known == function) return key.substr(key.find('/') + 1);
  return {};
}

void Context::synchronize(const char* doing) const { check(api().StreamSynchronize(stream_), doing); }

DeviceBuffer::DeviceBuffer(int64_t bytes) : bytes_(bytes) {
  const CUresult result = api().MemAlloc(&address_, static_cast<size_t>(bytes));
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    size_t free = 0, total = 0;
    api().MemGetInfo(&free, &total);
    throw Error("out-of-memory",
                "This case asked for another " + gib(static_cast<double>(bytes)) + " of GPU memory, but only " + gib(static_cast<double>(free)) + " of " +
                    gib(static_cast<double>(total)) + " is free.",
                describe(result));
  }
  check(result, "allocating GPU memory");
}

DeviceBuffer::~DeviceBuffer() {
  if (address_) api().MemFree(address_);
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept : address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

}  // namespace opscope::cuda
