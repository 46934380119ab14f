// matmul in full f32 (no tensor cores) on Hopper by large tiles of which a multiprocessor has two. Where whole rounds of tiles would leave multiprocessors idle, blocks take equal runs of the stages of tiles, so that all
// end together (matmul/runs.h says when). How a tile is made, and who adds up the parts of one: matmul/several.cuh.
//   matmul_f32_runs_<rows of a tile>_<columns>_<layout>[_vectors]   operands with k contiguous have rows that start on 16 bytes
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/several.cuh"

#ifdef OPSCOPE_WGMMA
#define PRODUCT(A, B, ...) SeveralProduct<__VA_ARGS__>::runs(MixedOperands<A, B>{a, b, wide_a != 0, wide_b != 0}, p, c, pieces, arrivals, runs);
#else
#define PRODUCT(...)
#endif
#define KERNEL(NAME, A, B, ...)                                                                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(128, 2) matmul_f32_runs_##NAME(const float* a, const float* b, float* c, const F32Product p, int wide_a, int wide_b, float4* pieces, unsigned* arrivals, const F32Runs runs) { \
    PRODUCT(A, B, __VA_ARGS__)                                                                                                                                                                          \
  }
// How operands are copied; warps down and across, lanes of a warp down, results of a thread down and across, slices, stages, k of a stage.
KERNEL(96_128_nn, WordsHeld, LineCopies, 2, 2, 4, 12, 8, 1, 4, 16)
KERNEL(96_128_nn_vectors, VectorsHeld, LineCopies, 2, 2, 4, 12, 8, 1, 3, 32)
KERNEL(96_128_nt, WordsHeld, WordsHeld, 2, 2, 4, 12, 8, 1, 4, 16)
KERNEL(96_128_nt_vectors, VectorsHeld, VectorsHeld, 2, 2, 4, 12, 8, 1, 2, 32)
KERNEL(96_128_tn, LineCopies, LineCopies, 2, 2, 4, 12, 8, 1, 3, 32)
KERNEL(96_128_tt, LineCopies, TurnedCopies, 2, 2, 4, 12, 8, 1, 3, 32)
KERNEL(128_96_nn, TurnedCopies, LineCopies, 4, 1, 4, 8, 12, 1, 4, 16)
KERNEL(128_96_nt, WordsHeld, WordsHeld, 4, 1, 4, 8, 12, 1, 4, 16)
KERNEL(128_96_nt_vectors, VectorsHeld, VectorsHeld, 4, 1, 4, 8, 12, 1, 4, 16)
KERNEL(128_96_tn, LineCopies, LineCopies, 4, 1, 4, 8, 12, 1, 4, 16)
KERNEL(128_96_tt, LineCopies, WordsHeld, 4, 1, 4, 8, 12, 1, 4, 16)
