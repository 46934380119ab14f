// Row operations of [rows, cols]: a statistic of each row, then what is made of the row and its statistic. A policy P states one:
//
//   Stats, start(), join(p, q)            of parts of a row; floats alone
//   P(arguments, row)
//   inputs, from(k)                       how many tensors have rows that are read, and the row of each
//   add(stats, i, v)                      takes elements i .. i + N of the inputs into account, v[inputs][N]
//   write(stats, i, v)                    writes what they give
//   write_weighted(stats, i, v, w)        the same with the weights of the columns, where P::weighted says that it has some
//   finish(stats)                         once per row, by one thread
//
// rows_held, rows_held_ragged (held.cuh): rows that stay in registers. rows_whole: a group of threads for a row, as few as one and as many as a block; any row. rows_tile: short rows that do not start on 16 bytes, through shared memory. rows_cluster: a cluster of blocks for a row; rows_part and
// rows_join: any number of blocks. But for rows that are held and rows_tile the row is read twice, the second time from a cache; joins have a fixed order, so results
// repeat bit for bit.
#pragma once
#include "../common/cluster.cuh"
#include "../common/reduce.cuh"
#include "../common/vec.cuh"
#include "arguments.h"

template <int N>
struct Lanes {
  static constexpr int count = N;
};

// f(i, Lanes) for elements 0 .. n of a row that starts at element `start` of its tensor: one by one up to the first 16-byte boundary,
// then a vector at a time, and one by one at the end.
template <class T, class F>
__device__ __forceinline__ void each_lanes(long long start, long long n, int thread, int threads, F f) {
  constexpr int L = LANES<T>;
  const long long head = min(n, (L - start % L) % L), body = (n - head) / L * L;
  for (long long i = thread; i < head; i += threads) f(i, Lanes<1>());
#pragma unroll 4
  for (long long i = thread * static_cast<long long>(L); i < body; i += threads * static_cast<long long>(L)) f(head + i, Lanes<L>());
  for (long long i = head + body + thread; i < n; i += threads) f(i, Lanes<1>());
}

// `N` elements from a place that is a vector's where there are several.
template <int N, class T>
__device__ __forceinline__ void take(const T* p, float (&f)[N]) {
  if constexpr (N == 1) f[0] = to_float(*p);
  else unpack<T>(load16(p), f);
}
// The same from any place: what is indexed by column need not lie as the row does.
template <int N, class T>
__device__ __forceinline__ void take_loose(const T* p, float (&f)[N]) {
  if (N > 1 && (reinterpret_cast<unsigned long long>(p) & 15) == 0) return take(p, f);
#pragma unroll
  for (int j = 0; j < N; j++) f[j] = to_float(p[j]);
}
template <int N, class T>
__device__ __forceinline__ void give(T* p, const float (&f)[N]) {
  if constexpr (N == 1) *p = from_float<T>(f[0]);
  else store16(p, pack<T>(f));
}

// f(i, v) for elements `from` .. `from` + n of a row, of every input: v[inputs][N]. `start`: of the first of them in the tensor. Four vectors of each input are
// read before the first is worked on, whatever f has of branches.
template <class P, class T, class F>
__device__ __forceinline__ void each_read(const P& p, long long start, long long from, long long n, int thread, int threads, F f) {
  constexpr int L = LANES<T>, K = P::inputs, U = 4;
  const long long head = min(n, (L - start % L) % L), body = (n - head) / L * L, step = threads * static_cast<long long>(L);
  const auto single = [&](long long i) {
    float v[K][1];
#pragma unroll
    for (int k = 0; k < K; k++) v[k][0] = to_float(p.from(k)[i]);
    f(i, v);
  };
  for (long long i = thread; i < head; i += threads) single(from + i);
  for (long long base = thread * static_cast<long long>(L); base < body; base += U * step) {
    uint4 kept[K][U];
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int k = 0; k < K; k++) kept[k][u] = base + u * step < body ? load16(p.from(k) + (from + head + base + u * step)) : uint4{0, 0, 0, 0};
#pragma unroll
    for (int u = 0; u < U; u++) {
      if (base + u * step >= body) break;
      float v[K][L];
#pragma unroll
      for (int k = 0; k < K; k++) unpack<T>(kept[k][u], v[k]);
      f(from + head + base + u * step, v);
    }
  }
  for (long long i = head + body + thread; i < n; i += threads) single(from + i);
}

// The same one by one, of rows in shared memory.
template <class P, class F>
__device__ __forceinline__ void each_single(const P& p, int thread, int n, int threads, F f) {
  for (int i = thread; i < n; i += threads) {
    float v[P::inputs][1];
#pragma unroll
    for (int k = 0; k < P::inputs; k++) v[k][0] = to_float(p.from(k)[i]);
    f(i, v);
  }
}

template <class T>
__device__ __forceinline__ const T* input_at(unsigned long long address, long long at) { return reinterpret_cast<const T*>(address) + at; }

// Fetches ahead this thread's first vector of n elements.
template <class T>
__device__ __forceinline__ void fetch_own(const RowArguments& a, const T* p, long long n) {
  fetch_ahead(p + min(static_cast<long long>((a.group > 32 ? threadIdx.x : threadIdx.x & (a.group - 1)) * LANES<T>), n - 1));
}

// P::at_once: join_warp() joins the lanes of a group in fewer steps than two by two.
template <class P, class S>
__device__ __forceinline__ S join_lanes(S s, int group) {
  static_assert(sizeof(S) % 4 == 0);
  if constexpr (P::at_once) {
    return P::join_warp(s, min(group, 32));
  } else {
    for (int offset = min(group, 32) / 2; offset > 0; offset /= 2) {
      S other;
#pragma unroll
      for (int k = 0; k < static_cast<int>(sizeof(S) / 4); k++)
        reinterpret_cast<float*>(&other)[k] = __shfl_xor_sync(0xffffffffu, reinterpret_cast<float*>(&s)[k], offset);
      // The same order on both sides, so that all lanes have the same bits.
      s = threadIdx.x & offset ? P::join(other, s) : P::join(s, other);
    }
    return s;
  }
}

// Over the threads of a group, or of the block; every thread gets the result.
template <class P, class S>
__device__ __forceinline__ S join_group(S s, int group, S* scratch) {
  s = join_lanes<P>(s, group);
  if (group <= 32) return s;
  const int warps = group / 32;
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = s;
  __syncthreads();
  s = static_cast<int>(threadIdx.x % 32) < warps ? scratch[threadIdx.x % 32] : P::start();
  return join_lanes<P>(s, 32);
}

// The mean of a loss over its rows, by the block that comes last. `parts_at` is a counter that is zero.
template <class T>
__device__ __forceinline__ void mean_of_rows(const RowArguments& a) {
  __shared__ float scratch[32];
  if (!last_to_arrive(reinterpret_cast<unsigned*>(a.parts_at), gridDim.x)) return;
  const float* losses = reinterpret_cast<const float*>(a.per_row);
  float sum = 0;
  for (long long i = threadIdx.x; i < a.rows; i += blockDim.x) sum += __ldcg(losses + i);
  sum = block_reduce(sum, 0.0f, scratch, AddOp());
  if (threadIdx.x == 0) *reinterpret_cast<T*>(a.out) = from_float<T>(sum / static_cast<float>(a.rows));
}

template <class P, class T>
__device__ __forceinline__ void rows_whole(const RowArguments& a) {
  using Stats = typename P::Stats;
  __shared__ Stats scratch[32];
  const int thread = threadIdx.x % a.group;
  const long long row = static_cast<long long>(blockIdx.x) * (blockDim.x / a.group) + threadIdx.x / a.group;
  // Threads beyond the rows stay for the others of their warp.
  const long long n = row < a.rows ? a.cols : 0;
  if constexpr (P::averaged)
    if (a.parts_at && threadIdx.x == 0) fetch_ahead(reinterpret_cast<const void*>(a.parts_at));
  // Of a row with ragged ends, the vectors and the end come while its beginning is waited for.
  if (n % LANES<T> != 0) {
    const T* x = input_at<T>(a.in[0], row * a.cols);
    fetch_own(a, x, n);
    if (thread == 0) fetch_ahead(x + n - 1);
  }
  P::ahead(a, n > 0 ? row : 0);
  P p(a, n > 0 ? row : 0);
  Stats s = P::start();
  each_read<P, T>(p, row * a.cols, 0, n, thread, a.group, [&](long long i, auto& v) { p.add(s, i, v); });
  s = join_group<P>(s, a.group, scratch);
  each_read<P, T>(p, row * a.cols, 0, n, thread, a.group, [&](long long i, auto& v) { p.write(s, i, v); });
  if (n > 0 && thread == 0) p.finish(s);
  if constexpr (P::averaged)
    if (a.parts_at) mean_of_rows<T>(a);
}

// A block takes `part` rows that lie together, a multiple of 8, so that their tile starts on 16 bytes whatever a row's length is: it
// moves to shared memory and back in vectors, and groups of up to 32 threads work on its rows there. Inputs 0 .. INPUTS - 1 are
// the ones with rows; the output takes the place of the first.
template <class P, class T, int INPUTS, bool WRITES>
__device__ __forceinline__ void rows_tile(const RowArguments& a) {
  constexpr int L = LANES<T>;
  extern __shared__ uint4 tile[];
  const long long first = blockIdx.x * a.part, base = first * a.cols;
  P::ahead(a, first);
  const int rows = static_cast<int>(min(a.part, a.rows - first)), cols = static_cast<int>(a.cols), elements = rows * cols, vectors = (elements + L - 1) / L, pitch = static_cast<int>(a.part) * cols / L;
#pragma unroll
  for (int k = 0; k < INPUTS; k++)
    for (int v = threadIdx.x; v < vectors; v += blockDim.x) tile[k * pitch + v] = load16(input_at<T>(a.in[k], base) + v * L);
  __syncthreads();
  RowArguments own = a;
#pragma unroll
  for (int k = 0; k < INPUTS; k++) own.in[k] = reinterpret_cast<unsigned long long>(tile + k * pitch) - base * sizeof(T);
  if (WRITES) own.out = own.in[0];
  const int thread = threadIdx.x % a.group, at = threadIdx.x / a.group, together = blockDim.x / a.group;
  for (int row = at; row - at < rows; row += together) {
    // Threads beyond the rows stay for the others of their warp.
    const int n = row < rows ? cols : 0;
    P p(own, first + (n > 0 ? row : 0));
    typename P::Stats s = P::start();
    each_single(p, thread, n, a.group, [&](int i, auto& v) { p.add(s, i, v); });
    s = join_lanes<P>(s, a.group);
    each_single(p, thread, n, a.group, [&](int i, auto& v) { p.write(s, i, v); });
    if (n > 0 && thread == 0) p.finish(s);
  }
  if constexpr (P::averaged)
    if (a.parts_at) mean_of_rows<T>(a);
  if (!WRITES) return;
  __syncthreads();
  T* out = reinterpret_cast<T*>(a.out) + base;
  for (int v = threadIdx.x; v < elements / L; v += blockDim.x) store16(out + v * L, tile[v]);
  for (int i = elements / L * L + threadIdx.x; i < elements; i += blockDim.x) out[i] = reinterpret_cast<const T*>(tile)[i];
}

// `parts` blocks of a cluster for a row.
template <class P, class T>
__device__ __forceinline__ void rows_cluster(const RowArguments& a) {
  using Stats = typename P::Stats;
  __shared__ Stats scratch[32];
  __shared__ Stats slot;
  const long long row = blockIdx.x / a.parts, from = blockIdx.x % a.parts * a.part, n = min(a.part, a.cols - from);
  P p(a, row);
  Stats s = P::start();
  each_read<P, T>(p, row * a.cols + from, from, n, threadIdx.x, blockDim.x, [&](long long i, auto& v) { p.add(s, i, v); });
  s = join_group<P>(s, blockDim.x, scratch);
  s = join_cluster(s, slot, a.parts, [](const Stats& q, const Stats& r) { return P::join(q, r); });
  each_read<P, T>(p, row * a.cols + from, from, n, threadIdx.x, blockDim.x, [&](long long i, auto& v) { p.write(s, i, v); });
  if (from == 0 && threadIdx.x == 0) p.finish(s);
  cluster_wait();
}

// One block per part. `from`, `n`: the block's elements.
template <class P, class T>
__device__ __forceinline__ void rows_part(const RowArguments& a) {
  using Stats = typename P::Stats;
  __shared__ Stats scratch[32];
  const long long row = blockIdx.x / a.parts, from = blockIdx.x % a.parts * a.part, n = min(a.part, a.cols - from);
  P p(a, row);
  Stats s = P::start();
  each_read<P, T>(p, row * a.cols + from, from, n, threadIdx.x, blockDim.x, [&](long long i, auto& v) { p.add(s, i, v); });
  s = join_group<P>(s, blockDim.x, scratch);
  if (threadIdx.x == 0) reinterpret_cast<Stats*>(a.parts_at)[blockIdx.x] = s;
}

template <class P, class T>
__device__ __forceinline__ void rows_join(const RowArguments& a) {
  using Stats = typename P::Stats;
  __shared__ Stats scratch[32];
  const long long row = blockIdx.x / a.parts, from = blockIdx.x % a.parts * a.part, n = min(a.part, a.cols - from);
  P p(a, row);
  const Stats* own = reinterpret_cast<const Stats*>(a.parts_at) + row * a.parts;
  Stats s = P::start();
  for (int i = threadIdx.x; i < a.parts; i += blockDim.x) s = P::join(s, own[i]);
  s = join_group<P>(s, blockDim.x, scratch);
  each_read<P, T>(p, row * a.cols + from, from, n, threadIdx.x, blockDim.x, [&](long long i, auto& v) { p.write(s, i, v); });
  if (from == 0 && threadIdx.x == 0) p.finish(s);
}
