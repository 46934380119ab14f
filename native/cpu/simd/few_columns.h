// A vector, or a few rows, times a matrix of a few columns, whose sums stay in registers while all rows meet them (AVX-512).
#pragma once
#include "map.h"

#if defined(OPSCOPE_ISA_avx512)
#define OPSCOPE_FEW_COLUMNS 1

namespace {

constexpr int64_t FEW_COLUMNS = 3 * W, LEAST_ROWS = 32;  // shorter sums do not repay that lanes are joined

// sums[j] = sum over l of v[l] * b[l * COLUMNS + j]. W rows that follow one another are COLUMNS vectors, and each meets the elements of v that
// its rows do, put in their lanes by a permutation.
template <int COLUMNS, class T>
OPSCOPE_APART void add_joined_rows(const T* v, const T* b, int64_t k, float* sums) {
  __m512i row_of[COLUMNS];
  V sum[COLUMNS];
  for (int q = 0; q < COLUMNS; q++) {
    alignas(64) int32_t rows[W];
    for (int i = 0; i < W; i++) rows[i] = (q * W + i) / COLUMNS;
    row_of[q] = _mm512_load_si512(rows);
    sum[q] = vset(0);
  }
  int64_t l = 0;
  for (; l + W <= k; l += W, b += W * COLUMNS) {
    const V x = vload(v + l);
#pragma GCC unroll 16
    for (int q = 0; q < COLUMNS; q++) sum[q] = vfma(_mm512_permutexvar_ps(row_of[q], x), vload(b + q * W), sum[q]);
  }
  if (l < k) {
    const int rest = static_cast<int>(k - l);
    const V x = vload_n(v + l, rest, 0);
#pragma GCC unroll 16
    for (int q = 0; q < COLUMNS; q++)
      if (const int64_t left = rest * COLUMNS - q * W; left > 0) sum[q] = vfma(_mm512_permutexvar_ps(row_of[q], x), take(b + q * W, static_cast<int>(least(left, W))), sum[q]);
  }
  alignas(64) float lanes[COLUMNS * W];
  for (int q = 0; q < COLUMNS; q++) vstore(lanes + q * W, sum[q]);
  for (int j = 0; j < COLUMNS; j++) {
    float total = 0;
    for (int i = j; i < COLUMNS * W; i += COLUMNS) total += lanes[i];
    sums[j] = total;
  }
}
template <int COLUMNS, class T>
inline void add_joined_rows_of(int64_t columns, const T* v, const T* b, int64_t k, float* sums) {
  if constexpr (COLUMNS > 2)
    if (columns < COLUMNS) return add_joined_rows_of<COLUMNS - 1>(columns, v, b, k, sums);
  add_joined_rows<COLUMNS>(v, b, k, sums);
}

// The same of `columns` columns of rows `stride` apart, in VECTORS vectors; rows take turns, for the multiplications of one would wait for each other.
template <int VECTORS, class T>
OPSCOPE_APART void add_rows_apart(int64_t columns, const T* v, const T* b, int64_t k, int64_t stride, float* sums) {
  constexpr int TURNS = 4;
  const int last = static_cast<int>(columns - (VECTORS - 1) * W);
  V sum[TURNS][VECTORS];
  for (int t = 0; t < TURNS; t++)
    for (int i = 0; i < VECTORS; i++) sum[t][i] = vset(0);
  const auto add = [&](const T* row, T factor, V (&to)[VECTORS]) {
    const V x = vset(to_float(factor));
#pragma GCC unroll 4
    for (int i = 0; i < VECTORS; i++) to[i] = vfma(x, i + 1 < VECTORS ? vload(row + i * W) : vload_n(row + i * W, last, 0), to[i]);
  };
  int64_t l = 0;
  for (; l + TURNS <= k; l += TURNS) {
#pragma GCC unroll 4
    for (int t = 0; t < TURNS; t++) add(b + (l + t) * stride, v[l + t], sum[t]);
  }
  for (; l < k; l++) add(b + l * stride, v[l], sum[0]);
  for (int i = 0; i < VECTORS; i++) {
    const V total = vadd(vadd(sum[0][i], sum[1][i]), vadd(sum[2][i], sum[3][i]));
    if (i + 1 < VECTORS) vstore(sums + i * W, total);
    else vstore_n(sums + i * W, total, last);
  }
}

// out[j] = sum over l of v[l] * b[l * stride + j] for up to FEW_COLUMNS columns `r`.
template <class T>
OPSCOPE_APART void add_few_columns(const T* v, const T* b, int64_t k, int64_t stride, Range r, T* out) {
  alignas(64) float sums[FEW_COLUMNS];
  const int64_t columns = r.end - r.begin;
  if (columns == stride && columns > 1 && columns < W) add_joined_rows_of<W - 1>(columns, v, b, k, sums);
  else if (columns <= W) add_rows_apart<1>(columns, v, b + r.begin, k, stride, sums);
  else if (columns <= 2 * W) add_rows_apart<2>(columns, v, b + r.begin, k, stride, sums);
  else add_rows_apart<3>(columns, v, b + r.begin, k, stride, sums);
  map1<false>(sums, out + r.begin, 0, columns, [](V x) { return x; });
}

// out[i * n + j] = sum over l of a[i, l] * b[l * n + j] for ROWS rows, `stride` apart (BY_TERMS: that many terms), and n columns in VECTORS vectors.
// Terms take turns where the multiplications of one are few.
template <int ROWS, int VECTORS, bool BY_TERMS>
OPSCOPE_APART void few_rows_of(const float* a, int64_t stride, const float* b, int64_t k, int64_t n, float* out) {
  const int64_t row = BY_TERMS ? 1 : stride, term = BY_TERMS ? stride : 1;
  constexpr int FIT = 24 / (ROWS * VECTORS), TURNS = FIT >= 4 ? 4 : FIT >= 2 ? 2 : 1;
  const int last = static_cast<int>(n - (VECTORS - 1) * W);
  V sum[TURNS][ROWS][VECTORS];
#pragma GCC unroll 4
  for (int t = 0; t < TURNS; t++)
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; v++) sum[t][i][v] = vset(0);
  const auto add = [&](V (&to)[ROWS][VECTORS]) __attribute__((always_inline)) {
    V x[VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) x[v] = v + 1 < VECTORS ? vload(b + v * W) : vload_n(b + v * W, last, 0);
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; v++) to[i][v] = vfma(vset(a[i * row]), x[v], to[i][v]);
    a += term;
    b += n;
  };
  int64_t l = 0;
  for (; l + TURNS <= k; l += TURNS) {
#pragma GCC unroll 4
    for (int t = 0; t < TURNS; t++) add(sum[t]);
  }
  for (; l < k; l++) add(sum[0]);
#pragma GCC unroll 8
  for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
      V total = sum[0][i][v];
#pragma GCC unroll 4
      for (int t = 1; t < TURNS; t++) total = vadd(total, sum[t][i][v]);
      if (v + 1 < VECTORS) vstore(out + i * n + v * W, total);
      else vstore_n(out + i * n + v * W, total, last);
    }
}
template <int ROWS>
inline void few_rows(int64_t rows, const float* a, int64_t stride, bool by_terms, const float* b, int64_t k, int64_t n, float* out) {
  if constexpr (ROWS > 2)
    if (rows < ROWS) return few_rows<ROWS - 1>(rows, a, stride, by_terms, b, k, n, out);
  if (n <= 2 * W) by_terms ? few_rows_of<ROWS, 2, true>(a, stride, b, k, n, out) : few_rows_of<ROWS, 2, false>(a, stride, b, k, n, out);
  else by_terms ? few_rows_of<ROWS, 3, true>(a, stride, b, k, n, out) : few_rows_of<ROWS, 3, false>(a, stride, b, k, n, out);
}

}  // namespace
#endif
