#include "plan.h"

namespace opscope::cuda {
// dims: [m, n, k]; a [m, k], b [n, k], scaleA [m], scaleB [n]; out in bf16.
static const Register registered({"scaled_matmul", {Dtype::i8, Dtype::f8e4m3}, {3},
                                  [](const OpKernels&, const Dims& d) {
                                    constexpr int64_t most_k = INT32_MAX / (127 * 127);
                                    const int64_t m = d[2] <= most_k ? d[0] : 0;
                                    return std::vector{in(m * d[2]), in(d[1] * d[2]), in(m, Storage::f32), in(d[1], Storage::f32), out(m * d[1], Storage::bf16)};
                                  },
                                  [](Planner& p) {
                                    constexpr int64_t tile = 64;
                                    const auto m = static_cast<long long>(p.dim(0)), n = static_cast<long long>(p.dim(1)), k = static_cast<long long>(p.dim(2));
                                    const int64_t across = ceil_div(n, tile);
                                    p.launch(p.kernel("scaled_matmul_" + p.dtype()), {ceil_div(m, tile) * across}, 256, 0, p.input(0), p.input(1), p.input(2), p.input(3), p.output(), m, n, k,
                                             static_cast<long long>(across));
                                  }});
}
