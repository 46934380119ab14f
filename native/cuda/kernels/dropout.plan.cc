#include "plan.h"

namespace opscope::cuda {
// dims: [n]; scalars: [p].
static const Register registered({"dropout", real_dtypes, {1}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0]), out(d[0])}; },
                                  [](Planner& p) {
                                    const auto n = static_cast<long long>(p.dim(0));
                                    const int64_t lanes = 16 / static_cast<int64_t>(dtype_bytes(p.spec.dtype));
                                    p.launch(p.kernel("dropout_" + p.dtype()), {ceil_div(ceil_div(n, lanes), 256)}, 256, 0, p.input(0), p.output(), n, static_cast<float>(p.scalar(0)), p.seed());
                                  },
                                  1});
}
