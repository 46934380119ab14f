#include "common/row.h"

namespace opscope::cuda {
// dims: [tokens, dim]; scalars: [eps]; inputs x, weight, bias.
static const Register registered({"layer_norm", real_dtypes, {2}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0] * d[1]), in(d[1]), in(d[1]), out(d[0] * d[1])}; },
                                  [](Planner& p) { plan_row_op(p, "layer_norm", p.input(1), p.input(2), static_cast<float>(p.scalar(0))); },
                                  1});
}
