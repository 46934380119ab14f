// The state of a GPU that another process works on. Needs nothing of CUDA, so builds without nvcc have it too.
#include <cmath>
#include <limits>
#include <utility>

#include "gpu_watch.h"
#include "nvml.h"
#include "window.h"

namespace opscope::cuda {

namespace {

constexpr double absent = std::numeric_limits<double>::quiet_NaN();

class NvmlWatch final : public GpuWatch {
 public:
  explicit NvmlWatch(std::unique_ptr<Nvml> nvml) : nvml_(std::move(nvml)) {}

  void begin(bool count_energy) override {
    window_ = {};
    energy_before_ = count_energy ? nvml_->energy_j() : absent;
  }

  void read() override { window_.add(nvml_->state()); }

  DeviceState end() override {
    if (window_.empty()) read();
    DeviceState state = window_.state();
    if (std::isnan(energy_before_)) return state;
    const double used = nvml_->energy_j() - energy_before_;
    // A window that saw no step has no reading, rather than zero.
    if (used > 0) state.energy_j = used;
    return state;
  }

 private:
  std::unique_ptr<Nvml> nvml_;
  StateWindow window_;
  double energy_before_ = absent;
};

}  // namespace

std::unique_ptr<GpuWatch> watch(const std::string& name, unsigned worker) {
  std::string why;
  auto nvml = Nvml::of_name(name, worker, &why);
  if (!nvml) throw Error("unsupported", why);
  return std::make_unique<NvmlWatch>(std::move(nvml));
}

}  // namespace opscope::cuda
