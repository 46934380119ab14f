// Attention by a warp for 16 queries, and by warps that share their keys (attention_warp.cu).
#pragma once
#include "arithmetic.cuh"
#include "attention_block.cuh"
#include "attention_f32.cuh"
#include "attention_join.cuh"
#include "attention_packed.cuh"
#include "attention_shares.cuh"
#include "../scaled_dot_product_attention.h"

namespace {

constexpr float LOG2E = 1.4426950408889634f;

template <int BR, int BC, bool SHARES, bool PACKED>
struct QueriesOf {
  using Block = AttentionBlock<BR, BC, SHARES>;
};
template <int BR, int BC, bool SHARES>
struct QueriesOf<BR, BC, SHARES, true> {
  using Block = PackedHeads<BC>;
};

// Not moved out of a loop, where it would fill registers.
__device__ __forceinline__ uint4 load16_here(const void* p) {
  uint4 v;
  asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
  return v;
}
// Keys that one warp alone meets are kept out of L1.
template <int W>
__device__ __forceinline__ uint4 load16_of(const void* p) { return W == 1 ? load16(p) : load16_once(p); }
__device__ __forceinline__ uint4 zeroes() { return make_uint4(0, 0, 0, 0); }

// scores + low += q k^T of 64 bytes of each row: q of rows lane / 4 and that + 8, k of key lane / 4 of eight. low, which may be scores: the products of f32 with what tf32 leaves.
template <class T>
__device__ __forceinline__ void multiply_keys(float (&scores)[4], float (&low)[4], const uint4 (&q)[2], const uint4& k) {
  const uint32_t first[4] = {q[0].x, q[1].x, q[0].y, q[1].y}, second[4] = {q[0].z, q[1].z, q[0].w, q[1].w};
  if constexpr (sizeof(T) == 2) {
    mma(scores, first, k.x, k.y, T());
    mma(scores, second, k.z, k.w, T());
  } else {
    uint32_t a_high[4], a_low[4], b_high[2], b_low[2];
#pragma unroll
    for (int half = 0; half < 2; half++) {
#pragma unroll
      for (int i = 0; i < 4; i++) split(half ? second[i] : first[i], a_high[i], a_low[i]);
      split(half ? k.z : k.x, b_high[0], b_low[0]);
      split(half ? k.w : k.y, b_high[1], b_low[1]);
      mma(low, a_low, b_high[0], b_high[1], tf32());
      mma(low, a_high, b_low[0], b_low[1], tf32());
      mma(scores, a_high, b_high[0], b_high[1], tf32());
    }
  }
}

// Rows of values that a thread has of a step of products: keys 2c, 2c + 1 (and 2c + 8, 2c + 9), where c is its place in a quad.
template <class T>
constexpr int VALUE_ROWS = sizeof(T) == 2 ? 4 : 2;

// A tile of keys of `dim` elements, of which `left` are there, each of `vectors` of 16 bytes. `from`: vector lane % 4 of key lane / 4. W: warps of a block that meet the keys.
template <int W, class T, int ROWS, int CHUNKS>
__device__ __forceinline__ void load_key_tile(uint4 (&keys)[ROWS][CHUNKS], const T* __restrict__ from, int dim, int row, int quad, int left, int vectors) {
#pragma unroll
  for (int n = 0; n < ROWS; n++)
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; chunk++) keys[n][chunk] = n * 8 + row < left && chunk * 4 + quad < vectors ? load16_of<W>(from + n * 8 * dim + chunk * 4 * LANES<T>) : zeroes();
}

// The values of these keys. `from`: vector `first` of the first of them, this thread's.
template <int W, class T, int COLUMNS, int STEPS>
__device__ __forceinline__ void load_value_tile(uint4 (&values)[COLUMNS][STEPS][VALUE_ROWS<T>], const T* __restrict__ from, int dim, int quad, int left, int first, int vectors) {
#pragma unroll
  for (int step = 0; step < STEPS; step++)
#pragma unroll
    for (int r = 0; r < VALUE_ROWS<T>; r++) {
      const int key = step * 4 * VALUE_ROWS<T> + r / 2 * 8 + quad * 2 + r % 2;
#pragma unroll
      for (int c = 0; c < COLUMNS; c++) values[c][step][r] = key < left && first + c * 8 < vectors ? load16_of<W>(from + key * dim + c * 8 * LANES<T>) : zeroes();
    }
}

// sums = sums * keep + weights values, of 8 LANES<T> columns.
template <class T, int STEPS>
__device__ __forceinline__ void multiply_values(float (&sums)[LANES<T>][4], const float (&weights)[sizeof(T) == 2 ? 2 * STEPS : STEPS][4], const uint4 (&values)[STEPS][VALUE_ROWS<T>], const float (&keep)[2]) {
  if constexpr (sizeof(T) == 2) {
#pragma unroll
    for (int j = 0; j < LANES<T>; j++)
#pragma unroll
      for (int i = 0; i < 4; i++) sums[j][i] *= keep[i / 2];
#pragma unroll
    for (int t = 0; t < STEPS; t++) {
      const float(&w)[4] = weights[2 * t], (&x)[4] = weights[2 * t + 1];
      const uint32_t a[4] = {pack_pair(w[0], w[1], T()), pack_pair(w[2], w[3], T()), pack_pair(x[0], x[1], T()), pack_pair(x[2], x[3], T())};
      uint32_t v[4][4];
#pragma unroll
      for (int r = 0; r < 4; r++) v[r][0] = values[t][r].x, v[r][1] = values[t][r].y, v[r][2] = values[t][r].z, v[r][3] = values[t][r].w;
#pragma unroll
      for (int j = 0; j < LANES<T>; j++) {
        const unsigned bytes = j % 2 == 0 ? 0x5410 : 0x7632;
        mma(sums[j], a, __byte_perm(v[0][j / 2], v[1][j / 2], bytes), __byte_perm(v[2][j / 2], v[3][j / 2], bytes), T());
      }
    }
  } else {
    // Tensor cores cut what they add to off: each tile has sums of its own, which are added up in f32.
    float part[1][4][4] = {};
#pragma unroll
    for (int t = 0; t < STEPS; t++) {
      uint32_t a_high[1][4], a_low[1][4], b_high[4][2], b_low[4][2];
#pragma unroll
      for (int i = 0; i < 4; i++) split(__float_as_uint(weights[t][i % 2 * 2 + i / 2]), a_high[0][i], a_low[0][i]);
#pragma unroll
      for (int r = 0; r < 2; r++) {
        split(values[t][r].x, b_high[0][r], b_low[0][r]);
        split(values[t][r].y, b_high[1][r], b_low[1][r]);
        split(values[t][r].z, b_high[2][r], b_low[2][r]);
        split(values[t][r].w, b_high[3][r], b_low[3][r]);
      }
      three_products(part, a_high, a_low, b_high, b_low);
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int i = 0; i < 4; i++) sums[j][i] = fmaf(sums[j][i], keep[i / 2], part[0][j][i]);
  }
}

// Scores of rows lane / 4 and that + 8 become weights, relative to the largest score so far. `keep`: what sums so far are multiplied by.
template <int TILES>
__device__ __forceinline__ void weigh(float (&score)[TILES][4], float scale, float (&top)[2], float (&total)[2], float (&keep)[2]) {
#pragma unroll
  for (int h = 0; h < 2; h++) {
    float high = score[0][h * 2];
#pragma unroll
    for (int n = 0; n < TILES; n++) high = fmaxf(high, fmaxf(score[n][h * 2], score[n][h * 2 + 1]));
    high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 1));
    high = fmaxf(top[h], fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 2)) * scale);
    const float shift = high == -INFINITY ? 0.0f : high;
    keep[h] = exp2_fast(top[h] - shift);
    top[h] = high;
    total[h] *= keep[h];
#pragma unroll
    for (int n = 0; n < TILES; n++)
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const float weight = exp2_fast(fmaf(score[n][h * 2 + i], scale, -shift));
        score[n][h * 2 + i] = weight;
        total[h] += weight;
      }
  }
}

// PACKED: the queries of a warp are those of s.together heads one after the other, and so are their keys. STAYS: a block goes on from one set of queries to the next, whose first keys are on their way while its warps join what
// they have.
template <class T, int D, int W, bool PACKED, bool STAYS = false>
__device__ __forceinline__ void attend(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, T* __restrict__ out, const AttentionSizes& s, float* __restrict__ shares, unsigned* arrivals) {
  constexpr int L = LANES<T>, BC = attention_warp_keys(sizeof(T), D, W), PARTS = attention_warp_parts(D), BR = attention_warp_queries, THREADS = W == 1 ? 128 : 32 * W;
  constexpr int SHARERS = W == 1 ? 1 : W / PARTS, TILES = THREADS / 32 / PARTS / SHARERS;  // warps that share the keys of a tile of queries; such tiles of a block
  constexpr int CHUNKS = D / (4 * L), COLUMNS = (D / PARTS + 8 * L - 1) / (8 * L), STEP = 4 * VALUE_ROWS<T>, STEPS = BC / STEP;
  constexpr bool KEEPS_Q = D <= (sizeof(T) == 2 ? 128 : 64);
  constexpr bool APART = sizeof(T) == 4 && D > 128;  // small products have sums of their own: tensor cores cut what they add to off
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, part = warp % PARTS, sharer = W == 1 ? 0 : warp / PARTS, row = lane / 4, quad = lane % 4;
  long long number = W == 1 ? blockIdx.x * static_cast<long long>(TILES) + warp / PARTS : blockIdx.x;
  const long long cells = PACKED ? (s.batch_heads + s.together - 1) / s.together : s.batch_heads * ((s.queries + BR - 1) / BR);
  if (W == 1 && number >= cells) return;
  using Block = typename QueriesOf<BR, BC, W != 1, PACKED>::Block;
  Block block(s, number);
  const int vectors = s.dim / L, first_column = part * COLUMNS * 8 + row;
  long long query, queries;
  const T *own_q, *own_k, *own_v;

  const auto load_q = [&](uint4(&to)[2], int chunk) {
#pragma unroll
    for (int h = 0; h < 2; h++) to[h] = query + h * 8 < queries && chunk * 4 + quad < vectors ? load16_here(own_q + h * 8ll * s.dim + chunk * 4 * L) : zeroes();
  };
  uint4 own[KEEPS_Q ? CHUNKS : 1][2], keys[BC / 8][CHUNKS], values[COLUMNS][STEPS][VALUE_ROWS<T>];
  const auto left_of = [&](int t) { return static_cast<int>(min(static_cast<long long>(BC), block.seen - static_cast<long long>(block.begin + t) * BC)); };
  const auto load_keys = [&](int t) { load_key_tile<W>(keys, own_k + static_cast<long long>(t) * BC * s.dim, s.dim, row, quad, left_of(t), vectors); };
  const auto load_values = [&](int t) { load_value_tile<W>(values, own_v + static_cast<long long>(t) * BC * s.dim, s.dim, quad, left_of(t), first_column, vectors); };
  float sums[COLUMNS][L][4], top[2], total[2];
  const float scale = rsqrtf(static_cast<float>(s.dim)) * LOG2E;
  for (bool first = true;; first = false) {
    if (!STAYS || first || number < cells) {
      if (!first) block = Block(s, number);
      query = block.first + row, queries = block.queries(s);
      own_q = q + (block.head * s.queries + query) * s.dim + quad * L;
      own_k = k + block.keys_at + (static_cast<long long>(block.begin) * BC + row) * s.dim + quad * L;
      own_v = v + block.keys_at + static_cast<long long>(block.begin) * BC * s.dim + first_column * L;
      if constexpr (KEEPS_Q) {
#pragma unroll
        for (int chunk = 0; chunk < CHUNKS; chunk++) load_q(own[chunk], chunk);
      }
      if (sharer < block.tiles) load_keys(sharer), load_values(sharer);
    }
    if constexpr (STAYS) {
      if (!first) {
        join_warps<T, SHARERS, THREADS, COLUMNS>(sums, top, total, part, sharer, Block(s, number - gridDim.x), out, s, shares, arrivals, number - gridDim.x);
        if (number >= cells) return;
        // Until all have read what the warps left.
        __syncthreads();
      }
    }
#pragma unroll
    for (int c = 0; c < COLUMNS; c++)
#pragma unroll
      for (int j = 0; j < L; j++)
#pragma unroll
        for (int i = 0; i < 4; i++) sums[c][j][i] = 0.0f;
    top[0] = top[1] = -INFINITY, total[0] = total[1] = 0.0f;
    for (int t = sharer; t < block.tiles; t += SHARERS) {
      float score[BC / 8][4] = {}, low[APART ? BC / 8 : 1][4] = {};
#pragma unroll
      for (int chunk = 0; chunk < CHUNKS; chunk++) {
        if constexpr (!KEEPS_Q) load_q(own[0], chunk);
#pragma unroll
        for (int n = 0; n < BC / 8; n++) multiply_keys<T>(score[n], APART ? low[n] : score[n], own[KEEPS_Q ? chunk : 0], keys[n][chunk]);
      }
      if constexpr (APART) {
#pragma unroll
        for (int n = 0; n < BC / 8; n++)
#pragma unroll
          for (int i = 0; i < 4; i++) score[n][i] += low[n][i];
      }
      if (t + SHARERS < block.tiles) load_keys(t + SHARERS);
      hide_unseen(score, s, block, static_cast<long long>(block.begin + t) * BC, query, quad * 2);
      float keep[2];
      weigh(score, scale, top, total, keep);
#pragma unroll
      for (int c = 0; c < COLUMNS; c++) multiply_values<T, STEPS>(sums[c], score, values[c], keep);
      if (t + SHARERS < block.tiles) load_values(t + SHARERS);
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
      total[h] += __shfl_xor_sync(0xffffffffu, total[h], 1);
      total[h] += __shfl_xor_sync(0xffffffffu, total[h], 2);
    }
    if constexpr (SHARERS == 1) {
      // Of this thread: LANES<T> neighbouring columns from each of two vectors on, in every 8.
      const int own_vector = part * COLUMNS * 8 + quad * 2;
      T* const to = out + output_of_head(s, block.head) + query * s.of_query;
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const float factor = 1.0f / total[h];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++)
#pragma unroll
          for (int i = 0; i < 2; i++) {
            float line[L];
#pragma unroll
            for (int j = 0; j < L; j++) line[j] = sums[c][j][h * 2 + i] * factor;
            const int at = own_vector + c * 8 + i;
            if (query + h * 8 < queries && at < vectors) store16(to + h * 8 * s.of_query + at * L, pack<T>(line));
          }
      }
      return;
    }
    if constexpr (SHARERS > 1 && !STAYS) {
      join_warps<T, SHARERS, THREADS, COLUMNS>(sums, top, total, part, sharer, block, out, s, shares, arrivals, number);
      return;
    }
    number += gridDim.x;
  }
}

}  // namespace
