// Reductions of x [outer, reduce, inner] to out [outer, inner] of few columns, whose rows run on behind each other: a block owns a share of the rows, blocks of a cluster join theirs, and the last cluster
// joins the shares.
#pragma once
#include "../common/cluster.cuh"
#include "columns.cuh"

// Values of `active` threads, thread t's of column t % inner, to the first `inner` threads. `own` holds one per thread.
template <class R>
__device__ __forceinline__ typename R::Part join_columns(typename R::Part p, typename R::Part* own, int inner, int active) {
  const int t = threadIdx.x;
  if (t < active) own[t] = p;
  for (int rows = active / inner; rows > 1; rows = (rows + 1) / 2) {
    __syncthreads();
    const int half = (rows + 1) / 2;
    if (t < (rows - half) * inner) own[t] = R::join(own[t], own[t + half * inner]);
  }
  __syncthreads();
  return t < inner ? own[t] : R::start();
}

// grid: (splits, outer); 256 threads. `step` elements, of whole rows, are met at a time by the first step / W threads, in vectors of W elements: the first one begins up to W - 1 elements before its slice.
// Blocks that are a cluster of `cluster` join their shares first.
template <class R, class T>
__device__ __forceinline__ void reduce_flat(const T* x, Results<R, T> results, long long reduce, int inner, long long rows_per_split, int step, int cluster, typename R::Part* shares, unsigned* counters) {
  using Part = typename R::Part;
  constexpr int W = LANES<T>;
  using Each = Access<W, T>;
  __shared__ Part all[256 * W], own[256], second[256];
  const int t = threadIdx.x, active = 256 / inner * inner, rows_of_step = step / inner;
  const unsigned splits = gridDim.x / static_cast<unsigned>(cluster), split = blockIdx.x / static_cast<unsigned>(cluster);
  if (splits > 1 && t == 0) fetch_ahead(counters + blockIdx.y);
  const long long slice = blockIdx.y * reduce * inner;
  const int before = static_cast<int>(slice % W);
  // From the vector on in which the slice begins.
  const T* p = x + (slice - before);
  const long long from = blockIdx.x * rows_per_split * inner, to = min(reduce, (blockIdx.x + 1) * rows_per_split) * inner + before;
  Part part[W];
  unsigned place[W];
#pragma unroll
  for (int j = 0; j < W; j++) part[j] = R::start(), place[j] = static_cast<unsigned>(blockIdx.x * rows_per_split + (t * W + j - before + W * inner) / inner - W);
  const auto see = [&](const typename Each::Word& v, auto inside) {
    float f[W];
    Each::widen(v, f);
#pragma unroll
    for (int j = 0; j < W; j++) {
      if (inside(j)) part[j] = R::join(part[j], R::element(f[j], 0.0f, place[j]));
      place[j] += rows_of_step;
    }
  };
  if (t * W < step) {
    constexpr int U = 4;
    long long i = from + t * W;
    if (t == 0 && before > 0 && i < to) {
      see(Each::load(p + i), [&](int j) { return j >= before && i + j < to; });
      i += step;
    }
    // Whole accesses, U of them under way before the first is waited for.
    for (; i + (U - 1) * step + W <= to; i += U * step) {
      typename Each::Word v[U];
#pragma unroll
      for (int u = 0; u < U; u++) v[u] = Each::load(p + i + u * step);
#pragma unroll
      for (int u = 0; u < U; u++) see(v[u], [](int) { return true; });
    }
    for (; i < to; i += step) see(Each::load(p + i), [&](int j) { return i + j < to; });
  }
#pragma unroll
  for (int j = 0; j < W; j++) all[t * W + j] = part[j];
  __syncthreads();
  Part total = R::start();
  // Those of column t % inner, which lie `before` places on, and behind the last place at the first.
  if (t < active)
    for (int e = t + before; e < step + before; e += active) total = R::join(total, all[e < step ? e : e - step]);
  total = join_columns<R>(total, own, inner, active);
  const long long cell = static_cast<long long>(blockIdx.y) * inner + t;
  if (cluster > 1) {
    const unsigned rank = blockIdx.x - split * static_cast<unsigned>(cluster);
    if (t < inner) second[t] = total;
    cluster_arrive();
    cluster_wait();
    if (rank == 0 && t < inner)
      for (int other = 1; other < cluster; other++) total = R::join(total, of_block(second[t], static_cast<unsigned>(other)));
    // No block ends before the first has read what it has.
    cluster_arrive();
    cluster_wait();
    if (rank > 0) return;
  }
  if (splits == 1) {
    if (t < inner) results.put(cell, total);
    return;
  }
  Part* of_cell = shares + static_cast<long long>(blockIdx.y) * splits * inner;
  if (t < inner) of_cell[split * inner + t] = total;
  if (!last_to_arrive(counters + blockIdx.y, splits)) return;
  total = R::start();
  if (t < active) {
#pragma unroll 16
    for (int e = t; e < static_cast<int>(splits) * inner; e += active) total = R::join(total, __ldcg(of_cell + e));
  }
  total = join_columns<R>(total, second, inner, active);
  if (t < inner) results.put(cell, total);
}
