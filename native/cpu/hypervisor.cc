#include "hypervisor.h"

#include <fstream>
#include <iterator>

#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace opscope::cpu {

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

bool files_name_hypervisor(const std::string& root) {
  const std::string dmi = root + "/sys/class/dmi/id/", tree = root + "/proc/device-tree/";
  // A bare machine of a cloud has the vendor of its guests.
  if (text_of(dmi + "product_name").find(".metal") != std::string::npos) return false;
  // The first domain of Xen is the machine itself.
  if (!text_of(root + "/sys/hypervisor/type").empty() && text_of(root + "/proc/xen/capabilities").find("control_d") == std::string::npos) return true;
  for (const char* field : {"product_name", "sys_vendor", "board_vendor", "bios_vendor", "product_version"}) {
    const std::string text = text_of(dmi + field);
    for (const char* name : {"KVM", "OpenStack", "KubeVirt", "Amazon EC2", "Google Compute Engine", "QEMU", "VMware", "VMW", "innotek GmbH", "VirtualBox", "Xen", "Bochs", "Parallels", "BHYVE", "Hyper-V", "Apple Virtualization"})
      if (text.starts_with(name)) return true;
  }
  if (text_of(dmi + "sys_vendor").starts_with("Microsoft Corporation") && text_of(dmi + "product_name").starts_with("Virtual Machine")) return true;
  return !text_of(tree + "hypervisor/compatible").empty() || text_of(tree + "compatible").find("linux,dummy-virt") != std::string::npos;
}

bool system_names_hypervisor() {
#if defined(__APPLE__)
  int present = 0;
  size_t bytes = sizeof present;
  return sysctlbyname("kern.hv_vmm_present", &present, &bytes, nullptr, 0) == 0 && present != 0;
#elif defined(__linux__)
  static const bool named = files_name_hypervisor("");
  return named;
#else
  return false;
#endif
}

}  // namespace opscope::cpu
