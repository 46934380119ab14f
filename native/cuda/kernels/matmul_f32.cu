// matmul in full f32 (no tensor cores) on Hopper, for operands whose rows start on 16 bytes (others are copied so first: matmul.plan.cc). How a tile is made: matmul/f32.cuh.
//   matmul_f32_<rows of a tile>_<columns>_<layout>   tiles smaller than 256 x 128: two or four times as many warps, which each take a half or a quarter of every stage
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/f32.cuh"

#define MATMUL(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN, LAYOUT, A_K, B_K)                                                                                                                                         \
  extern "C" __global__ void __launch_bounds__(WM * WN * SLICES * 32, BLOCKS) matmul_f32_##BM##_##BN##_##LAYOUT(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float* c, const F32Product p, \
                                                                                                          float* shares, int splits) {                                                                                \
    F32Tile<WM, WN, TY, 16, SLICES, STAGES, A_K, B_K>::product(BulkOperands{a, b}, p, c, shares, splits);                                                                                                              \
  }
MATMUL_LAYOUTS(4, 2, 4, 1, 4, 1, 256, 128)
MATMUL_LAYOUTS(2, 2, 4, 2, 6, 1, 128, 128)
MATMUL_LAYOUTS(2, 1, 4, 4, 6, 1, 128, 64)
MATMUL_LAYOUTS(1, 2, 4, 4, 6, 1, 64, 128)
MATMUL_LAYOUTS(2, 1, 8, 4, 5, 1, 256, 32)
MATMUL_LAYOUTS(1, 2, 2, 4, 5, 1, 32, 256)
