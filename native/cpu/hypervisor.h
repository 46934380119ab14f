// Whether the system runs on a hypervisor, where the processor itself does not tell.
#pragma once
#include <string>

namespace opscope::cpu {

// From what Linux shows of its hypervisor and of the firmware's tables, under a root folder: /sys/hypervisor, /sys/class/dmi/id and
// /proc/device-tree, as systemd-detect-virt reads them. A machine that is rented whole ("metal") is none.
bool files_name_hypervisor(const std::string& root);

// The same of this system; by kern.hv_vmm_present on macOS. False where nothing tells.
bool system_names_hypervisor();

}  // namespace opscope::cpu
