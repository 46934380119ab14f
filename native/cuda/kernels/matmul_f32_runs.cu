// matmul in full f32 (no tensor cores) on Hopper by tiles whose blocks have warps that multiply and others that bring operands, in any place. Blocks have a tile each or, where whole rounds of tiles would leave
// multiprocessors idle, equal runs of the stages of tiles, so that all end together (matmul/runs.h says when). How a tile is made, and who adds up the parts of one: matmul/runs.cuh.
//   matmul_f32_runs_<rows of a tile>_<columns>_<layout>
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/runs.cuh"
#include "matmul/runs_sizes.h"

#ifdef OPSCOPE_WGMMA
#define PRODUCT(RESIDENT, BM, BN, A, B, ...) \
  RunsProduct<__VA_ARGS__, opscope::cuda::runs_stages, opscope::cuda::runs_step>::product<RESIDENT, A<BM, opscope::cuda::runs_step>, B<BN, opscope::cuda::runs_step>>(a, b, c, p, wide_a != 0, wide_b != 0, pieces, arrivals, runs);
#else
#define PRODUCT(...)
#endif
#define KERNEL(RESIDENT, BM, BN, LAYOUT, ...)                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(opscope::cuda::runs_threads, RESIDENT) matmul_f32_runs_##BM##_##BN##_##LAYOUT(const float* a, const float* b, float* c, const F32Product p, int wide_a, int wide_b, \
                                                                                                                           float4* pieces, unsigned* arrivals, const F32Runs runs) {                 \
    PRODUCT(RESIDENT, BM, BN, __VA_ARGS__)                                                                                                                                                         \
  }
// Blocks of a multiprocessor; the tile; how a left and a right operand with k contiguous are brought where the other one is not turned; warps down and across, results of a thread down and across.
#define RUNS(RESIDENT, BM, BN, LEFT, RIGHT, ...)                                                                                                            \
  KERNEL(RESIDENT, BM, BN, nn, LEFT, LinesFed, __VA_ARGS__) KERNEL(RESIDENT, BM, BN, nt, TurnedFed, TurnedFed, __VA_ARGS__) \
  KERNEL(RESIDENT, BM, BN, tn, LinesFed, LinesFed, __VA_ARGS__) KERNEL(RESIDENT, BM, BN, tt, LinesFed, RIGHT, __VA_ARGS__)
RUNS(2, 128, 128, TurnedFed, TurnedFed, 2, 2, 16, 8)
RUNS(2, 256, 64, TurnedFed, TurnedFed, 4, 1, 16, 8)
RUNS(2, 64, 256, TurnedFed, TurnedFed, 1, 4, 16, 8)
RUNS(2, 96, 128, TurnedFed, TurnedFed, 2, 2, 12, 8)
RUNS(2, 128, 96, TurnedFed, TurnedFed, 4, 1, 8, 12)
RUNS(3, 64, 128, WordsFed, TurnedFed, 2, 2, 8, 8)
RUNS(3, 128, 64, WordsFed, WordsFed, 4, 1, 8, 8)
