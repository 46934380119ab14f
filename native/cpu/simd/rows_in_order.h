// A few rows times a matrix that is read once, in the order of memory, without a copy: tiles would read short pieces of many of its rows, and widen 16-bit elements
// through memory. Sums of some columns lie in the first-level cache meanwhile (AVX-512).
#pragma once
#include "vector_products.h"

#if defined(OPSCOPE_ISA_avx512)
#define OPSCOPE_ROWS_IN_ORDER 1

namespace {

constexpr int64_t MOST_IN_ORDER = 8;

// sums = (`first`) or += ROWS rows of BESIDE factors times BESIDE rows of b. The factor of row i and term p lies at factors[i * row + p * term].
template <int ROWS, int BESIDE, class T>
OPSCOPE_APART void add_in_order(const T* factors, int64_t row, int64_t term, const T* b, int64_t b_stride, int64_t columns, float* sums, int64_t sum_stride, bool first) {
  V x[ROWS][BESIDE];
#pragma GCC unroll 8
  for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 4
    for (int p = 0; p < BESIDE; p++) x[i][p] = vset(to_float(factors[i * row + p * term]));
  const auto add = [&](int64_t j, int count) __attribute__((always_inline)) {
    V met[BESIDE];
#pragma GCC unroll 4
    for (int p = 0; p < BESIDE; p++) met[p] = take(b + p * b_stride + j, count);
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++) {
      float* const at = sums + i * sum_stride + j;
      V sum = first ? vset(0) : vload(at);
#pragma GCC unroll 4
      for (int p = 0; p < BESIDE; p++) sum = vfma(x[i][p], met[p], sum);
      vstore(at, sum);
    }
  };
  int64_t j = 0;
  for (; j + W <= columns; j += W) add(j, W);
  if (j < columns) add(j, static_cast<int>(columns - j));
}

// Columns `r` of ROWS rows of results of k terms and n columns.
template <int ROWS, class T, class O>
OPSCOPE_APART void rows_in_order(const T* a, int64_t row, int64_t term, const T* b, int64_t k, int64_t n, Range r, O* out) {
  constexpr int BESIDE = 4;
  constexpr int64_t FLOATS = 6144, TOGETHER = FLOATS / ROWS * 2 / 3;  // sums
  alignas(64) float sums[FLOATS + ROWS * W];
  const int64_t together = even_part(r.end - r.begin, TOGETHER);
  for (int64_t from = r.begin; from < r.end; from += together) {
    const int64_t columns = least(together, r.end - from), sum_stride = up(columns, W);
    int64_t l = 0;
    for (; l + BESIDE <= k; l += BESIDE) add_in_order<ROWS, BESIDE>(a + l * term, row, term, b + l * n + from, n, columns, sums, sum_stride, l == 0);
    for (; l < k; l++) add_in_order<ROWS, 1>(a + l * term, row, term, b + l * n + from, n, columns, sums, sum_stride, l == 0);
    for (int64_t i = 0; i < ROWS; i++) map1<false>(sums + i * sum_stride, out + i * n + from, 0, columns, [](V v) { return v; });
  }
}
template <int ROWS, class T, class O>
inline void rows_in_order_of(int64_t rows, const T* a, int64_t row, int64_t term, const T* b, int64_t k, int64_t n, Range r, O* out) {
  if constexpr (ROWS > 2)
    if (rows < ROWS) return rows_in_order_of<ROWS - 1>(rows, a, row, term, b, k, n, r, out);
  rows_in_order<ROWS>(a, row, term, b, k, n, r, out);
}

// f32: matrices beyond the second-level cache. 16-bit: rows of results that are long enough; bf16, beside tiles of it, fewer of them.
template <class T>
inline bool by_rows_in_order(const Size& s) {
  constexpr int64_t LEAST_TERMS = 8, FAR_FLOATS = 1 << 21, LEAST_FLOATS_OF_ROW = 900, COLUMNS_OF_ROW = 32;
  constexpr int64_t MOST_ROWS = __is_same(T, F16) ? MOST_IN_ORDER : MOST_IN_ORDER / 2;
  const int64_t m = s.p.m, n = s.p.n;
  if (s.trans_b || m < 2 || m > MOST_ROWS || s.p.k < LEAST_TERMS) return false;
  if (sizeof(T) == sizeof(float)) return n >= LEAST_FLOATS_OF_ROW && times(s.p.k, n) >= FAR_FLOATS;
  return n >= COLUMNS_OF_ROW * m * (__is_same(T, F16) ? 1 : m);
}

// out: the results, as they are rounded.
template <class T, class O>
OPSCOPE_APART void run_rows_in_order(const Call& c, const Size& s, O* out) {
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k;
  const bool by_product = s.p.batch >= c.threads;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, r = by_product ? Range{0, n} : part(n, LINE, c.thread, c.threads);
  for (int64_t i = products.begin; i < products.end && r.end > r.begin; i++)
    rows_in_order_of<MOST_IN_ORDER>(m, input<T>(c, 0) + i * m * k, s.trans_a ? 1 : k, s.trans_a ? m : 1, input<T>(c, 1) + i * n * k, k, n, r, out + i * m * n);
}

}  // namespace
#endif
