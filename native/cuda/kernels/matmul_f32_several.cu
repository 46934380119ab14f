// matmul in full f32 (no tensor cores) on Hopper by tiles of which a multiprocessor has three at a time, so that one loads or stores while others multiply; operands in any place
// (matmul/several.h says when). How a tile is made: matmul/f32.cuh, matmul/f32_copies.cuh.
//   matmul_f32_several_<rows of a tile>_<columns>_<layout>, _rows_nn: rows of the left operand start on 16 bytes, and lie in a stage as in memory
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/f32_copies.cuh"

#define SEVERAL(WM, WN, BM, BN, NAME, A_K, B_K, A_ROWS)                                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(128, 3) matmul_f32_several_##BM##_##BN##_##NAME(const float* a, const float* b, float* c, const F32Product p, int wide_a, int wide_b) { \
    F32Tile<WM, WN, 4, 8, 1, 3, A_ROWS, false>::product(CopiedOperands<A_K, B_K>{a, b, wide_a != 0, wide_b != 0}, p, c, nullptr, 1);                                                   \
  }
#define SEVERAL_LAYOUTS(WM, WN, BM, BN)                                                                                                                                   \
  SEVERAL(WM, WN, BM, BN, nn, true, false, false) SEVERAL(WM, WN, BM, BN, rows_nn, true, false, true) SEVERAL(WM, WN, BM, BN, nt, true, true, false) \
  SEVERAL(WM, WN, BM, BN, tn, false, false, false) SEVERAL(WM, WN, BM, BN, tt, false, true, false)
SEVERAL_LAYOUTS(2, 2, 64, 128)
SEVERAL_LAYOUTS(4, 1, 128, 64)
