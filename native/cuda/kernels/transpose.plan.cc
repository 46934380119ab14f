#include "plan.h"

namespace opscope::cuda {
// dims: [rows, cols].
static const Register registered({"transpose", real_dtypes, {2}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[1]), out(d[0] * d[1])}; }, [](Planner& p) {
  const auto rows = static_cast<long long>(p.dim(0)), cols = static_cast<long long>(p.dim(1));
  const bool wide = dtype_bytes(p.spec.dtype) == 4;
  const int64_t side = wide ? 32 : 64, across = ceil_div(cols, side);
  p.launch(p.kernel(wide ? "transpose_4" : "transpose_2"), {ceil_div(rows, side) * across}, 256, 0, p.input(0), p.output(), rows, cols, static_cast<long long>(across));
}});
}
