// The tiles of 16-bit products by wgmma whose store does more (linear.h): LINEAR_16BIT(f16) in a file of its own for each type, which compile beside each other.
//   matmul_linear_<t>_<rows of a tile>_<columns>_<kind>   A [m, k], B [n, k], rows of results that start on 16 bytes
#pragma once
#include "wgmma.cuh"

#define LINEAR(T, GROUPS, BM, BN, KIND)                                                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(128 + GROUPS * 128, 1) matmul_linear_##T##_##BM##_##BN##_##KIND(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, \
                                                                                                         const __grid_constant__ TensorMap last_a, const __grid_constant__ TensorMap last_b, T* c, const __grid_constant__ WgmmaTask task, const __grid_constant__ LinearStore linear) { \
    matmul<T, GROUPS, BN, 0, 0, false, false, LinearKind::KIND>(a, b, last_a, last_b, c, nullptr, task, linear);                                                                                            \
  }
#define LINEAR_KINDS(T, GROUPS, BM, BN) LINEAR(T, GROUPS, BM, BN, gelu) LINEAR(T, GROUPS, BM, BN, residual) LINEAR(T, GROUPS, BM, BN, heads)
#define LINEAR_16BIT(T) LINEAR_KINDS(T, 2, 128, 256) LINEAR_KINDS(T, 2, 128, 192) LINEAR_KINDS(T, 2, 128, 128) LINEAR_KINDS(T, 2, 128, 64) LINEAR_KINDS(T, 1, 64, 64)
