// A counter of energy, read from one thread.
#pragma once
#include <memory>
#include <string>

namespace opscope {

class EnergySource {
 public:
  virtual ~EnergySource() = default;
  // Joules from any origin; it never falls. NaN where the counter cannot be read any more.
  virtual double joules() = 0;
  // Power as the driver tells it, or NaN.
  virtual double watts() = 0;
  virtual std::string title() const = 0;
};

// The package domains of the processors together (Linux powercap: RAPL), below `root`. Throws Error "unsupported" where there are none or they
// cannot be read.
std::unique_ptr<EnergySource> rapl_source(const std::string& root = "/sys/class/powercap");

namespace cuda {
// NVML's counter of total energy. By the number of a CUDA device / of the one GPU of this name. Throws Error "unsupported".
std::unique_ptr<EnergySource> energy_source(int ordinal);
std::unique_ptr<EnergySource> energy_source(const std::string& name);
}  // namespace cuda

}  // namespace opscope
