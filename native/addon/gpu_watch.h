// Looks at the state of a GPU while another process of this app computes on it, such as Chromium's. Plain C++20, like prepared.h.
#pragma once
#include <memory>
#include <string>

#include "prepared.h"

namespace opscope {

class GpuWatch {
 public:
  virtual ~GpuWatch() = default;
  // A window begins; what was read before is forgotten. `count_energy`: it will be long enough for the energy counter, which
  // moves about ten times a second and takes milliseconds to read.
  virtual void begin(bool count_energy) = 0;
  // Looks at the device: to be called now and then while it works.
  virtual void read() = 0;
  // The window since `begin`; looks once where nobody has.
  virtual DeviceState end() = 0;
};

namespace cuda {
// The one NVIDIA GPU of this name, on which process `worker` computes (0: not known, then other processes are not counted).
// Takes neither a context nor memory on it. Throws Error "unsupported" where there is no such GPU, or more than one.
std::unique_ptr<GpuWatch> watch(const std::string& name, unsigned worker);
}  // namespace cuda

}  // namespace opscope
