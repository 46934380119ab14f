// out[c, r] = x[r, c]. dims: [rows, cols].
//
// Blocks of 16 x 16 go through registers, as tiles of TILE x TILE: every cache line that is read or written is met while it is at
// hand, whatever the distance of rows is. A thread takes strips of 16 rows of the output; blocks of BLOCK_ROWS rows of x are worked
// on at a time, so that the lines of a strip's output that are begun are few.
#include "simd/simd.h"

namespace {

constexpr int64_t SIDE = 16;

template <class U>
inline void transpose_any(const U* x, int64_t x_stride, U* out, int64_t out_stride, int64_t rows, int64_t cols) {
  for (int64_t c = 0; c < cols; c++)
    for (int64_t r = 0; r < rows; r++) out[c * out_stride + r] = x[r * x_stride + c];
}

#if defined(OPSCOPE_ISA_scalar)

template <class U>
constexpr int64_t TILE = SIDE;
template <class U>
inline void transpose_tile(const U* x, int64_t xs, U* out, int64_t os) {
  transpose_any(x, xs, out, os, SIDE, SIDE);
}

#elif defined(OPSCOPE_ISA_neon)

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
inline void transpose_tile(const uint32_t* x, int64_t xs, uint32_t* out, int64_t os) {
  __m256 a[8], b[8];
  // Halves of rows i and i + 4 side by side, so that the rest stays within halves.
  for (int i = 0; i < 4; i++)
    for (int half = 0; half < 2; half++) {
      const auto at = [&](int row) { return _mm_loadu_ps(reinterpret_cast<const float*>(x + row * xs + 4 * half)); };
      a[4 * half + i] = _mm256_insertf128_ps(_mm256_castps128_ps256(at(i)), at(i + 4), 1);
    }
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
#endif

#endif

template <class U>
inline void transpose_block(const U* x, int64_t x_stride, U* out, int64_t out_stride) {
  for (int64_t c = 0; c < SIDE; c += TILE<U>)
    for (int64_t r = 0; r < SIDE; r += TILE<U>) transpose_tile(x + r * x_stride + c, x_stride, out + c * out_stride + r, out_stride);
}

// Columns c .. c_end of rows r .. r_end.
template <class U>
void transpose_part(const U* x, U* out, int64_t rows, int64_t cols, Range of_rows, Range of_cols) {
  constexpr int64_t BLOCK_ROWS = 512;
  for (int64_t top = of_rows.begin; top < of_rows.end; top += BLOCK_ROWS) {
    const int64_t bottom = least(top + BLOCK_ROWS, of_rows.end);
    for (int64_t c = of_cols.begin; c < of_cols.end; c += SIDE) {
      const int64_t width = least(SIDE, of_cols.end - c);
      int64_t r = top;
      if (width == SIDE)
        for (; r + SIDE <= bottom; r += SIDE) transpose_block(x + r * cols + c, cols, out + c * rows + r, rows);
      transpose_any(x + r * cols + c, cols, out + c * rows + r, rows, bottom - r, width);
    }
  }
}

template <class U>
void run(const Call& c) {
  const int64_t rows = c.dims[0], cols = c.dims[1];
  const U* x = input<U>(c, 0);
  U* out = output<U>(c);
  // Along the longer side, so that every thread has a share.
  if (cols >= rows) transpose_part(x, out, rows, cols, {0, rows}, part(cols, 2 * SIDE, c.thread, c.threads));
  else transpose_part(x, out, rows, cols, part(rows, 2 * SIDE, c.thread, c.threads), {0, cols});
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = times(d[0], d[1]);
  return true;
}

}  // namespace

OPSCOPE_KERNEL(transpose, "t>t", 2, 2, 0, shape, nullptr, {run<uint32_t>, run<uint16_t>, run<uint16_t>})
