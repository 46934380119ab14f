// Lists the GPUs without creating a context on any: that would take their memory and a quarter of a second each.
#include <cstdio>
#include <limits>

#include "buffers/room.h"
#include "driver/context.h"
#include "kernels/plan.h"
#include "kernels/red_team.h"
#include "module/archs.h"
#include "module/fatbins.h"
#include "module/nvrtc.h"
#include "nvml/nvml.h"
#include "peer_copy.h"
#include "prepared.h"
#include "timing/timer.h"
#include "vendor/vendor.h"

namespace opscope::cuda {

namespace {

std::string number(double value, int decimals, const char* unit) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f %s", decimals, value, unit);
  return text;
}

std::string version(int value) { return std::to_string(value / 1000) + "." + std::to_string(value % 1000 / 10); }

ImplInfo kernels_impl() {
  ImplInfo impl;
  impl.id = "kernel";
  impl.title = "Opscope kernels";
  impl.preferred = impl.joins = true;
  for (const auto& op : registered_ops()) impl.kernels.push_back({op.op, op.dtypes});
  return impl;
}

// The kernels, NVIDIA's libraries, the copies to other GPUs, and what the red team adds.
std::vector<ImplInfo> all_impls(int ordinal) {
  std::vector<ImplInfo> list = {kernels_impl()};
  for (const auto& vendor : vendors()) {
    ImplInfo& impl = list.emplace_back();
    impl.id = vendor.id;
    impl.title = vendor.title;
    impl.available = vendor.missing.empty();
    impl.reason = vendor.missing;
    for (const auto& op : vendor.ops) impl.kernels.push_back({op.op, op.dtypes});
  }
  const OpKernels* copy = find_op("copy");
  for (const int peer : copy ? reachable_peers(ordinal) : std::vector<int>{}) {
    ImplInfo& impl = list.emplace_back();
    impl.id = peer_impl(peer);
    impl.title = "Copy to cuda:" + std::to_string(peer) + " and back";
    impl.kernels = {{copy->op, copy->dtypes}};
  }
  for (const auto& red : red_team()) {
    ImplInfo& impl = list.emplace_back();
    impl.id = red.id;
    impl.title = red.title;
    impl.kernels = {{"add", {Dtype::f32}}};
  }
  return list;
}

// Bytes of L1 and shared memory per multiprocessor, by compute capability (CUDA C++ Programming Guide, "Compute
// Capabilities"); the driver tells only the part that can be shared memory. 0 where not known.
int64_t l1_bytes(int major, int minor) {
  switch (major * 10 + minor) {
    case 80: case 87: return 192 << 10;
    case 86: case 89: case 120: case 121: return 128 << 10;
    case 90: case 100: case 103: return 256 << 10;
    default: return 0;
  }
}

DeviceInfo unavailable(const std::string& reason) {
  DeviceInfo device;
  device.backend = "cuda";
  device.id = "cuda:0";
  device.name = "NVIDIA GPU";
  device.available = false;
  device.reason = reason;
  device.modes = {Mode::cold, Mode::hot, Mode::rotated, Mode::graph};
  ImplInfo impl = kernels_impl();
  impl.available = false;
  impl.reason = reason;
  device.impls = {impl};
  return device;
}

bool holds_context(int ordinal) {
  unsigned flags = 0;
  int active = 0;
  return api().DevicePrimaryCtxGetState(ordinal, &flags, &active) == CUDA_SUCCESS && active;
}

std::string capability_words(int major, int minor) { return std::to_string(major) + "." + std::to_string(minor); }

// Which code this GPU runs.
std::string code_words(const KernelCode& code, bool own) {
  if (code.origin == CodeOrigin::none) return "none";
  if (code.origin == CodeOrigin::compiled) return "compiled at first use by NVRTC " + nvrtc().version + ", for " + nvrtc_arch(code.major, code.minor);
  const std::string built = "built with CUDA " + version(CUDA_VERSION) + " for " + built_archs();
  if (own) return built;
  return built + (code.origin == CodeOrigin::translated ? "; kernels of " + capability_words(code.major, code.minor) + " translated by the driver" : "; kernels of " + capability_words(code.major, code.minor) + " used");
}

// As nvidia-smi writes it, or empty.
std::string uuid_of(int ordinal) {
  CUuuid uuid;
  if (api().DeviceGetUuid(&uuid, ordinal) != CUDA_SUCCESS) return "";
  std::string text = "GPU";
  for (int i = 0; i < 16; i++) {
    char byte[3];
    std::snprintf(byte, sizeof byte, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += byte;
  }
  return text;
}

DeviceInfo describe_device(int ordinal) {
  DeviceInfo device;
  device.backend = "cuda";
  device.id = "cuda:" + std::to_string(ordinal);
  char name[128] = "NVIDIA GPU";
  api().DeviceGetName(name, sizeof name, ordinal);
  device.name = name;
  size_t total = 0;
  check(api().DeviceTotalMem(&total, ordinal), "reading the memory size");
  device.modes = {Mode::cold, Mode::hot, Mode::rotated, Mode::graph};
  device.impls = all_impls(ordinal);
  device.driver = "CUDA " + version(api().driver_version);

  const auto get = [&](CUdevice_attribute which) { return attribute(ordinal, which); };
  const int major = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), minor = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  auto& facts = device.facts;
  facts.emplace_back("Compute capability", capability_words(major, minor));
  facts.emplace_back("Memory", number(static_cast<double>(total) / (1 << 30), 1, "GiB"));
  facts.emplace_back("Multiprocessors", std::to_string(get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)));
  facts.emplace_back("L2 cache", number(static_cast<double>(get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)) / (1 << 20), 0, "MiB"));
  facts.emplace_back("Memory bus", std::to_string(get(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)) + " bit");
  facts.emplace_back("CUDA driver API", version(api().driver_version));
  const KernelCode code = kernel_code(major, minor);
  facts.emplace_back("Kernels", code_words(code, code.major == major && code.minor == minor));
  for (const auto& vendor : vendors())
    if (!vendor.version.empty()) facts.emplace_back(vendor.title, vendor.version);
  if (const std::string uuid = uuid_of(ordinal); !uuid.empty()) facts.emplace_back("UUID", uuid);
  const auto l2 = static_cast<double>(get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  if (const int64_t l1 = l1_bytes(major, minor)) device.caches.emplace_back("L1", static_cast<double>(l1 * get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)));
  if (l2 > 0) device.caches.emplace_back("L2", l2);
  char bus[32] = "";
  std::string why;
  double free = std::numeric_limits<double>::quiet_NaN();
  if (api().DeviceGetPCIBusId(bus, sizeof bus, ordinal) == CUDA_SUCCESS) {
    facts.emplace_back("PCI bus id", bus);
    if (const auto nvml = Nvml::of_pci_bus(bus, &why)) {
      for (const auto& fact : nvml->facts()) facts.push_back(fact);
      free = nvml->free_bytes();
      device.warnings = nvml->warnings();
      device.disturbances = nvml->disturbances(holds_context(ordinal));
      if (const std::string driver = nvml->driver(); !driver.empty()) device.driver = driver;
    } else {
      device.warnings.push_back(why);
    }
  }
  const Timer* timer = Timer::known(ordinal);
  device.memory_bytes = room_bytes(static_cast<double>(total), free, holds_context(ordinal), timer ? 0 : static_cast<double>(Timer::flush_bytes(static_cast<int64_t>(l2))));
  if (timer) {
    facts.emplace_back("Event overhead subtracted (hot)", number(timer->events_ns() / 1000, 2, "µs"));
    facts.emplace_back("Launch overhead subtracted (graph)", number(timer->graph_launch_ns() / 1000, 2, "µs"));
  }
  if (major < 8) {
    device.available = false;
    device.reason = "This GPU has compute capability " + capability_words(major, minor) + "; Opscope's kernels need 8.0 (Ampere) or newer.";
  } else if (code.origin == CodeOrigin::none) {
    device.available = false;
    const std::string built = built_archs();
    device.reason = "This GPU has compute capability " + capability_words(major, minor) + "; this build has " + (built.empty() ? "no compiled kernels" : "kernels for " + built + " only") +
                    ", and they cannot be compiled here: " + nvrtc_refusal(major, minor) + " Running npm run setup on this machine with nvcc helps too.";
  } else if (code.origin == CodeOrigin::translated) {
    device.warnings.push_back("The driver translates the kernels of compute capability " + capability_words(code.major, code.minor) + " for this GPU (" + capability_words(major, minor) + "), without the instructions that it has beyond those. For kernels of its own: " + nvrtc_refusal(major, minor));
  }
  return device;
}

}  // namespace

std::vector<DeviceInfo> devices() {
  if (!api().missing.empty()) return {unavailable(api().missing)};
  int count = 0;
  if (api().DeviceGetCount(&count) != CUDA_SUCCESS || count == 0) return {unavailable("The NVIDIA driver is installed but shows no GPU to this process.")};
  std::vector<DeviceInfo> list;
  for (int ordinal = 0; ordinal < count; ordinal++) list.push_back(describe_device(ordinal));
  return list;
}

}  // namespace opscope::cuda
