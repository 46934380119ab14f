// out[c, r] = x[r, c]. dims: [rows, cols].
//
// Blocks of 16 x 16 go through registers, as tiles of TILE x TILE: every cache line that is read or written is met while it is at
// hand, whatever the distance of rows is. A thread takes strips of 16 rows of the output; blocks of BLOCK_ROWS rows of x are worked
// on at a time, so that the lines of a strip's output that are begun are few.
#include <cstring>

#include "simd/map.h"
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

template <class U>
void run(const Call& c) {
  const int64_t rows = c.dims[0], cols = c.dims[1];
  if (rows == 1 || cols == 1) return map_bits<U>(c, rows * cols, [](V v) { return v; });
  const U* x = input<U>(c, 0);
  U* out = output<U>(c);
  // Along the longer side, so that every thread has a share.
  const Range own = part(cols >= rows ? cols : rows, 2 * SIDE, c.thread, c.threads);
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
