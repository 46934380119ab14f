// Products of few terms whose results lie beyond the caches: tiles write to a buffer in the first-level cache, whose lines are streamed after each panel.
#pragma once
#include "fetch.h"
#include "vector_products.h"

namespace {

// Where sums go: a panel (or two) of some rows to the buffer, behind BEFORE floats of each of its rows, which keep what of the panel before was no whole line.
template <class O>
struct Streamed : Buffered {
  O* out;
  int64_t stride;
  static constexpr bool STREAMS = true;
  static constexpr int64_t BEFORE = IN_LINE<O>, SUM_STRIDE = up(2 * NR, LINE) + BEFORE;
  int64_t sum_stride(int64_t) const { return SUM_STRIDE; }
  // Columns `cols` of `count` rows from row i on. starts, ends: whether these are the first and the last ones of the block.
  void stream(float* sums, int64_t i, int64_t count, int64_t jc, Range cols, bool starts, bool ends) const {
    const int64_t n = cols.end - cols.begin;
    O* to = out + i * stride + jc + cols.begin;
    for (int64_t r = 0; r < count; r++, sums += SUM_STRIDE, to += stride) {
      const float* const from = sums + BEFORE;
      const int64_t past = static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) / sizeof(O)) & (BEFORE - 1);  // of the line in which the panel starts
      int64_t j = -past;
      if (starts && past > 0) {
        j = least(BEFORE - past, n);
        map1<false>(from, to, 0, j, [](V v) { return v; });
      }
      for (; j + BEFORE <= n; j += BEFORE)
#pragma GCC unroll 16
        for (int64_t v = 0; v < BEFORE; v += W) vstream(to + j + v, vload(from + j + v));
      if (ends) {
        map1<false>(from, to, j, n, [](V v) { return v; });
      } else {
#pragma GCC unroll 16
        for (int64_t v = 0; v < BEFORE; v += W) vstore(sums + v, vload(from + n - BEFORE + v));
      }
    }
  }
};

// Whether results are streamed: where rows are long and panels at least a line. 16-bit operands are widened, which pays for fewer terms and rows that start within lines.
inline bool by_streamed(const Products& p, size_t bytes, bool trans_a) {
  constexpr int64_t LONG_ROWS = 512, RESULT_BYTES = 12 << 20, BYTES_WITHIN_LINES = 8 << 20, TERMS_WITHIN_LINES = 7, ROWS_WITHIN_LINES = 256, LONG_WITHIN_LINES = 600;
  const bool is_float = bytes == sizeof(float);
  const int64_t element = static_cast<int64_t>(bytes), in_line = LINE * static_cast<int64_t>(sizeof(float)) / element;
  const bool terms = is_float ? p.k >= 3 && p.k <= 40 : p.k >= 2 && p.k <= PANEL_TERMS && p.n % in_line != 0;
  // Rows that start within lines write each line twice else.
  const bool within = is_float && !trans_a && p.n % in_line != 0 && p.k <= TERMS_WITHIN_LINES && p.m >= ROWS_WITHIN_LINES && p.n >= LONG_WITHIN_LINES;
  return terms && NR >= in_line && p.n >= LONG_ROWS && p.m >= 2 * MR && times(p.batch, times(p.m, p.n)) >= (within ? BYTES_WITHIN_LINES : RESULT_BYTES) / element;
}

// Floats of a thread: so many columns of the right operand at a time that they stay near, a block of the left one and the buffer.
struct StreamedFloats {
  int64_t columns, slab, block, sums;
  explicit StreamedFloats(const Products& p) : columns(least(up(even_part(p.n, NEAR / p.k), NR), NC)), slab(up(p.k * columns, LINE)), block(block_stride(p.k) * MC), sums(Streamed<BF16>::SUM_STRIDE * MC) {}
  int64_t all() const { return slab + block + sums; }

 private:
  static constexpr int64_t NEAR = 1 << 15;
};

// out: the results, as they are rounded.
template <class T, class O>
OPSCOPE_APART void run_streamed(const Call& c, const Size& s, O* out) {
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k;
  const StreamedFloats floats(s.p);
  float *const slab = c.scratch + c.thread * floats.all(), *const block = slab + floats.slab;
  const bool by_product = s.p.batch >= c.threads;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, r = by_product ? Range{0, m} : part(m, 1, c.thread, c.threads);
  const int64_t rows = r.end - r.begin;
  for (int64_t i = products.begin; i < products.end && rows > 0; i++) {
    const LeftMatrix<T> left{input<T>(c, 0) + i * m * k + r.begin * (s.trans_a ? 1 : k), s.trans_a ? m : k, s.trans_a};
    const RightMatrix<T> right{input<T>(c, 1) + i * n * k, s.trans_b ? k : n, s.trans_b, k};
    const Streamed<O> to{{block + floats.block}, out + (i * m + r.begin) * n, n};
    for (int64_t j = 0; j < n; j += floats.columns) {
      const int64_t columns = least(floats.columns, n - j);
      multiply(left, right, false, true, to, {0, rows}, j, columns, {0, columns}, 0, k, k, slab, block, c.distant_cache);
    }
  }
  vfence();
}

}  // namespace
