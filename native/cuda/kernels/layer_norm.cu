// layer_norm over the last axis of x [tokens, dim] with weight, bias [dim] and eps. Each row is read once into
// registers where it fits (see common/row.h); the variance is taken around the mean, in a second pass over registers.
// How to build and run: scripts/gpu/kernels.sh.
#include "common/cluster.cuh"
#include "common/fetch.cuh"
#include "common/row.cuh"
#include "common/start_early.cuh"
#include "layer_norm.h"

namespace {

template <class T, int V>
__device__ __forceinline__ float part_sum(const RowPart<T, V>& part) {
  float sum = 0;
  part.each(0, 0, [&](float x, int, int) { sum += x; });
  return sum;
}

// Sum of (x - mean)^2 over the elements inside the row.
template <class T, int V>
__device__ __forceinline__ float part_squares(const RowPart<T, V>& part, const RowSpan<T>& row, int first, int threads, float mean) {
  float sum = 0;
#pragma unroll
  for (int u = 0; u < V; u++) {
    const int i = first + u * threads;
    if (i >= row.vectors) break;
    const bool ragged = row.ragged(i);
    float f[LANES<T>];
    unpack<T>(part.v[u], f);
#pragma unroll
    for (int j = 0; j < LANES<T>; j++) {
      const float d = f[j] - mean;
      if (!ragged || row.inside(i, j)) sum = fmaf(d, d, sum);
    }
  }
  return sum;
}

template <class T, int V>
__device__ __forceinline__ void part_write(const RowPart<T, V>& part, const T* weight, const T* bias, T* out, const RowSpan<T>& row, int first, int threads, float mean,
                                           float scale) {
  constexpr int L = LANES<T>;
#pragma unroll
  for (int u = 0; u < V; u++) {
    const int i = first + u * threads;
    if (i >= row.vectors) break;
    float f[L], w[L], b[L];
    unpack<T>(part.v[u], f);
    if (row.lead == 0 && !row.ragged(i)) {
      unpack<T>(__ldg(reinterpret_cast<const uint4*>(weight) + i), w);
      unpack<T>(__ldg(reinterpret_cast<const uint4*>(bias) + i), b);
    } else {
#pragma unroll
      for (int j = 0; j < L; j++) {
        const bool inside = row.inside(i, j);
        w[j] = inside ? to_float(weight[row.column(i, j)]) : 0.0f;
        b[j] = inside ? to_float(bias[row.column(i, j)]) : 0.0f;
      }
    }
#pragma unroll
    for (int j = 0; j < L; j++) f[j] = fmaf((f[j] - mean) * scale, w[j], b[j]);
    store_row(out, row, i, f);
  }
}

template <class T, int V, bool WARP>
__device__ __forceinline__ void layer_norm_row(const T* x, const T* weight, const T* bias, float eps, T* out, long long rows, int cols) {
  __shared__ float scratch[2][32];
  const long long index = WARP ? static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32 : blockIdx.x;
  if (WARP && index >= rows) return;
  const int thread = WARP ? threadIdx.x % 32 : threadIdx.x, threads = WARP ? 32 : blockDim.x;
  const RowSpan<T> row(index, cols);
  const int own = min(max(0, row.column(thread, 0)), cols - 1);
  fetch_ahead(weight + own);
  fetch_ahead(bias + own);
  RowPart<T, V> part;
  part.load(x, row, thread, threads, 0.0f);
  const float mean = row_reduce<WARP>(part_sum(part), 0.0f, scratch[0], AddOp()) / cols;
  part.stay_packed();
  const float squares = row_reduce<WARP>(part_squares(part, row, thread, threads, mean), 0.0f, scratch[1], AddOp());
  part.stay_packed();
  part_write(part, weight, bias, out, row, thread, threads, mean, rsqrtf(squares / cols + eps));
}

// Number of elements, mean, and sum of (x - mean)^2 (Chan, Golub & LeVeque 1983).
struct Moments {
  float count, mean, squares;
};
struct JoinMoments {
  __device__ __forceinline__ Moments operator()(const Moments& p, const Moments& q) const {
    const float count = p.count + q.count;
    if (count == 0.0f) return p;
    const float away = q.mean - p.mean, share = q.count / count;
    return {count, fmaf(away, share, p.mean), p.squares + q.squares + away * away * p.count * share};
  }
};

// Blocks that stay and take every gridDim.x-th row, for many rows that start on 16 bytes: weight and bias are read once for all of them, and the next rows are on
// their way to shared memory while one is worked on. V vectors of a row for each thread, S rows of a block.
template <class T, int V, int S>
__device__ __forceinline__ void layer_norm_stay(const T* __restrict__ x, const T* __restrict__ weight, const T* __restrict__ bias, float eps, T* __restrict__ out, long long rows, int cols) {
  constexpr int L = LANES<T>;
  extern __shared__ uint4 ring[];
  __shared__ Moments scratch[2][32];
  const int thread = threadIdx.x, threads = blockDim.x, vectors = cols / L, warps = threads / 32;
  const auto place = [&](int stage, int u) { return ring + (stage * V + u) * threads + thread; };
  const auto fetch = [&](long long row, int stage) {
    if (row < rows) {
#pragma unroll
      for (int u = 0; u < V; u++)
        if (thread + u * threads < vectors) fetch16(place(stage, u), x + row * cols + (thread + u * threads) * L);
    }
    fetch_end();
  };
#pragma unroll
  for (int s = 0; s + 1 < S; s++) fetch(blockIdx.x + static_cast<long long>(s) * gridDim.x, s);
  uint4 w[V], b[V];
#pragma unroll
  for (int u = 0; u < V; u++) {
    const bool has = thread + u * threads < vectors;
    w[u] = has ? load16(weight + (thread + u * threads) * L) : uint4{0, 0, 0, 0};
    b[u] = has ? load16(bias + (thread + u * threads) * L) : uint4{0, 0, 0, 0};
  }
  // Elements of this warp in a row.
  const int own = thread / 32 * 32;
  int in_warp = 0;
#pragma unroll
  for (int u = 0; u < V; u++) in_warp += max(0, min(32, vectors - own - u * threads)) * L;
  const float count = static_cast<float>(in_warp), share = in_warp > 0 ? 1.0f / count : 0.0f;
  int lanes = 1;
  while (lanes < warps) lanes *= 2;
  int stage = 0, side = 0;
  for (long long row = blockIdx.x; row < rows; row += gridDim.x) {
    fetch(row + static_cast<long long>(S - 1) * gridDim.x, stage == 0 ? S - 1 : stage - 1);
    fetch_wait<S - 1>();
    uint4 kept[V];
#pragma unroll
    for (int u = 0; u < V; u++) kept[u] = thread + u * threads < vectors ? *place(stage, u) : uint4{0, 0, 0, 0};
    float sum = 0, squares = 0;
#pragma unroll
    for (int u = 0; u < V; u++) {
      float f[L];
      unpack<T>(kept[u], f);
#pragma unroll
      for (int j = 0; j < L; j++) sum += f[j];
    }
    keep_packed(kept);
    Moments s = {count, warp_reduce(sum, AddOp()) * share, 0};
#pragma unroll
    for (int u = 0; u < V; u++) {
      if (thread + u * threads >= vectors) break;
      float f[L];
      unpack<T>(kept[u], f);
#pragma unroll
      for (int j = 0; j < L; j++) squares = fmaf(f[j] - s.mean, f[j] - s.mean, squares);
    }
    keep_packed(kept);
    s.squares = warp_reduce(squares, AddOp());
    if (warps > 1) {
      // Two sides in turn: who writes one has passed the barrier after which all have read it.
      if (thread % 32 == 0) scratch[side][thread / 32] = s;
      __syncthreads();
      s = thread % 32 < warps ? scratch[side][thread % 32] : Moments{0, 0, 0};
      for (int offset = lanes / 2; offset > 0; offset /= 2) s = JoinMoments()(s, {__shfl_xor_sync(0xffffffffu, s.count, offset), __shfl_xor_sync(0xffffffffu, s.mean, offset), __shfl_xor_sync(0xffffffffu, s.squares, offset)});
      s.mean = __shfl_sync(0xffffffffu, s.mean, 0), s.squares = __shfl_sync(0xffffffffu, s.squares, 0);
      side ^= 1;
    }
    const float scale = rsqrtf(s.squares / static_cast<float>(cols) + eps);
    keep_packed(w);
    keep_packed(b);
#pragma unroll
    for (int u = 0; u < V; u++) {
      if (thread + u * threads >= vectors) break;
      float f[L], ww[L], bb[L];
      unpack<T>(kept[u], f);
      unpack<T>(w[u], ww);
      unpack<T>(b[u], bb);
#pragma unroll
      for (int j = 0; j < L; j++) f[j] = fmaf((f[j] - s.mean) * scale, ww[j], bb[j]);
      store16(out + row * cols + static_cast<long long>(thread + u * threads) * L, pack<T>(f));
    }
    if (++stage == S) stage = 0;
  }
}

// Elements of the row in the `vectors` that start at vector `first`.
template <class T>
__device__ __forceinline__ int chunk_elements(const RowSpan<T>& row, int first, int vectors = 1024) {
  const int from = max(0, row.column(first, 0)), to = min(row.cols, row.column(first + vectors, 0));
  return max(0, to - from);
}

// A cluster of `blocks` per row.
template <class T, int V>
__device__ __forceinline__ void layer_norm_cluster(const T* x, const T* weight, const T* bias, float eps, T* out, int cols, int blocks) {
  __shared__ float scratch[2][32];
  __shared__ Moments slot;
  const RowSpan<T> row(blockIdx.x / blocks, cols);
  const int threads = blockDim.x, begin = static_cast<int>(cluster_rank()) * threads * V, first = begin + threadIdx.x, count = chunk_elements(row, begin, threads * V);
  RowPart<T, V> part;
  part.load(x, row, first, threads, 0.0f);
  const float mean = block_reduce(part_sum(part), 0.0f, scratch[0], AddOp()) / max(1, count);
  part.stay_packed();
  const float squares = block_reduce(part_squares(part, row, first, threads, mean), 0.0f, scratch[1], AddOp());
  part.stay_packed();
  const Moments all = join_cluster(Moments{static_cast<float>(count), mean, squares}, slot, blocks, JoinMoments());
  part_write(part, weight, bias, out, row, first, threads, all.mean, rsqrtf(all.squares / cols + eps));
  cluster_wait();
}

// One block per chunk; summary = (mean, sum of (x - mean)^2).
template <class T>
__device__ __forceinline__ void layer_norm_part(const T* x, float2* summaries, int cols, int chunks) {
  __shared__ float scratch[2][32];
  const RowSpan<T> row(blockIdx.x / chunks, cols);
  const int first = (blockIdx.x % chunks) * 1024;
  RowPart<T, 4> part;
  next_may_start();
  part.load(x, row, first + threadIdx.x, 256, 0.0f);
  const int count = chunk_elements(row, first);
  const float mean = block_reduce(part_sum(part), 0.0f, scratch[0], AddOp()) / max(1, count);
  const float squares = block_reduce(part_squares(part, row, first + threadIdx.x, 256, mean), 0.0f, scratch[1], AddOp());
  if (threadIdx.x == 0) summaries[blockIdx.x] = make_float2(mean, squares);
}

// Joins the summaries of a row (Chan, Golub & LeVeque 1979: total squares = sum of squares + sum of n (mean_c - mean)^2).
template <class T>
__device__ __forceinline__ void layer_norm_join(const T* x, const T* weight, const T* bias, float eps, T* out, const float2* summaries, int cols, int chunks) {
  __shared__ float scratch[2][32];
  const long long index = blockIdx.x / chunks;
  const RowSpan<T> row(index, cols);
  const int first = (blockIdx.x % chunks) * 1024 + threadIdx.x;
  RowPart<T, 4> part;
  part.load(x, row, first, 256, 0.0f);
  wait_for_last();
  const float2* own = summaries + index * chunks;
  float sum = 0;
  for (int c = threadIdx.x; c < chunks; c += 256) sum += own[c].x * chunk_elements(row, c * 1024);
  const float mean = block_reduce(sum, 0.0f, scratch[0], AddOp()) / cols;
  float squares = 0;
  for (int c = threadIdx.x; c < chunks; c += 256) {
    const float d = own[c].x - mean;
    squares += fmaf(d * d, static_cast<float>(chunk_elements(row, c * 1024)), own[c].y);
  }
  squares = block_reduce(squares, 0.0f, scratch[1], AddOp());
  part_write(part, weight, bias, out, row, first, 256, mean, rsqrtf(squares / cols + eps));
}

}  // namespace

#define LAYER_NORM_ROW(T, V, KIND, WARP, MAX)                                                                                                \
  extern "C" __global__ void __launch_bounds__(MAX) layer_norm_##T##_##KIND##_##V(const T* x, const T* weight, const T* bias, float eps, T* out, \
                                                                                  long long rows, int cols) {                                \
    start_early();                                                                                                                           \
    layer_norm_row<T, V, WARP>(x, weight, bias, eps, out, rows, cols);                                                                            \
  }
#define LAYER_NORM_CLUSTER(T)                                                                                                             \
  extern "C" __global__ void __launch_bounds__(512) layer_norm_##T##_cluster(const T* x, const T* weight, const T* bias, float eps, T* out, int cols, int blocks) { \
    layer_norm_cluster<T, 4>(x, weight, bias, eps, out, cols, blocks);                                                                       \
  }
#define LAYER_NORM_STAY(T, S, MAX)                                                                                                        \
  extern "C" __global__ void __launch_bounds__(MAX) layer_norm_##T##_stay_##S(const T* x, const T* weight, const T* bias, float eps, T* out, long long rows, int cols) { \
    start_early();                                                                                                                        \
    layer_norm_stay<T, stay_vectors, S>(x, weight, bias, eps, out, rows, cols);                                                              \
  }
#define LAYER_NORM(T)                                                                                                                        \
  LAYER_NORM_ROW(T, 1, warp, true, 128)                                                                                                      \
  LAYER_NORM_ROW(T, 2, warp, true, 128)                                                                                                      \
  LAYER_NORM_ROW(T, 4, warp, true, 128)                                                                                                      \
  LAYER_NORM_ROW(T, 1, block, false, 1024)                                                                                                   \
  LAYER_NORM_ROW(T, 2, block, false, 1024)                                                                                                   \
  LAYER_NORM_ROW(T, 4, block, false, 512)                                                                                                    \
  LAYER_NORM_ROW(T, 8, block, false, 256)                                                                                                    \
  LAYER_NORM_ROW(T, 8, wide, false, 1024)                                                                                                    \
  LAYER_NORM_CLUSTER(T)                                                                                                                      \
  LAYER_NORM_STAY(T, 2, 256)                                                                                                                 \
  LAYER_NORM_STAY(T, 3, 128)                                                                                                                 \
  extern "C" __global__ void __launch_bounds__(256) layer_norm_##T##_part(const T* x, float2* summaries, int cols, int chunks) {             \
    layer_norm_part<T>(x, summaries, cols, chunks);                                                                                          \
  }                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(256) layer_norm_##T##_join(const T* x, const T* weight, const T* bias, float eps, T* out,     \
                                                                          const float2* summaries, int cols, int chunks) {                   \
    layer_norm_join<T>(x, weight, bias, eps, out, summaries, cols, chunks);                                                                       \
  }
LAYER_NORM(f32)
LAYER_NORM(f16)
LAYER_NORM(bf16)
