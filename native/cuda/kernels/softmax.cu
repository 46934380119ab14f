// softmax and log_softmax over the last axis of x [rows, cols], each row read once into registers where it fits (see common/row.h for the
// kernels and when each is used), or many long ones into shared memory (<op>_<t>_long, softmax/shape.h). How to build and run: scripts/gpu/kernels.sh.
#include "common/arithmetic.cuh"
#include "common/cluster.cuh"
#include "common/early.cuh"
#include "common/row.cuh"
#include "elementwise/kernel.cuh"

namespace {

constexpr float log2e = 1.4426950408889634f;
constexpr float lowest = -INFINITY;

// e^(x - max) as 2^(x * log2e - shift) with shift = max * log2e.
template <class T, int V>
__device__ __forceinline__ float part_sum(const RowPart<T, V>& part, float shift) {
  float sum = 0;
  part.each(0, 0, [&](float x, int, int) { sum += exp2_fast(fmaf(x, log2e, -shift)); });
  return sum;
}

template <class T, int V>
__device__ __forceinline__ float part_max(const RowPart<T, V>& part) {
  float m = lowest;
  part.each(0, 0, [&](float x, int, int) { m = fmaxf(m, x); });
  return m;
}

// LOG: the logarithm of the softmax.
template <bool LOG, class T, int V>
__device__ __forceinline__ void part_write(const RowPart<T, V>& part, T* out, const RowSpan<T>& row, int first, int threads, float max, float sum) {
  const float shift = max * log2e, scale = LOG ? logf(sum) : 1.0f / sum;
#pragma unroll
  for (int u = 0; u < V; u++) {
    const int i = first + u * threads;
    if (i >= row.vectors) break;
    float f[LANES<T>];
    unpack<T>(part.v[u], f);
#pragma unroll
    for (int j = 0; j < LANES<T>; j++) f[j] = LOG ? f[j] - max - scale : exp2_fast(fmaf(f[j], log2e, -shift)) * scale;
    store_row(out, row, i, f);
  }
}

template <bool LOG, class T, int V, bool WARP>
__device__ __forceinline__ void softmax_row(const T* x, T* out, long long rows, int cols) {
  __shared__ float scratch[2][32];
  const long long index = WARP ? static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32 : blockIdx.x;
  if (WARP && index >= rows) return;
  const int thread = WARP ? threadIdx.x % 32 : threadIdx.x, threads = WARP ? 32 : blockDim.x;
  const RowSpan<T> row(index, cols);
  RowPart<T, V> part;
  part.load(x, row, thread, threads, lowest);
  const float max = row_reduce<WARP>(part_max(part), lowest, scratch[0], MaxOp());
  part.stay_packed();
  const float sum = row_reduce<WARP>(part_sum(part, max * log2e), 0.0f, scratch[1], AddOp());
  part.stay_packed();
  part_write<LOG>(part, out, row, thread, threads, max, sum);
}

// Largest element, and the sum of e^(x - max).
struct Summaries {
  __device__ __forceinline__ float2 operator()(float2 p, float2 q) const {
    const float m = fmaxf(p.x, q.x);
    if (m == lowest) return make_float2(m, 0);
    return make_float2(m, fmaf(p.y, exp2_fast((p.x - m) * log2e), q.y * exp2_fast((q.x - m) * log2e)));
  }
};

// A row that lies in shared memory, each vector where one thread reads it again.
template <bool LOG, class T>
__device__ __forceinline__ void softmax_long(const T* x, T* out, int cols) {
  constexpr int V = 4;
  extern __shared__ uint4 kept[];
  __shared__ float scratch[2][32];
  const RowSpan<T> row(blockIdx.x, cols);
  const int threads = blockDim.x;
  RowPart<T, V> part;
  float own = lowest, sum = 0;
  for (int first = threadIdx.x; first < row.vectors; first += V * threads) {
    part.load(x, row, first, threads, lowest);
#pragma unroll
    for (int u = 0; u < V; u++)
      if (first + u * threads < row.vectors) kept[first + u * threads] = part.v[u];
    const float m = fmaxf(own, part_max(part));
    part.stay_packed();
    if (m == lowest) {
      part.each(0, 0, [&](float v, int, int) { sum = v != v ? v : sum; });
      continue;
    }
    sum = sum * exp2_fast((own - m) * log2e) + part_sum(part, m * log2e);
    own = m;
  }
  const float max = block_reduce(own, lowest, scratch[0], MaxOp());
  // NaN where no element is above -infinity, as by other kernels.
  const float all = block_reduce(sum * exp2_fast((own - max) * log2e), 0.0f, scratch[1], AddOp());
  for (int first = threadIdx.x; first < row.vectors; first += V * threads) {
#pragma unroll
    for (int u = 0; u < V; u++) part.v[u] = kept[min(first + u * threads, row.vectors - 1)];
    part_write<LOG>(part, out, row, first, threads, max, all);
  }
}

// A cluster of `blocks` per row.
template <bool LOG, class T, int V>
__device__ __forceinline__ void softmax_cluster(const T* x, T* out, int cols, int blocks) {
  __shared__ float scratch[2][32];
  __shared__ float2 slot;
  const RowSpan<T> row(blockIdx.x / blocks, cols);
  const int first = static_cast<int>(cluster_rank()) * static_cast<int>(blockDim.x) * V + threadIdx.x;
  RowPart<T, V> part;
  part.load(x, row, first, blockDim.x, lowest);
  const float m = block_reduce(part_max(part), lowest, scratch[0], MaxOp());
  part.stay_packed();
  const float sum = block_reduce(m == lowest ? 0.0f : part_sum(part, m * log2e), 0.0f, scratch[1], AddOp());
  part.stay_packed();
  const float2 all = join_cluster(make_float2(m, sum), slot, blocks, Summaries());
  part_write<LOG>(part, out, row, first, blockDim.x, all.x, all.y);
  cluster_wait();
}

// One block per chunk of 1024 vectors; summary = (max, sum of e^(x - max)).
template <class T>
__device__ __forceinline__ void softmax_part(const T* x, float2* summaries, int cols, int chunks) {
  __shared__ float scratch[2][32];
  const RowSpan<T> row(blockIdx.x / chunks, cols);
  const int first = (blockIdx.x % chunks) * 1024 + threadIdx.x;
  RowPart<T, 4> part;
  next_may_start();
  part.load(x, row, first, 256, lowest);
  const float m = block_reduce(part_max(part), lowest, scratch[0], MaxOp());
  // A chunk may lie wholly outside a row that starts off a boundary; then it adds nothing.
  const float sum = block_reduce(m == lowest ? 0.0f : part_sum(part, m * log2e), 0.0f, scratch[1], AddOp());
  if (threadIdx.x == 0) summaries[blockIdx.x] = make_float2(m, sum);
}

template <bool LOG, class T>
__device__ __forceinline__ void softmax_join(const T* x, T* out, const float2* summaries, int cols, int chunks) {
  __shared__ float scratch[2][32];
  const long long index = blockIdx.x / chunks;
  const RowSpan<T> row(index, cols);
  const int first = (blockIdx.x % chunks) * 1024 + threadIdx.x;
  RowPart<T, 4> part;
  part.load(x, row, first, 256, lowest);
  wait_for_last();
  const float2* own = summaries + index * chunks;
  float m = lowest;
  for (int c = threadIdx.x; c < chunks; c += 256) m = fmaxf(m, own[c].x);
  const float max = block_reduce(m, lowest, scratch[0], MaxOp()), shift = max * log2e;
  float sum = 0;
  for (int c = threadIdx.x; c < chunks; c += 256) sum += own[c].y * exp2_fast(fmaf(own[c].x, log2e, -shift));
  sum = block_reduce(sum, 0.0f, scratch[1], AddOp());
  part_write<LOG>(part, out, row, first, 256, max, sum);
}

}  // namespace

#define SOFTMAX_ROW(op, LOG, T, V, KIND, WARP, MAX)                                                                       \
  extern "C" __global__ void __launch_bounds__(MAX) op##_##T##_##KIND##_##V(const T* x, T* out, long long rows, int cols) { \
    softmax_row<LOG, T, V, WARP>(x, out, rows, cols);                                                                     \
  }
#define SOFTMAX_CLUSTER(op, LOG, T)                                                                                                \
  extern "C" __global__ void __launch_bounds__(512) op##_##T##_cluster(const T* x, T* out, int cols, int blocks) { \
    softmax_cluster<LOG, T, 4>(x, out, cols, blocks);                                                                                 \
  }
#define SOFTMAX_LONG(op, LOG, T) \
  extern "C" __global__ void __launch_bounds__(1024) op##_##T##_long(const T* x, T* out, int cols) { softmax_long<LOG, T>(x, out, cols); }
#define SOFTMAX_OF(op, LOG, T)                                                                                                                                    \
  SOFTMAX_ROW(op, LOG, T, 1, warp, true, 128)                                                                                                                     \
  SOFTMAX_ROW(op, LOG, T, 2, warp, true, 128)                                                                                                                     \
  SOFTMAX_ROW(op, LOG, T, 4, warp, true, 128)                                                                                                                     \
  SOFTMAX_ROW(op, LOG, T, 1, block, false, 1024)                                                                                                                  \
  SOFTMAX_ROW(op, LOG, T, 2, block, false, 1024)                                                                                                                  \
  SOFTMAX_ROW(op, LOG, T, 4, block, false, 512)                                                                                                                   \
  SOFTMAX_ROW(op, LOG, T, 8, block, false, 256)                                                                                                                   \
  SOFTMAX_ROW(op, LOG, T, 8, wide, false, 1024)                                                                                                                   \
  SOFTMAX_CLUSTER(op, LOG, T) SOFTMAX_LONG(op, LOG, T)                                                                                                            \
  extern "C" __global__ void __launch_bounds__(256) op##_##T##_join(const T* x, T* out, const float2* summaries, int cols, int chunks) {                          \
    softmax_join<LOG, T>(x, out, summaries, cols, chunks);                                                                                                        \
  }                                                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(256) op##_##T##_part(const T* x, float2* summaries, int cols, int chunks) { softmax_part<T>(x, summaries, cols, chunks); }
// Rows of one element: 1, or NaN where it is not finite.
#define SOFTMAX(T)                                                                                                             \
  SOFTMAX_OF(softmax, false, T)                                                                                                \
  SOFTMAX_OF(log_softmax, true, T)                                                                                             \
  extern "C" __global__ void __launch_bounds__(256) softmax_##T##_single(const T* x, T* out, long long rows) {                 \
    elementwise<1>(x, x, x, out, rows, [](float a, float, float) { return a - a + 1.0f; });                                    \
  }
SOFTMAX(f32)
SOFTMAX(f16)
SOFTMAX(bf16)
