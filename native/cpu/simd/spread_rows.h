// Rows of a few cells each that follow one another in a copy of a convolution's input: vectors across the ends of rows (AVX-512).
#pragma once
#include "padded_rows.h"

namespace {

#if defined(OPSCOPE_GATHERED)
struct SpreadRows {
  static constexpr int64_t MOST_CELLS = W / 2;
  static constexpr int64_t LOADED = 4, COPIED = 5, COPIED_STRIDED = 8;  // what an element of the list and a row by itself take
  int64_t rows, vectors;  // after so many, the next one begins with a vector again
  int32_t past[MOST_CELLS];
  alignas(64) Gathered list[MOST_CELLS * W];

  // Of rows that are `apart` in the input, as `row` has them.
  void set(const Row& row, int64_t apart) {
    rows = W;
    while (rows % 2 == 0 && rows / 2 * row.cells % W == 0) rows /= 2;
    vectors = rows * row.cells / W;
    int64_t place[MOST_CELLS * W];
    for (int64_t r = 0, i = 0; r < rows; r++)
      for (int64_t q = 0; q < row.cells; q++, i++) place[i] = q >= row.met.begin && q < row.met.end ? r * apart + row.first + q * row.stride : -1;
    list_gathered(place, rows * row.cells, list, past);
  }
  // Whether vectors take less than `count` rows by themselves.
  bool pays(int64_t count, int64_t stride) const { return count >= rows && (count + rows - 1) / rows * (LOADED * past[vectors - 1] + vectors) < (stride == 1 ? COPIED : COPIED_STRIDED) * count; }
  // `count` rows, at least as many as repeat: the last ones of them by themselves. from(row): where they begin.
  template <class F>
  OPSCOPE_INLINE void copy(int64_t count, int64_t cells, const F& from, float* to) const {
    for (int64_t r = 0; r < count; r += rows) {
      const int64_t first = least(r, count - rows);
      const auto source = from(first);
      const Gathered* one = list;
      for (int64_t v = 0; v < vectors; v++) {
        const Gathered* const end = list + past[v];
        vstore(to + first * cells + v * W, source.gather(one, end));
        one = end;
      }
    }
  }
};
#endif

}  // namespace
