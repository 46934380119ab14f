// softmax(q k^T / sqrt(headDim)) v: a block takes 32 queries of a head and meets 32 keys at a time, or 8 where shared memory has no room for more, with the running maximum and sum of
// each query, in f32 (Milakov & Gimelshein 2018; Dao et al. 2022). 256 threads: 8 for each query, which share its keys and its outputs.
// attention_join_<t> and attention_join_wide_<t> add up the shares of keys of either kernel (attention_shares.cuh), in a fixed order.
#include "common/arithmetic.cuh"
#include "common/attention_output.cuh"
#include "common/attention_shares.cuh"
#include "common/reduce.cuh"
#include "common/vec.cuh"

namespace {

constexpr int QUERIES = 32, SHARERS = 8;

// Shared memory: q and out [QUERIES][dim + 1], k and v [KEYS][dim + 1].
template <class T, int KEYS>
__device__ __forceinline__ void attend(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, T* __restrict__ out, const AttentionSizes& s, float* __restrict__ shares) {
  extern __shared__ float memory[];
  const int pitch = s.dim + 1;
  float *const own_q = memory, *const sums = own_q + QUERIES * pitch, *const own_k = sums + QUERIES * pitch, *const own_v = own_k + KEYS * pitch;
  __shared__ float weights[QUERIES][KEYS + 1];
  const long long blocks = (s.queries + QUERIES - 1) / QUERIES, cell = blockIdx.x / s.splits, head = quotient(cell, blocks), first = (cell - head * blocks) * QUERIES;
  const int split = blockIdx.x % s.splits;
  const long long source = quotient(head, s.group) * s.keys * s.dim;
  const int rows = static_cast<int>(min(static_cast<long long>(QUERIES), s.queries - first));
  const long long last = first + rows - 1;
  const float scale = rsqrtf(static_cast<float>(s.dim));
  for (int i = threadIdx.x; i < QUERIES * s.dim; i += 256) {
    const int row = i / s.dim, column = i % s.dim;
    own_q[row * pitch + column] = row < rows ? to_float(q[(head * s.queries + first + row) * s.dim + column]) * scale : 0.0f;
    sums[row * pitch + column] = 0;
  }
  const int query = threadIdx.x / SHARERS, sharer = threadIdx.x % SHARERS;
  float max = -INFINITY, sum = 0;
  // The place of this thread's query among those of its head.
  const long long place = (first + query) % s.period, seen = !s.causal ? s.keys : min(s.keys, first / s.period == last / s.period ? last % s.period + 1 : s.period);
  // This block's share of the keys.
  const long long each = ((seen + KEYS - 1) / KEYS + s.splits - 1) / s.splits * KEYS, end = min(seen, (split + 1) * each);
  for (long long from = split * each; from < end; from += KEYS) {
    const int keys = static_cast<int>(min(static_cast<long long>(KEYS), end - from));
    __syncthreads();
    for (int i = threadIdx.x; i < keys * s.dim; i += 256) {
      const int row = i / s.dim, column = i % s.dim;
      own_k[row * pitch + column] = to_float(k[source + (from + row) * s.dim + column]);
      own_v[row * pitch + column] = to_float(v[source + (from + row) * s.dim + column]);
    }
    __syncthreads();
    float score[KEYS / SHARERS], top = -INFINITY;
#pragma unroll
    for (int j = 0; j < KEYS / SHARERS; j++) {
      const int key = sharer + j * SHARERS;
      float dot = 0;
      const bool sees = key < keys && (!s.causal || from + key <= place);
      if (sees)
        for (int c = 0; c < s.dim; c++) dot = fmaf(own_q[query * pitch + c], own_k[key * pitch + c], dot);
      score[j] = sees ? dot : -INFINITY;
      top = fmaxf(top, score[j]);
    }
#pragma unroll
    for (int offset = SHARERS / 2; offset > 0; offset /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, offset));
    const float next = fmaxf(max, top), keep = next == -INFINITY ? 1.0f : __expf(max - next);
    float part = 0;
#pragma unroll
    for (int j = 0; j < KEYS / SHARERS; j++) {
      const float weight = score[j] == -INFINITY ? 0.0f : __expf(score[j] - next);
      weights[query][sharer + j * SHARERS] = weight;
      part += weight;
    }
#pragma unroll
    for (int offset = SHARERS / 2; offset > 0; offset /= 2) part += __shfl_xor_sync(0xffffffffu, part, offset);
    sum = sum * keep + part;
    max = next;
    // The eight threads of a query are of one warp.
    __syncwarp();
    for (int c = sharer; c < s.dim; c += SHARERS) {
      float total = sums[query * pitch + c] * keep;
      for (int key = 0; key < keys; key++) total = fmaf(weights[query][key], own_v[key * pitch + c], total);
      sums[query * pitch + c] = total;
    }
    __syncwarp();
  }
  if (query >= rows) return;
  if (s.splits > 1) {
    constexpr float LOG2E = 1.4426950408889634f;
    const Shares share(shares, s, head * s.queries + first + query, split);
    if (sharer == 0) share.put(max * LOG2E, sum);
    for (int c = sharer; c < s.dim; c += SHARERS) share.sums[c] = sums[query * pitch + c];
    return;
  }
  T* const to = out + output_of_head(s, head) + (first + query) * s.of_query;
  for (int c = sharer; c < s.dim; c += SHARERS) to[c] = from_float<T>(sums[query * pitch + c] / sum);
}

// The largest score and the sum of weights over the shares of a query, in every thread of a warp.
struct All {
  float top, total;
};
__device__ __forceinline__ All all_of(const Shares& first, int splits, int lane) {
  float top = -INFINITY, total = 0;
  for (int i = lane; i < splits; i += 32) top = fmaxf(top, first.stats[2 * i]);
  top = warp_reduce(top, MaxOp());
  for (int i = lane; i < splits; i += 32) total += first.stats[2 * i + 1] * exp2f(first.stats[2 * i] - top);
  return {top, warp_reduce(total, AddOp())};
}

// A warp for each query.
template <class T>
__device__ __forceinline__ void join(float* shares, T* out, const AttentionSizes& s) {
  const long long row = static_cast<long long>(blockIdx.x) * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= s.batch_heads * s.queries) return;
  const int lane = threadIdx.x % 32;
  wait_for_last();
  const Shares first(shares, s, row, 0);
  const auto [top, total] = all_of(first, s.splits, lane);
  T* const to = out + output_of_row(s, row);
  for (int c = lane; c < s.dim; c += 32) {
    float sum = 0;
#pragma unroll 8
    for (int i = 0; i < s.splits; i++) sum = fmaf(first.sums[static_cast<long long>(i) * s.dim + c], exp2f(first.stats[2 * i] - top), sum);
    to[c] = from_float<T>(sum / total);
  }
}

// A block of 256 threads for each query, whose warps have every eighth share: few queries leave the GPU idle, and each share is a wait for memory.
template <class T>
__device__ __forceinline__ void join_wide(float* shares, T* out, const AttentionSizes& s) {
  constexpr int WARPS = 8;
  __shared__ float parts[WARPS][32];
  const long long row = blockIdx.x;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  wait_for_last();
  const Shares first(shares, s, row, 0);
  const auto [top, total] = all_of(first, s.splits, lane);
  T* const to = out + output_of_row(s, row);
  for (int from = 0; from < s.dim; from += 32) {
    const int c = from + lane;
    float sum = 0;
    if (c < s.dim) {
#pragma unroll 8
      for (int i = warp; i < s.splits; i += WARPS) sum = fmaf(first.sums[static_cast<long long>(i) * s.dim + c], exp2f(first.stats[2 * i] - top), sum);
    }
    parts[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && c < s.dim) {
      float all = 0;
#pragma unroll
      for (int w = 0; w < WARPS; w++) all += parts[w][lane];
      to[c] = from_float<T>(all / total);
    }
    __syncthreads();
  }
}

}  // namespace

#define ATTEND(T, NAME, KEYS) \
  extern "C" __global__ void __launch_bounds__(256, 4) scaled_dot_product_attention_##NAME(const T* q, const T* k, const T* v, T* out, const AttentionSizes s, float* shares) { start_attention(s); attend<T, KEYS>(q, k, v, out, s, shares); }
#define ATTENTION(T)     \
  ATTEND(T, T, 32)       \
  ATTEND(T, T##_8, 8)    \
  extern "C" __global__ void __launch_bounds__(128) attention_join_##T(float* shares, T* out, const AttentionSizes s) { join(shares, out, s); } \
  extern "C" __global__ void __launch_bounds__(256) attention_join_wide_##T(float* shares, T* out, const AttentionSizes s) { join_wide(shares, out, s); }
ATTENTION(f32)
ATTENTION(f16)
ATTENTION(bf16)
