// matmul on Hopper's tensor cores by wgmma (sm_90a), for operands whose rows start on 16 bytes (others are copied so first: matmul.plan.cc). How a tile is made:
// matmul/wgmma.cuh. f16 and bf16 read either layout of either operand; tf32 has K contiguous in both here, and otherwise takes matmul_wgmma_tf32.cu.
//   matmul_wgmma_<dtype>_<rows of a tile>_<columns>_<layout>   layout as in matmul_mma.cu; a "t" for A and an "n" for B mean that K is not contiguous
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/wgmma.cuh"

#define MATMUL(T, GROUPS, BM, BN, LAYOUT, TA, TB)                                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(128 + GROUPS * 128, 1) matmul_wgmma_##T##_##BM##_##BN##_##LAYOUT(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, \
                                                                                                                T* c, float* shares, const __grid_constant__ WgmmaTask task) {      \
    matmul<T, GROUPS, BN, TA, TB>(a, b, c, shares, task);                                                                                                                           \
  }
#define MATMUL_LAYOUTS(T, GROUPS, BM, BN) \
  MATMUL(T, GROUPS, BM, BN, nn, 0, 1)     \
  MATMUL(T, GROUPS, BM, BN, nt, 0, 0)     \
  MATMUL(T, GROUPS, BM, BN, tn, 1, 1)     \
  MATMUL(T, GROUPS, BM, BN, tt, 1, 0)
#define MATMUL_TILES(T)          \
  MATMUL_LAYOUTS(T, 2, 128, 256) \
  MATMUL_LAYOUTS(T, 2, 128, 192) \
  MATMUL_LAYOUTS(T, 2, 128, 128) \
  MATMUL_LAYOUTS(T, 2, 128, 64)  \
  MATMUL_LAYOUTS(T, 1, 64, 64)
MATMUL_TILES(f16)
MATMUL_TILES(bf16)
MATMUL(tf32, 2, 128, 256, nt, 0, 0)
MATMUL(tf32, 2, 128, 192, nt, 0, 0)
MATMUL(tf32, 2, 128, 128, nt, 0, 0)
MATMUL(tf32, 2, 128, 64, nt, 0, 0)
MATMUL(tf32, 1, 64, 64, nt, 0, 0)
