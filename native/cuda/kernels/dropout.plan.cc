#include "plan.h"

namespace opscope::cuda {
// dims: [n]; scalars: [p].
static const Register registered({"dropout", real_dtypes, {1}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0]), out(d[0])}; },
                                  [](Planner& p) {
                                    const auto n = static_cast<long long>(p.dim(0));
                                    p.launch(p.kernel("dropout_" + p.dtype()), {blocks_of(p.spec.dtype, n)}, 256, 0, p.input(0), p.output(), n, static_cast<float>(p.scalar(0)), p.seed());
                                  },
                                  1});
}
