// Products of long sums and few rows as dot products (AVX-512, f32): tiles of up to eight columns and three rows meet some terms at a time, both operands with
// their terms in rows. Panels of a right operand that is stored transposed take longer to pack than few rows take to meet them.
#pragma once
#include "small_products.h"
#include "vector_products.h"

namespace {

#if defined(OPSCOPE_SMALL_PRODUCTS)
#define OPSCOPE_DOT_BLOCKS 1

constexpr int DOT_BLOCK = 8;  // sums over the lanes that are made together
constexpr int64_t TERMS_OF_DOTS = 768;  // at a time, of which eight rows stay in the first-level cache

// out[q * row + r] = (`first`) or += the sum of k products of row r of b and row q of a.
template <int COLUMNS, int ROWS>
OPSCOPE_APART void dots_of_block(const float* b, int64_t b_stride, const float* a, int64_t a_stride, int64_t k, float* out, int64_t row, bool first) {
  constexpr int POINTERS = (COLUMNS + SHARED_POINTER - 1) / SHARED_POINTER;
  const float* at[POINTERS];
#pragma GCC unroll 8
  for (int i = 0; i < POINTERS; i++) at[i] = b + SHARED_POINTER * i * b_stride;
  V sum[ROWS][DOT_BLOCK];
#pragma GCC unroll 8
  for (int q = 0; q < ROWS; q++)
#pragma GCC unroll 8
    for (int r = 0; r < DOT_BLOCK; r++) sum[q][r] = vset(0);
  const auto add = [&](const auto& load) {
    V x[ROWS];
#pragma GCC unroll 8
    for (int q = 0; q < ROWS; q++) x[q] = in_register(load(a + q * a_stride));
#pragma GCC unroll 8
    for (int r = 0; r < COLUMNS; r++) {
      const V y = in_register(load(at[r / SHARED_POINTER] + r % SHARED_POINTER * b_stride));
#pragma GCC unroll 8
      for (int q = 0; q < ROWS; q++) sum[q][r] = vfma_in_place(y, x[q], sum[q][r]);
    }
  };
  int64_t p = 0;
  for (; p + W <= k; p += W) {
    add([](const float* from) { return vload(from); });
    a += W;
#pragma GCC unroll 8
    for (int i = 0; i < POINTERS; i++) at[i] = as_computed(at[i] + W);
  }
  if (p < k) add([lanes = vlanes_to(static_cast<int>(k - p))](const float* from) { return vload_masked(from, lanes); });
#pragma GCC unroll 8
  for (int q = 0; q < ROWS; q++) vadd_sums(out + q * row, sum[q], COLUMNS, first);
}

// Up to eight columns times any number of rows.
template <int COLUMNS>
inline void dots_block(int64_t columns, const float* b, int64_t b_stride, const float* a, int64_t a_stride, int64_t rows, int64_t k, float* out, int64_t row, bool first) {
  if constexpr (COLUMNS > 1)
    if (columns < COLUMNS) return dots_block<COLUMNS - 1>(columns, b, b_stride, a, a_stride, rows, k, out, row, first);
  constexpr int TOGETHER = COLUMNS > 6 ? 3 : COLUMNS > 4 ? 4 : 5;
  for (int64_t i = 0; i < rows; i += TOGETHER, a += TOGETHER * a_stride, out += TOGETHER * row) {
    const int64_t some = rows - i;
    if (some >= TOGETHER) dots_of_block<COLUMNS, TOGETHER>(b, b_stride, a, a_stride, k, out, row, first);
    else if (TOGETHER > 4 && some == 4) dots_of_block<COLUMNS, 4>(b, b_stride, a, a_stride, k, out, row, first);
    else if (TOGETHER > 3 && some == 3) dots_of_block<COLUMNS, 3>(b, b_stride, a, a_stride, k, out, row, first);
    else if (some == 2) dots_of_block<COLUMNS, 2>(b, b_stride, a, a_stride, k, out, row, first);
    else dots_of_block<COLUMNS, 1>(b, b_stride, a, a_stride, k, out, row, first);
  }
}

// Which products: of a right operand that is stored transposed by few rows, as many terms as repay the sums over the lanes. Rows of a left one that is stored
// transposed too are turned, some terms at a time; up to eight that stay in the first-level cache are turned whole, and up to eight as stored meet long sums
// as they lie (products_by_dots.h). And of a left operand whose rows are about a page apart, which tiles would copy, by few columns, which are turned.
inline bool by_dot_blocks(const Size& s) {
  constexpr int64_t MOST_ROWS = 64, FEW = 8, TERMS_OF_ROW = 8, TERMS = 32, TURNED_WHOLE = 1 << 15, LONG_SUMS = 200, COLUMNS_OF_FEW = 64, LEAST_COLUMNS = 16, PAGE = 1024, NEARLY = 2, MOST_COLUMNS = 64, ROWS_OF_COLUMN = 4;
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k;
  if (!s.trans_b) return !s.trans_a && n > W && n <= MOST_COLUMNS && m >= ROWS_OF_COLUMN * n && k >= PAGE - NEARLY && (k + NEARLY) % PAGE <= 2 * NEARLY;
  if (m < 2 || m > n || m > MOST_ROWS) return false;
  if (s.trans_a && m <= FEW) return times(m, k) >= TURNED_WHOLE;
  return k >= TERMS_OF_ROW * m + TERMS && (m > FEW ? n > LEAST_COLUMNS : k < LONG_SUMS && n > COLUMNS_OF_FEW);
}

// Floats of a thread: some terms of the operand that is turned.
struct DotFloats {
  int64_t terms, row, all;
  explicit DotFloats(const Size& s) : terms(even_part(s.p.k, TERMS_OF_DOTS)), row(block_stride(terms)), all(s.trans_a || !s.trans_b ? up(s.trans_a ? s.p.m : s.p.n, DOT_BLOCK) * row : 0) {}
};

// Threads share the columns, or (of few) the rows.
OPSCOPE_APART void run_dot_blocks(const Call& c, const Size& s) {
  constexpr int64_t ROWS_TOGETHER = 12;
  const DotFloats floats(s);
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k, many = s.trans_b ? n : m;
  const bool by_product = s.p.batch >= c.threads;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, r = by_product ? Range{0, many} : part(many, LINE, c.thread, c.threads);
  const Range rows = s.trans_b ? Range{0, m} : r, columns = s.trans_b ? r : Range{0, n};
  const int64_t height = s.trans_b ? m : ROWS_TOGETHER, width = columns.end - columns.begin, blocks = (width + DOT_BLOCK - 1) / DOT_BLOCK;
  float* const turned = c.scratch + c.thread * floats.all;
  for (int64_t i = products.begin; i < products.end; i++) {
    const float *const a = input(c, 0) + i * m * k, *const b = input(c, 1) + i * n * k;
    float* const out = output(c) + i * m * n;
    for (int64_t l = 0; l < k; l += floats.terms) {
      const int64_t kc = least(floats.terms, k - l), a_stride = s.trans_a ? floats.row : k, b_stride = s.trans_b ? k : floats.row;
      if (s.trans_a) turn_small(a + l * m, kc, m, turned, floats.row);
      if (!s.trans_b) turn_small(b + l * n, kc, n, turned, floats.row);
      const float *const left = s.trans_a ? turned : a + l, *const right = s.trans_b ? b + l : turned;
      for (int64_t row = rows.begin; row < rows.end; row += height)
        for (int64_t nth = 0; nth < blocks; nth++) {
          const int64_t j = columns.begin + width * nth / blocks, end = columns.begin + width * (nth + 1) / blocks;
          dots_block<DOT_BLOCK>(end - j, right + j * b_stride, b_stride, left + row * a_stride, a_stride, least(height, rows.end - row), kc, out + row * n + j, n, l == 0);
        }
    }
  }
}
#else
inline bool by_dot_blocks(const Size&) { return false; }
#endif

}  // namespace
