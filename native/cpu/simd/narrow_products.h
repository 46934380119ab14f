// Products of few terms where one operand has few rows (or columns): blocks of rows of the other one are turned into columns (columns.h), so that
// vectors hold a term, or a result, of neighbouring rows.
#pragma once
#include "columns.h"
#include "interleaved.h"
#include "vector_products.h"

namespace {

// out = long [rows, terms] times few [terms, count].
struct NarrowProduct {
  int64_t rows, terms, count;
  bool by_terms;     // of the long operand: row i has its term p at p * rows + i, else at i * terms + p
  bool few_by_rows;  // of the other one: result j has its term p at j * terms + p, else at p * count + j
  bool turned;       // out: result j of row i is at j * rows + i, else at i * count + j
};

// results[j * AT_ONCE + r] for VECTORS vectors of rows, TOGETHER results.
template <int VECTORS, int TOGETHER>
inline void narrow_results(const float* terms, int64_t stride, const float* few, int64_t count, float* results) {
  V sum[TOGETHER][VECTORS];
#pragma GCC unroll 4
  for (int j = 0; j < TOGETHER; j++)
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) sum[j][v] = vset(0);
  for (int64_t p = 0; p < count; p++, terms += stride) {
    V x[VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) x[v] = vload(terms + v * W);
#pragma GCC unroll 4
    for (int j = 0; j < TOGETHER; j++) {
      const V y = vset(few[j * count + p]);
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; v++) sum[j][v] = vfma(x[v], y, sum[j][v]);
    }
  }
#pragma GCC unroll 4
  for (int j = 0; j < TOGETHER; j++)
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) vstore(results + j * AT_ONCE + v * W, sum[j][v]);
}

template <int VECTORS>
inline void narrow_rows(const NarrowProduct& s, const float* terms, int64_t stride, const float* few, float* results) {
  constexpr int TOGETHER = W < 16 ? 2 : 4;
  int64_t j = 0;
  for (; j + TOGETHER <= s.count; j += TOGETHER) narrow_results<VECTORS, TOGETHER>(terms, stride, few + j * s.terms, s.terms, results + j * AT_ONCE);
  for (; j < s.count; j++) narrow_results<VECTORS, 1>(terms, stride, few + j * s.terms, s.terms, results + j * AT_ONCE);
}

// Rows `r` of a product.
template <class T>
OPSCOPE_APART void narrow_product(const NarrowProduct& s, const T* lengthy, const T* few, Range r, T* out) {
#if defined(OPSCOPE_INTERLEAVED)
  // Rows of few terms times one vector, in registers.
  if constexpr (sizeof(T) == sizeof(float))
    if (s.count == 1 && !s.by_terms && s.terms > 1 && s.terms <= MOST_INTERLEAVED) r.begin += dot_rows_at_once(lengthy + r.begin * s.terms, s.terms, r.end - r.begin, few, out + r.begin);
#endif
  constexpr int VECTORS = W < 16 ? 2 : 4;
  alignas(64) float columns[LONGEST * AT_ONCE], results[LONGEST * AT_ONCE], wide[LONGEST * LONGEST];
  for (int64_t j = 0; j < s.count; j++)
    for (int64_t p = 0; p < s.terms; p++) wide[j * s.terms + p] = to_float(few[s.few_by_rows ? j * s.terms + p : p * s.count + j]);
  for (int64_t from = r.begin; from < r.end; from += AT_ONCE) {
    const int64_t n = least(AT_ONCE, r.end - from);
    const float* terms = columns;
    int64_t stride = AT_ONCE;
    if (!s.by_terms) {
      gather_columns(lengthy + from * s.terms, s.terms, n, columns);
    } else if (sizeof(T) == sizeof(float) && n == AT_ONCE) {
      terms = reinterpret_cast<const float*>(lengthy) + from;
      stride = s.rows;
    } else {
      for (int64_t p = 0; p < s.terms; p++) {
        float* const to = columns + p * AT_ONCE;
        map1<false>(lengthy + p * s.rows + from, to, 0, n, [](V v) { return v; });
        for (int64_t i = n; i % W != 0; i++) to[i] = 0;
      }
    }
    int64_t i = 0;
    for (; i + VECTORS * W <= n; i += VECTORS * W) narrow_rows<VECTORS>(s, terms + i, stride, wide, results + i);
    for (; i < n; i += W) narrow_rows<1>(s, terms + i, stride, wide, results + i);
    if (s.turned || s.count == 1)
      for (int64_t j = 0; j < s.count; j++) map1<false>(results + j * AT_ONCE, out + j * s.rows + from, 0, n, [](V v) { return v; });
    else scatter_rows(results, s.count, n, out + from * s.count);
  }
}

// Whether one operand has few rows of few terms and the other one is turned into columns.
inline bool is_narrow(const Size& s, bool is_float) {
  constexpr int64_t FEW = 16, FEW_RESULTS = 8, FEW_OF_DOTS = W == 16 ? 24 : FEW;
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k;
  if (W == 1 || k > FEW_OF_DOTS || (m > n ? m : n) < LINE) return false;
  if (k > FEW) return !is_float && s.trans_b && m > 1 && m <= DOT_ROWS && n >= AT_ONCE;
  if (m <= n) return s.trans_b && k > 1 && (m <= DOT_ROWS || (W >= 8 && m <= FEW_RESULTS && (is_float || k < FEW)));
  if (n == 1) return !s.trans_a && (W >= 8 || k <= FEW / 2);
  if (s.trans_a) return n <= (W < 16 || (is_float && k < DOT_ROWS) ? 3 : is_float ? FEW_RESULTS : DOT_ROWS);
  return W >= 8 && k >= FEW / 2 && n <= 3;
}
inline NarrowProduct narrow(const Size& s) {
  if (s.p.m > s.p.n) return {s.p.m, s.p.k, s.p.n, s.trans_a || s.p.k == 1, s.trans_b, false};
  return {s.p.n, s.p.k, s.p.m, !s.trans_b, !s.trans_a, true};
}

}  // namespace
