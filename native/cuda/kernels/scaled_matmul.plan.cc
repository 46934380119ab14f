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
                                    const int64_t m = p.dim(0), n = p.dim(1), k = p.dim(2);
                                    if (p.spec.dtype == Dtype::f8e4m3 && p.device.major * 10 + p.device.minor < 89) {
                                      constexpr int64_t side = 64;
                                      const int64_t across = ceil_div(n, side);
                                      p.launch(p.kernel("scaled_matmul_f8e4m3"), {ceil_div(m, side) * across}, 256, 0, p.input(0), p.input(1), p.input(2), p.input(3), p.output(), static_cast<long long>(m),
                                               static_cast<long long>(n), static_cast<long long>(k), static_cast<long long>(across));
                                      return;
                                    }
                                    if (m > int64_t{1} << 30 || n > int64_t{1} << 30) throw Error("unsupported", "The CUDA kernels for scaled_matmul take m and n of up to 2^30.");
                                    const auto tiles = [&](int64_t side) { return ceil_div(m, side) * ceil_div(n, side); };
                                    const bool large = tiles(128) * 10 >= p.device.sm_count * 9;
                                    const int64_t side = large ? 128 : 64;
                                    // Stages of 64 bytes of k (common/product.cuh).
                                    const unsigned shared = (large ? 4 : 8) * 2 * static_cast<unsigned>(side) * 64;
                                    p.launch(p.kernel("scaled_matmul_mma_" + p.dtype() + "_" + std::to_string(side), shared), {tiles(side)}, large ? 256 : 128, shared, p.input(0), p.input(1), p.input(2), p.input(3),
                                             p.output(), static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), static_cast<int>(ceil_div(m, side)), static_cast<int>(ceil_div(n, side)));
                                  }});
}
