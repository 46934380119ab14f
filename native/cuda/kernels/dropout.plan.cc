#include <cmath>

#include "plan.h"

namespace opscope::cuda {
// dims: [n]; scalars: [p].
static const Register registered({"dropout", real_dtypes, {1}, [](const OpKernels&, const Dims& d) { return std::vector{in(d[0]), out(d[0])}; },
                                  [](Planner& p) {
                                    const auto n = static_cast<long long>(p.dim(0));
                                    const auto rate = static_cast<float>(p.scalar(0));
                                    // The upper 24 bits of a word against p, as whole numbers: p below 1 leaves room for the shift. Worked out here, as each thread of
                                    // the kernel has few elements.
                                    const uint32_t least = rate < 1.0f ? static_cast<uint32_t>(std::ceil(rate * 16777216.0f)) << 8 : ~0u;
                                    // Many elements of 16 bits: their words take as long as their bytes (bf16 67M on an H200: 76.5 us, two vectors of a thread 75.1).
                                    const bool two = p.spec.dtype != Dtype::f32 && n >= int64_t{p.device.sm_count} * 32768;
                                    p.launch(p.kernel_in("dropout", (two ? "dropout_two_" : "dropout_") + p.dtype()), {two ? ceil_div(n, 512 * 8) : blocks_of(p.spec.dtype, n)}, 256, 0, p.input(0), p.output(), n, 1.0f / (1.0f - rate), least, p.seed());
                                  },
                                  1});
}
