// Rows of a few elements: AT_ONCE of them at a time are turned into columns next to one another, so that a vector holds an element of
// neighbouring rows, and results are turned back.
#pragma once
#include "map.h"
#include "transpose.h"

namespace {

// Rows of up to LONGEST elements, in Columns of up to SHORT_ROW.
constexpr int64_t SHORT_ROW = 16, LONGEST = 32, AT_ONCE = 64;

inline bool is_short(int64_t rows, int64_t cols, int64_t longest) { return cols <= longest && rows >= LINE; }

// Element k of row r becomes columns[k * AT_ONCE + r]; the lanes behind the last row are zero. `columns` has room for whole tiles
// (transpose.h) and for whole vectors of rows. MOST: of `cols`.
template <int64_t MOST = LONGEST, class T>
inline void gather_columns(const T* x, int64_t cols, int64_t rows, float* columns) {
  constexpr bool WIDENED = sizeof(T) < sizeof(float);
  alignas(64) float flat[WIDENED ? MOST * AT_ONCE + LINE : 1];
  const float* from = flat;
  if constexpr (WIDENED) map1<false>(x, flat, 0, rows * cols, [](V v) { return v; });
  else from = x;
  const auto move = [=](int64_t k, int64_t r) { columns[k * AT_ONCE + r] = from[r * cols + k]; };
  int64_t k = 0;
  if (cols == 2)
    for (; k < cols; k++) {
      int64_t r = 0;
      for (; r + W <= rows; r += W) vstore(columns + k * AT_ONCE + r, vload_even(from + 2 * r + k));
      for (; r < rows; r++) move(k, r);
    }
#if defined(OPSCOPE_TRANSPOSE_TILE)
  constexpr int64_t SIDE = TILE<uint32_t>;
  for (; k + 2 < cols; k += SIDE)
    for (int64_t r = 0; r < rows; r += SIDE) {
      // A tile may reach into the next row, but not behind the last.
      if (WIDENED || (r + SIDE <= rows && (r + SIDE - 1) * cols + k + SIDE <= rows * cols)) transpose_tile(reinterpret_cast<const uint32_t*>(from + r * cols + k), cols, reinterpret_cast<uint32_t*>(columns + k * AT_ONCE + r), AT_ONCE);
      else
        for (int64_t j = k; j < least(k + SIDE, cols); j++)
          for (int64_t i = r; i < least(r + SIDE, rows); i++) move(j, i);
    }
#endif
  for (; k < cols; k++)
    for (int64_t r = 0; r < rows; r++) move(k, r);
  // The rest of the last vector.
  for (k = 0; k < cols; k++)
    for (int64_t r = rows; r % W != 0; r++) columns[k * AT_ONCE + r] = 0;
}

// The reverse. STREAM: `out` starts with a line.
template <bool STREAM = false, int64_t MOST = LONGEST, class T>
inline void scatter_rows(const float* columns, int64_t cols, int64_t rows, T* out) {
  alignas(64) float flat[MOST * AT_ONCE + LINE];
#if defined(OPSCOPE_TRANSPOSE_TILE)
  // A tile reaches into the next row, which is written after it.
  constexpr int64_t SIDE = TILE<uint32_t>;
  if (cols > 2)
    for (int64_t r = 0; r < rows; r += SIDE)
      for (int64_t k = (cols - 1) / SIDE * SIDE; k >= 0; k -= SIDE)
        transpose_tile(reinterpret_cast<const uint32_t*>(columns + k * AT_ONCE + r), AT_ONCE, reinterpret_cast<uint32_t*>(flat + r * cols + k), cols);
  else
#endif
  if (cols > 1)
    for (int64_t k = 0; k < cols; k++)
      for (int64_t r = 0; r < rows; r++) flat[r * cols + k] = columns[k * AT_ONCE + r];
  map1<STREAM>(cols == 1 ? columns : flat, out, 0, rows * cols, [](V v) { return v; });
}

// Columns of rows of up to SHORT_ROW elements.
struct Columns {
  alignas(64) float at[SHORT_ROW * AT_ONCE];

  template <class T>
  void take_rows(const T* x, int64_t cols, int64_t count) {
    gather_columns(x, cols, count, at);
  }
  template <class T>
  void put_rows(T* out, int64_t cols, int64_t count) const {
    scatter_rows(at, cols, count, out);
  }
  V load(int64_t k, int64_t r) const { return vload(at + k * AT_ONCE + r); }
  void store(int64_t k, int64_t r, V v) { vstore(at + k * AT_ONCE + r, v); }
};

}  // namespace
