// Attention of few queries whose keys all arrive at once: W warps for a query, eight threads for a key, U keys of such a group, in a straight line without loops or 64-bit divisions, which are what a cold call of so
// little waits for. All queries see the same number of keys. In f32.
//   attention_small_<t>_<C>_<U>_<W>   C vectors of 16 bytes of a key for each of its eight threads
#include "attention_small.h"
#include "common/arithmetic.cuh"
#include "common/attention_weighted.cuh"
#include "common/vec.cuh"

namespace {

template <int C, int U, int W, class T>
__device__ __forceinline__ void attend(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, T* __restrict__ out, const AttentionSmall& a) {
  constexpr int L = LANES<T>, SHARERS = 8, GROUPS = W * 32 / SHARERS;
  const int row = blockIdx.x, thread = threadIdx.x, sharer = thread % SHARERS, group = thread / SHARERS, lane = thread % 32, warp = thread / 32;
  const long long source = divided(divided(row, a.by_queries), a.by_group) * a.of_head;
  uint4 own[C], keys[U][C], values[U][C];
#pragma unroll
  for (int c = 0; c < C; c++) own[c] = sharer + c * SHARERS < a.vectors ? load16(q + row * a.dim + (sharer + c * SHARERS) * L) : make_uint4(0, 0, 0, 0);
#pragma unroll
  for (int u = 0; u < U; u++) {
    // One that is behind the end is read from the last, and counts for nothing.
    const long long key = source + min(u * GROUPS + group, a.seen - 1) * a.dim;
#pragma unroll
    for (int c = 0; c < C; c++) {
      const int at = sharer + c * SHARERS;
      keys[u][c] = at < a.vectors ? load16(k + key + at * L) : make_uint4(0, 0, 0, 0);
      values[u][c] = at < a.vectors ? load16(v + key + at * L) : make_uint4(0, 0, 0, 0);
    }
  }
  float score[U] = {}, top = -INFINITY;
#pragma unroll
  for (int c = 0; c < C; c++) {
    float mine[L];
    unpack<T>(own[c], mine);
#pragma unroll
    for (int u = 0; u < U; u++) {
      float part[L];
      unpack<T>(keys[u][c], part);
#pragma unroll
      for (int j = 0; j < L; j++) score[u] = fmaf(mine[j], part[j], score[u]);
    }
  }
#pragma unroll
  for (int u = 0; u < U; u++) {
#pragma unroll
    for (int offset = SHARERS / 2; offset > 0; offset /= 2) score[u] += __shfl_xor_sync(0xffffffffu, score[u], offset);
    score[u] = u * GROUPS + group < a.seen ? score[u] * a.scale : -INFINITY;
    top = fmaxf(top, score[u]);
  }
#pragma unroll
  for (int offset = SHARERS; offset < 32; offset *= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, offset));
  // Warps whose keys are all behind the end have nothing.
  const float shift = top == -INFINITY ? 0.0f : top;
  float total = 0, sum[C][L] = {};
#pragma unroll
  for (int u = 0; u < U; u++) {
    const float weight = exp2_fast(score[u] - shift);
    total += weight;
    add_weighted<T>(weight, values[u], sum);
  }
#pragma unroll
  for (int offset = SHARERS; offset < 32; offset *= 2) {
    total += __shfl_xor_sync(0xffffffffu, total, offset);
#pragma unroll
    for (int c = 0; c < C; c++)
#pragma unroll
      for (int j = 0; j < L; j++) sum[c][j] += __shfl_xor_sync(0xffffffffu, sum[c][j], offset);
  }
  T* const to = out + row * a.dim;
  if constexpr (W == 1) {
    const float factor = 1.0f / total;
#pragma unroll
    for (int c = 0; c < C; c++) {
#pragma unroll
      for (int j = 0; j < L; j++) sum[c][j] *= factor;
      if (const int at = sharer + c * SHARERS; lane < SHARERS && at < a.vectors) store16(to + at * L, pack<T>(sum[c]));
    }
  } else {
    __shared__ __align__(16) float sums[W][C * SHARERS * L];
    __shared__ float tops[W], totals[W];
    if (lane < SHARERS) {
#pragma unroll
      for (int c = 0; c < C; c++)
#pragma unroll
        for (int j = 0; j < L; j += 4) *reinterpret_cast<float4*>(&sums[warp][(sharer + c * SHARERS) * L + j]) = make_float4(sum[c][j], sum[c][j + 1], sum[c][j + 2], sum[c][j + 3]);
    }
    if (lane == 0) tops[warp] = top, totals[warp] = total;
    __syncthreads();
    float of_block = tops[0], all = 0;
#pragma unroll
    for (int w = 1; w < W; w++) of_block = fmaxf(of_block, tops[w]);
    constexpr int EACH = (C * SHARERS * L + W * 32 - 1) / (W * 32);
    float value[EACH] = {};
#pragma unroll
    for (int w = 0; w < W; w++) {
      const float weight = exp2_fast(tops[w] - of_block);
      all = fmaf(totals[w], weight, all);
#pragma unroll
      for (int e = 0; e < EACH; e++) value[e] = fmaf(sums[w][min(thread + e * W * 32, C * SHARERS * L - 1)], weight, value[e]);
    }
#pragma unroll
    for (int e = 0; e < EACH; e++)
      if (const int c = thread + e * W * 32; c < a.dim) to[c] = from_float<T>(value[e] / all);
  }
}

}  // namespace

#define SMALL(T, C, U, W) \
  extern "C" __global__ void __launch_bounds__(W * 32) attention_small_##T##_##C##_##U##_##W(const T* q, const T* k, const T* v, T* out, const AttentionSmall a) { attend<C, U, W>(q, k, v, out, a); }
// attention_small_shape chooses: U is attention_few_together(C), or twice as many where these are up to four vectors.
SMALL(f32, 2, 2, 1) SMALL(f32, 2, 4, 1) SMALL(f32, 4, 1, 1) SMALL(f32, 4, 2, 1) SMALL(f32, 8, 1, 1)
#define HALVES(T) \
  SMALL(T, 1, 4, 1) SMALL(T, 1, 8, 1) SMALL(T, 1, 4, 4) SMALL(T, 1, 4, 16) SMALL(T, 2, 2, 1) SMALL(T, 2, 4, 1) SMALL(T, 4, 1, 1) SMALL(T, 4, 2, 1) SMALL(T, 4, 1, 4) SMALL(T, 4, 1, 16)
HALVES(f16)
HALVES(bf16)
