// The energy counter of a CUDA device, found by its place on the bus.
#include "../energy/source.h"
#include "driver/api.h"
#include "nvml/nvml.h"

namespace opscope::cuda {

std::unique_ptr<EnergySource> energy_source(int ordinal) {
  if (!api().missing.empty()) throw Error("unsupported", api().missing);
  char bus[32] = "";
  check(api().DeviceGetPCIBusId(bus, sizeof bus, ordinal), "looking for the device's energy counter");
  std::string why;
  auto nvml = Nvml::of_pci_bus(bus, &why);
  return energy_of(std::move(nvml), why);
}

}  // namespace opscope::cuda
