#include "plan.h"

namespace opscope::cuda {
// dims: [8, ns].
static const Register registered({"spin_ns", {Dtype::f32}, {2}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0]), out(d[0])}; }, [](Planner& p) {
  if (p.dim(0) > 32) throw Error("internal", "malformed spin_ns case: expected at most 32 elements, received " + std::to_string(p.dim(0)));
  p.launch(p.kernel("spin_ns_f32"), {}, 32, 0, p.input(0), p.output(), static_cast<long long>(p.dim(0)), static_cast<unsigned long long>(p.dim(1)));
}});
}  // namespace opscope::cuda
