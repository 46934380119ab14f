#include "plan.h"

namespace opscope::cuda {
// dims: [n, iterations].
static const Register registered({"peak_fma", {Dtype::f32}, {2}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0]), out(d[0])}; }, [](Planner& p) {
  p.launch(p.kernel("peak_fma_f32"), {ceil_div(p.dim(0), 256)}, 256, 0, p.input(0), p.output(), static_cast<long long>(p.dim(0)),
           static_cast<int>(p.dim(1)));
}});
}  // namespace opscope::cuda
