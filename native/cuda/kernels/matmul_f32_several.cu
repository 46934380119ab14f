// matmul in full f32 (no tensor cores) on Hopper by tiles of which a multiprocessor has three at a time, so that one loads or stores while others multiply; operands in any place
// (matmul/several.h says when). How a tile is made: matmul/f32.cuh.
//   matmul_f32_several_<rows of a tile>_<columns>_<layout>
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/f32.cuh"

#define SEVERAL(WM, WN, BM, BN, LAYOUT, A_ROWS, B_ROWS)                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(128, 3)                                                                                                                                       \
      matmul_f32_several_##BM##_##BN##_##LAYOUT(const float* a, const float* b, float* c, int m, int n, int k, int tiles_m, int tiles_n, int batches_a, int wide_a, int wide_b) {           \
    matmul<WM, WN, 4, 8, 1, 3, A_ROWS, B_ROWS>(EitherOperands{a, b, wide_a != 0, wide_b != 0}, c, m, n, k, tiles_m, tiles_n, nullptr, 1, batches_a);                                              \
  }
#define SEVERAL_LAYOUTS(WM, WN, BM, BN) SEVERAL(WM, WN, BM, BN, nn, true, false) SEVERAL(WM, WN, BM, BN, nt, true, true) SEVERAL(WM, WN, BM, BN, tn, false, false)
SEVERAL_LAYOUTS(2, 2, 64, 128)
SEVERAL_LAYOUTS(4, 1, 128, 64)
