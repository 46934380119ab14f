// The same in bf16 (matmul_wgmma_f16.cu).
#include "matmul/wgmma.cuh"

#define MATMUL(GROUPS, BM, BN, LAYOUT, TA, TB)                                                                                                                                      \
  extern "C" __global__ void __launch_bounds__(128 + GROUPS * 128, 1) matmul_wgmma_bf16_##BM##_##BN##_##LAYOUT(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, \
                                                                                                            bf16* c, float* shares, const __grid_constant__ WgmmaTask task) {      \
    matmul<bf16, GROUPS, BN, TA, TB>(a, b, c, shares, task);                                                                                                                       \
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
