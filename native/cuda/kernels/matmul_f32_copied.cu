// The same for operands in any place and layout (matmul_f32.cu): threads copy them, and turn those with k contiguous on their way (matmul/f32_copies.cuh).
//   matmul_f32_copied_<rows of a tile>_<columns>_<layout>
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/f32_copies.cuh"

#define MATMUL(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN, LAYOUT, A_K, B_K)                                                                                                                                         \
  extern "C" __global__ void __launch_bounds__(WM * WN * SLICES * 32, BLOCKS) matmul_f32_copied_##BM##_##BN##_##LAYOUT(const float* a, const float* b, float* c, const F32Product p, float* shares, int splits, int wide_a, int wide_b) { \
    F32Tile<WM, WN, TY, 16, SLICES, STAGES, false, false>::product(CopiedOperands<A_K, B_K>{a, b, wide_a != 0, wide_b != 0}, p, c, shares, splits);                                                                    \
  }
MATMUL_LAYOUTS(4, 2, 4, 1, 4, 1, 256, 128)
MATMUL_LAYOUTS(2, 2, 4, 2, 6, 1, 128, 128)
MATMUL_LAYOUTS(2, 1, 4, 4, 6, 1, 128, 64)
MATMUL_LAYOUTS(1, 2, 4, 4, 6, 1, 64, 128)
MATMUL_LAYOUTS(2, 1, 8, 4, 5, 1, 256, 32)
MATMUL_LAYOUTS(1, 2, 2, 4, 5, 1, 32, 256)
