// softmax(q k^T / sqrt(headDim)) v of f32 on tensor cores: each number is a tf32 number and what is left of it, and a product is the sum of three
// (Ootomo & Yokota 2022: the product of what is left of both is below the rounding of f32). A block takes 16 MT queries for each of four
// warps and meets BC keys at a time with the running maximum and sum of each query, as attention_mma.cu does.
// attention_f32_<D>_<queries of a block>: head dims of up to D, filled up with zeroes. Sizes of tiles: scaled_dot_product_attention.h.
#include "common/arithmetic.cuh"
#include "common/attention_block.cuh"
#include "common/attention_f32.cuh"
#include "common/attention_shares.cuh"
#include "scaled_dot_product_attention.h"

namespace {

constexpr int WARPS = 4, THREADS = 32 * WARPS;
constexpr float LOG2E = 1.4426950408889634f;

template <int D, int BC, int MT>
__device__ __forceinline__ void attend(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v, float* __restrict__ out, const AttentionSizes& s, float* __restrict__ shares) {
  extern __shared__ __align__(128) float memory[];
  constexpr int BR = 16 * MT * WARPS, TILE = BC * PITCH<D>;
  float *const own_q = memory, *const own_k = memory + BR * PITCH<D>, *const own_v = own_k + 2 * TILE;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const AttentionBlock<BR, BC> block(s);
  const long long head = block.head, first = block.first;
  const int begin = block.begin, tiles = block.tiles;
  k += block.keys_at;
  v += block.keys_at;
  const bool aligned = s.dim % 4 == 0;
  // Of this thread: rows lane / 4 and that + 8 of every 16 of the warp, columns lane % 4 * 2 and the next.
  const long long query = first + warp * 16 * MT + lane / 4;

  load_rows<D, BR, THREADS>(own_q, q + head * s.queries * s.dim, first, s.queries, s.dim, aligned);
  load_rows<D, BC, THREADS>(own_k, k, static_cast<long long>(begin) * BC, s.keys, s.dim, aligned);
  load_rows<D, BC, THREADS>(own_v, v, static_cast<long long>(begin) * BC, s.keys, s.dim, aligned);
  copy_commit();

  float sums[MT][D / 8][4] = {}, top[MT][2], total[MT][2] = {}, keep[MT][2];
#pragma unroll
  for (int m = 0; m < MT; m++) top[m][0] = top[m][1] = -INFINITY;
  const float scale = rsqrtf(static_cast<float>(s.dim)) * LOG2E;
  const int part = lane >> 3;
  for (int t = 0; t < tiles; t++) {
    if (t + 1 < tiles) {
      load_rows<D, BC, THREADS>(own_k + (t + 1) % 2 * TILE, k, static_cast<long long>(begin + t + 1) * BC, s.keys, s.dim, aligned);
      load_rows<D, BC, THREADS>(own_v + (t + 1) % 2 * TILE, v, static_cast<long long>(begin + t + 1) * BC, s.keys, s.dim, aligned);
    }
    copy_commit();
    copy_wait<1>();
    __syncthreads();
    const float *tile_k = own_k + t % 2 * TILE, *tile_v = own_v + t % 2 * TILE;
    float score[MT][BC / 8][4] = {};
#pragma unroll 2
    for (int d = 0; d < D / 8; d++) {
      uint32_t a_high[MT][4], a_low[MT][4];
#pragma unroll
      for (int m = 0; m < MT; m++) {
        uint32_t a[4];
        ldmatrix(a, shared_address(own_q + (warp * 16 * MT + m * 16 + (part & 1) * 8 + (lane & 7)) * PITCH<D> + d * 8 + (part >> 1) * 4));
#pragma unroll
        for (int i = 0; i < 4; i++) split(a[i], a_high[m][i], a_low[m][i]);
      }
      uint32_t b_high[BC / 8][2], b_low[BC / 8][2];
#pragma unroll
      for (int j = 0; j < BC / 8; j += 2) {
        uint32_t b[4];
        ldmatrix(b, shared_address(tile_k + (j * 8 + (part >> 1) * 8 + (lane & 7)) * PITCH<D> + d * 8 + (part & 1) * 4));
#pragma unroll
        for (int i = 0; i < 4; i++) split(b[i], b_high[j + i / 2][i % 2], b_low[j + i / 2][i % 2]);
      }
      three_products(score, a_high, a_low, b_high, b_low);
    }
    const long long key = static_cast<long long>(begin + t) * BC;
    const bool masked = key + BC > s.keys || (s.causal && key + BC > block.lowest);
#pragma unroll
    for (int m = 0; m < MT; m++) {
      if (masked) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
          // Keys of this tile that the row sees.
          const int sees = static_cast<int>(min(static_cast<long long>(BC), min(s.keys, s.causal ? remainder_of(query + m * 16 + h * 8, s.period) + 1 : s.keys) - key));
#pragma unroll
          for (int j = 0; j < BC / 8; j++)
#pragma unroll
            for (int i = 0; i < 2; i++)
              if (lane % 4 * 2 + j * 8 + i >= sees) score[m][j][h * 2 + i] = -INFINITY;
        }
      }
#pragma unroll
      for (int h = 0; h < 2; h++) {
        float high = score[m][0][h * 2];
#pragma unroll
        for (int j = 0; j < BC / 8; j++) high = fmaxf(high, fmaxf(score[m][j][h * 2], score[m][j][h * 2 + 1]));
        high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 1));
        high = fmaxf(top[m][h], fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 2)) * scale);
        const float shift = high == -INFINITY ? 0.0f : high;
        keep[m][h] = exp2_fast(top[m][h] - shift);
        top[m][h] = high;
        total[m][h] *= keep[m][h];
#pragma unroll
        for (int j = 0; j < BC / 8; j++)
#pragma unroll
          for (int i = 0; i < 2; i++) {
            const float weight = exp2_fast(fmaf(score[m][j][h * 2 + i], scale, -shift));
            score[m][j][h * 2 + i] = weight;
            total[m][h] += weight;
          }
      }
    }
    // Results of one product lie as the left operand of the next, whose k counts keys 0, 2, 4, 6, 1, 3, 5, 7 of every 8.
    uint32_t a_high[BC / 8][MT][4], a_low[BC / 8][MT][4];
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
      for (int c = 0; c < BC / 8; c++)
#pragma unroll
        for (int i = 0; i < 4; i++) split(__float_as_uint(score[m][c][i % 2 * 2 + i / 2]), a_high[c][m][i], a_low[c][m][i]);
    // Tensor cores cut what they add to off: each tile has sums of its own, which are added up in f32.
    constexpr int J = MT == 1 ? 4 : 2;
#pragma unroll
    for (int first_j = 0; first_j < D / 8; first_j += J) {
      float part_sums[MT][J][4] = {};
#pragma unroll
      for (int c = 0; c < BC / 8; c++) {
        const float* from = tile_v + (c * 8 + lane % 4 * 2) * PITCH<D> + lane / 4 + first_j * 8;
        uint32_t b_high[J][2], b_low[J][2];
#pragma unroll
        for (int j = 0; j < J; j++)
#pragma unroll
          for (int i = 0; i < 2; i++) split(__float_as_uint(from[i * PITCH<D> + j * 8]), b_high[j][i], b_low[j][i]);
        three_products(part_sums, a_high[c], a_low[c], b_high, b_low);
      }
#pragma unroll
      for (int m = 0; m < MT; m++)
#pragma unroll
        for (int j = 0; j < J; j++)
#pragma unroll
          for (int i = 0; i < 4; i++) sums[m][first_j + j][i] = fmaf(sums[m][first_j + j][i], keep[m][i / 2], part_sums[m][j][i]);
    }
    __syncthreads();
  }
  float* const of_query = out + output_of_head(s, head) + query * s.of_query;
#pragma unroll
  for (int m = 0; m < MT; m++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      total[m][h] += __shfl_xor_sync(0xffffffffu, total[m][h], 1);
      total[m][h] += __shfl_xor_sync(0xffffffffu, total[m][h], 2);
      const long long row = query + m * 16 + h * 8;
      if (row >= s.queries) continue;
      const Shares share(shares, s, head * s.queries + row, block.split);
      if (s.splits > 1 && lane % 4 == 0) share.put(top[m][h], total[m][h]);
      const float factor = s.splits > 1 ? 1.0f : 1.0f / total[m][h];
      float* to = s.splits > 1 ? share.sums : of_query + (m * 16 + h * 8) * s.of_query;
#pragma unroll
      for (int j = 0; j < D / 8; j++) {
        const int column = j * 8 + lane % 4 * 2;
        const float x = sums[m][j][h * 2] * factor, y = sums[m][j][h * 2 + 1] * factor;
        if (column + 1 < s.dim && s.dim % 2 == 0) {
          *reinterpret_cast<float2*>(to + column) = make_float2(x, y);
        } else {
          if (column < s.dim) to[column] = x;
          if (column + 1 < s.dim) to[column + 1] = y;
        }
      }
    }
}

}  // namespace

#define ATTENTION_AS(NAME, D, BC, MT, BLOCKS)                                                                                                                      \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) NAME(const float* q, const float* k, const float* v, float* out, const AttentionSizes s, float* shares) { \
    start_attention(s);                                                                                                                                                 \
    attend<D, BC, MT>(q, k, v, out, s, shares);                                                                                                                    \
  }
#ifndef OPSCOPE_ATTENTION_TRY
#define ATTENTION(D, QUERIES, BC, BLOCKS) ATTENTION_AS(attention_f32_##D##_##QUERIES, D, BC, QUERIES / 64, BLOCKS)
ATTENTION(32, 64, 32, 4)
ATTENTION(64, 64, 64, 2)
ATTENTION(64, 128, 32, 2)
ATTENTION(96, 64, 32, 2)
ATTENTION(128, 64, 32, 2)
#endif
