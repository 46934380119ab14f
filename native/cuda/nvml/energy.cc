// NVML's counter of total energy as a source.
#include <cmath>
#include <utility>

#include "../../energy/source.h"
#include "nvml.h"

namespace opscope::cuda {

namespace {

class NvmlEnergy final : public EnergySource {
 public:
  explicit NvmlEnergy(std::unique_ptr<Nvml> nvml) : nvml_(std::move(nvml)) {}
  double joules() override { return nvml_->energy_j(); }
  double watts() override { return nvml_->power_w(); }
  std::string title() const override { return "NVML total energy"; }

 private:
  std::unique_ptr<Nvml> nvml_;
};

}  // namespace

std::unique_ptr<EnergySource> energy_of(std::unique_ptr<Nvml> nvml, const std::string& why) {
  if (!nvml) throw Error("unsupported", why);
  if (std::isnan(nvml->energy_j())) throw Error("unsupported", "This GPU has no counter of total energy; GPUs since Volta have one.");
  return std::make_unique<NvmlEnergy>(std::move(nvml));
}

std::unique_ptr<EnergySource> energy_source(const std::string& name) {
  std::string why;
  auto nvml = Nvml::of_name(name, 0, &why);
  return energy_of(std::move(nvml), why);
}

}  // namespace opscope::cuda
