// matmul in full f32 (no tensor cores) on Hopper where whole rounds of tiles would leave multiprocessors idle: blocks, of which a multiprocessor has two, take equal runs of the stages of tiles, so that all end together
// (matmul/runs.h says when). How a tile is made, and who adds up the parts of one: matmul/several.cuh.
//   matmul_f32_runs_<layout>
// How to build and run: scripts/gpu/kernels.sh.
#include "matmul/several.cuh"

#ifdef OPSCOPE_WGMMA
#define PRODUCT(A_K, B_K) SeveralProduct<2, 2, 4, 12, 8, 1, 3, 32>::runs(CopiedOperands<A_K, B_K>{a, b, wide_a != 0, wide_b != 0}, p, c, pieces, arrivals, runs);
#else
#define PRODUCT(...)
#endif
#define KERNEL(LAYOUT, A_K, B_K)                                                                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(128, 2) matmul_f32_runs_##LAYOUT(const float* a, const float* b, float* c, const F32Product p, int wide_a, int wide_b, float4* pieces, unsigned* arrivals, const F32Runs runs) { \
    PRODUCT(A_K, B_K)                                                                                                                                                                          \
  }
KERNEL(nn, true, false)
KERNEL(nt, true, true)
KERNEL(tn, false, false)
KERNEL(tt, false, true)
