// The NVIDIA management library, opened at run time: what a GPU is and what state it is in. Reads only.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../../energy/source.h"
#include "prepared.h"

namespace opscope::cuda {

class Nvml {
 public:
  // The device with this PCI bus id, or null when the library or the device cannot be reached (`why` says it).
  static std::unique_ptr<Nvml> of_pci_bus(const std::string& bus_id, std::string* why);
  // The one device of this name, on which process `worker` of this app computes rather than this one (0: not known). Null
  // also where several have the name.
  static std::unique_ptr<Nvml> of_name(const std::string& name, unsigned worker, std::string* why);

  // Clocks, temperature, power, throttle reasons and other processes, as they are now. energy_j is left absent.
  DeviceState state();
  // The device's energy counter in joules since the driver was loaded, or NaN.
  double energy_j() const;
  // Power in watts as the driver tells it now, or NaN.
  double power_w() const;
  // Bytes of the device's memory that nobody holds, or NaN.
  double free_bytes() const;
  // Version of the driver, empty when it does not say.
  std::string driver() const;
  // Other programs on the GPU and a display it drives, one sentence each. `holds_context`: whether this process is on the GPU itself.
  std::vector<std::string> disturbances(bool holds_context) const;
  // Driver version, limits, ECC and the like, with units.
  std::vector<std::pair<std::string, std::string>> facts() const;
  // Conditions that make figures less sure, such as MIG.
  std::vector<std::string> warnings() const;

 private:
  Nvml(void* device, unsigned worker) : device_(device), worker_(worker) {}
  int foreign_processes();
  void* device_;
  unsigned worker_;  // the process of this app that holds a context; 0: not known
  double processes_read_s_ = -1e9;
  int foreign_ = -1;
};

// Its energy counter. Throws Error "unsupported": `why` where there is no device, or that it has no counter.
std::unique_ptr<EnergySource> energy_of(std::unique_ptr<Nvml> nvml, const std::string& why);

}  // namespace opscope::cuda
