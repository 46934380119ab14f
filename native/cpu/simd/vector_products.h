// A row or a column by itself times a matrix, which is read once, as it lies.
#pragma once
#include "dots.h"
#include "fetch.h"
#include "few_columns.h"
#include "gemm.h"

namespace {

struct Size {
  Products p;
  bool trans_a, trans_b;
};

Size size_of(const int64_t* d) { return {{d[0], d[1], d[2], d[3]}, d[4] != 0, d[5] != 0}; }

// out[j] = sum over l of v[l] * b[l, j] for columns `r`. Rows of f32 that start within lines are read by halves of vectors, of which fewer lie across lines.
template <class T>
void add_rows(const T* v, const T* b, int64_t k, int64_t stride, Range r, T* out) {
  constexpr bool IS_FLOAT = sizeof(T) == sizeof(float);
  constexpr int64_t COLUMNS = 4096;
  alignas(64) float sums[COLUMNS];
  const bool by_four = W == LINE && IS_FLOAT && stride % LINE == 0;
  const int64_t at_once = by_four ? COLUMNS / 2 : COLUMNS;
  for (int64_t from = r.begin; from < r.end; from += at_once) {
    const int64_t n = least(at_once, r.end - from);
    for (int64_t j = 0; j < n; j++) sums[j] = 0;
    if (by_four) add_rows_to<4>(sums, v, b + from, k, stride, n);
    else add_rows_to<8>(sums, v, from_far(b + from), k, stride, n);
    map1<false>(sums, out + from, 0, n, [](V x) { return x; });
  }
}

constexpr int64_t LONG_TERMS = 1024;  // of rows in memory, which are then fetched ahead

// Rows of f32 of which several meet the vector together: alone, each would load it again, from the second-level cache where it is long.
constexpr int ROWS_TOGETHER_OF_DOTS = 4;
constexpr int64_t TERMS_OF_ROWS_TOGETHER = W == LINE ? 4096 : INT64_MAX;  // from these on

// out[i] = sum over l of v[l] * b[i, l] for those rows.
OPSCOPE_APART void dot_rows_together(const float* v, const float* b, int64_t k, float* out) {
  constexpr int ROWS = ROWS_TOGETHER_OF_DOTS, VECTORS = 2;
  constexpr int64_t BLOCK = 8192, AHEAD = 64;  // terms whose sums are added up apart, and that are fetched ahead
  V total[ROWS];
#pragma GCC unroll 4
  for (int i = 0; i < ROWS; i++) total[i] = vset(0);
  for (int64_t from = 0; from < k; from += BLOCK) {
    const int64_t end = least(from + BLOCK, k);
    V sum[ROWS][VECTORS];
#pragma GCC unroll 8
    for (int i = 0; i < ROWS * VECTORS; i++) sum[i / VECTORS][i % VECTORS] = vset(0);
    int64_t l = from;
    for (; l + VECTORS * W <= end; l += VECTORS * W)
#pragma GCC unroll 2
      for (int at = 0; at < VECTORS; at++) {
        const V x = vload(v + l + at * W);
#pragma GCC unroll 4
        for (int i = 0; i < ROWS; i++) {
          const float* const row = b + i * k + l + at * W;
          vprefetch(row + AHEAD);
          sum[i][at] = vfma(x, vload(row), sum[i][at]);
        }
      }
    for (; l < end; l += W) {
      const int some = static_cast<int>(least(W, end - l));
      const V x = vload_n(v + l, some, 0);
#pragma GCC unroll 4
      for (int i = 0; i < ROWS; i++) sum[i][0] = vfma(x, vload_n(b + i * k + l, some, 0), sum[i][0]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < ROWS; i++) total[i] = vadd(total[i], vadd(sum[i][0], sum[i][1]));
  }
  for (int i = 0; i < ROWS; i++) out[i] = vsum(total[i]);
}

// out[j] = sum over l of v[l] * b[j, l] for rows `r`.
template <class T>
void dot_rows(const Call& c, const T* v, const T* b, int64_t k, Range r, T* out) {
  int64_t j = r.begin;
#if defined(OPSCOPE_ISA_avx512)
  constexpr int TOGETHER = 8;
  if (k < 8 * W)
    for (; j + TOGETHER <= r.end; j += TOGETHER) dot_tile<1, TOGETHER>(v, b + j * k, k, k, out + j, int64_t{0}, 1);
#endif
  if constexpr (sizeof(T) == sizeof(float))
    if (k >= TERMS_OF_ROWS_TOGETHER)
      for (; j + ROWS_TOGETHER_OF_DOTS <= r.end; j += ROWS_TOGETHER_OF_DOTS) dot_rows_together(v, b + j * k, k, out + j);
  const auto times_vector = [=](auto row) { return sum_of_pairs(v, row, k, [](V x, V y) { return vmul(x, y); }); };
  if constexpr (sizeof(T) == sizeof(float) && W == LINE)
    if (c.stream && k >= LONG_TERMS)
      for (; j < r.end; j++) set(out + j, times_vector(fetched_ahead(b + j * k)));
  for (; j < r.end; j++) set(out + j, times_vector(b + j * k));
}

// A vector times a matrix of n results, whose rows hold the results (by_rows) or the terms.
template <class T>
void run_vectors(const Call& c, const Size& s) {
  const bool row = s.p.m == 1;
  const int64_t n = row ? s.p.n : s.p.m, k = s.p.k;
  const bool terms_in_rows = n == 1 || (row ? s.trans_b : !s.trans_a);
  const T *vectors = input<T>(c, row ? 0 : 1), *matrices = input<T>(c, row ? 1 : 0);
  const bool by_product = s.p.batch >= c.threads;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, r = by_product ? Range{0, n} : part(n, LINE, c.thread, c.threads);
  for (int64_t i = products.begin; i < products.end; i++) {
    if (terms_in_rows) dot_rows(c, vectors + i * k, matrices + i * n * k, k, r, output<T>(c) + i * n);
#if defined(OPSCOPE_FEW_COLUMNS)
    else if (r.end - r.begin <= FEW_COLUMNS && r.end > r.begin && k >= LEAST_ROWS) add_few_columns(vectors + i * k, matrices + i * n * k, k, n, r, output<T>(c) + i * n);
#endif
    else add_rows(vectors + i * k, matrices + i * n * k, k, n, r, output<T>(c) + i * n);
  }
}

}  // namespace
