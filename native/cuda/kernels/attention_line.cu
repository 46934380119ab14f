// softmax(q k^T / sqrt(headDim)) v of many queries of up to four keys: a warp, or a part of one, keeps the keys and values of a head in registers and goes along its queries, which are read and written in whole lines. Products in
// f32: there are too few for tensor cores.
//   attention_line_<t>_<keys>_<vectors of a row>
#include "common/arithmetic.cuh"
#include "common/attention_output.cuh"
#include "common/vec.cuh"

namespace {

// grid: warps by four; `runs` of them for each head, each of `run` queries. KEYS: at most; LANE lanes of a warp have a row, VEC vectors of each.
template <int KEYS, int LANE, int VEC, class T>
__device__ __forceinline__ void attend_in_line(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v, T* __restrict__ out, const AttentionSizes& s, int run, int runs) {
  constexpr int L = LANES<T>, U = 4, TOGETHER = 32 / LANE;
  const int lane = threadIdx.x % LANE, sub = threadIdx.x % 32 / LANE, vectors = s.dim / L, keys = static_cast<int>(min(s.keys, static_cast<long long>(KEYS)));
  const unsigned number = blockIdx.x * 4 + threadIdx.x / 32, head = number / static_cast<unsigned>(runs);
  if (head >= s.batch_heads) return;
  const int first = static_cast<int>(number - head * runs) * run, end = min(static_cast<int>(s.queries), first + run);
  const auto inside = [&](int w) { return w * LANE + lane < vectors; };
  const long long keys_at = head / static_cast<unsigned>(s.group) * s.keys * s.dim + lane * L;
  q += head * s.queries * s.dim + lane * L;
  out += output_of_head(s, head) + lane * L;
  uint4 own[U][VEC], next[U][VEC];
  const auto load = [&](uint4(&to)[U][VEC], int from) {
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int w = 0; w < VEC; w++) {
        const int query = from + u * TOGETHER + sub;
        to[u][w] = query < end && inside(w) ? load16(q + static_cast<long long>(query) * s.dim + w * LANE * L) : uint4{0, 0, 0, 0};
      }
  };
  load(own, first);
  float key[KEYS][VEC][L], value[KEYS][VEC][L];
#pragma unroll
  for (int n = 0; n < KEYS; n++)
#pragma unroll
    for (int w = 0; w < VEC; w++) {
      const bool is = n < keys && inside(w);
      const long long at = keys_at + n * s.dim + w * LANE * L;
      unpack<T>(is ? load16(k + at) : uint4{0, 0, 0, 0}, key[n][w]);
      unpack<T>(is ? load16(v + at) : uint4{0, 0, 0, 0}, value[n][w]);
    }
  const float scale = rsqrtf(static_cast<float>(s.dim)) * 1.4426950408889634f;
#pragma unroll 1
  for (int base = first; base < end; base += U * TOGETHER) {
    load(next, base + U * TOGETHER);
#pragma unroll
    for (int u = 0; u < U; u++) {
      const int query = base + u * TOGETHER + sub, sees = s.causal ? min(keys, static_cast<int>(static_cast<unsigned>(query) % static_cast<unsigned>(s.period)) + 1) : keys;
      float score[KEYS] = {};
#pragma unroll
      for (int w = 0; w < VEC; w++) {
        float f[L];
        unpack<T>(own[u][w], f);
#pragma unroll
        for (int n = 0; n < KEYS; n++)
#pragma unroll
          for (int j = 0; j < L; j++) score[n] = fmaf(f[j], key[n][w][j], score[n]);
      }
      float high = -INFINITY, total = 0;
#pragma unroll
      for (int n = 0; n < KEYS; n++) {
#pragma unroll
        for (int offset = LANE / 2; offset > 0; offset /= 2) score[n] += __shfl_xor_sync(0xffffffffu, score[n], offset);
        if (n >= sees) score[n] = -INFINITY;
        high = fmaxf(high, score[n]);
      }
#pragma unroll
      for (int n = 0; n < KEYS; n++) {
        score[n] = exp2_fast((score[n] - high) * scale);
        total += score[n];
      }
      const float factor = 1.0f / total;
      if (query >= end) continue;
#pragma unroll
      for (int w = 0; w < VEC; w++) {
        float line[L] = {};
#pragma unroll
        for (int n = 0; n < KEYS; n++)
#pragma unroll
          for (int j = 0; j < L; j++) line[j] = fmaf(score[n], value[n][w][j], line[j]);
#pragma unroll
        for (int j = 0; j < L; j++) line[j] *= factor;
        if (inside(w)) store16(out + query * s.of_query + w * LANE * L, pack<T>(line));
      }
    }
#pragma unroll
    for (int u = 0; u < U; u++)
#pragma unroll
      for (int w = 0; w < VEC; w++) own[u][w] = next[u][w];
  }
}

}  // namespace

#define LINE(T, KEYS, LANE, VEC, vectors)                                                                                                                                                              \
  extern "C" __global__ void __launch_bounds__(128, 4) attention_line_##T##_##KEYS##_##vectors(const T* q, const T* k, const T* v, T* out, const AttentionSizes s, int run, int runs) { \
    start_attention(s);                                                                                                                                                                   \
    attend_in_line<KEYS, LANE, VEC>(q, k, v, out, s, run, runs);                                                                                                                          \
  }
#define LINES(T) LINE(T, 2, 16, 1, 16) LINE(T, 4, 16, 1, 16) LINE(T, 2, 32, 1, 32) LINE(T, 4, 32, 1, 32)
LINES(f32) LINE(f32, 2, 32, 2, 64) LINE(f32, 4, 32, 2, 64)
LINES(f16)
LINES(bf16)
