// matmul in full f32 (no tensor cores) on Hopper by tiles of which a multiprocessor has three at a time, so that one loads or stores while others multiply; operands in any place
// (matmul/several.h says when). How a tile is made: matmul/f32.cuh, matmul/f32_copies.cuh.
//   matmul_f32_several_64_<columns of a tile>_<layout>   64 columns: two groups of warps each take a half of every stage
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/f32_copies.cuh"

#define SEVERAL(WM, WN, SLICES, STAGES, BM, BN, LAYOUT, A_K, B_K)                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(128, 3) matmul_f32_several_##BM##_##BN##_##LAYOUT(const float* a, const float* b, float* c, const F32Product p, int wide_a, int wide_b) { \
    F32Tile<WM, WN, 4, 8, SLICES, STAGES, false, false>::product(CopiedOperands<A_K, B_K>{a, b, wide_a != 0, wide_b != 0}, p, c, nullptr, 1);                                             \
  }
#define SEVERAL_LAYOUTS(WM, WN, SLICES, STAGES, BM, BN)                                                                    \
  SEVERAL(WM, WN, SLICES, STAGES, BM, BN, nn, true, false) SEVERAL(WM, WN, SLICES, STAGES, BM, BN, nt, true, true) \
  SEVERAL(WM, WN, SLICES, STAGES, BM, BN, tn, false, false) SEVERAL(WM, WN, SLICES, STAGES, BM, BN, tt, false, true)
SEVERAL_LAYOUTS(2, 2, 1, 3, 64, 128)
SEVERAL_LAYOUTS(2, 1, 2, 4, 64, 64)
