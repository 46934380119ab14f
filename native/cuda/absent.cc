// The CUDA backend of an addon that was built without nvcc: one device, listed as unavailable, with the way to get it.
#include "../energy/source.h"
#include "../guest/guest_case.h"
#include "prepared.h"

namespace opscope::cuda {

namespace {
constexpr const char* reason =
    "This build has no CUDA part, because neither nvcc nor the headers of CUDA were found when it was built. "
    "Install the CUDA toolkit 13, or nvidia-cuda-runtime in an active Python environment, and run npm run setup again.";
}

std::vector<DeviceInfo> devices() {
  DeviceInfo device;
  device.backend = "cuda";
  device.id = "cuda:0";
  device.name = "NVIDIA GPU";
  device.available = false;
  device.reason = reason;
  return {device};
}

std::unique_ptr<EnergySource> energy_source(int) { throw Error("unsupported", reason); }

void set_library_folders(std::vector<std::string>) {}
void set_compile_in_background(bool) {}

std::unique_ptr<Prepared> open(const CaseSpec&) { throw Error("unsupported", reason); }

std::unique_ptr<GuestCase> open_guest(const CaseSpec&, opscope_guest_call) { throw Error("unsupported", reason); }

}  // namespace opscope::cuda
