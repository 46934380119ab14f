// Lower register tiles of two panels at once (AVX-512), and of one panel where the left operand lies by groups of their rows.
#pragma once
#include "lower_turns.h"

namespace {

// Of 24 multiplications 10 load something, of 28 of the others 16. Not where A lies by terms: a tile would use only six elements of each line.
constexpr int LOWER = 6;
template <int ROWS, Walk WALK, class B>
inline void lower_rows(int rows, const float* a, int64_t a_stride, const B& b, int64_t kc, float* c, int64_t c_stride, bool first, const Ahead<float>& next) {
  if constexpr (ROWS > 1)
    if (rows < ROWS) return lower_rows<ROWS - 1, WALK>(rows, a, a_stride, b, kc, c, c_stride, first, next);
#if defined(OPSCOPE_LOWER_TURNS)
  if constexpr (ROWS >= LOWER - 1 && !B::FETCHED) return tile_of_turns<ROWS, WALK == Walk::groups>(a, a_stride, b, kc, c, c_stride, first, next);
#endif
  tile_of<ROWS, 2 * NV, WALK>(a, a_stride, b, kc, c, c_stride, 2 * NR, first, next);
}
template <class B>
inline void lower_tile(const Left& a, int64_t i, int rows, const B& b, int64_t kc, float* c, int64_t c_stride, bool first, const Ahead<float>& next) {
  if (a.grouped) return lower_rows<LOWER, Walk::groups>(rows, a.row(i), a.stride, b, kc, c, c_stride, first, next);
  if (kc >= SHORT) lower_rows<LOWER, Walk::rows_ahead>(rows, a.row(i), a.stride, b, kc, c, c_stride, first, next);
  else lower_rows<LOWER, Walk::rows>(rows, a.row(i), a.stride, b, kc, c, c_stride, first, next);
}
// c[rows x 2 NR columns] = (`first`) or += kc terms of `rows` rows of A times two panels of B.
template <class B>
inline void multiply_two_panels(const Left& a, int64_t rows, const B& b, int64_t kc, float* c, int64_t c_stride, bool first, const Later<float>& later) {
  each_tile<LOWER>(a, rows, c, c_stride, later, [&](int64_t i, int height, float* to, const Ahead<float>& next) {
    // The first tile has brought the panels into the second-level cache.
    if constexpr (B::FETCHED) {
      if (i > 0) return lower_tile(a, i, height, RightMet{b}, kc, to, c_stride, first, next);
    }
    lower_tile(a, i, height, b, kc, to, c_stride, first, next);
  });
}
// One panel of kc terms, from term `l` of the block on, where A lies by groups of LOWER rows.
template <class B>
inline void multiply_by_groups(const Left& a, int64_t rows, int64_t l, const B& b, int64_t kc, float* c, int64_t c_stride, int columns, bool first, const Later<float>& later) {
  each_tile<LOWER>(a, rows, c, c_stride, later, [&](int64_t i, int height, float* to, const Ahead<float>& next) {
    const float* const group = a.row(i) + l * height;
    if (columns > W) tile_rows<LOWER, NV, Walk::groups>(height, group, a.stride, b, kc, to, c_stride, columns, first, next);
    else tile_rows<LOWER, 1, Walk::groups>(height, group, a.stride, b, kc, to, c_stride, columns, first, next);
  });
}

}  // namespace
