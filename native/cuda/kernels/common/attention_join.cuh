// What warps and blocks that share the keys of up to 16 queries do with their sums (attention_warp.cu).
#pragma once
#include "arithmetic.cuh"
#include "attention_output.cuh"
#include "attention_shares.cuh"
#include "reduce.cuh"
#include "vec.cuh"

namespace {

__device__ __forceinline__ void store4(float* to, float x, float y, float z, float w) { *reinterpret_cast<float4*>(to) = make_float4(x, y, z, w); }
template <class T>
__device__ __forceinline__ void store4(T* to, float x, float y, float z, float w) { *reinterpret_cast<uint2*>(to) = make_uint2(pack_pair(x, y, T()), pack_pair(z, w, T())); }

// 0 where nothing has been met.
__device__ __forceinline__ float relative(float top, float to) { return top == -INFINITY ? 0.0f : exp2_fast(top - to); }

// Whether this block is the last of `blocks` to get here; what the others wrote before is then seen. Leaves the counter at zero.
__device__ __forceinline__ bool is_last(unsigned* arrivals, int blocks) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(arrivals, 1u) == static_cast<unsigned>(blocks) - 1;
    if (last) *arrivals = 0;
  }
  __syncthreads();
  __threadfence();
  return last;
}

// Adds up the shares of `rows` queries from row `first` on, whose results begin at `out`. Threads that are left when each four columns have one have every n-th share. A thread asks for shares and what they are relative to
// at once, and weighs them as they come: each wait for L2 is a third of a microsecond. `memory`: attention_join_bytes for each thread.
template <class T, int THREADS>
__device__ __forceinline__ void join(const float* shares, T* __restrict__ out, const AttentionSizes& s, long long first, int rows, float* memory) {
  constexpr int TOGETHER = 8;
  const int fours = s.dim / 4, items = rows * fours, groups = max(1, THREADS / items);
  const float2* const all_stats = reinterpret_cast<const float2*>(shares + s.batch_heads * s.queries * s.splits * s.dim);
  float4* const sums = reinterpret_cast<float4*>(memory);
  float2* const stats = reinterpret_cast<float2*>(sums + THREADS);
  for (int e = threadIdx.x; e < (items + THREADS - 1) / THREADS * THREADS; e += THREADS) {
    const int group = e / items, item = e - group * items, row = item / fours, four = item - row * fours;
    float4 sum = make_float4(0, 0, 0, 0);
    float top = -INFINITY, total = 0;
    const auto add = [&](const float4& other, float weight) { sum.x = fmaf(other.x, weight, sum.x), sum.y = fmaf(other.y, weight, sum.y), sum.z = fmaf(other.z, weight, sum.z), sum.w = fmaf(other.w, weight, sum.w); };
    const auto move_to = [&](float next) {
      const float keep = relative(top, next);
      sum.x *= keep, sum.y *= keep, sum.z *= keep, sum.w *= keep, total *= keep, top = next;
    };
    if (group < groups) {
      for (int i = group; i < s.splits; i += TOGETHER * groups) {
        float4 own[TOGETHER];
        float2 stat[TOGETHER];
#pragma unroll
        for (int u = 0; u < TOGETHER; u++) {
          const long long share = (first + row) * s.splits + min(i + u * groups, s.splits - 1);
          own[u] = __ldcg(reinterpret_cast<const float4*>(shares + share * s.dim) + four), stat[u] = __ldcg(all_stats + share);
        }
        float next = top;
#pragma unroll
        for (int u = 0; u < TOGETHER; u++) {
          if (i + u * groups >= s.splits) stat[u] = make_float2(-INFINITY, 0.0f);
          next = fmaxf(next, stat[u].x);
        }
        move_to(next);
#pragma unroll
        for (int u = 0; u < TOGETHER; u++) {
          const float weight = relative(stat[u].x, top);
          add(own[u], weight), total = fmaf(stat[u].y, weight, total);
        }
      }
    }
    if (groups > 1) {
      sums[threadIdx.x] = sum, stats[threadIdx.x] = make_float2(top, total);
      __syncthreads();
      if (group > 0) continue;
      float next = top;
      for (int i = 1; i < groups; i++) next = fmaxf(next, stats[i * items + item].x);
      move_to(next);
      for (int i = 1; i < groups; i++) {
        const float2 other = stats[i * items + item];
        const float weight = relative(other.x, top);
        add(sums[i * items + item], weight), total = fmaf(other.y, weight, total);
      }
    }
    if (group > 0) continue;
    const float factor = 1.0f / total;
    store4(out + row * s.of_query + four * 4, sum.x * factor, sum.y * factor, sum.z * factor, sum.w * factor);
  }
}

// The sums of the warps that share the keys of up to 16 queries, of which each thread has LANES<T> neighbouring columns from vector `own_vector` and the next one on, in every 8 (of `part`), become the results of
// the queries, or a share of these.
template <class T, int SHARERS, int THREADS, int COLUMNS, class Block>
__device__ __forceinline__ void join_warps(const float (&sums)[COLUMNS][LANES<T>][4], const float (&top)[2], const float (&total)[2], int part, int sharer, const Block& block, T* __restrict__ out, const AttentionSizes& s,
                                           float* __restrict__ shares, unsigned* arrivals, long long number) {
  constexpr int L = LANES<T>, BR = attention_warp_queries;
  extern __shared__ __align__(16) float memory[];
  __shared__ float tops[SHARERS][BR], totals[SHARERS][BR];
  const int lane = threadIdx.x % 32, row = lane / 4, quad = lane % 4, own_vector = part * COLUMNS * 8 + quad * 2, vectors = s.dim / L;
  const int rows = static_cast<int>(min(static_cast<long long>(BR), s.queries - block.first)), pitch = attention_warp_pitch(s.dim);
#pragma unroll
  for (int h = 0; h < 2; h++) {
    if (quad == 0 && part == 0) tops[sharer][row + h * 8] = top[h], totals[sharer][row + h * 8] = total[h];
    if (row + h * 8 >= rows) continue;
    float* to = memory + (sharer * rows + row + h * 8) * pitch;
#pragma unroll
    for (int c = 0; c < COLUMNS; c++)
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const int at = own_vector + c * 8 + i;
        if (at >= vectors) continue;
#pragma unroll
        for (int j = 0; j < L; j += 4) *reinterpret_cast<float4*>(to + at * L + j) = make_float4(sums[c][j][h * 2 + i], sums[c][j + 1][h * 2 + i], sums[c][j + 2][h * 2 + i], sums[c][j + 3][h * 2 + i]);
      }
  }
  __syncthreads();
  for (int e = threadIdx.x; e < rows * vectors; e += THREADS) {
    const int at_row = e / vectors, at = e - at_row * vectors;
    float of_block = tops[0][at_row], all = 0, line[L] = {};
#pragma unroll
    for (int w = 1; w < SHARERS; w++) of_block = fmaxf(of_block, tops[w][at_row]);
#pragma unroll
    for (int w = 0; w < SHARERS; w++) {
      const float weight = relative(tops[w][at_row], of_block);
      all += totals[w][at_row] * weight;
      const float* from = memory + (w * rows + at_row) * pitch + at * L;
#pragma unroll
      for (int j = 0; j < L; j++) line[j] = fmaf(from[j], weight, line[j]);
    }
    if (s.splits > 1) {
      const Shares share(shares, s, block.head * s.queries + block.first + at_row, block.split);
      if (at == 0) share.put(of_block, all);
#pragma unroll
      for (int j = 0; j < L; j += 4) *reinterpret_cast<float4*>(share.sums + at * L + j) = make_float4(line[j], line[j + 1], line[j + 2], line[j + 3]);
    } else {
      const float factor = 1.0f / all;
#pragma unroll
      for (int j = 0; j < L; j++) line[j] *= factor;
      store16(out + output_of_head(s, block.head) + (block.first + at_row) * s.of_query + at * L, pack<T>(line));
    }
  }
  if (s.splits > 1 && is_last(arrivals + quotient(number, s.splits), s.splits)) join<T, THREADS>(shares, out + output_of_head(s, block.head) + block.first * s.of_query, s, block.head * s.queries + block.first, rows, memory);
}

}  // namespace
