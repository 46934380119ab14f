// The same for operands in any place (matmul_f32.cu): each thread copies words.
//   matmul_f32_words_<rows of a tile>_<columns>_<layout>
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/f32.cuh"

#define MATMUL(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN, LAYOUT, A_ROWS, B_ROWS)                                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(WM * WN * SLICES * 32, BLOCKS) matmul_f32_words_##BM##_##BN##_##LAYOUT(const float* a, const float* b, float* c, int m, int n, \
                                                                                                          int k, int tiles_m, int tiles_n, float* shares, int splits, int batches_a, int wide_a, int wide_b) {                     \
    matmul<WM, WN, TY, 16, SLICES, STAGES, A_ROWS, B_ROWS>(EitherOperands{a, b, wide_a != 0, wide_b != 0}, c, m, n, k, tiles_m, tiles_n, shares, splits, batches_a);                                                                                      \
  }
MATMUL_LAYOUTS(4, 2, 4, 1, 4, 1, 256, 128)
MATMUL_LAYOUTS(2, 1, 4, 4, 6, 1, 128, 64)
MATMUL_LAYOUTS(1, 2, 4, 4, 6, 1, 64, 128)
MATMUL_LAYOUTS(2, 1, 8, 4, 5, 1, 256, 32)
MATMUL_LAYOUTS(1, 2, 2, 4, 5, 1, 32, 256)
