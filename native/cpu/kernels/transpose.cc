// out[c, r] = x[r, c]. dims: [rows, cols].
//
// Blocks of 16 x 16 go through registers, as tiles of TILE x TILE: every cache line that is read or written is met while it is at
// hand, whatever the distance of rows is. A thread takes strips of 16 rows of the output; blocks of BLOCK_ROWS rows of x are worked
// on at a time, so that the lines of a strip's output that are begun are few.
#include <cstring>

#include "simd/interleaved.h"
#include "simd/reduce.h"
#include "simd/transpose.h"

namespace {

constexpr int64_t SIDE = 16;

template <class U>
inline void transpose_any(const U* x, int64_t x_stride, U* out, int64_t out_stride, int64_t rows, int64_t cols) {
  for (int64_t c = 0; c < cols; c++)
    for (int64_t r = 0; r < rows; r++) out[c * out_stride + r] = x[r * x_stride + c];
}

template <class U>
inline void transpose_block(const U* x, int64_t x_stride, U* out, int64_t out_stride) {
#if defined(OPSCOPE_TRANSPOSE_TILE)
  for (int64_t c = 0; c < SIDE; c += TILE<U>)
    for (int64_t r = 0; r < SIDE; r += TILE<U>) transpose_tile(x + r * x_stride + c, x_stride, out + c * out_stride + r, out_stride);
#else
  transpose_any(x, x_stride, out, out_stride, SIDE, SIDE);
#endif
}

// Fewer rows or columns than a block has: the last tile lies over the one before.
template <class U>
inline void transpose_edge(const U* x, int64_t x_stride, U* out, int64_t out_stride, int64_t rows, int64_t cols) {
#if defined(OPSCOPE_TRANSPOSE_TILE)
  constexpr int64_t T = TILE<U>;
  if (rows >= T && cols >= T) {
    for (int64_t c = 0; c < cols; c = c + T < cols ? least(c + T, cols - T) : cols)
      for (int64_t r = 0; r < rows; r = r + T < rows ? least(r + T, rows - T) : rows) transpose_tile(x + r * x_stride + c, x_stride, out + c * out_stride + r, out_stride);
    return;
  }
#endif
  transpose_any(x, x_stride, out, out_stride, rows, cols);
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
      if (r < bottom) transpose_edge(x + r * cols + c, cols, out + c * rows + r, rows, bottom - r, width);
    }
  }
}

#if defined(OPSCOPE_TRANSPOSE_TILE)
// Fewer columns than a tile has: tiles are read with what follows in the rows below, as far as x goes, and their first columns are kept.
template <class U>
void transpose_few_columns(const U* x, U* out, int64_t rows, int64_t cols, Range own) {
  constexpr int64_t T = TILE<U>;
  alignas(64) U tile[T * T];
  int64_t r = own.begin;
  for (; r + T <= own.end && (r + T - 1) * cols + T <= rows * cols; r += T) {
    transpose_tile(x + r * cols, cols, tile, T);
    for (int64_t c = 0; c < cols; c++) std::memcpy(out + c * rows + r, tile + c * T, sizeof(U) * T);
  }
  transpose_any(x + r * cols, cols, out + r, rows, own.end - r, cols);
}
#endif

#if defined(OPSCOPE_INTERLEAVED)
// Columns that registers turn: `rows` rows of them, `stride` apart.
template <class U>
constexpr int64_t MOST_TURNED = sizeof(U) < sizeof(float) ? 2 : 6;
inline void turn_in_registers(const uint32_t* x, int64_t cols, int64_t rows, uint32_t* out, int64_t stride) {
  turn_rows(reinterpret_cast<const float*>(x), cols, rows, reinterpret_cast<float*>(out), stride);
}
OPSCOPE_APART void turn_in_registers(const uint16_t* x, int64_t, int64_t rows, uint16_t* out, int64_t stride) {
  for (int64_t r = 0; r < rows; r += W) {
    const __mmask16 met = vmask_n(static_cast<int>(least(W, rows - r)));
    const __m512i pairs = _mm512_maskz_loadu_epi32(met, x + 2 * r);
    _mm256_mask_storeu_epi16(out + r, met, _mm512_cvtepi32_epi16(pairs));
    _mm256_mask_storeu_epi16(out + stride + r, met, _mm512_cvtepi32_epi16(_mm512_srli_epi32(pairs, 16)));
  }
}

// The reverse: `cols` columns of so many rows, `stride` apart, next to one another.
template <int ROWS>
OPSCOPE_APART void join_rows_of(const float* x, int64_t cols, int64_t stride, float* out) {
  for (int64_t c = 0; c < cols; c += W) {
    const int count = static_cast<int>(least(W, cols - c));
    V rows[ROWS];
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) rows[r] = vload_n(x + r * stride + c, count, 0);
    store_interleaved(out + c * ROWS, rows, count);
  }
}
template <int ROWS = MOST_TURNED<uint32_t>>
inline void join_in_registers(const uint32_t* x, int64_t rows, int64_t cols, int64_t stride, uint32_t* out) {
  if constexpr (ROWS > 2)
    if (rows < ROWS) return join_in_registers<ROWS - 1>(x, rows, cols, stride, out);
  join_rows_of<ROWS>(reinterpret_cast<const float*>(x), cols, stride, reinterpret_cast<float*>(out));
}
OPSCOPE_APART void join_in_registers(const uint16_t* x, int64_t, int64_t cols, int64_t stride, uint16_t* out) {
  for (int64_t c = 0; c < cols; c += W) {
    const __mmask16 met = vmask_n(static_cast<int>(least(W, cols - c)));
    const auto row = [=](const uint16_t* from) { return _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(met, from + c)); };
    _mm512_mask_storeu_epi32(out + 2 * c, met, _mm512_or_si512(row(x), _mm512_slli_epi32(row(x + stride), 16)));
  }
}

// Columns turned to lines of each of a large output, which are streamed: a block of rows at a time through a buffer, with those of the next block that
// the last line of a column holds.
template <class U>
OPSCOPE_APART void stream_few_columns(const U* x, U* out, int64_t rows, int64_t cols, Range own) {
  constexpr int64_t IN_A_LINE = 64 / sizeof(U), BLOCK_ROWS = 512, ROOM = BLOCK_ROWS + IN_A_LINE;
  alignas(64) U columns[MOST_TURNED<U> * ROOM];
  const auto line_from = [=](int64_t c, int64_t r) {
    const int64_t past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(out + c * rows + r) / sizeof(U)) & (IN_A_LINE - 1);
    return least(r + (IN_A_LINE - past) % IN_A_LINE, own.end);
  };
  for (int64_t r = own.begin; r < own.end; r += BLOCK_ROWS) {
    const int64_t end = least(r + BLOCK_ROWS, own.end);
    turn_in_registers(x + r * cols, cols, least(end + IN_A_LINE, own.end) - r, columns, ROOM);
    for (int64_t c = 0; c < cols; c++) {
      const int64_t first = r == own.begin ? r : line_from(c, r), last = end == own.end ? end : line_from(c, end), whole = line_from(c, r);
      const U* const from = columns + c * ROOM - r;
      U* const to = out + c * rows;
      std::memcpy(to + first, from + first, sizeof(U) * (whole - first));
      int64_t i = whole;
      for (; i + IN_A_LINE <= last; i += IN_A_LINE) vstream(reinterpret_cast<float*>(to + i), vload(reinterpret_cast<const float*>(from + i)));
      std::memcpy(to + i, from + i, sizeof(U) * (last - i));
    }
  }
  vfence();
}
#endif

template <class U>
void run(const Call& c) {
  const int64_t rows = c.dims[0], cols = c.dims[1];
  if (rows == 1 || cols == 1) return map_bits<U>(c, rows * cols, [](V v) { return v; });
  const U* x = input<U>(c, 0);
  U* out = output<U>(c);
  // Along the longer side, so that every thread has a share.
  const Range own = part(cols >= rows ? cols : rows, 2 * SIDE, c.thread, c.threads);
#if defined(OPSCOPE_INTERLEAVED)
  if (cols <= MOST_TURNED<U> && rows > cols) {
    if (c.stream) return stream_few_columns(x, out, rows, cols, own);
    return turn_in_registers(x + own.begin * cols, cols, own.end - own.begin, out + own.begin, rows);
  }
  if (rows <= MOST_TURNED<U> && cols > rows && own.end > own.begin) return join_in_registers(x + own.begin, rows, own.end - own.begin, cols, out + own.begin * rows);
#endif
#if defined(OPSCOPE_TRANSPOSE_TILE)
  if (cols < TILE<U> && rows > cols) return transpose_few_columns(x, out, rows, cols, own);
#endif
  if (cols >= rows) transpose_part(x, out, rows, cols, {0, rows}, own);
  else transpose_part(x, out, rows, cols, own, {0, cols});
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = times(d[0], d[1]);
  return true;
}

}  // namespace

OPSCOPE_KERNEL(transpose, "t>t", 2, 2, 0, shape, nullptr, {run<uint32_t>, run<uint16_t>, run<uint16_t>})
