#include "plan.h"

namespace opscope::cuda {
// dims: [8, iterations].
static const Register registered({"spin", {Dtype::f32}, {2}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0]), out(d[0])}; }, [](Planner& p) {
  if (p.dim(0) > 32) throw Error("internal", "malformed spin case: expected at most 32 elements, received " + std::to_string(p.dim(0)));
  // The kernel counts turns of 256 steps in 32 bits.
  if (p.dim(1) >= int64_t{256} << 32) throw Error("unsupported", "The CUDA kernel for spin takes up to 2^40 iterations.");
  p.launch(p.kernel("spin_f32"), {}, 32, 0, p.input(0), p.output(), static_cast<long long>(p.dim(0)), static_cast<long long>(p.dim(1)));
}});
}  // namespace opscope::cuda
