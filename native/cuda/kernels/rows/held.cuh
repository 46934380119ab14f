// Rows of an operation (kernel.cuh) that stay in registers between their statistic and what is made of it.
//   rows_held         rows that start on 16 bytes: a group of threads for each, as few as one and as many as a block
//   rows_held_ragged  any row, by a block
#pragma once
#include "kernel.cuh"

// V vectors of a row for each thread of its group.
template <class P, class T, int V>
__device__ __forceinline__ void rows_held(const RowArguments& a) {
  using Stats = typename P::Stats;
  constexpr int L = LANES<T>, K = P::inputs;
  __shared__ Stats scratch[32];
  const int thread = threadIdx.x % a.group;
  const long long row = static_cast<long long>(blockIdx.x) * (blockDim.x / a.group) + threadIdx.x / a.group;
  // Threads beyond the rows stay for the others of their warp.
  const int n = row < a.rows ? static_cast<int>(a.cols) / L : 0;
  if constexpr (P::averaged)
    if (a.parts_at && threadIdx.x == 0) fetch_ahead(reinterpret_cast<const void*>(a.parts_at));
  P::ahead(a, n > 0 ? row : 0);
  P p(a, n > 0 ? row : 0);
  uint4 kept[K][V];
#pragma unroll
  for (int u = 0; u < V; u++)
#pragma unroll
    for (int k = 0; k < K; k++) kept[k][u] = thread + u * a.group < n ? load16(p.from(k) + (thread + u * a.group) * L) : uint4{0, 0, 0, 0};
  // Weights come with the row, not after its statistic, where registers hold both.
  constexpr bool EARLY = P::weighted && V <= 4;
  [[maybe_unused]] uint4 weights[EARLY ? V : 1];
  if constexpr (EARLY) {
#pragma unroll
    for (int u = 0; u < V; u++) weights[u] = thread + u * a.group < n ? load16(p.weight + (thread + u * a.group) * L) : uint4{0, 0, 0, 0};
  }
  const auto each = [&](auto f) {
#pragma unroll
    for (int u = 0; u < V; u++) {
      const int i = thread + u * a.group;
      if (i >= n) break;
      float v[K][L];
#pragma unroll
      for (int k = 0; k < K; k++) unpack<T>(kept[k][u], v[k]);
      f(i * L, v, u);
    }
  };
  Stats s = P::start();
  each([&](int i, auto& v, int) { p.add(s, i, v); });
#pragma unroll
  for (int k = 0; k < K; k++) keep_packed(kept[k]);
  if constexpr (EARLY) keep_packed(weights);
  s = join_group<P>(s, a.group, scratch);
  each([&](int i, auto& v, [[maybe_unused]] int u) {
    if constexpr (EARLY) {
      float w[L];
      unpack<T>(weights[u], w);
      p.write_weighted(s, i, v, w);
    } else {
      p.write(s, i, v);
    }
  });
  if (n > 0 && thread == 0) p.finish(s);
  if constexpr (P::averaged)
    if (a.parts_at) mean_of_rows<T>(a);
}

// The same of a block's row that need not start on 16 bytes: V vectors of each thread, and up to one element of either end.
template <class P, class T, int V>
__device__ __forceinline__ void rows_held_ragged(const RowArguments& a) {
  using Stats = typename P::Stats;
  constexpr int L = LANES<T>, K = P::inputs;
  __shared__ Stats scratch[32];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x), n = static_cast<int>(a.cols);
  const long long row = blockIdx.x;
  const int head = (L - static_cast<int>(row * a.cols % L)) % L, vectors = (n - head) / L, done = head + vectors * L;
  if constexpr (P::averaged)
    if (a.parts_at && thread == 0) fetch_ahead(reinterpret_cast<const void*>(a.parts_at));
  P::ahead(a, row);
  P p(a, row);
  const bool at_head = thread < head, at_end = thread < n - done;
  float ends[2][K][1] = {};
  uint4 kept[K][V];
#pragma unroll
  for (int k = 0; k < K; k++) {
#pragma unroll
    for (int u = 0; u < V; u++) kept[k][u] = thread + u * threads < vectors ? load16(p.from(k) + (head + (thread + u * threads) * L)) : uint4{0, 0, 0, 0};
    if (at_head) ends[0][k][0] = to_float(p.from(k)[thread]);
    if (at_end) ends[1][k][0] = to_float(p.from(k)[done + thread]);
  }
  const auto each = [&](auto f) {
#pragma unroll
    for (int u = 0; u < V; u++) {
      if (thread + u * threads >= vectors) break;
      float v[K][L];
#pragma unroll
      for (int k = 0; k < K; k++) unpack<T>(kept[k][u], v[k]);
      f(head + (thread + u * threads) * L, v);
    }
    if (at_head) f(thread, ends[0]);
    if (at_end) f(done + thread, ends[1]);
  };
  Stats s = P::start();
  each([&](int i, auto& v) { p.add(s, i, v); });
#pragma unroll
  for (int k = 0; k < K; k++) keep_packed(kept[k]);
  s = join_group<P>(s, threads, scratch);
  each([&](int i, auto& v) { p.write(s, i, v); });
  if (thread == 0) p.finish(s);
  if constexpr (P::averaged)
    if (a.parts_at) mean_of_rows<T>(a);
}
