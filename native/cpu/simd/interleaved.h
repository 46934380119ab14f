// Vectors whose lanes lie in memory one after the other: the first lane of each, then the second one of each (AVX-512).
#pragma once
#include "map.h"

#if defined(OPSCOPE_ISA_avx512)
#define OPSCOPE_INTERLEAVED 1

namespace {

constexpr int MOST_INTERLEAVED = 8;

// How COUNT vectors become others. Joined: those that are written, of which vector v has its lane l from lane lanes[v][l] of vector
// (v * W + l) % COUNT. Apart, the reverse: lane l of vector v is element (l * COUNT + v) % W of vector (l * COUNT + v) / W of those that are read.
template <int COUNT, bool JOINED>
struct Interleaved {
  alignas(64) int32_t lanes[COUNT][W];
  uint16_t from[COUNT][COUNT];  // the lanes of vector v that come from each vector
  constexpr Interleaved() : lanes{}, from{} {
    for (int v = 0; v < COUNT; v++)
      for (int l = 0; l < W; l++) {
        const int at = JOINED ? v * W + l : l * COUNT + v, source = JOINED ? at % COUNT : at / W;
        lanes[v][l] = JOINED ? at / COUNT : at % W;
        from[v][source] = static_cast<uint16_t>(from[v][source] | 1 << l);
      }
  }
  // Vector v.
  OPSCOPE_INLINE V of(const V (&vectors)[COUNT], int v) const {
    const __m512i order = _mm512_load_si512(lanes[v]);
    V made = _mm512_permutexvar_ps(order, vectors[0]);
#pragma GCC unroll 8
    for (int i = 1; i < COUNT; i++) made = _mm512_mask_permutexvar_ps(made, from[v][i], order, vectors[i]);
    return made;
  }
};

// All lanes of eight vectors, by fewer steps.
OPSCOPE_INLINE void store_eight(float* to, const V (&v)[8]) {
  const auto pairs = [](V a, V b, bool high) { return _mm512_castps_pd(high ? _mm512_unpackhi_ps(a, b) : _mm512_unpacklo_ps(a, b)); };
  // quad[half][l]: lanes l, l + 4, l + 8 and l + 12 of four vectors.
  V quad[2][4];
#pragma GCC unroll 2
  for (int half = 0; half < 2; half++)
#pragma GCC unroll 2
    for (int high = 0; high < 2; high++) {
      const __m512d a = pairs(v[4 * half], v[4 * half + 1], high), b = pairs(v[4 * half + 2], v[4 * half + 3], high);
      quad[half][2 * high] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
      quad[half][2 * high + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    }
  const __m512i low = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23), high = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
#pragma GCC unroll 4
  for (int l = 0; l < 4; l++) {
    const V first = _mm512_permutex2var_ps(quad[0][l], low, quad[1][l]), last = _mm512_permutex2var_ps(quad[0][l], high, quad[1][l]);
    // Rows l and l + 4 of eight, then l + 8 and l + 12.
    _mm256_storeu_ps(to + l * 8, _mm512_castps512_ps256(first));
    _mm256_storeu_ps(to + (l + 4) * 8, _mm512_extractf32x8_ps(first, 1));
    _mm256_storeu_ps(to + (l + 8) * 8, _mm512_castps512_ps256(last));
    _mm256_storeu_ps(to + (l + 12) * 8, _mm512_extractf32x8_ps(last, 1));
  }
}

// Writes `count` (<= W) lanes of COUNT vectors.
template <int COUNT>
OPSCOPE_INLINE void store_interleaved(float* to, const V (&sums)[COUNT], int count) {
  if constexpr (COUNT == 8)
    if (count == W) return store_eight(to, sums);
  static constexpr Interleaved<COUNT, true> places;
#pragma GCC unroll 8
  for (int q = 0; q < COUNT; q++) {
    const int left = count * COUNT - q * W;
    if (left <= 0) break;
    vstore_n(to + q * W, places.of(sums, q), left < W ? left : W);
  }
}

// Rows of COUNT elements as columns, `stride` apart.
template <int COUNT>
OPSCOPE_APART void turn_rows_of(const float* rows, int64_t count, float* to, int64_t stride) {
  static constexpr Interleaved<COUNT, false> places;
  for (int64_t r = 0; r < count; r += W, rows += W * COUNT, to += W) {
    const int left = static_cast<int>(least(W, count - r));
    V read[COUNT];
#pragma GCC unroll 8
    for (int q = 0; q < COUNT; q++) {
      const int some = left * COUNT - q * W;
      read[q] = some >= W ? vload(rows + q * W) : some > 0 ? vload_n(rows + q * W, some, 0) : vset(0);
    }
#pragma GCC unroll 8
    for (int i = 0; i < COUNT; i++) vstore_n(to + i * stride, places.of(read, i), left);
  }
}
// Rows of COUNT elements times a vector of them; what is left behind the last whole vector of rows is not touched: how many rows were met.
template <int COUNT>
OPSCOPE_APART int64_t dot_rows_of(const float* rows, int64_t count, const float* with, float* out) {
  static constexpr Interleaved<COUNT, false> places;
  V factors[COUNT];
#pragma GCC unroll 8
  for (int i = 0; i < COUNT; i++) factors[i] = vset(with[i]);
  int64_t r = 0;
  for (; r + W <= count; r += W, rows += W * COUNT) {
    V read[COUNT];
#pragma GCC unroll 8
    for (int q = 0; q < COUNT; q++) read[q] = vload(rows + q * W);
    V sum = vset(0);
#pragma GCC unroll 8
    for (int i = 0; i < COUNT; i++) sum = vfma(places.of(read, i), factors[i], sum);
    vstore(out + r, sum);
  }
  return r;
}
template <int COUNT = MOST_INTERLEAVED>
inline int64_t dot_rows_at_once(const float* rows, int64_t elements, int64_t count, const float* with, float* out) {
  if constexpr (COUNT > 2)
    if (elements < COUNT) return dot_rows_at_once<COUNT - 1>(rows, elements, count, with, out);
  return dot_rows_of<COUNT>(rows, count, with, out);
}

// Of up to MOST_INTERLEAVED elements.
template <int COUNT = MOST_INTERLEAVED>
inline void turn_rows(const float* rows, int64_t elements, int64_t count, float* to, int64_t stride) {
  if constexpr (COUNT > 1)
    if (elements < COUNT) return turn_rows<COUNT - 1>(rows, elements, count, to, stride);
  turn_rows_of<COUNT>(rows, count, to, stride);
}

}  // namespace
#endif
