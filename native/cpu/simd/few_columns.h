// A vector times a matrix of a few columns, whose sums stay in registers while all rows meet them (AVX-512).
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

}  // namespace
#endif
