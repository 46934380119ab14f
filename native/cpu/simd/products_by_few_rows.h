// Products of a few rows or columns whose sums stay in registers (few_rows.h): which ones, and those.
#pragma once
#include "few_rows.h"
#include "products_by_dots.h"

namespace {

#if defined(OPSCOPE_FEW_ROWS)
constexpr bool HAS_FEW_ROWS = true;
#else
constexpr bool HAS_FEW_ROWS = false;
#endif
// Rows of sums; floats of a matrix whose rows are read in short pieces, and terms where it may be larger; columns that two passes meet, of so many terms.
constexpr int64_t MOST_FEW_SUMS = 8, NEAR_MATRIX = 1 << 20, TERMS_OF_FAR_MATRIX = 40, MOST_OF_TWO_PASSES = 12, TERMS_OF_TWO_PASSES = 64;

// Few columns of a product whose left operand is stored transposed: rows of that meet them as they lie (few_rows.h).
inline bool by_few_columns(const Size& s, size_t element_bytes) {
  const int64_t most = s.p.k < TERMS_OF_TWO_PASSES ? MOST_FEW_SUMS : MOST_OF_TWO_PASSES;
  return HAS_FEW_ROWS && element_bytes == sizeof(float) && s.trans_a && s.p.n <= most && s.p.n <= s.p.m && (s.p.k <= TERMS_OF_FAR_MATRIX || times(s.p.m, s.p.k) <= NEAR_MATRIX);
}
// The last columns of such a product, where a vector of them would be mostly empty.
inline int64_t last_few_columns(const Size& s, size_t element_bytes) {
  constexpr int64_t REPAID = 16, MOST_LAST = 10;  // terms; columns
  const int64_t rest = s.p.n % W, most = s.p.k < TERMS_OF_TWO_PASSES ? MOST_FEW_SUMS : MOST_LAST;
  const bool pays = HAS_FEW_ROWS && element_bytes == sizeof(float) && s.trans_a && rest > 0 && rest <= most && rest < s.p.n && s.p.k >= REPAID && (W - rest) * LEAST_SHARE >= s.p.n && times(s.p.m, s.p.k) <= NEAR_MATRIX;
  return pays ? rest : 0;
}
// Up to eight rows by up to three vectors of columns.
inline bool by_few_rows(const Size& s, size_t element_bytes) {
  return HAS_FEW_ROWS && element_bytes == sizeof(float) && !s.trans_b && s.p.m <= MOST_FEW_SUMS && s.p.n <= 3 * W && (s.trans_a || s.p.n > W / 2 || columns_by_dots(s, element_bytes) == 0);
}

// All rows, or the last `columns` columns where there are any.
OPSCOPE_APART void run_few_rows([[maybe_unused]] const Call& c, [[maybe_unused]] const Size& s, [[maybe_unused]] int64_t columns) {
#if defined(OPSCOPE_FEW_ROWS)
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k, across = columns > 0 ? m : n;
  const bool by_product = s.p.batch >= c.threads;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, r = by_product ? Range{0, across} : part(across, LINE, c.thread, c.threads);
  for (int64_t i = products.begin; i < products.end && r.end > r.begin; i++) {
    const float *const a = input(c, 0) + i * m * k, *const b = input(c, 1) + i * n * k;
    float* const out = output(c) + i * m * n;
    for (int64_t left = columns; left > 0;) {
      const int64_t some = left > MOST_FEW_SUMS ? (left + 1) / 2 : left;
      few_rows(some, Factors{b + (n - left) * (s.trans_b ? k : 1), s.trans_b ? k : 1, s.trans_b ? 1 : n}, a + r.begin, m, k, r.end - r.begin, Results{out + r.begin * n + n - left, 1, n});
      left -= some;
    }
    if (columns == 0) few_rows(m, Factors{a, s.trans_a ? 1 : k, s.trans_a ? m : 1}, b + r.begin, n, k, r.end - r.begin, Results{out + r.begin, n, 1});
  }
#endif
}

// 16-bit operands of so few rows and columns and long sums, the left one stored transposed: both are widened some terms at a time. Pairs of bf16 are as
// fast for more columns. Both stored transposed (f16): rows of what the left one holds are the columns, of few factors in the right one.
template <class T>
constexpr int64_t MOST_WIDENED_COLUMNS = W;
template <>
constexpr int64_t MOST_WIDENED_COLUMNS<F16> = 8 * W;
template <class T>
inline bool by_widened_few_rows(const Size& s) {
  constexpr int64_t LONG_SUMS = 256, LONG_SUMS_OF_BOTH = 48, ROWS_OF_WIDE = 4;
  if (!HAS_FEW_ROWS || !s.trans_a) return false;
  if (s.trans_b) return __is_same(T, F16) && !by_turned_dots(s, sizeof(T), true) && s.p.n <= MOST_FEW_SUMS && s.p.m <= (s.p.n > 2 ? MOST_WIDENED_COLUMNS<T> : W) && s.p.k >= LONG_SUMS_OF_BOTH;
  return s.p.m <= MOST_FEW_SUMS && s.p.n <= (s.p.m < ROWS_OF_WIDE ? least(3 * W, MOST_WIDENED_COLUMNS<T>) : MOST_WIDENED_COLUMNS<T>) && s.p.k >= LONG_SUMS;
}

template <class T>
OPSCOPE_APART void run_widened_few_rows([[maybe_unused]] const Call& c, [[maybe_unused]] const Size& s) {
#if defined(OPSCOPE_FEW_ROWS)
  constexpr int64_t FLOATS = 8192, MOST_SUMS = MOST_FEW_SUMS * MOST_WIDENED_COLUMNS<T>;  // of both operands: in the first-level cache
  const bool both = s.trans_b;
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k, rows = both ? n : m, columns = both ? m : n, at_once = FLOATS / (m + n);
  const bool by_product = s.p.batch >= c.threads;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, r = by_product ? Range{0, columns} : part(columns, LINE, c.thread, c.threads);
  alignas(64) float wide[FLOATS + W], sums[MOST_SUMS], totals[MOST_SUMS];
  const auto same = [](V v) { return v; };
  for (int64_t i = products.begin; i < products.end && r.end > r.begin; i++) {
    const T *const a = input<T>(c, 0) + i * m * k, *const b = input<T>(c, 1) + i * n * k, *const few = both ? b : a, *const many = both ? a : b;
    T* const out = output<T>(c) + i * m * n;
    for (int64_t l = 0; l < k; l += at_once) {
      const int64_t terms = least(at_once, k - l);
      float* const right = wide + terms * rows;
      if (both)
        for (int64_t row = 0; row < rows; row++) map1<false>(few + row * k + l, wide + row * terms, 0, terms, same);
      else map1<false>(few + l * rows, wide, 0, terms * rows, same);
      map1<false>(many + l * columns, right, 0, terms * columns, same);
      few_rows(rows, Factors{wide, both ? terms : 1, both ? 1 : rows}, right + r.begin, columns, terms, r.end - r.begin, Results{(l == 0 ? totals : sums) + r.begin, columns, 1});
      if (l > 0)
        for (int64_t row = 0; row < rows; row++) map2<false>(sums + row * columns, totals + row * columns, totals + row * columns, r.begin, r.end, [](V x, V y) { return vadd(x, y); });
    }
    for (int64_t row = 0; row < rows; row++) {
      if (!both) map1<false>(totals + row * columns, out + row * n, r.begin, r.end, same);
      else
        for (int64_t j = r.begin; j < r.end; j++) set(out + j * n + row, totals[row * columns + j]);
    }
  }
#endif
}

}  // namespace
