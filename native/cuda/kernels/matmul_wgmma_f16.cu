// matmul in f16 on Hopper's tensor cores by wgmma (sm_90a), for operands whose rows start on 16 bytes (others are copied so first: matmul.plan.cc). How a tile
// is made: matmul/wgmma.cuh. wgmma reads either layout of either operand.
//   matmul_wgmma_f16_<rows of a tile>_<columns>_<layout>   layout as in matmul_mma.cu; a "t" for A and an "n" for B mean that K is not contiguous
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/wgmma.cuh"

#define MATMUL(GROUPS, BM, BN, LAYOUT, TA, TB)                                                                                                                                      \
  extern "C" __global__ void __launch_bounds__(128 + GROUPS * 128, 1) matmul_wgmma_f16_##BM##_##BN##_##LAYOUT(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, \
                                                                                                            f16* c, float* shares, const __grid_constant__ WgmmaTask task) {      \
    matmul<f16, GROUPS, BN, TA, TB>(a, b, c, shares, task);                                                                                                                       \
  }
#define MATMUL_LAYOUTS(GROUPS, BM, BN) \
  MATMUL(GROUPS, BM, BN, nn, 0, 1)     \
  MATMUL(GROUPS, BM, BN, nt, 0, 0)     \
  MATMUL(GROUPS, BM, BN, tn, 1, 1)     \
  MATMUL(GROUPS, BM, BN, tt, 1, 0)
MATMUL_LAYOUTS(2, 128, 256)
MATMUL_LAYOUTS(2, 128, 192)
MATMUL_LAYOUTS(2, 128, 128)
MATMUL_LAYOUTS(2, 128, 64)
MATMUL_LAYOUTS(1, 64, 64)
