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
  tile_of<ROWS, 2 * NV, WALK>(a, a_stride, b, kc, c, c_stride, 2 * NR, first, next);
}
template <class B>
inline void lower_tile(const Left& a, int64_t i, int rows, const B& b, int64_t kc, float* c, int64_t c_stride, bool first, const Ahead<float>& next) {
  if (a.grouped) return lower_rows<LOWER, Walk::groups>(rows, a.row(i), a.stride, b, kc, c, c_stride, first, next);
  if (kc >= SHORT) lower_rows<LOWER, Walk::rows_ahead>(rows, a.row(i), a.stride, b, kc, c, c_stride, first, next);
  else lower_rows<LOWER, Walk::rows>(rows, a.row(i), a.stride, b, kc, c, c_stride, first, next);
}
#if defined(OPSCOPE_LOWER_TURNS)
// The tiles from .. to - 1 of `tiles`, ROWS rows each. `fetches`: rows of B into the first-level cache.
template <int ROWS, class B>
inline void run_of_turns(const Left& a, int64_t rows, int64_t tiles, int64_t from, int64_t to, const B& b, int64_t kc, float* c, int64_t c_stride, bool first, const Later<float>& later, bool fetches) {
  const int64_t turns = kc / TURN_TERMS;
  const bool fits = later.b.rows <= tiles * (turns - least(turns, ROWS));  // what the turns fetch of the panel of B that follows
  for (int64_t t = from, end; t < to; t = end) {
    end = fits ? to : t + 1;
    const int64_t i = tile_begin(rows, tiles, t), next = i + ROWS * (end - t), row = later.b.rows * t / tiles;
    const Lines lines{later.b.start + row * later.b.stride, later.b.stride, later.b.rows * end / tiles - row, later.b.bytes};
    const Ahead<float> behind = next < rows ? Ahead<float>{a.row(next), a.stride, c + next * c_stride, lines} : Ahead<float>{later.instead ? a.data : later.a.data, a.stride, later.c, lines};
    float* const to_c = c + i * c_stride;
    const int64_t fetched = a.grouped ? tiles_of_turns<ROWS, Turning::groups>(a.row(i), a.stride, b, kc, to_c, c_stride, first, end - t, behind)
                            : fetches ? tiles_of_turns<ROWS, Turning::rows_fetched>(a.row(i), a.stride, b, kc, to_c, c_stride, first, end - t, behind)
                                      : tiles_of_turns<ROWS, Turning::rows>(a.row(i), a.stride, b, kc, to_c, c_stride, first, end - t, behind);
    if (fetched < lines.rows) {
      const Lines rest{lines.start + fetched * lines.stride, lines.stride, lines.rows - fetched, lines.bytes};
      OPSCOPE_PREFETCH_LINES(rest, 0, 1);
    }
  }
}
#endif
// c[rows x 2 NR columns] = (`first`) or += kc terms of `rows` rows of A times two panels of B. Where these lie, the first tile brings them into the second-level cache;
// `fetches`: later ones fetch their rows from there.
template <class B>
inline void multiply_two_panels(const Left& a, int64_t rows, const B& b, int64_t kc, float* c, int64_t c_stride, bool first, const Later<float>& later, [[maybe_unused]] bool fetches) {
#if defined(OPSCOPE_LOWER_TURNS)
  const int64_t tiles = (rows + LOWER - 1) / LOWER, height = rows / tiles;
  if (kc >= TURN_TERMS && height >= LOWER - 1) {
    const auto turns_from = [&](int64_t t, const auto& panels) {
      const int64_t highest = height == LOWER ? tiles : t < rows % tiles ? rows % tiles : t;
      run_of_turns<LOWER>(a, rows, tiles, t, highest, panels, kc, c, c_stride, first, later, fetches);
      run_of_turns<LOWER - 1>(a, rows, tiles, highest, tiles, panels, kc, c, c_stride, first, later, fetches);
    };
    if constexpr (B::FETCHED) {
      lower_tile(a, 0, static_cast<int>(tile_begin(rows, tiles, 1)), b, kc, c, c_stride, first, ahead_of(a, rows, tiles, 0, c, c_stride, later));
      turns_from(1, RightMet{b});
    } else {
      turns_from(0, b);
    }
    return;
  }
#endif
  each_tile<LOWER>(a, rows, c, c_stride, later, [&](int64_t i, int tall, float* to, const Ahead<float>& next) {
    if constexpr (B::FETCHED) {
      if (i > 0) return lower_tile(a, i, tall, RightMet{b}, kc, to, c_stride, first, next);
    }
    lower_tile(a, i, tall, b, kc, to, c_stride, first, next);
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
