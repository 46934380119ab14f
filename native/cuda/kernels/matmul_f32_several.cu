// matmul in full f32 (no tensor cores) on Hopper by tiles of which a multiprocessor has several at a time, so that one loads or stores while others multiply; operands in any place (matmul/several.h says
// when, and lists the tiles). How a tile is made: matmul/several.cuh.
//   matmul_f32_several_<rows of a tile>_<columns>_<threads>[_shares]_<layout>   k is split
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/several.cuh"

#ifdef OPSCOPE_WGMMA
#define PRODUCT(SHARES, A_K, B_K, ...) SeveralProduct<__VA_ARGS__>::product<SHARES>(CopiedOperands<A_K, B_K>{a, b, wide_a != 0, wide_b != 0}, p, c, shares);
#else
#define PRODUCT(...)
#endif
#define KERNEL(NAME, THREADS, BLOCKS, SHARES, A_K, B_K, ...)                                                                                                                                                         \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) matmul_f32_several_##NAME(const float* a, const float* b, float* c, const F32Product p, int wide_a, int wide_b, float* shares) { \
    PRODUCT(SHARES, A_K, B_K, __VA_ARGS__)                                                                                                                                                                  \
  }
#define SEVERAL(NAME, THREADS, BLOCKS, LAYOUT, A_K, B_K, ...) \
  KERNEL(NAME##_##LAYOUT, THREADS, BLOCKS, false, A_K, B_K, __VA_ARGS__) KERNEL(NAME##_shares_##LAYOUT, THREADS, BLOCKS, true, A_K, B_K, __VA_ARGS__)
// Warps down and across, lanes of a warp down, results of a thread down and across, slices, stages, k of a stage.
#define LAYOUTS(ROWS, COLUMNS, THREADS, BLOCKS, ...)                                                                                                                                                         \
  SEVERAL(ROWS##_##COLUMNS##_##THREADS, THREADS, BLOCKS, nn, true, false, __VA_ARGS__) SEVERAL(ROWS##_##COLUMNS##_##THREADS, THREADS, BLOCKS, nt, true, true, __VA_ARGS__) \
  SEVERAL(ROWS##_##COLUMNS##_##THREADS, THREADS, BLOCKS, tn, false, false, __VA_ARGS__) SEVERAL(ROWS##_##COLUMNS##_##THREADS, THREADS, BLOCKS, tt, false, true, __VA_ARGS__)
LAYOUTS(32, 32, 128, 5, 1, 1, 4, 8, 4, 4, 4, 32)
LAYOUTS(32, 64, 128, 4, 1, 1, 4, 8, 8, 4, 4, 32)
LAYOUTS(32, 64, 256, 2, 1, 1, 4, 8, 8, 8, 6, 32)
LAYOUTS(64, 32, 128, 4, 1, 1, 8, 8, 8, 4, 4, 32)
LAYOUTS(64, 64, 128, 4, 2, 2, 4, 8, 4, 1, 4, 16)
LAYOUTS(64, 64, 256, 2, 2, 1, 4, 8, 8, 4, 4, 32)
LAYOUTS(64, 128, 128, 3, 2, 2, 4, 8, 8, 1, 3, 32)
LAYOUTS(96, 64, 256, 1, 2, 1, 4, 12, 8, 4, 5, 32)
