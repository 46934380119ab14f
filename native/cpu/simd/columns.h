// Rows of a few elements: AT_ONCE of them at a time are turned into columns next to one another, so that a vector holds an element of
// neighbouring rows, and the results are turned back.
#pragma once
#include "map.h"

namespace {

constexpr int64_t SHORT_ROW = 16, AT_ONCE = 64;

struct Columns {
  alignas(64) float at[SHORT_ROW * AT_ONCE];

  // Rows `count` of `cols` elements; the lanes behind them are zero.
  template <class T>
  void take_rows(const T* x, int64_t cols, int64_t count) {
    alignas(64) float flat[SHORT_ROW * AT_ONCE];
    const int64_t whole = (count + W - 1) / W * W;
    map1<false>(x, cols == 1 ? at : flat, 0, count * cols, [](V v) { return v; });
    if (cols > 1)
      for (int64_t k = 0; k < cols; k++)
        for (int64_t r = 0; r < count; r++) at[k * AT_ONCE + r] = flat[r * cols + k];
    for (int64_t k = 0; k < cols; k++)
      for (int64_t r = count; r < whole; r++) at[k * AT_ONCE + r] = 0;
  }
  template <class T>
  void put_rows(T* out, int64_t cols, int64_t count) const {
    alignas(64) float flat[SHORT_ROW * AT_ONCE];
    if (cols > 1)
      for (int64_t k = 0; k < cols; k++)
        for (int64_t r = 0; r < count; r++) flat[r * cols + k] = at[k * AT_ONCE + r];
    map1<false>(cols == 1 ? at : flat, out, 0, count * cols, [](V v) { return v; });
  }
  V load(int64_t k, int64_t r) const { return vload(at + k * AT_ONCE + r); }
  void store(int64_t k, int64_t r, V v) { vstore(at + k * AT_ONCE + r, v); }
};

inline bool is_short(int64_t rows, int64_t cols, int64_t longest) { return cols <= longest && rows >= LINE; }

}  // namespace
