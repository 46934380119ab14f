// The tiles and layouts of products with shifted rows (shifted.cuh): a file for each type, which compile beside each other.
//   matmul_shifted_<dtype>_<columns of a tile>_<a|b>_<k|l>_<k|l>   which operand is X; whether k or the other side is contiguous in X, and in Y
#pragma once
#include "shifted.cuh"

#define SHIFTED(T, BN, NAME, K, TY, TURNED)                                                                                                                              \
  extern "C" __global__ void __launch_bounds__(384, 1) matmul_shifted_##T##_##BN##_##NAME(const T* x, const __grid_constant__ TensorMap y, T* c, float* shares,        \
                                                                                         const __grid_constant__ WgmmaTask task, int tile_rows) {                      \
    shifted<T, BN, K, TY, TURNED>(x, y, c, shares, task, tile_rows);                                                                                                     \
  }
#define SHIFTED_SIDES(T, BN, NAME, K, TY) SHIFTED(T, BN, a_##NAME, K, TY, false) SHIFTED(T, BN, b_##NAME, K, TY, true)
#define SHIFTED_TILES(T, NAME, K, TY) SHIFTED_SIDES(T, 64, NAME, K, TY) SHIFTED_SIDES(T, 128, NAME, K, TY) SHIFTED_SIDES(T, 256, NAME, K, TY)
#define SHIFTED_TILES_16BIT(T, NAME, K, TY) SHIFTED_TILES(T, NAME, K, TY) SHIFTED_SIDES(T, 192, NAME, K, TY)
#define SHIFTED_16BIT(T) SHIFTED_TILES_16BIT(T, k_k, true, 0) SHIFTED_TILES_16BIT(T, k_l, true, 1) SHIFTED_TILES_16BIT(T, l_k, false, 0) SHIFTED_TILES_16BIT(T, l_l, false, 1)
