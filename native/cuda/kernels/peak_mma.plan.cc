#include "plan.h"

namespace opscope::cuda {
// dims: [n warps, iterations].
static const Register registered({"peak_mma", {Dtype::f16, Dtype::bf16, Dtype::tf32}, {2}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0]), out(d[0])}; }, [](Planner& p) {
  const char* suffix = p.device.major == 9 && p.device.minor == 0 ? "_wgmma" : "";
  p.launch(p.kernel("peak_mma_" + p.dtype() + suffix), {ceil_div(p.dim(0), 4)}, 128, 0, p.input(0), p.output(),
           static_cast<long long>(p.dim(0)), static_cast<int>(p.dim(1)));
}});
}  // namespace opscope::cuda
