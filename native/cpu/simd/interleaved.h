// Vectors whose lanes lie in memory one after the other: the first lane of each, then the second one of each (AVX-512).
#pragma once
#include "map.h"

#if defined(OPSCOPE_ISA_avx512)
#define OPSCOPE_INTERLEAVED 1

namespace {

constexpr int MOST_INTERLEAVED = 8;

// Vector q of what is written has its lane l from lane lanes[q][l] of vector (q * W + l) % COUNT.
template <int COUNT>
struct Interleaved {
  alignas(64) int32_t lanes[COUNT][W];
  uint16_t from[COUNT][COUNT];  // the lanes of vector q that come from vector i
  constexpr Interleaved() : lanes{}, from{} {
    for (int q = 0; q < COUNT; q++)
      for (int l = 0; l < W; l++) {
        lanes[q][l] = (q * W + l) / COUNT;
        from[q][(q * W + l) % COUNT] = static_cast<uint16_t>(from[q][(q * W + l) % COUNT] | 1 << l);
      }
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
  static constexpr Interleaved<COUNT> places;
#pragma GCC unroll 8
  for (int q = 0; q < COUNT; q++) {
    const int left = count * COUNT - q * W;
    if (left <= 0) break;
    const __m512i lanes = _mm512_load_si512(places.lanes[q]);
    V joined = _mm512_permutexvar_ps(lanes, sums[0]);
#pragma GCC unroll 8
    for (int i = 1; i < COUNT; i++) joined = _mm512_mask_permutexvar_ps(joined, places.from[q][i], lanes, sums[i]);
    vstore_n(to + q * W, joined, left < W ? left : W);
  }
}

// The reverse: lane l of vector i is element (l * COUNT + i) % W of vector (l * COUNT + i) / W of what is read.
template <int COUNT>
struct Apart {
  alignas(64) int32_t lanes[COUNT][W];
  uint16_t from[COUNT][COUNT];  // the lanes of vector i that come from vector q
  constexpr Apart() : lanes{}, from{} {
    for (int i = 0; i < COUNT; i++)
      for (int l = 0; l < W; l++) {
        lanes[i][l] = (l * COUNT + i) % W;
        from[i][(l * COUNT + i) / W] = static_cast<uint16_t>(from[i][(l * COUNT + i) / W] | 1 << l);
      }
  }
};

// Rows of COUNT elements as columns, `stride` apart.
template <int COUNT>
OPSCOPE_APART void turn_rows_of(const float* rows, int64_t count, float* to, int64_t stride) {
  static constexpr Apart<COUNT> places;
  for (int64_t r = 0; r < count; r += W, rows += W * COUNT, to += W) {
    const int left = static_cast<int>(least(W, count - r));
    V read[COUNT];
#pragma GCC unroll 8
    for (int q = 0; q < COUNT; q++) {
      const int some = left * COUNT - q * W;
      read[q] = some >= W ? vload(rows + q * W) : some > 0 ? vload_n(rows + q * W, some, 0) : vset(0);
    }
#pragma GCC unroll 8
    for (int i = 0; i < COUNT; i++) {
      const __m512i lanes = _mm512_load_si512(places.lanes[i]);
      V column = _mm512_permutexvar_ps(lanes, read[0]);
#pragma GCC unroll 8
      for (int q = 1; q < COUNT; q++) column = _mm512_mask_permutexvar_ps(column, places.from[i][q], lanes, read[q]);
      vstore_n(to + i * stride, column, left);
    }
  }
}
// Rows of COUNT elements times a vector of them; what is left behind the last whole vector of rows is not touched: how many rows were met.
template <int COUNT>
OPSCOPE_APART int64_t dot_rows_of(const float* rows, int64_t count, const float* with, float* out) {
  static constexpr Apart<COUNT> places;
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
    for (int i = 0; i < COUNT; i++) {
      const __m512i lanes = _mm512_load_si512(places.lanes[i]);
      V column = _mm512_permutexvar_ps(lanes, read[0]);
#pragma GCC unroll 8
      for (int q = 1; q < COUNT; q++) column = _mm512_mask_permutexvar_ps(column, places.from[i][q], lanes, read[q]);
      sum = vfma(column, factors[i], sum);
    }
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
