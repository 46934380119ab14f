// The tiles and layouts of wgmma products in a 16-bit type: WGMMA_16BIT(f16) in a file of its own for each type, which compile beside each other.
//   matmul_wgmma_<t>_<rows of a tile>_<columns>_<layout>   layout as in matmul_mma.cu; a "t" for A and an "n" for B mean that K is not contiguous
#pragma once
#include "wgmma.cuh"

#define WGMMA(T, GROUPS, BM, BN, LAYOUT, TA, TB)                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(128 + GROUPS * 128, 1) matmul_wgmma_##T##_##BM##_##BN##_##LAYOUT(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, \
                                                                                                          const __grid_constant__ TensorMap last_a, const __grid_constant__ TensorMap last_b, T* c, float* shares, const __grid_constant__ WgmmaTask task) {           \
    matmul<T, GROUPS, BN, TA, TB>(a, b, last_a, last_b, c, shares, task);                                                                                                                             \
  }
#define WGMMA_LAYOUTS(T, GROUPS, BM, BN) \
  WGMMA(T, GROUPS, BM, BN, nn, 0, 1)     \
  WGMMA(T, GROUPS, BM, BN, nt, 0, 0)     \
  WGMMA(T, GROUPS, BM, BN, tn, 1, 1)     \
  WGMMA(T, GROUPS, BM, BN, tt, 1, 0)
#define WGMMA_16BIT(T) WGMMA_LAYOUTS(T, 2, 128, 256) WGMMA_LAYOUTS(T, 2, 128, 192) WGMMA_LAYOUTS(T, 2, 128, 128) WGMMA_LAYOUTS(T, 2, 128, 64) WGMMA_LAYOUTS(T, 1, 64, 64)
