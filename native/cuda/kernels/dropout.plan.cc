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
                                    // More: four of a thread, in blocks of 128 (bf16 16M 19.8 to 19.5 us, 67M 66.5 and 67.0; f16 5M 8.8 to 9.8).
                                    const bool half = p.spec.dtype != Dtype::f32, four = half && n >= int64_t{p.device.sm_count} * 98304, two = half && n >= int64_t{p.device.sm_count} * 32768;
                                    // Whole blocks of two vectors of a thread do nothing else.
                                    constexpr int64_t block = 256 * 2 * 8;
                                    if (two && n % block == 0 && n / block <= Launch::max_blocks_x / 256) {
                                      p.launch(p.kernel_in("dropout", "dropout_whole_" + p.dtype()), {n / block}, 256, 0, p.input(0), p.output(), n, 1.0f / (1.0f - rate), least, p.seed());
                                      return;
                                    }
                                    const Dim3 grid{four ? ceil_div(n, 128 * 4 * 8) : two ? ceil_div(n, 256 * 2 * 8) : blocks_of(p.spec.dtype, n)};
                                    p.launch(p.kernel_in("dropout", (four ? "dropout_four_" : two ? "dropout_two_" : "dropout_") + p.dtype()), grid, four ? 128 : 256, 0, p.input(0), p.output(), n, 1.0f / (1.0f - rate), least, p.seed());
                                  },
                                  1});
}
