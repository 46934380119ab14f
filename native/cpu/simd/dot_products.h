// Products of few rows or columns as dot products, of terms that lie next to one another or are turned to lie so.
#pragma once
#include "dots.h"
#include "pairs.h"

namespace {

constexpr int64_t MOST_FEW_ROWS = W < 16 ? 8 : 16;
constexpr int64_t NEAR_FLOATS = 128 << 10;  // of the rows of one operand, which others meet

#if defined(OPSCOPE_PAIRS)
// bf16 whose neighbouring terms are multiplied as pairs.
struct PairedBF16 : RoundedBF16 {};
template <>
struct Terms<PairedBF16> {
  static constexpr int AT_ONCE = 2 * W;
  static V load(const PairedBF16* p) { return _mm512_castsi512_ps(_mm512_loadu_si512(p)); }
  static V load(const PairedBF16* p, int n) { return _mm512_castsi512_ps(_mm512_maskz_loadu_epi16(static_cast<__mmask32>((uint64_t{1} << n) - 1), p)); }
  static V fma(V x, V y, V sum) { return Pairs::fma(x, y, sum); }
};
#endif

// Sums of `few` rows times the rows `r` of many; the terms of either lie next to one another. Some of many meet all of few while they are in the
// caches; of longer sums, some terms of them.
template <class T, class O, class Row>
void dot_products(const T* few_rows, int64_t few, const T* many_rows, int64_t k, Range r, O* out, Row row, int64_t column) {
  constexpr int64_t TOGETHER = DOT_COLUMNS * (DOT_COLUMNS - 1), TERMS = W < 16 ? 16384 : 1024;
  if (few <= DOT_ROWS || (few <= MOST_DOT_ROWS && (sizeof(T) == sizeof(float) || few * k <= NEAR_FLOATS))) return dots<MOST_DOT_ROWS>(few_rows, many_rows, few, k, k, r, out, row, column);
  const int64_t groups = (few + MOST_DOT_ROWS - 1) / MOST_DOT_ROWS, terms = few * k <= NEAR_FLOATS ? k : TERMS;
  for (int64_t j = r.begin; j < r.end; j += TOGETHER) {
    const int64_t columns = least(TOGETHER, r.end - j);
    const auto each_group = [=](int64_t l, int64_t kc, auto* to, auto to_row, int64_t to_column) {
      for (int64_t g = 0; g < groups; g++) {
        const Range q = {few * g / groups, few * (g + 1) / groups};
        dots<MOST_DOT_ROWS>(few_rows + q.begin * k + l, many_rows + j * k + l, q.end - q.begin, kc, k, {0, columns}, to + q.begin * to_row, to_row, to_column);
      }
    };
    if (terms == k) {
      each_group(0, k, out + j * column, row, column);
      continue;
    }
    alignas(64) float sums[2 * MOST_FEW_ROWS * TOGETHER] = {}, part[2 * MOST_FEW_ROWS * TOGETHER] = {};
    for (int64_t l = 0; l < k; l += terms) {
      each_group(l, least(terms, k - l), part, int64_t{TOGETHER}, 1);
      for (int64_t i = 0; i < few * TOGETHER; i++) sums[i] += part[i];
    }
    for (int64_t i = 0; i < few; i++)
      for (int64_t q = 0; q < columns; q++) set(out + i * row + (j + q) * column, sums[i * TOGETHER + q]);
  }
}

template <size_t BYTES>
struct Bits { using Type = uint32_t; };
template <>
struct Bits<2> { using Type = uint16_t; };

// The last `columns` of n columns and k rows as rows.
template <class T>
inline void turn_last(const T* b, int64_t k, int64_t n, int64_t columns, T* to) {
  const T* const last = b + n - columns;
  int64_t p = 0;
#if defined(OPSCOPE_ISA_avx512)
  // One column by itself, for vectors that follow it at once would wait for single elements.
  if constexpr (sizeof(T) == sizeof(float))
    if (columns == 1 && n < (1 << 24)) {
      for (; p + W <= k; p += W) vstore(to + p, vgather(last + p * n, n, W));
      if (p < k) vstore_n(to + p, vgather(last + p * n, n, static_cast<int>(k - p)), static_cast<int>(k - p));
      return;
    }
#endif
#if defined(OPSCOPE_TRANSPOSE_TILE)
  using Element = typename Bits<sizeof(T)>::Type;
  constexpr int64_t SIDE = TILE<Element>;
  // Tiles reach into the next row, but not behind the last.
  for (Element tile[SIDE * SIDE]; columns <= SIDE && (p + SIDE) * n + SIDE <= k * n; p += SIDE) {
    transpose_tile(reinterpret_cast<const Element*>(last + p * n), n, tile, SIDE);
    for (int64_t j = 0; j < columns; j++) __builtin_memcpy(to + j * k + p, tile + j * SIDE, SIDE * sizeof(T));
  }
#endif
  for (; p < k; p++)
    for (int64_t j = 0; j < columns; j++) to[j * k + p] = last[p * n + j];
}

}  // namespace
