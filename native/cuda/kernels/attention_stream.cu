// softmax(q k^T / sqrt(headDim)) v of many queries of a few keys: a warp keeps the keys and values of a head in registers and goes along `run` tiles of 16 queries, the next of which is on its way (common/attention_warp.cuh).
//   attention_stream_<t>_<D>   head dims of up to D
#include "common/attention_warp.cuh"

namespace {

// grid: warps by four; `runs` of them for each head.
template <class T, int D>
__device__ __forceinline__ void attend_along(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, T* __restrict__ out, const AttentionSizes& s, int run, int runs) {
  constexpr int L = LANES<T>, BC = attention_warp_keys(sizeof(T), D, 1), BR = attention_warp_queries, CHUNKS = D / (4 * L), COLUMNS = (D + 8 * L - 1) / (8 * L), STEP = 4 * VALUE_ROWS<T>, STEPS = BC / STEP;
  static_assert(attention_warp_parts(D) == 1);
  const int lane = threadIdx.x % 32, row = lane / 4, quad = lane % 4, vectors = s.dim / L, keys = static_cast<int>(min(s.keys, static_cast<long long>(BC)));
  const unsigned number = blockIdx.x * 4 + threadIdx.x / 32, head = number / static_cast<unsigned>(runs);
  if (head >= s.batch_heads) return;
  const int first = static_cast<int>(number - head * runs) * run * BR + row;
  // Queries from this thread's first on.
  int left = static_cast<int>(min(static_cast<int>(s.queries), first - row + run * BR)) - first;
  const long long keys_at = head / static_cast<unsigned>(s.group) * s.keys * s.dim;
  q += (head * s.queries + first) * s.dim + quad * L;
  out += output_of_head(s, head) + first * s.of_query + quad * 2 * L;
  k += keys_at + row * s.dim + quad * L;
  v += keys_at + row * L;
  uint4 own[CHUNKS][2], next[CHUNKS][2], key[BC / 8][CHUNKS], values[COLUMNS][STEPS][VALUE_ROWS<T>];
  const auto load_q = [&](uint4(&to)[CHUNKS][2], int from) {
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
      for (int chunk = 0; chunk < CHUNKS; chunk++) to[chunk][h] = from + h * 8 < left && chunk * 4 + quad < vectors ? load16_here(q + (from + h * 8) * s.dim + chunk * 4 * L) : zeroes();
  };
  load_q(own, 0);
  load_key_tile<1>(key, k, s.dim, row, quad, keys, vectors);
  load_value_tile<1>(values, v, s.dim, quad, keys, row, vectors);
  load_q(next, BR);
  const float scale = rsqrtf(static_cast<float>(s.dim)) * LOG2E;
  unsigned place = first;
#pragma unroll 1
  for (int tile = 0; tile < run; tile++, place += BR, left -= BR, q += BR * s.dim, out += BR * s.of_query) {
    float score[BC / 8][4] = {}, sums[COLUMNS][L][4] = {}, factor[2];
    const float keep[2] = {};
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; chunk++)
#pragma unroll
      for (int n = 0; n < BC / 8; n++) multiply_keys<T>(score[n], score[n], own[chunk], key[n][chunk]);
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; chunk++)
#pragma unroll
      for (int h = 0; h < 2; h++) own[chunk][h] = next[chunk][h];
    load_q(next, 2 * BR);
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int sees = s.causal ? min(keys, static_cast<int>((place + h * 8) % static_cast<unsigned>(s.period)) + 1) : keys;
      float high = -INFINITY, total = 0;
#pragma unroll
      for (int n = 0; n < BC / 8; n++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
          if (quad * 2 + n * 8 + i >= sees) score[n][h * 2 + i] = -INFINITY;
          high = fmaxf(high, score[n][h * 2 + i]);
        }
      high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 1));
      high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 2)) * scale;
#pragma unroll
      for (int n = 0; n < BC / 8; n++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
          const float weight = exp2_fast(fmaf(score[n][h * 2 + i], scale, -high));
          score[n][h * 2 + i] = weight;
          total += weight;
        }
      total += __shfl_xor_sync(0xffffffffu, total, 1);
      factor[h] = 1.0f / (total + __shfl_xor_sync(0xffffffffu, total, 2));
    }
#pragma unroll
    for (int c = 0; c < COLUMNS; c++) multiply_values<T, STEPS>(sums[c], score, values[c], keep);
#pragma unroll
    for (int h = 0; h < 2; h++)
#pragma unroll
      for (int c = 0; c < COLUMNS; c++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
          float line[L];
#pragma unroll
          for (int j = 0; j < L; j++) line[j] = sums[c][j][h * 2 + i] * factor[h];
          if (h * 8 < left && quad * 2 + c * 8 + i < vectors) store16(out + h * 8 * s.of_query + (c * 8 + i) * L, pack<T>(line));
        }
  }
}

}  // namespace

// BLOCKS of 128 threads that a multiprocessor holds: attention_stream_resident says the same.
#define STREAM(T, D, BLOCKS)                                                                                                                                                       \
  extern "C" __global__ void __launch_bounds__(128, BLOCKS) attention_stream_##T##_##D(const T* q, const T* k, const T* v, T* out, const AttentionSizes s, int run, int runs) { \
    start_attention(s);                                                                                                                                                          \
    attend_along<T, D>(q, k, v, out, s, run, runs);                                                                                                                              \
  }
STREAM(f32, 32, 4)
STREAM(f16, 32, 4) STREAM(f16, 64, 4) STREAM(f16, 128, 2)
STREAM(bf16, 32, 4) STREAM(bf16, 64, 4) STREAM(bf16, 128, 2)
