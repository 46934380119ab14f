// attention_f32.cu for head dims above 128, whose sums would fill the registers of a warp: two warps have the same 16 queries. Each makes the scores of half of a tile's keys; they exchange
// their largest scores and their weights through shared memory, and each adds up half of the head dim. The keys of the next tile arrive while values are added up, and its values while scores
// are made.
// attention_f32_wide_<D>: head dims of up to D, filled up with zeroes. Sizes: scaled_dot_product_attention.h.
#include "common/arithmetic.cuh"
#include "common/attention_block.cuh"
#include "common/attention_f32.cuh"
#include "common/attention_shares.cuh"
#include "scaled_dot_product_attention.h"

namespace {

constexpr int THREADS = 256, GROUPS = 4, BR = 16 * GROUPS, BC = 64, OWN_KEYS = BC / 2, OWN_TILES = OWN_KEYS / 8;
constexpr int WEIGHTS = attention_f32_wide_pitch;  // elements of a row of weights
static_assert(BR == attention_f32_wide_queries && BC == attention_f32_wide_keys);
constexpr float LOG2E = 1.4426950408889634f;

template <int D>
__device__ __forceinline__ void attend(const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v, float* __restrict__ out, const AttentionSizes& s, float* __restrict__ shares) {
  extern __shared__ __align__(128) float memory[];
  constexpr int TILE = BC * PITCH<D>, TILES = D / 16, J = TILES / 2;
  float *const own_q = memory, *const own_k = memory + BR * PITCH<D>, *const own_v = own_k + TILE, *const weights = own_v + TILE, *const stats = weights + BR * WEIGHTS;
  const int lane = threadIdx.x % 32, group = threadIdx.x / 32 % GROUPS, half = threadIdx.x / (32 * GROUPS), part = lane >> 3;
  const AttentionBlock<BR, BC> block(s);
  const long long head = block.head, first = block.first;
  const int begin = block.begin, tiles = block.tiles;
  k += block.keys_at;
  v += block.keys_at;
  const bool aligned = s.dim % 4 == 0;
  // Of this thread: rows lane / 4 and that + 8 of the group, columns lane % 4 * 2 and the next.
  const int own_row = group * 16 + lane / 4, own_column = lane % 4 * 2;
  const long long query = first + own_row;

  const auto fetch = [&](float* to, const float* from, int t) {
    if (t < tiles) load_rows<D, BC, THREADS>(to, from, static_cast<long long>(begin + t) * BC, s.keys, s.dim, aligned);
    copy_commit();
  };
  load_rows<D, BR, THREADS>(own_q, q + head * s.queries * s.dim, first, s.queries, s.dim, aligned);
  fetch(own_k, k, 0);
  copy_wait<0>();
  __syncthreads();
  fetch(own_v, v, 0);

  float sums[TILES][4] = {}, top[2] = {-INFINITY, -INFINITY}, total[2] = {}, keep[2];
  const float scale = rsqrtf(static_cast<float>(s.dim)) * LOG2E;
  for (int t = 0; t < tiles; t++) {
    // Small products in sums of their own, so that fewer wait for another.
    float score[OWN_TILES][4] = {}, small[OWN_TILES][4] = {};
#pragma unroll 2
    for (int d = 0; d < D / 8; d++) {
      uint32_t a[4], a_high[4], a_low[4], b_high[OWN_TILES][2], b_low[OWN_TILES][2];
      ldmatrix(a, shared_address(own_q + (group * 16 + (part & 1) * 8 + (lane & 7)) * PITCH<D> + d * 8 + (part >> 1) * 4));
#pragma unroll
      for (int i = 0; i < 4; i++) split(a[i], a_high[i], a_low[i]);
#pragma unroll
      for (int n = 0; n < OWN_TILES; n += 2) {
        uint32_t b[4];
        ldmatrix(b, shared_address(own_k + (half * OWN_KEYS + n * 8 + (part >> 1) * 8 + (lane & 7)) * PITCH<D> + d * 8 + (part & 1) * 4));
#pragma unroll
        for (int i = 0; i < 4; i++) split(b[i], b_high[n + i / 2][i % 2], b_low[n + i / 2][i % 2]);
      }
#pragma unroll
      for (int n = 0; n < OWN_TILES; n++) mma(small[n], a_low, b_high[n][0], b_high[n][1], tf32());
#pragma unroll
      for (int n = 0; n < OWN_TILES; n++) mma(score[n], a_high, b_high[n][0], b_high[n][1], tf32());
#pragma unroll
      for (int n = 0; n < OWN_TILES; n++) mma(small[n], a_high, b_low[n][0], b_low[n][1], tf32());
    }
    const long long key = static_cast<long long>(begin + t) * BC + half * OWN_KEYS;
    const bool masked = key + OWN_KEYS > s.keys || (s.causal && key + OWN_KEYS > block.lowest);
#pragma unroll
    for (int h = 0; h < 2; h++) {
      // Keys of this half that the row sees.
      const int sees = masked ? static_cast<int>(max(0LL, min(static_cast<long long>(OWN_KEYS), min(s.keys, s.causal ? remainder_of(query + h * 8, s.period) + 1 : s.keys) - key))) : OWN_KEYS;
      float high = -INFINITY;
#pragma unroll
      for (int n = 0; n < OWN_TILES; n++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
          float& own = score[n][h * 2 + i];
          own += small[n][h * 2 + i];
          if (n * 8 + own_column + i >= sees) own = -INFINITY;
          high = fmaxf(high, own);
        }
      high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 1));
      high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 2));
      if (lane % 4 == 0) stats[half * BR + own_row + h * 8] = high;
    }
    __syncthreads();
    fetch(own_k, k, t + 1);
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const float high = fmaxf(top[h], fmaxf(stats[own_row + h * 8], stats[BR + own_row + h * 8]) * scale), shift = high == -INFINITY ? 0.0f : high;
      keep[h] = exp2_fast(top[h] - shift);
      top[h] = high;
      total[h] *= keep[h];
#pragma unroll
      for (int n = 0; n < OWN_TILES; n++) {
        float2 weight;
        weight.x = exp2_fast(fmaf(score[n][h * 2], scale, -shift));
        weight.y = exp2_fast(fmaf(score[n][h * 2 + 1], scale, -shift));
        total[h] += weight.x + weight.y;
        *reinterpret_cast<float2*>(weights + (own_row + h * 8) * WEIGHTS + half * OWN_KEYS + n * 8 + own_column) = weight;
      }
    }
    // All but the newest fetch: the values.
    copy_wait<1>();
    __syncthreads();
    // Tensor cores cut what they add to off: each tile has sums of its own, which are added up in f32.
#pragma unroll
    for (int first_j = 0; first_j < TILES; first_j += J) {
      float part_sums[1][J][4] = {};
#pragma unroll 2
      for (int c = 0; c < BC / 8; c++) {
        // Keys of a product count 0, 2, 4, 6, 1, 3, 5, 7 of every 8, so that what a warp reads of the values meets each bank once.
        uint32_t a_high[1][4], a_low[1][4], b_high[J][2], b_low[J][2];
#pragma unroll
        for (int h = 0; h < 2; h++) {
          const float2 weight = *reinterpret_cast<const float2*>(weights + (own_row + h * 8) * WEIGHTS + c * 8 + own_column);
          split(__float_as_uint(weight.x), a_high[0][h], a_low[0][h]);
          split(__float_as_uint(weight.y), a_high[0][h + 2], a_low[0][h + 2]);
        }
        const float* from = own_v + (c * 8 + own_column) * PITCH<D> + half * (D / 2) + lane / 4 + first_j * 8;
#pragma unroll
        for (int j = 0; j < J; j++)
#pragma unroll
          for (int i = 0; i < 2; i++) split(__float_as_uint(from[i * PITCH<D> + j * 8]), b_high[j][i], b_low[j][i]);
        three_products(part_sums, a_high, a_low, b_high, b_low);
      }
#pragma unroll
      for (int j = 0; j < J; j++)
#pragma unroll
        for (int i = 0; i < 4; i++) sums[first_j + j][i] = fmaf(sums[first_j + j][i], keep[i / 2], part_sums[0][j][i]);
    }
    copy_wait<0>();
    __syncthreads();
    fetch(own_v, v, t + 1);
  }
  // What the halves add up to.
#pragma unroll
  for (int h = 0; h < 2; h++) {
    total[h] += __shfl_xor_sync(0xffffffffu, total[h], 1);
    total[h] += __shfl_xor_sync(0xffffffffu, total[h], 2);
    if (lane % 4 == 0) stats[half * BR + own_row + h * 8] = total[h];
  }
  __syncthreads();
  float* const of_query = out + output_of_head(s, head) + query * s.of_query;
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const long long row = query + h * 8;
    if (row >= s.queries) continue;
    const float sum = stats[own_row + h * 8] + stats[BR + own_row + h * 8];
    const Shares share(shares, s, head * s.queries + row, block.split);
    if (s.splits > 1 && half == 0 && lane % 4 == 0) share.put(top[h], sum);
    const float factor = s.splits > 1 ? 1.0f : 1.0f / sum;
    float* to = s.splits > 1 ? share.sums : of_query + h * 8 * s.of_query;
#pragma unroll
    for (int j = 0; j < TILES; j++) {
      const int column = half * (D / 2) + j * 8 + own_column;
      const float x = sums[j][h * 2] * factor, y = sums[j][h * 2 + 1] * factor;
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

#define ATTENTION(D)                                                                                                                                                               \
  extern "C" __global__ void __launch_bounds__(THREADS, 1) attention_f32_wide_##D(const float* q, const float* k, const float* v, float* out, const AttentionSizes s, float* shares) { \
    start_attention(s);                                                                                                                                                                 \
    attend<D>(q, k, v, out, s, shares);                                                                                                                                            \
  }
ATTENTION(160)
ATTENTION(192)
ATTENTION(256)
