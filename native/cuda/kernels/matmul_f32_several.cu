// matmul in full f32 (no tensor cores) on Hopper by tiles of which a multiprocessor has three at a time, so that one loads or stores while others multiply; operands in any place
// (matmul/several.h says when). How a tile is made: matmul/f32.cuh, matmul/f32_copies.cuh.
//   matmul_f32_several_<rows of a tile>_<columns>_<layout>
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/f32_copies.cuh"

#define MATMUL(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN, LAYOUT, A_K, B_K)                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(WM * WN * SLICES * 32, BLOCKS) matmul_f32_several_##BM##_##BN##_##LAYOUT(const float* a, const float* b, float* c, const F32Product p, int wide_a, int wide_b) { \
    F32Tile<WM, WN, TY, 8, SLICES, STAGES, false, false>::product(CopiedOperands<A_K, B_K>{a, b, wide_a != 0, wide_b != 0}, p, c, nullptr, 1);                                                     \
  }
MATMUL_LAYOUTS(2, 2, 4, 1, 3, 3, 64, 128)
MATMUL_LAYOUTS(4, 1, 4, 1, 3, 3, 128, 64)
