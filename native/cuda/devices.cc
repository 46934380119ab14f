// Lists the GPUs without creating a context on any: that would take their memory and a quarter of a second each.
#include <cstdio>

#include "driver/context.h"
#include "kernels/plan.h"
#include "nvml/nvml.h"
#include "prepared.h"

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
  impl.preferred = true;
  for (const auto& op : registered_ops()) impl.kernels.push_back({op.op, op.dtypes});
  return impl;
}

DeviceInfo unavailable(const std::string& reason) {
  DeviceInfo device;
  device.backend = "cuda";
  device.id = "cuda:0";
  device.name = "NVIDIA GPU";
  device.available = false;
  device.reason = reason;
  device.modes = {Mode::cold, Mode::hot, Mode::graph};
  ImplInfo impl = kernels_impl();
  impl.available = false;
  impl.reason = reason;
  device.impls = {impl};
  return device;
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
  device.memory_bytes = static_cast<double>(total);
  device.modes = {Mode::cold, Mode::hot, Mode::graph};
  device.impls = {kernels_impl()};

  const auto get = [&](CUdevice_attribute which) { return attribute(ordinal, which); };
  const int major = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), minor = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  auto& facts = device.facts;
  facts.emplace_back("Compute capability", std::to_string(major) + "." + std::to_string(minor));
  facts.emplace_back("Memory", number(static_cast<double>(total) / (1 << 30), 1, "GiB"));
  facts.emplace_back("Multiprocessors", std::to_string(get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)));
  facts.emplace_back("L2 cache", number(static_cast<double>(get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)) / (1 << 20), 0, "MiB"));
  facts.emplace_back("Memory bus", std::to_string(get(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)) + " bit");
  facts.emplace_back("CUDA driver API", version(api().driver_version));
  facts.emplace_back("Kernels built with CUDA", version(CUDA_VERSION));
  char bus[32] = "";
  std::string why;
  if (api().DeviceGetPCIBusId(bus, sizeof bus, ordinal) == CUDA_SUCCESS) {
    facts.emplace_back("PCI bus id", bus);
    if (const auto nvml = Nvml::of_pci_bus(bus, &why)) {
      for (const auto& fact : nvml->facts()) facts.push_back(fact);
      device.warnings = nvml->warnings();
    } else {
      device.warnings.push_back(why);
    }
  }
  if (major < 8) {
    device.available = false;
    device.reason = "This GPU has compute capability " + std::to_string(major) + "." + std::to_string(minor) + "; Opscope's kernels need 8.0 (Ampere) or newer.";
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
