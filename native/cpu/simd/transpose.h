// Tiles of TILE x TILE elements transposed in registers. Not for scalar code.
#pragma once
#include "simd.h"

#if !defined(OPSCOPE_ISA_scalar)
#define OPSCOPE_TRANSPOSE_TILE 1

namespace {

#if defined(OPSCOPE_ISA_neon)

inline uint16x8_t row_of(const uint16_t* p) { return vld1q_u16(p); }
inline uint32x4_t row_of(const uint32_t* p) { return vld1q_u32(p); }
inline void write_tile_row(uint16_t* p, uint16x8_t row) { vst1q_u16(p, row); }
inline void write_tile_row(uint32_t* p, uint32x4_t row) { vst1q_u32(p, row); }
inline uint16x8_t low(uint16x8_t a, uint16x8_t b) { return vzip1q_u16(a, b); }
inline uint32x4_t low(uint32x4_t a, uint32x4_t b) { return vzip1q_u32(a, b); }
inline uint16x8_t high(uint16x8_t a, uint16x8_t b) { return vzip2q_u16(a, b); }
inline uint32x4_t high(uint32x4_t a, uint32x4_t b) { return vzip2q_u32(a, b); }

template <class U>
constexpr int64_t TILE = 16 / sizeof(U);
// Rounds of interleaving rows i and i + TILE / 2, after which row c of the tile is its column c.
template <class U>
inline void transpose_tile(const U* x, int64_t xs, U* out, int64_t os) {
  constexpr int N = TILE<U>;
  decltype(row_of(x)) a[N], b[N];
  for (int i = 0; i < N; i++) a[i] = row_of(x + i * xs);
  for (int round = 1; round < N; round *= 2) {
    for (int i = 0; i < N / 2; i++) {
      b[2 * i] = low(a[i], a[i + N / 2]);
      b[2 * i + 1] = high(a[i], a[i + N / 2]);
    }
    for (int i = 0; i < N; i++) a[i] = b[i];
  }
  for (int i = 0; i < N; i++) write_tile_row(out + i * os, a[i]);
}

#else

// 8 x 8 of 16 bits.
inline void transpose_tile(const uint16_t* x, int64_t xs, uint16_t* out, int64_t os) {
  __m128i a[8], b[8];
  for (int i = 0; i < 8; i++) a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i * xs));
  for (int i = 0; i < 4; i++) {
    b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
    b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
  }
  for (int i = 0; i < 4; i++) {
    a[2 * i] = _mm_unpacklo_epi16(b[i], b[i + 4]);
    a[2 * i + 1] = _mm_unpackhi_epi16(b[i], b[i + 4]);
  }
  for (int i = 0; i < 4; i++) {
    b[2 * i] = _mm_unpacklo_epi16(a[i], a[i + 4]);
    b[2 * i + 1] = _mm_unpackhi_epi16(a[i], a[i + 4]);
  }
  for (int i = 0; i < 8; i++) _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i * os), b[i]);
}
template <class U>
constexpr int64_t TILE = 8;

#if defined(OPSCOPE_ISA_sse2)
inline void transpose_tile(const uint32_t* x, int64_t xs, uint32_t* out, int64_t os) {
  __m128 a[4];
  for (int i = 0; i < 4; i++) a[i] = _mm_loadu_ps(reinterpret_cast<const float*>(x + i * xs));
  _MM_TRANSPOSE4_PS(a[0], a[1], a[2], a[3]);
  for (int i = 0; i < 4; i++) _mm_storeu_ps(reinterpret_cast<float*>(out + i * os), a[i]);
}
template <>
constexpr int64_t TILE<uint32_t> = 4;
#else
#define OPSCOPE_TRANSPOSE_ROWS 1
inline __m128 four_floats(const float* p) { return _mm_loadu_ps(p); }
inline __m128 four_floats(const F16* p) { return _mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))); }
inline __m128 four_floats(const BF16* p) { return _mm_castsi128_ps(_mm_slli_epi32(_mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))), 16)); }
// 8 x 8 of 32 bits; four(row, half): half a row.
template <class F>
inline void transpose_rows(const F& four, uint32_t* out, int64_t os) {
  __m256 a[8], b[8];
  // Halves of rows i and i + 4 side by side, so that the rest stays within halves.
  for (int i = 0; i < 4; i++)
    for (int half = 0; half < 2; half++) a[4 * half + i] = _mm256_insertf128_ps(_mm256_castps128_ps256(four(i, half)), four(i + 4, half), 1);
  for (int half = 0; half < 8; half += 4) {
    b[half] = _mm256_unpacklo_ps(a[half], a[half + 1]);
    b[half + 1] = _mm256_unpackhi_ps(a[half], a[half + 1]);
    b[half + 2] = _mm256_unpacklo_ps(a[half + 2], a[half + 3]);
    b[half + 3] = _mm256_unpackhi_ps(a[half + 2], a[half + 3]);
    a[half] = _mm256_shuffle_ps(b[half], b[half + 2], 0x44);
    a[half + 1] = _mm256_shuffle_ps(b[half], b[half + 2], 0xee);
    a[half + 2] = _mm256_shuffle_ps(b[half + 1], b[half + 3], 0x44);
    a[half + 3] = _mm256_shuffle_ps(b[half + 1], b[half + 3], 0xee);
  }
  for (int i = 0; i < 8; i++) _mm256_storeu_ps(reinterpret_cast<float*>(out + i * os), a[i]);
}
inline void transpose_tile(const uint32_t* x, int64_t xs, uint32_t* out, int64_t os) {
  transpose_rows([=](int row, int half) { return four_floats(reinterpret_cast<const float*>(x + row * xs + 4 * half)); }, out, os);
}
#endif

#endif

}  // namespace

#endif
