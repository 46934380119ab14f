// What blocks that put indices into bins share (scatter_range.cu, scatter_packed.cu).
#pragma once
#include "before.cuh"

// For each of the BINS bins of a block of THREADS threads: where its words begin among those of the block, which replaces their number in `own`, and in `base` what is added to the place of a word there for its place in memory, where
// `counts` grow. `sums`: 32 words. Returns the number of words of the block.
template <int THREADS, int BINS>
__device__ __forceinline__ unsigned place_bins(unsigned* own, unsigned* base, unsigned* counts, unsigned* sums) {
  constexpr int K = BINS / THREADS;
  const int t = threadIdx.x;
  unsigned of_bin[K], to[K], before = 0;
#pragma unroll
  for (int k = 0; k < K; k++) {
    of_bin[k] = own[k * THREADS + t];
    to[k] = of_bin[k] > 0 ? atomicAdd(counts + k * THREADS + t, of_bin[k]) : 0;
    before += of_bin[k];
  }
  unsigned all;
  before = before_thread<THREADS>(before, sums, all);
#pragma unroll
  for (int k = 0; k < K; k++) {
    own[k * THREADS + t] = before;
    base[k * THREADS + t] = to[k] - before;
    before += of_bin[k];
  }
  __syncthreads();
  return all;
}
