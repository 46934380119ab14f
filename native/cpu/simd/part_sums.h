// The sums of a part of a convolution (simd/phases.h) as they are written to the output.
#pragma once
#include "phases.h"

namespace {

// Where the sums of a part lie: those of a filter `stride` apart, of an image and a depth `plane`, of a row `cells`.
struct PartSums {
  const float* sums;
  int64_t stride, plane, cells;
  int64_t images, depths, rows, columns;
};

// to[i * step] = from[i]
template <class T>
OPSCOPE_APART void write_apart(const float* from, int64_t n, T* to, int64_t step) {
  for (int64_t i = 0; i < n; i++) set(to + i * step, from[i]);
}

// Rows that lie across the output, `inner` for each of `outer`: to[(column * outer + o) * inner + i] = from[o * outer_step + i * inner_step + column],
// some columns at a time, so that what is written lies together.
struct Across {
  static constexpr int64_t MOST = 64, FLOATS = 4096;  // rows; of some columns
  int64_t inner, inner_step, outer, outer_step;
  int64_t rows() const { return inner * outer; }
  template <class T>
  void write(const float* from, int64_t columns, T* to) const {
    alignas(64) float turned[FLOATS + MOST];
    const int64_t all = rows(), some = FLOATS / all / LINE * LINE;
    for (int64_t first = 0; first < columns; first += some) {
      const int64_t count = least(some, columns - first);
      turn(from + first, count, turned);
      map1<false>(turned, to + first * all, 0, count * all, [](V v) { return v; });
    }
  }

 private:
  void turn(const float* from, int64_t count, float* turned) const {
    const int64_t all = rows();
#if defined(OPSCOPE_TRANSPOSE_ROWS)
    constexpr int64_t SIDE = TILE<uint32_t>;
    if (outer == 1 && inner > 2) {
      // The last tile of a column first: it reaches into the next one. Rows behind the last are the last one again.
      for (int64_t c = 0; c < count; c += SIDE)
        for (int64_t k = (inner - 1) / SIDE * SIDE; k >= 0; k -= SIDE)
          transpose_rows([=, this](int row, int half) { return four_floats(from + least(k + row, inner - 1) * inner_step + c + 4 * half); }, reinterpret_cast<uint32_t*>(turned + c * all + k), all);
      return;
    }
#endif
    for (int64_t o = 0; o < outer; o++)
      for (int64_t i = 0; i < inner; i++) {
        const float* const row = from + o * outer_step + i * inner_step;
        float* const to = turned + o * inner + i;
        for (int64_t c = 0; c < count; c++) to[c * all] = row[c];
      }
  }
};

// How rows of the sums of a part lie across the output. by_depth: those of depths too, which lie next to one another there.
struct RowsAcross {
  Across rows;
  bool by_depth, turns;
  RowsAcross(const Parts& p, const PartSums& s, int64_t bytes) : rows{}, by_depth(p.g.depth.output_step == 1 && p.g.depth.output > 1), turns(false) {
    constexpr int64_t FEW_ROWS = 4, NEAR_OUTPUTS = 4096;  // these are written one by one as fast, but for rounding
    const Geometry& g = p.g;
    const int64_t step = g.width.output_step;
    rows = {by_depth ? s.depths : s.rows, by_depth ? s.images * s.plane : s.cells, by_depth ? s.rows : 1, s.cells};
    const bool repays = bytes < 4 || step > FEW_ROWS || g.stored_plane > NEAR_OUTPUTS;
    turns = step > 1 && repays && rows.rows() == step && step <= Across::MOST && (s.rows == 1 || g.height.output_step == (by_depth ? s.depths : 1));
  }
};

// The outputs of the filters `own` of a part; output_of(image): its first filter's first one.
template <class Rows, class T, class F>
OPSCOPE_APART void write_across(const Parts& p, const PartSums& s, const RowsAcross& across, Range own, const F& output_of) {
  const int64_t depths = across.by_depth ? 1 : s.depths;
  for (int64_t i = 0; i < s.images; i++)
    for (int64_t f = own.begin; f < own.end; f++)
      for (int64_t n = 0; n < depths; n++)
        across.rows.write(s.sums + f * s.stride + (i + n * s.images) * s.plane, s.columns, Rows::output(output_of(i) + f * p.g.stored_plane + n * p.g.depth.output_step));
}

}  // namespace
