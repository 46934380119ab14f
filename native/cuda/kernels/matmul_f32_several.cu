// matmul in full f32 (no tensor cores) on Hopper by tiles of which a multiprocessor has several at a time, so that one loads or stores while others multiply; operands in any place (matmul/several.h says
// when, and lists the tiles). How a tile is made: matmul/several.cuh.
//   matmul_f32_several_<rows of a tile>_<columns>_<threads>[_shares]_<layout>   k is split
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/several.cuh"

#ifdef OPSCOPE_WGMMA
#define PRODUCT(SHARES, OPERANDS, ...) SeveralProduct<__VA_ARGS__>::product<SHARES>(OPERANDS, p, c, shares);
#else
#define PRODUCT(...)
#endif
#define COPIED(A_K, B_K) (CopiedOperands<A_K, B_K>{a, b, wide_a != 0, wide_b != 0})
#define MIXED(A, B) (MixedOperands<A, B>{a, b, wide_a != 0, wide_b != 0})
#define KERNEL(NAME, THREADS, BLOCKS, SHARES, OPERANDS, ...)                                                                                                                                                         \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) matmul_f32_several_##NAME(const float* a, const float* b, float* c, const F32Product p, int wide_a, int wide_b, float* shares) { \
    PRODUCT(SHARES, OPERANDS, __VA_ARGS__)                                                                                                                                                                  \
  }
#define SEVERAL(NAME, THREADS, BLOCKS, LAYOUT, OPERANDS, ...) \
  KERNEL(NAME##_##LAYOUT, THREADS, BLOCKS, false, OPERANDS, __VA_ARGS__) KERNEL(NAME##_shares_##LAYOUT, THREADS, BLOCKS, true, OPERANDS, __VA_ARGS__)
// Warps down and across, lanes of a warp down, results of a thread down and across, slices, stages, k of a stage.
#define LAYOUTS(NAME, THREADS, BLOCKS, ...)                                                                                                                                                         \
  SEVERAL(NAME, THREADS, BLOCKS, nn, COPIED(true, false), __VA_ARGS__) SEVERAL(NAME, THREADS, BLOCKS, nt, COPIED(true, true), __VA_ARGS__) \
  SEVERAL(NAME, THREADS, BLOCKS, tn, COPIED(false, false), __VA_ARGS__) SEVERAL(NAME, THREADS, BLOCKS, tt, COPIED(false, true), __VA_ARGS__)
LAYOUTS(32_32_128, 128, 5, 1, 1, 4, 8, 4, 4, 4, 32)
LAYOUTS(32_64_128, 128, 4, 1, 1, 4, 8, 8, 4, 4, 32)
LAYOUTS(32_64_256, 256, 2, 1, 1, 4, 8, 8, 8, 6, 32)
LAYOUTS(64_32_128, 128, 4, 1, 1, 8, 8, 8, 4, 4, 32)
LAYOUTS(64_64_256, 256, 2, 2, 1, 4, 8, 8, 4, 4, 32)
LAYOUTS(96_64_256, 256, 1, 2, 1, 4, 12, 8, 4, 5, 32)
LAYOUTS(64_96_128, 128, 3, 4, 1, 4, 4, 12, 1, 4, 16)
LAYOUTS(128_96_128, 128, 2, 4, 1, 4, 8, 12, 1, 3, 32)
// Two operands that are turned go through registers, which leaves shared memory more time for loads.
SEVERAL(64_64_128, 128, 4, nn, COPIED(true, false), 2, 2, 4, 8, 4, 1, 4, 16)
SEVERAL(64_64_128, 128, 4, nt, MIXED(WordsHeld, WordsHeld), 2, 2, 4, 8, 4, 1, 2, 16)
SEVERAL(64_64_128, 128, 4, tn, COPIED(false, false), 2, 2, 4, 8, 4, 1, 4, 16)
SEVERAL(64_64_128, 128, 4, tt, COPIED(false, true), 2, 2, 4, 8, 4, 1, 4, 16)
// Operands with k contiguous go through registers here, too, but for two off 16 bytes. Shorter stages are faster where b is read as it lies (NOTES.md).
#define HELD_LAYOUTS(NAME, THREADS, BLOCKS, ...)                                                                                                                                                     \
  SEVERAL(NAME, THREADS, BLOCKS, nn, MIXED(WordsHeld, LineCopies), __VA_ARGS__, 16) SEVERAL(NAME, THREADS, BLOCKS, nt, COPIED(true, true), __VA_ARGS__, 32)                                            \
  SEVERAL(NAME, THREADS, BLOCKS, nt_vectors, MIXED(VectorsHeld, VectorsHeld), __VA_ARGS__, 16) SEVERAL(NAME, THREADS, BLOCKS, tt, MIXED(LineCopies, WordsHeld), __VA_ARGS__, 16)
HELD_LAYOUTS(64_128_128, 128, 3, 2, 2, 4, 8, 8, 1, 3)
KERNEL(64_128_128_tn, 128, 3, false, COPIED(false, false), 2, 2, 4, 8, 8, 1, 3, 16)
KERNEL(64_128_128_shares_tn, 128, 3, true, COPIED(false, false), 2, 2, 4, 8, 8, 1, 3, 32)
HELD_LAYOUTS(128_64_128, 128, 3, 4, 1, 4, 8, 8, 1, 3)
SEVERAL(128_64_128, 128, 3, tn, COPIED(false, false), 4, 1, 4, 8, 8, 1, 3, 32)
