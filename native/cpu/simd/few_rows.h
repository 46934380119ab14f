// Up to eight rows of factors times the rows of a matrix, whose sums stay in registers; both operands are read as they lie (AVX-512, f32).
#pragma once
#include "in_register.h"
#include "interleaved.h"

#if defined(OPSCOPE_ISA_avx512)
#define OPSCOPE_FEW_ROWS 1

namespace {

constexpr int MOST_ROWS_OF_FACTORS = 8;

// The factor of row i and term p lies at data[i * row + p * term].
struct Factors {
  const float* data;
  int64_t row, term;
};
// Result j of row i belongs at data[i * row + j * column]; one of the two steps is 1.
struct Results {
  float* data;
  int64_t row, column;
  bool follow(int64_t rows) const { return row == 1 && column == rows; }
};

// ROWS rows of k factors times `columns` columns of b, whose terms are `stride` apart, in VECTORS vectors. Terms take turns where the
// multiplications of one are few.
template <int ROWS, int VECTORS>
OPSCOPE_APART void few_rows_of(const Factors& factors, const float* b, int64_t stride, int64_t k, int columns, const Results& out) {
  constexpr int FIT = 24 / (ROWS * VECTORS), TURNS = FIT >= 4 ? 4 : FIT >= 2 ? 2 : 1;
  const int last = columns - (VECTORS - 1) * W;
  const __mmask16 met = vmask_n(last);
  const float* a = factors.data;
  const int64_t row = factors.row, term = factors.term;
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
    for (int v = 0; v < VECTORS; v++) x[v] = in_register(v + 1 < VECTORS ? vload(b + v * W) : _mm512_maskz_loadu_ps(met, b + v * W));
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; v++) to[i][v] = vfma(vset(a[i * row]), x[v], to[i][v]);
    a += term;
    b += stride;
  };
  int64_t l = 0;
  for (; l + TURNS <= k; l += TURNS) {
#pragma GCC unroll 4
    for (int t = 0; t < TURNS; t++) add(sum[t]);
  }
  for (; l < k; l++) add(sum[0]);
#pragma GCC unroll 4
  for (int v = 0; v < VECTORS; v++) {
    V total[ROWS];
#pragma GCC unroll 8
    for (int i = 0; i < ROWS; i++) {
      total[i] = sum[0][i][v];
#pragma GCC unroll 4
      for (int t = 1; t < TURNS; t++) total[i] = vadd(total[i], sum[t][i][v]);
    }
    const int count = v + 1 < VECTORS ? W : last;
    float* const to = out.data + v * W * out.column;
    if (out.column == 1) {
#pragma GCC unroll 8
      for (int i = 0; i < ROWS; i++) vstore_n(to + i * out.row, total[i], count);
    } else if (out.follow(ROWS)) {
      store_interleaved(to, total, count);
    } else {
      alignas(64) float lanes[ROWS][W];
#pragma GCC unroll 8
      for (int i = 0; i < ROWS; i++) vstore(lanes[i], total[i]);
      for (int j = 0; j < count; j++)
        for (int i = 0; i < ROWS; i++) to[j * out.column + i] = lanes[i][j];
    }
  }
}

// The same of any number of columns.
template <int ROWS>
inline void few_rows_at_once(const Factors& a, const float* b, int64_t stride, int64_t k, int64_t columns, const Results& out) {
  constexpr int MOST = ROWS > 6 ? 3 : 4;
  const int64_t vectors = (columns + W - 1) / W, groups = (vectors + MOST - 1) / MOST;
  for (int64_t g = 0; g < groups; g++) {
    const int64_t first = vectors * g / groups, end = vectors * (g + 1) / groups, j = first * W;
    const int some = static_cast<int>(least(columns, end * W) - j);
    const Results to = {out.data + j * out.column, out.row, out.column};
    if (end - first == 1) few_rows_of<ROWS, 1>(a, b + j, stride, k, some, to);
    else if (end - first == 2) few_rows_of<ROWS, 2>(a, b + j, stride, k, some, to);
    else if (MOST == 3 || end - first == 3) few_rows_of<ROWS, 3>(a, b + j, stride, k, some, to);
    else few_rows_of<ROWS, MOST>(a, b + j, stride, k, some, to);
  }
}

// Up to MOST_ROWS_OF_FACTORS rows.
template <int ROWS = MOST_ROWS_OF_FACTORS>
inline void few_rows(int64_t rows, const Factors& a, const float* b, int64_t stride, int64_t k, int64_t columns, const Results& out) {
  if constexpr (ROWS > 1)
    if (rows < ROWS) return few_rows<ROWS - 1>(rows, a, b, stride, k, columns, out);
  few_rows_at_once<ROWS>(a, b, stride, k, columns, out);
}

}  // namespace
#endif
