// matmul in tf32 by wgmma (sm_90a), for operands whose rows start on 16 bytes (others are copied so first: matmul.plan.cc). How a tile is made: matmul/wgmma.cuh.
// wgmma reads tf32 from shared memory along K alone. Where K is contiguous in one operand only, the other one goes through registers, where it is rounded too; that
// operand's rows are those of the product, which is turned where it is B. Where K is contiguous in neither, one is turned first (matmul_parts.cu).
//   matmul_wgmma_tf32_<rows of a tile>_<columns>_nt   X is A [m, k], Y is B [n, k]
//   matmul_wgmma_tf32_<rows of a tile>_<columns>_nn   X is B [k, n], Y is A [m, k], the result turned
//   matmul_wgmma_tf32_<rows of a tile>_<columns>_tt   X is A [k, m], Y is B [n, k]
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/wgmma.cuh"

#define MATMUL(GROUPS, BM, BN, LAYOUT, TX, REGISTERS, TURNED)                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(128 + GROUPS * 128, 1) matmul_wgmma_tf32_##BM##_##BN##_##LAYOUT(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap y, \
                                                                                                               const __grid_constant__ TensorMap last_x, const __grid_constant__ TensorMap last_y, tf32* c, float* shares, const __grid_constant__ WgmmaTask task) { \
    matmul<tf32, GROUPS, BN, TX, 0, REGISTERS, TURNED>(x, y, last_x, last_y, c, shares, task);                                                                                                 \
  }
#define MATMUL_LAYOUTS(GROUPS, BM, BN)             \
  MATMUL(GROUPS, BM, BN, nt, 0, false, false)      \
  MATMUL(GROUPS, BM, BN, nn, 1, true, true)        \
  MATMUL(GROUPS, BM, BN, tt, 1, true, false)
MATMUL_LAYOUTS(2, 128, 256)
MATMUL_LAYOUTS(2, 128, 192)
MATMUL_LAYOUTS(2, 128, 128)
MATMUL_LAYOUTS(2, 128, 64)
MATMUL_LAYOUTS(1, 64, 64)
