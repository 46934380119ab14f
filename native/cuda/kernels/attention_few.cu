// Attention of few queries: W warps for a query and a share of the keys, eight threads for a key, whose dot products and weighted values stay in
// registers; groups of eight, warps and blocks have their own running maximum and sum, and are joined in a fixed order. In f32.
//   attention_few_<t>_<C>_<W>   C vectors of 16 bytes of a key for each of its eight threads; W 1: four queries of a block, whose keys are not shared
#include "common/arithmetic.cuh"
#include "common/attention_output.cuh"
#include "common/attention_shares.cuh"
#include "common/attention_weighted.cuh"
#include "common/reduce.cuh"
#include "common/vec.cuh"

namespace {

constexpr int SHARERS = 8, MOST_DIM = 256;

// 0 where nothing has been met.
__device__ __forceinline__ float relative(float top, float to) { return top == -INFINITY ? 0.0f : exp2_fast(top - to); }

template <int C, int W, class T>
__device__ __forceinline__ void attend(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, T* __restrict__ out, const AttentionSizes& s, float* __restrict__ shares) {
  constexpr int L = LANES<T>, U = attention_few_together(C), THREADS = W * 32, GROUPS = THREADS / SHARERS;
  if (s.splits > 1) next_may_start();
  const long long row = W == 1 ? blockIdx.x * static_cast<long long>(attention_few_rows) + threadIdx.x / 32 : blockIdx.x / s.splits;
  if (W == 1 && row >= s.batch_heads * s.queries) return;
  const long long head = quotient(row, s.queries);
  const int split = blockIdx.x % s.splits, sharer = threadIdx.x % SHARERS, group = threadIdx.x % THREADS / SHARERS, lane = threadIdx.x % 32, warp = threadIdx.x % THREADS / 32, vectors = s.dim / L;
  const long long source = quotient(head, s.group) * s.keys * s.dim;
  const long long seen = s.causal ? min(s.keys, remainder_of(row - head * s.queries, s.period) + 1) : s.keys;
  const long long each = quotient((seen + GROUPS - 1) / GROUPS + s.splits - 1, s.splits) * GROUPS, from = split * each, end = min(seen, from + each);
  // The eight threads of a key lie in one warp, and all of a warp go on for as long as any: past the end they meet the last key, which then counts for nothing.
  float own[C][L], sum[C][L] = {};
  const float scale = rsqrtf(static_cast<float>(s.dim)) * 1.4426950408889634f;
#pragma unroll
  for (int c = 0; c < C; c++) {
    const int at = sharer + c * SHARERS;
    unpack<T>(at < vectors ? load16(q + row * s.dim + at * L) : make_uint4(0, 0, 0, 0), own[c]);
#pragma unroll
    for (int j = 0; j < L; j++) own[c][j] *= scale;
  }
  float top = -INFINITY, total = 0;
  for (long long base = from; base < end; base += GROUPS * U) {
    uint4 keys[U][C], values[U][C];
#pragma unroll
    for (int u = 0; u < U; u++) {
      const long long key = source + min(base + u * GROUPS + group, end - 1) * s.dim;
#pragma unroll
      for (int c = 0; c < C; c++) {
        const int at = sharer + c * SHARERS;
        keys[u][c] = at < vectors ? load16(k + key + at * L) : make_uint4(0, 0, 0, 0);
        values[u][c] = at < vectors ? load16(v + key + at * L) : make_uint4(0, 0, 0, 0);
      }
    }
    float score[U], next = top;
#pragma unroll
    for (int u = 0; u < U; u++) {
      float dot = 0;
#pragma unroll
      for (int c = 0; c < C; c++) {
        float part[L];
        unpack<T>(keys[u][c], part);
#pragma unroll
        for (int j = 0; j < L; j++) dot = fmaf(own[c][j], part[j], dot);
      }
#pragma unroll
      for (int offset = SHARERS / 2; offset > 0; offset /= 2) dot += __shfl_xor_sync(0xffffffffu, dot, offset);
      score[u] = base + u * GROUPS + group < end ? dot : -INFINITY;
      next = fmaxf(next, score[u]);
    }
    const float keep = relative(top, next);
    top = next;
    total *= keep;
#pragma unroll
    for (int c = 0; c < C; c++)
#pragma unroll
      for (int j = 0; j < L; j++) sum[c][j] *= keep;
#pragma unroll
    for (int u = 0; u < U; u++) {
      const float weight = relative(score[u], top);
      total += weight;
      add_weighted<T>(weight, values[u], sum);
    }
  }
  // The groups of a warp.
  float of_warp = top;
#pragma unroll
  for (int offset = SHARERS; offset < 32; offset *= 2) of_warp = fmaxf(of_warp, __shfl_xor_sync(0xffffffffu, of_warp, offset));
  const float keep = relative(top, of_warp);
  total *= keep;
#pragma unroll
  for (int offset = SHARERS; offset < 32; offset *= 2) total += __shfl_xor_sync(0xffffffffu, total, offset);
#pragma unroll
  for (int c = 0; c < C; c++)
#pragma unroll
    for (int j = 0; j < L; j++) {
      sum[c][j] *= keep;
#pragma unroll
      for (int offset = SHARERS; offset < 32; offset *= 2) sum[c][j] += __shfl_xor_sync(0xffffffffu, sum[c][j], offset);
    }
  T* const to = out + output_of_row(s, row);
  if constexpr (W == 1) {
#pragma unroll
    for (int c = 0; c < C; c++) {
#pragma unroll
      for (int j = 0; j < L; j++) sum[c][j] /= total;
      if (const int at = sharer + c * SHARERS; lane < SHARERS && at < vectors) store16(to + at * L, pack<T>(sum[c]));
    }
  } else {
    __shared__ float sums[W][MOST_DIM], tops[W], totals[W];
#pragma unroll
    for (int c = 0; c < C; c++)
#pragma unroll
      for (int j = 0; j < L; j++)
        if (const int at = (sharer + c * SHARERS) * L + j; lane < SHARERS && at < s.dim) sums[warp][at] = sum[c][j];
    if (lane == 0) tops[warp] = of_warp, totals[warp] = total;
    __syncthreads();
    // The warps of the block.
    float of_block = tops[0], all = 0;
#pragma unroll
    for (int w = 1; w < W; w++) of_block = fmaxf(of_block, tops[w]);
#pragma unroll
    for (int w = 0; w < W; w++) all += totals[w] * relative(tops[w], of_block);
    const Shares share(shares, s, row, split);
    for (int c = threadIdx.x; c < s.dim; c += THREADS) {
      float value = 0;
#pragma unroll
      for (int w = 0; w < W; w++) value += sums[w][c] * relative(tops[w], of_block);
      if (s.splits > 1) share.sums[c] = value;
      else to[c] = from_float<T>(value / all);
    }
    if (s.splits > 1 && threadIdx.x == 0) share.put(of_block, all);
  }
}

}  // namespace

#define FEW_AS(T, C, W, THREADS, BLOCKS)                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) attention_few_##T##_##C##_##W(const T* q, const T* k, const T* v, T* out, const AttentionSizes s, float* shares) { \
    start_attention(s);                                                                                                                                                                           \
    attend<C, W>(q, k, v, out, s, shares);                                                                                                                                                   \
  }
#define FEW(T, C) FEW_AS(T, C, 1, 128, 4) FEW_AS(T, C, 4, 128, 4) FEW_AS(T, C, 16, 512, 1)
FEW(f32, 2) FEW(f32, 4) FEW(f32, 8)
FEW(f16, 1) FEW(f16, 2) FEW(f16, 4)
FEW(bf16, 1) FEW(bf16, 2) FEW(bf16, 4)
