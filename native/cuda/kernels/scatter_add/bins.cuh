// What blocks that put indices into bins, and those that take them from there, share (scatter_range.cu, scatter_packed.cu, scatter_exact.cu).
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

// Calls see(i, place, row) for each index i of the `all` of a bin, by the THREADS threads of a block, which load U at a time.
template <int THREADS, int U, class See>
__device__ __forceinline__ void each_of_bin(const uint2* bin, int all, const See& see) {
  for (int base = threadIdx.x; base < all; base += U * THREADS) {
    uint2 v[U];
#pragma unroll
    for (int u = 0; u < U; u++) v[u] = __ldcg(bin + min(base + u * THREADS, all - 1));
#pragma unroll
    for (int u = 0; u < U; u++)
      if (base + u * THREADS < all) see(base + u * THREADS, v[u].x, v[u].y);
  }
}
