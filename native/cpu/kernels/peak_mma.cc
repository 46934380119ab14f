// Chains of products of bf16 by pairs of terms: the peak rate of products, where the processor has an instruction for them. dims: [n, iterations];
// the op's doc comment in core/ops/probe states what a warp of it computes, eight steps of 16 x 8 x 16.
#include "simd/pairs.h"

namespace {

#if defined(OPSCOPE_PAIRS)
constexpr int STEPS = 8, VECTORS = 16 * 8 / W, PAIRS_OF_TERMS = 16 / 2;  // of a step
constexpr int TOGETHER = 2;                                            // steps whose sums the registers hold

void run(const Call& c) {
  const int64_t iterations = c.dims[1];
  const Range r = part(c.dims[0], 1, c.thread, c.threads);
  const V ones = vset(pair_of({0x3f80}, {0x3f80}));
  for (int64_t i = r.begin; i < r.end; i++) {
    const BF16 x = input<BF16>(c, 0)[i];
    const V pair = vset(pair_of(x, x));
    V all = vset(0);
    for (int step = 0; step < STEPS; step += TOGETHER) {
      V sums[TOGETHER * VECTORS];
#pragma GCC unroll 16
      for (int v = 0; v < TOGETHER * VECTORS; v++) sums[v] = vset(0);
      for (int64_t n = 0; n < iterations; n++)
        for (int p = 0; p < PAIRS_OF_TERMS; p++) {
#pragma GCC unroll 16
          for (int v = 0; v < TOGETHER * VECTORS; v++) sums[v] = Pairs::fma(pair, ones, sums[v]);
        }
#pragma GCC unroll 16
      for (int v = 0; v < TOGETHER * VECTORS; v++) all = vadd(all, sums[v]);
    }
    set(output<BF16>(c) + i, vsum(all) / (static_cast<float>(STEPS * VECTORS * W) * 16 * static_cast<float>(iterations)));
  }
}
constexpr opscope::cpu::Run PAIRED = run;
#else
constexpr opscope::cpu::Run PAIRED = nullptr;
#endif

bool shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = d[0];
  return true;
}

}  // namespace

OPSCOPE_KERNEL(peak_mma, "t>t", 2, 2, 0, shape, nullptr, {nullptr, nullptr, nullptr, nullptr, nullptr, PAIRED})
