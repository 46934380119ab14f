// Products of few rows, which are not worth a copy of the other operand: each element of that is read once, as it lies.
#pragma once
#include "in_register.h"
#include "map.h"
#include "reduce.h"

namespace {

// sums[j] += sum over l of v[l] * b[l, j] for j < n and ROWS rows of b, `stride` apart.
template <int ROWS, class A, class B>
inline void add_some_rows(float* sums, const A* v, const B* b, int64_t stride, int64_t n) {
  V factors[ROWS];
#pragma GCC unroll 8
  for (int r = 0; r < ROWS; r++) factors[r] = vset(to_float(v[r]));
  const auto sum = [&](int64_t j, int count, V so_far) {
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) so_far = vfma(factors[r], take(b + r * stride + j, count), so_far);
    return so_far;
  };
  int64_t j = 0;
  for (; j + W <= n; j += W) vstore(sums + j, sum(j, W, vload(sums + j)));
  if (const int rest = static_cast<int>(n - j); rest > 0) vstore_n(sums + j, sum(j, rest, vload_n(sums + j, rest, 0)), rest);
}

// The same for k rows, ROWS at a time.
template <int ROWS = 4, class A, class B>
inline void add_rows_to(float* sums, const A* v, const B* b, int64_t k, int64_t stride, int64_t n) {
  int64_t l = 0;
  for (; l + ROWS <= k; l += ROWS) add_some_rows<ROWS>(sums, v + l, b + l * stride, stride, n);
  if constexpr (ROWS > 4)
    for (; l + 4 <= k; l += 4) add_some_rows<4>(sums, v + l, b + l * stride, stride, n);
  for (; l < k; l++) add_some_rows<1>(sums, v + l, b + l * stride, stride, n);
}

// How terms that lie next to one another are multiplied, a vector at a time; pairs of bf16 have a way of their own (pairs.h).
template <class T>
struct Terms {
  static constexpr int AT_ONCE = W;
  static V load(const T* p) { return vload(p); }
  static V load(const T* p, int n) { return vload_n(p, n, 0); }
  static V fma(V x, V y, V sum) { return vfma(x, y, sum); }
};

// Few rows times columns whose terms lie next to one another, `stride` from one of either to the next: dot products of k terms.
// out[r, j] at r * row + j * column; row: One where the sums of a column lie next to one another.
struct One {
  constexpr operator int64_t() const { return 1; }
};
template <int ROWS, int COLUMNS, class T, class O, class Row>
OPSCOPE_APART void dot_tile(const T* a, const T* b, int64_t k, int64_t stride, O* out, Row row, int64_t column) {
  using Of = Terms<T>;
  V sum[ROWS][COLUMNS];
#pragma GCC unroll 8
  for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 8
    for (int q = 0; q < COLUMNS; q++) sum[r][q] = vset(0);
  const auto join = [&](const auto& load, int64_t l) {
    V v[COLUMNS];
#pragma GCC unroll 8
    for (int q = 0; q < COLUMNS; q++) v[q] = is_loaded_again(ROWS) ? in_register(load(b + q * stride + l)) : load(b + q * stride + l);
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) {
      const V x = in_register(load(a + r * stride + l));
#pragma GCC unroll 8
      for (int q = 0; q < COLUMNS; q++) sum[r][q] = Of::fma(x, v[q], sum[r][q]);
    }
  };
  int64_t l = 0;
  // One row waits for loads alone, and those across two lines take twice as long: by halves, one of two is.
  constexpr bool BY_HALVES = ROWS == 1 && sizeof(T) == sizeof(float);
  for (; l + Of::AT_ONCE <= k; l += Of::AT_ONCE) {
    if constexpr (BY_HALVES) join([](const T* p) { return vload(from_far(p)); }, l);
    else join([](const T* p) { return Of::load(p); }, l);
  }
  if (const int rest = static_cast<int>(k - l); rest > 0) join([rest](const T* p) { return Of::load(p, rest); }, l);
#if defined(OPSCOPE_ISA_avx512)
  if constexpr (ROWS * COLUMNS >= 4) {
    // Eight sums over the lanes at a time, those of as many columns as they hold.
    constexpr int TOGETHER = 8 / ROWS;
    constexpr bool ADJACENT = sizeof(O) == sizeof(float) && __is_empty(Row);
#pragma GCC unroll 8
    for (int from = 0; from < COLUMNS; from += TOGETHER) {
      V of_columns[8];
      alignas(32) float sums[8];
#pragma GCC unroll 8
      for (int i = 0; i < 8; i++) of_columns[i] = i < TOGETHER * ROWS && from + i / ROWS < COLUMNS ? sum[i % ROWS][(from + i / ROWS) % COLUMNS] : vset(0);
      if (TOGETHER == 1 && ADJACENT) {
        vstore_sums(reinterpret_cast<float*>(out + from * column), of_columns, ROWS);
        continue;
      }
      vstore_sums(sums, of_columns, 8);
      const int columns = COLUMNS - from < TOGETHER ? COLUMNS - from : TOGETHER;
      for (int q = 0; q < columns; q++) {
        O* const to = out + (from + q) * column;
        if (ADJACENT) __builtin_memcpy(to, sums + q * ROWS, ROWS * sizeof(O));
        else
          for (int r = 0; r < ROWS; r++) set(to + r * row, sums[q * ROWS + r]);
      }
    }
    return;
  }
#endif
  for (int r = 0; r < ROWS; r++)
    for (int q = 0; q < COLUMNS; q++) set(out + r * row + q * column, vsum(sum[r][q]));
}

constexpr int DOT_ROWS = 4, DOT_COLUMNS = W < 8 ? 2 : 4;
constexpr int MOST_DOT_ROWS = W < 16 ? DOT_ROWS : 8;  // that registers hold, with fewer columns

template <int ROWS, class T, class O, class Row>
void dots(const T* a, const T* b, int64_t rows, int64_t k, int64_t stride, Range columns, O* out, Row row, int64_t column) {
  if constexpr (ROWS > 1)
    if (rows < ROWS) return dots<ROWS - 1>(a, b, rows, k, stride, columns, out, row, column);
  constexpr int TOGETHER = ROWS > DOT_ROWS ? DOT_COLUMNS - 1 : DOT_COLUMNS;
  int64_t j = columns.begin;
  // As many as are added up over the lanes at a time.
  if constexpr (ROWS == 1 && W == 16)
    for (; j + 8 <= columns.end; j += 8) dot_tile<ROWS, 8>(a, b + j * stride, k, stride, out + j * column, row, column);
  for (; j + TOGETHER <= columns.end; j += TOGETHER) dot_tile<ROWS, TOGETHER>(a, b + j * stride, k, stride, out + j * column, row, column);
  const int rest = static_cast<int>(columns.end - j);
  if (TOGETHER > 3 && rest == 3) dot_tile<ROWS, 3>(a, b + j * stride, k, stride, out + j * column, row, column);
  else if (TOGETHER > 2 && rest == 2) dot_tile<ROWS, 2>(a, b + j * stride, k, stride, out + j * column, row, column);
  else if (rest > 0) dot_tile<ROWS, 1>(a, b + j * stride, k, stride, out + j * column, row, column);
}

}  // namespace
