// Which products are made as dot products (dot_products.h), whole or their last columns, and those.
#pragma once
#include "dot_products.h"
#include "interleaved.h"
#include "vector_products.h"

namespace {

// Whether one operand has few rows, and the terms of both lie next to one another. Of up to DOT_ROWS rows always; of more, where sums over the
// lanes take little beside the terms, and (`more`) where no tiles of bf16 do better and each element is widened at once.
template <class T>
constexpr bool WIDENED_AT_ONCE = true;
template <>
constexpr bool WIDENED_AT_ONCE<F16> = W >= 8;
// Whether dot products of a matrix of rows take less than its tiles, which leave the last vector of columns partly empty and meet a copy: in hundredths
// of a vector's multiplication. Of a dot product 115, and 300 for the sum over its lanes; 20 to copy an element (AVX-512).
inline bool dots_repay(const Products& p) {
  return p.m * p.n * (115 * p.k / W + 300) < 100 * p.m * ((p.n + W - 1) / W) * p.k + 20 * p.n * p.k;
}
inline bool by_dots(const Size& s, size_t element_bytes, bool more, bool a_is_turned = false) {
  constexpr int64_t MANY_TERMS = W < 16 ? 400 : 200, MANY_COLUMNS = 256;
  const int64_t few = least(s.p.m, s.p.n), many = s.p.m > s.p.n ? s.p.m : s.p.n, k = s.p.k;
  const bool is_float = element_bytes == sizeof(float);
  if (s.trans_a != a_is_turned || !s.trans_b || (k == 1 && s.p.n > s.p.m)) return false;
  // Tiles of a few terms are better for rows that few columns meet.
  constexpr int64_t TERMS_OF_TILES = 12, MANY_ROWS = 32;
  if (few <= DOT_ROWS) return W < 16 || s.p.m < MANY_ROWS || s.p.m <= s.p.n || k >= TERMS_OF_TILES;
  if (W == 16 && is_float && few <= 2 * MOST_FEW_ROWS && many <= 4 * W && dots_repay(s.p)) return true;
  if (!more || few > MOST_FEW_ROWS) return false;
  constexpr int64_t COLUMNS_OF_LONG_SUMS = W < 16 ? MOST_FEW_ROWS : 512;
  const bool all_few = many <= MOST_FEW_ROWS;
  if (is_float && many > COLUMNS_OF_LONG_SUMS && few * k > NEAR_FLOATS) return false;
  // Copies that one or two tiles meet are not repaid (AVX-512).
  constexpr int64_t FEW_TERMS = 40, FEW_COLUMNS = 64;
  const bool few_columns = s.p.m <= s.p.n && s.p.n <= FEW_COLUMNS;
  if (W == 16 && is_float && k >= FEW_TERMS && ((all_few && s.p.n > W / 2 && k >= 7 * few) || (few_columns && k >= 13 * few))) return true;
  // Columns that meet rows twice repay copies sooner.
  const bool repaid = few > MOST_DOT_ROWS && many > MANY_COLUMNS;
  return k >= (repaid ? (is_float ? 2 : 4) * MANY_TERMS : MANY_TERMS);
}

// Whether the left operand, stored transposed, has so few rows that dot products repay turning it.
inline bool by_turned_dots(const Size& s, size_t element_bytes, bool more) {
  const int64_t least_terms = element_bytes == sizeof(float) ? 40 : 192;
  return s.trans_a && s.trans_b && s.p.m <= MOST_DOT_ROWS && s.p.m <= s.p.n && s.p.k >= least_terms && by_dots(s, element_bytes, more, true);
}

// The last `columns` columns of a matrix of k rows and n columns as rows.
template <class T>
inline void turn_columns(const T* b, int64_t k, int64_t n, int64_t columns, T* to) {
#if defined(OPSCOPE_INTERLEAVED)
  if constexpr (sizeof(T) == sizeof(float))
    if (columns == n && n <= MOST_INTERLEAVED) return turn_rows(b, n, k, to, k);
#endif
  turn_last(b, k, n, columns, to);
}

// turned: place for the rows of a left operand that is stored transposed, of this thread.
template <class T>
OPSCOPE_APART void run_dots(const Call& c, const Size& s, float* turned) {
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k;
  const bool by_product = s.p.batch >= c.threads;
  const int64_t many = m > n ? m : n;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, r = by_product ? Range{0, many} : part(many, LINE, c.thread, c.threads);
  for (int64_t i = products.begin; i < products.end; i++) {
    const T *a = input<T>(c, 0) + i * m * k, *b = input<T>(c, 1) + i * n * k;
    T* const out = output<T>(c) + i * m * n;
    if (s.trans_a) {
      T* const rows = reinterpret_cast<T*>(turned);
      turn_columns(a, k, m, m, rows);
      a = rows;
    }
    if (m < n) dot_products(a, m, b, k, r, out, n, 1);
    else dot_products(b, n, a, k, r, out, One{}, n);
  }
}

// Columns behind the last whole vector, where a vector of them would be mostly empty: by dot products, which fill vectors with terms. A last
// vector of tiles takes as long as W columns of dot products, whose sums over the lanes take as long as so many terms.
constexpr int64_t TERMS_OF_SUM = W < 16 ? 10 : 3, LEAST_TERMS = 24, LEAST_SHARE = 20;
// Whether tiles of these rows take longer than turning the columns. Without other columns the tiles of a few rows wait for their multiplications,
// as long as those of WAITING rows take, and turning takes as long as TURNING columns of dot products (AVX-512).
inline bool rows_repay_turning(int64_t rows, int64_t columns, bool alone) {
  constexpr int64_t WAITING = 4, TURNING = 44;
  if (!alone || W < 16) return rows >= columns + W / 2;
  return (rows > WAITING ? rows : WAITING) * W >= TURNING + rows * columns;
}
inline int64_t columns_by_dots(const Size& s, size_t element_bytes) {
  const int64_t rest = s.p.n % W;
  if (W < 8 || s.trans_a || rest == 0 || rest > W / 2) return 0;
  if (element_bytes < sizeof(float) && (rest != s.p.n || s.trans_b || s.p.k < 4 * LEAST_TERMS)) return 0;  // of 16-bit ones all, or none
  if (W < 16 && (s.p.n - rest) % NR != 0) return 0;  // tiles of one vector would wait for their multiplications
  const bool pays = s.p.k >= LEAST_TERMS && s.p.k * (W - rest) > TERMS_OF_SUM * W * rest && rows_repay_turning(s.p.m, rest, rest == s.p.n) && (W - rest) * LEAST_SHARE >= s.p.n;
  return pays ? rest : 0;
}
inline int64_t turned_floats(const Size& s, int64_t columns) { return columns * up(s.p.k, LINE); }

// The last `columns` columns of product i, of the rows r. turned: place for them as rows, of this thread.
template <class T>
OPSCOPE_APART void multiply_last_columns(const Call& c, const Size& s, int64_t i, Range r, int64_t columns, float* turned) {
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k;
  T* const to = reinterpret_cast<T*>(turned);
  const T* const b = input<T>(c, 1) + i * n * k;
  if (!s.trans_b) turn_columns(b, k, n, columns, to);
  dot_products(s.trans_b ? b + (n - columns) * k : to, columns, input<T>(c, 0) + i * m * k, k, r, output<T>(c) + i * m * n + n - columns, One{}, n);
}

}  // namespace
