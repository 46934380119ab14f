// Chains of products of bf16 by tiles or by pairs of terms: the peak rate of products, where the processor has an instruction for them. dims: [n, iterations];
// the op's doc comment in core/ops/probe states what a warp of it computes, eight steps of 16 x 8 x 16.
#include "simd/tiles.h"

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

#if defined(OPSCOPE_TILES)
constexpr int64_t RESULTS = TILE_ROWS * W, TILES_OF_STEPS = STEPS * 16 * 8 * 16 / (RESULTS * 2 * TILE_UNITS);  // as many products as the steps of a warp
static_assert(TILES_OF_STEPS == 2);

void run_tiles(const Call& c) {
  const int64_t iterations = c.dims[1], stride = TILE_UNITS * sizeof(float);
  const Range r = part(c.dims[0], 1, c.thread, c.threads);
  alignas(64) float tile[TILE_FLOATS];
  const Tiles state;
  for (int64_t i = r.begin; i < r.end; i++) {
    const BF16 x = input<BF16>(c, 0)[i];
    map0<false>(tile, 0, TILE_FLOATS, [x] { return vset(pair_of(x, x)); });
    OPSCOPE_TILE_LOAD(4, tile, stride);
    map0<false>(tile, 0, TILE_FLOATS, [] { return vset(pair_of({0x3f80}, {0x3f80})); });
    OPSCOPE_TILE_LOAD(6, tile, stride);
    OPSCOPE_TILE_ZERO(0);
    OPSCOPE_TILE_ZERO(1);
    OPSCOPE_TILE_ZERO(2);
    OPSCOPE_TILE_ZERO(3);
    // Two iterations at a time have sums of their own.
    for (int64_t n = 0; n < iterations; n++) {
      OPSCOPE_TILE_MULTIPLY(0, 4, 6);
      OPSCOPE_TILE_MULTIPLY(1, 4, 6);
      if (++n >= iterations) break;
      OPSCOPE_TILE_MULTIPLY(2, 4, 6);
      OPSCOPE_TILE_MULTIPLY(3, 4, 6);
    }
    V all = vset(0);
    const auto add = [&] {
      for (int64_t at = 0; at < TILE_FLOATS; at += W) all = vadd(all, vload(tile + at));
    };
    OPSCOPE_TILE_STORE(0, tile, stride);
    add();
    OPSCOPE_TILE_STORE(1, tile, stride);
    add();
    OPSCOPE_TILE_STORE(2, tile, stride);
    add();
    OPSCOPE_TILE_STORE(3, tile, stride);
    add();
    set(output<BF16>(c) + i, vsum(all) / (static_cast<float>(TILES_OF_STEPS * RESULTS * 2 * TILE_UNITS) * static_cast<float>(iterations)));
  }
}
constexpr opscope::cpu::Run TILED = run_tiles;
#else
constexpr opscope::cpu::Run TILED = nullptr;
#endif

bool shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = d[0];
  return true;
}

}  // namespace

OPSCOPE_KERNEL(peak_mma, "t>t", 2, 2, 0, shape, nullptr, {nullptr, nullptr, nullptr, nullptr, nullptr, PAIRED, TILED})
