// Products of few rows, which are not worth a copy of the other operand: each element of that is read once, as it lies.
#pragma once
#include "map.h"
#include "reduce.h"

namespace {

// sums[j] += sum over l of v[l] * b[l, j] for j < n: rows of b, `stride` apart, are added up, four at a time.
template <class A, class B>
inline void add_rows_to(float* sums, const A* v, const B* b, int64_t k, int64_t stride, int64_t n) {
  int64_t l = 0;
  for (; l + 4 <= k; l += 4) {
    const B* row = b + l * stride;
    const V v0 = vset(to_float(v[l])), v1 = vset(to_float(v[l + 1])), v2 = vset(to_float(v[l + 2])), v3 = vset(to_float(v[l + 3]));
    const auto sum = [&](int64_t j, int count, V so_far) {
      return vfma(v3, take(row + 3 * stride + j, count), vfma(v2, take(row + 2 * stride + j, count), vfma(v1, take(row + stride + j, count), vfma(v0, take(row + j, count), so_far))));
    };
    int64_t j = 0;
    for (; j + W <= n; j += W) vstore(sums + j, sum(j, W, vload(sums + j)));
    if (const int rest = static_cast<int>(n - j); rest > 0) vstore_n(sums + j, sum(j, rest, vload_n(sums + j, rest, 0)), rest);
  }
  for (; l < k; l++) {
    const V v0 = vset(to_float(v[l]));
    map2<false>(b + l * stride, sums, sums, 0, n, [v0](V x, V sum) { return vfma(v0, x, sum); });
  }
}

// Few rows times columns whose terms lie next to one another: dot products. out[r, j] at r * row + j * column.
template <int ROWS, int COLUMNS, class T, class O>
inline void dot_tile(const T* a, const T* b, int64_t k, O* out, int64_t row, int64_t column) {
  V sum[ROWS][COLUMNS];
  for (int r = 0; r < ROWS; r++)
    for (int q = 0; q < COLUMNS; q++) sum[r][q] = vset(0);
  const auto join = [&](const auto& load, int64_t l) {
    V v[COLUMNS];
#pragma GCC unroll 8
    for (int q = 0; q < COLUMNS; q++) v[q] = load(b + q * k + l);
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) {
      V x = load(a + r * k + l);
#if defined(OPSCOPE_ISA_avx512) && defined(__GNUC__)
      // Else compilers load it once for each column.
      __asm__("" : "+v"(x));
#endif
#pragma GCC unroll 8
      for (int q = 0; q < COLUMNS; q++) sum[r][q] = vfma(x, v[q], sum[r][q]);
    }
  };
  int64_t l = 0;
  for (; l + W <= k; l += W) join([](const T* p) { return vload(p); }, l);
  if (const int rest = static_cast<int>(k - l); rest > 0) join([rest](const T* p) { return vload_n(p, rest, 0); }, l);
#if defined(OPSCOPE_ISA_avx512)
  // Eight sums over the lanes at a time.
  if constexpr (ROWS <= 2 && ROWS * COLUMNS >= 4) {
    V all[8];
    alignas(32) float sums[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) all[i] = i < ROWS * COLUMNS ? sum[i / COLUMNS % ROWS][i % COLUMNS] : vset(0);
    vstore_sums(sums, all, 8);
    for (int r = 0; r < ROWS; r++)
      for (int q = 0; q < COLUMNS; q++) set(out + r * row + q * column, sums[r * COLUMNS + q]);
    return;
  } else if constexpr (ROWS > 2 && sizeof(O) == sizeof(float)) {
    if (row == 1) {
#pragma GCC unroll 4
      for (int q = 0; q < COLUMNS; q++) {
        V of_column[8];
#pragma GCC unroll 8
        for (int r = 0; r < 8; r++) of_column[r] = r < ROWS ? sum[r % ROWS][q] : vset(0);
        vstore_sums(out + q * column, of_column, ROWS);
      }
      return;
    }
  }
#endif
  for (int r = 0; r < ROWS; r++)
    for (int q = 0; q < COLUMNS; q++) set(out + r * row + q * column, vsum(sum[r][q]));
}

constexpr int DOT_ROWS = 4, DOT_COLUMNS = W < 8 ? 2 : 4;
constexpr int MOST_DOT_ROWS = W < 16 ? DOT_ROWS : 8;  // that registers hold, with fewer columns

template <int ROWS, class T, class O>
void dots(const T* a, const T* b, int64_t rows, int64_t k, Range columns, O* out, int64_t row, int64_t column) {
  if constexpr (ROWS > 1)
    if (rows < ROWS) return dots<ROWS - 1>(a, b, rows, k, columns, out, row, column);
  constexpr int TOGETHER = ROWS > DOT_ROWS ? DOT_COLUMNS - 1 : DOT_COLUMNS;
  int64_t j = columns.begin;
  for (; j + TOGETHER <= columns.end; j += TOGETHER) dot_tile<ROWS, TOGETHER>(a, b + j * k, k, out + j * column, row, column);
  for (; j < columns.end; j++) dot_tile<ROWS, 1>(a, b + j * k, k, out + j * column, row, column);
}

}  // namespace
