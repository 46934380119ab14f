// Dot products of bytes by groups of four terms (AVX512_VNNI): one instruction multiplies 64 bytes by 64 others, which must be unsigned, and adds up
// fours of the products exactly. 128 is added to each element of the left operand, and 128 times the sum of a row of the right one taken away.
#pragma once
#include "simd.h"

#if defined(OPSCOPE_ISA_avx512)
#define OPSCOPE_QUADS 1

// Whether this processor has that instruction (isa.cc).
extern "C" bool opscope_multiplies_byte_quads();

namespace {

constexpr int64_t QUADS = 64;  // bytes of a vector

// Not by its intrinsic, as Pairs::fma (pairs.h).
inline __m512i vquads(__m512i sum, __m512i bytes, __m512i others) {
#if defined(__GNUC__)
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(bytes), "v"(others));
  return sum;
#else
  return _mm512_dpbusd_epi32(sum, bytes, others);
#endif
}

// The sums over the lanes of four vectors.
inline __m128i sums_of_four(__m512i a, __m512i b, __m512i c, __m512i d) {
  const __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)), cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
  const __m512i all = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
  const __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
  return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

// sums[i * stride + j] += sum over l of (a[i][l] + 128) * b[j][l], of rows of both `step` bytes apart; modulo 2^32.
template <int ROWS, int COLUMNS>
inline void quad_dots(const int8_t* a, const int8_t* b, int64_t step, int64_t depth, int32_t* sums, int64_t stride) {
  const __m512i above = _mm512_set1_epi8(-128);
  __m512i sum[ROWS][4];
#pragma GCC unroll 4
  for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) sum[i][j] = _mm512_setzero_si512();
  const auto join = [&](const auto& load, int64_t l) {
    __m512i y[COLUMNS];
#pragma GCC unroll 4
    for (int j = 0; j < COLUMNS; j++) y[j] = load(b + j * step + l);
#pragma GCC unroll 4
    for (int i = 0; i < ROWS; i++) {
      const __m512i x = _mm512_xor_si512(load(a + i * step + l), above);
#pragma GCC unroll 4
      for (int j = 0; j < COLUMNS; j++) sum[i][j] = vquads(sum[i][j], x, y[j]);
    }
  };
  int64_t l = 0;
  for (; l + QUADS <= depth; l += QUADS) join([](const int8_t* p) { return _mm512_loadu_si512(p); }, l);
  if (l < depth) {
    // The other elements of the right operand are zero.
    const __mmask64 met = (uint64_t{1} << (depth - l)) - 1;
    join([met](const int8_t* p) { return _mm512_maskz_loadu_epi8(met, p); }, l);
  }
  const __mmask8 written = static_cast<__mmask8>((1u << COLUMNS) - 1);
#pragma GCC unroll 4
  for (int i = 0; i < ROWS; i++) {
    int32_t* const to = sums + i * stride;
    _mm_mask_storeu_epi32(to, written, _mm_add_epi32(_mm_maskz_loadu_epi32(written, to), sums_of_four(sum[i][0], sum[i][1], sum[i][2], sum[i][3])));
  }
}

// The same of `rows` rows and `columns` columns, up to four each.
template <int ROWS = 4, int COLUMNS = 4>
inline void quad_tile(int64_t rows, int64_t columns, const int8_t* a, const int8_t* b, int64_t step, int64_t depth, int32_t* sums, int64_t stride) {
  if constexpr (ROWS > 1)
    if (rows < ROWS) return quad_tile<ROWS - 1, COLUMNS>(rows, columns, a, b, step, depth, sums, stride);
  if constexpr (COLUMNS > 1)
    if (columns < COLUMNS) return quad_tile<ROWS, COLUMNS - 1>(rows, columns, a, b, step, depth, sums, stride);
  quad_dots<ROWS, COLUMNS>(a, b, step, depth, sums, stride);
}

// 128 times the sum of each of `rows` rows of n bytes, `step` apart; modulo 2^32.
inline void quad_sums(const int8_t* x, int64_t rows, int64_t step, int64_t n, int32_t* sums) {
  const __m512i each = _mm512_set1_epi8(-128);
  for (int64_t i = 0; i < rows; i++) {
    __m512i sum = _mm512_setzero_si512();
    int64_t l = 0;
    for (; l + QUADS <= n; l += QUADS) sum = vquads(sum, each, _mm512_loadu_si512(x + i * step + l));
    if (l < n) sum = vquads(sum, each, _mm512_maskz_loadu_epi8((uint64_t{1} << (n - l)) - 1, x + i * step + l));
    sums[i] = _mm512_reduce_add_epi32(sum);
  }
}

}  // namespace
#endif
