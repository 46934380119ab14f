// Small products, one by one (AVX-512, f32): tiles of one to four vectors read both operands as they lie, the last vector of columns by its lanes, and
// fetch what the next product meets. Blocks and panels (gemm.h) take longer to choose than such products to multiply.
#pragma once
#include "gemm.h"

namespace {

#if defined(OPSCOPE_ISA_avx512)
#define OPSCOPE_SMALL_PRODUCTS 1

// Whether both operands, and the columns that a tile meets, stay in the first two caches; those of a right operand that is turned lie together, which helps
// where dot products make its last columns (products_by_dots.h). Panels of few terms in registers (tile.h) write larger results faster, but of a few long
// rows that meet in the same sets of a cache, or where the left operand is stored transposed. Groups of its rows (operand.h) repay their copy where they
// meet many columns; fewer than that meet more of it as it lies. A few rows of a few terms that are stored transposed are met as they lie too, however many
// columns there are.
inline bool is_small(const Products& p, bool trans_a, bool trans_b) {
  constexpr int64_t LEAST_LYING_ROWS = 7, MOST_LYING_ROWS = 52, LEAST_LYING_TERMS = 9, MOST_LYING_TERMS = 64;
  if (trans_a && !trans_b && p.m >= LEAST_LYING_ROWS && p.m <= MOST_LYING_ROWS && p.k >= LEAST_LYING_TERMS && p.k <= MOST_LYING_TERMS && p.n > 4 * W) return true;
  constexpr int64_t MOST_FLOATS = 1 << 15, FLOATS_OF_LEFT = 1 << 18, FAR_FLOATS_OF_LEFT = 1 << 22, TERMS = 128, TERMS_OF_LEFT = 512, RESULTS_OF_TERMS = 64, TERMS_OF_TURNED = 8, COLUMNS_OF_GROUPS = 128;
  constexpr int64_t LEAST_LOW = 9, MOST_LOW = 14, TERMS_OF_LOW = 16, FLOATS_OF_LOW = 1 << 20, LONG_ROW = 2048, PAGE = 1024, NEARLY = 2;  // few long rows, about a multiple of a page apart
  const bool low = !trans_b && p.k <= TERMS_OF_LOW && p.m >= LEAST_LOW && p.m <= MOST_LOW && p.n >= LONG_ROW && (p.n + NEARLY) % PAGE <= 2 * NEARLY;
  if (p.k <= VECTOR_TERMS && p.m * p.n > RESULTS_OF_TERMS * p.k * p.k && !low && !(trans_a && p.k >= TERMS_OF_TURNED)) return false;
  const bool narrow = p.n <= 4 * W, left_lies = trans_a && narrow && (!trans_b || p.m >= 4 * p.n), last_apart = p.n % W > 0 && p.n % W <= W / 2;
  const bool near = p.k <= TERMS || p.n % (4 * W) == 0 || (trans_b && narrow && last_apart) || (left_lies && p.k <= TERMS_OF_LEFT);
  return times(p.m, p.k) <= (left_lies ? (p.k <= VECTOR_TERMS ? FAR_FLOATS_OF_LEFT : FLOATS_OF_LEFT) : MOST_FLOATS) && times(p.n, p.k) <= (low ? FLOATS_OF_LOW : MOST_FLOATS) && near && (low || !(trans_a && p.n > COLUMNS_OF_GROUPS));
}

// Element (i, p) of the left operand lies at data[i * row + p * term].
struct SmallLeft {
  const float* data;
  int64_t row, term;
  SmallLeft from(int64_t i) const { return {data + i * row, row, term}; }
};
// Columns of the right operand and of the results; last: lanes of the last vector.
struct SmallColumns {
  const float* b;
  int64_t b_stride;
  float* c;
  int64_t c_stride;
  VLanes last;
};
// What is fetched with each term.
struct SmallAhead {
  const float* at;
  int64_t step;
};

template <int VECTORS>
constexpr int SMALL_ROWS = VECTORS == 4 ? 6 : VECTORS == 3 ? 8 : VECTORS == 2 ? 14 : 16;

// The sums of a tile to rows of results; last: lanes of the last vector.
template <int ROWS, int VECTORS>
OPSCOPE_INLINE void store_sums(const V (&sum)[ROWS][VECTORS], float* c, int64_t c_stride, VLanes last) {
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; i++, c = as_computed(c + c_stride))
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
      if (v + 1 < VECTORS) vstore(c + v * W, sum[i][v]);
      else vstore_masked(c + v * W, sum[i][v], last);
    }
}

template <int ROWS, int VECTORS>
OPSCOPE_APART void small_tile(const SmallLeft& a, const SmallColumns& columns, float* c, int64_t k, SmallAhead ahead) {
  constexpr int POINTERS = (ROWS + SHARED_POINTER - 1) / SHARED_POINTER;
  const int64_t row = a.row, term = a.term, b_stride = columns.b_stride, c_stride = columns.c_stride;
  const VLanes last = columns.last;
  const float* b = columns.b;
  const float* at[POINTERS];
#pragma GCC unroll 16
  for (int r = 0; r < POINTERS; r++) at[r] = a.data + r * SHARED_POINTER * row;
  V sum[ROWS][VECTORS];
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; i++) {
    OPSCOPE_PREFETCH_ROW(c + i * c_stride);
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) sum[i][v] = vset(0);
  }
  for (int64_t p = 0; p < k; p++) {
    V met[VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) met[v] = v + 1 < VECTORS ? vload(b + v * W) : vload_masked(b + v * W, last);
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) {
      const V x = vset(at[i / SHARED_POINTER][i % SHARED_POINTER * row]);
      // One vector alone meets each element: its instruction loads that.
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; v++) sum[i][v] = VECTORS == 1 ? vfma(x, met[v], sum[i][v]) : vfma_in_place(x, met[v], sum[i][v]);
    }
    vprefetch(ahead.at);
    ahead.at += ahead.step;
    b += b_stride;
#pragma GCC unroll 16
    for (int r = 0; r < POINTERS; r++) at[r] = as_computed(at[r] + term);
  }
  store_sums(sum, c, c_stride, last);
}

template <int ROWS, int VECTORS>
inline void small_rows(int rows, const SmallLeft& a, const SmallColumns& columns, float* c, int64_t k, const SmallAhead& ahead) {
  if constexpr (ROWS > 1)
    if (rows < ROWS) return small_rows<ROWS - 1, VECTORS>(rows, a, columns, c, k, ahead);
  small_tile<ROWS, VECTORS>(a, columns, c, k, ahead);
}

// All rows meet VECTORS vectors of columns; `fetched` floats from `ahead` on are fetched meanwhile.
template <int VECTORS>
inline void small_panel(int64_t m, const SmallLeft& a, const SmallColumns& columns, int64_t k, const float* ahead, int64_t fetched) {
  constexpr int64_t ROWS = SMALL_ROWS<VECTORS>;
  const int64_t tiles = (m + ROWS - 1) / ROWS, step = least((fetched + tiles * k - 1) / (tiles * k), LINE);
#if defined(OPSCOPE_LOWER_TURNS)
  if constexpr (VECTORS == 4)
    if (const int64_t height = m / tiles; a.term == 1 && k >= TURN_TERMS && height >= LOWER - 1 && columns.last == vlanes_to(W)) {
      const int64_t six = height == LOWER ? tiles : m % tiles, behind = six * LOWER, stride = columns.c_stride;
      const Right b{columns.b, columns.b_stride};
      if (six > 0) tiles_of_turns<LOWER, Turning::rows_before_next>(a.data, a.row, b, k, columns.c, stride, true, six, Ahead<float>{ahead, 0, columns.c + (six < tiles ? behind * stride : 0)});
      if (six < tiles) tiles_of_turns<LOWER - 1, Turning::rows_before_next>(a.data + behind * a.row, a.row, b, k, columns.c + behind * stride, stride, true, tiles - six, Ahead<float>{ahead + behind * k, 0, columns.c});
      return;
    }
#endif
  for (int64_t t = 0, i = 0; t < tiles; t++, ahead += k * step) {
    const int64_t end = tile_begin(m, tiles, t + 1);
    small_rows<static_cast<int>(ROWS), VECTORS>(static_cast<int>(end - i), a.from(i), columns, columns.c + i * columns.c_stride, k, SmallAhead{ahead, step});
    i = end;
  }
}

// Meanwhile `of_next` floats of the next right operand are fetched, and the next left one.
inline void small_product(int64_t m, int64_t n, int64_t k, const SmallLeft& a, SmallColumns columns, const float* next, int64_t of_next) {
  constexpr int64_t MOST_VECTORS = 4;
  int64_t vectors = (n + W - 1) / W;
  const VLanes last = vlanes_to(static_cast<int>(n - (vectors - 1) * W));
  columns.last = vlanes_to(W);
  // The left one with the first panel, the right one with the last, both with one panel alone.
  const int64_t panels = (vectors + MOST_VECTORS - 1) / MOST_VECTORS, of_left = m * k;
  for (int64_t left = panels; left > 0; left--) {
    const int64_t some = (vectors + left - 1) / left;
    vectors -= some;
    if (left == 1) columns.last = last;
    const float* const ahead = left == 1 && panels > 1 ? next : a.data + of_left;
    const int64_t fetched = panels == 1 ? of_left + of_next : left == panels ? of_left : left == 1 ? of_next : 0;
    if (some == 4) small_panel<4>(m, a, columns, k, ahead, fetched);
    else if (some == 3) small_panel<3>(m, a, columns, k, ahead, fetched);
    else if (some == 2) small_panel<2>(m, a, columns, k, ahead, fetched);
    else small_panel<1>(m, a, columns, k, ahead, fetched);
    columns.b += some * W;
    columns.c += some * W;
  }
}

// Lanes of half a row of a tile of 8 x 8 of which n elements are there, and those, zero in the other lanes.
inline __mmask8 some_of_four(int64_t n) { return static_cast<__mmask8>(n >= 4 ? 0xf : n <= 0 ? 0 : (1 << n) - 1); }
inline __m128 some_floats(const float* p, __mmask8 lanes) { return _mm_maskz_loadu_ps(lanes, p); }
inline __m128 some_floats(const F16* p, __mmask8 lanes) { return _mm_cvtph_ps(_mm_maskz_loadu_epi16(lanes, p)); }

// Up to eight rows of up to eight elements, `stride` apart, as columns, zero behind the elements; columns behind those of the rows are that of the last row.
template <class T>
OPSCOPE_APART void turn_edge(const T* from, int64_t stride, int64_t rows, int64_t k, uint32_t* to, int64_t to_stride) {
  const __mmask8 lanes[2] = {some_of_four(k), some_of_four(k - 4)};
  transpose_rows([=](int row, int half) { return some_floats(from + least(row, rows - 1) * stride + 4 * half, lanes[half]); }, to, to_stride);
}
template <class T>
OPSCOPE_INLINE void turn_tile(const T* from, int64_t stride, int64_t rows, int64_t k, float* to, int64_t to_stride) {
  constexpr int64_t SIDE = 8;
  uint32_t* const there = reinterpret_cast<uint32_t*>(to);
  if (rows >= SIDE && k >= SIDE) transpose_rows([=](int row, int half) { return four_floats(from + row * stride + 4 * half); }, there, to_stride);
  else turn_edge(from, stride, rows, k, there, to_stride);
}

// Rows of turned columns a multiple of a KiB apart meet in few sets of the first-level cache, where there are many.
inline int64_t apart(int64_t stride, int64_t rows) {
  constexpr int64_t KIB = 256, MANY = 48 * KIB;  // floats
  return stride % KIB == 0 && rows * stride >= MANY ? stride + LINE : stride;
}

// n rows of k elements as columns, rows of those `stride` apart, up to a multiple of eight rows and columns.
OPSCOPE_APART void turn_small(const float* rows, int64_t n, int64_t k, float* to, int64_t stride) {
  constexpr int64_t SIDE = 8;
  for (int64_t q = 0; q < n; q += SIDE)
    for (int64_t p = 0; p < k; p += SIDE) turn_tile(rows + q * k + p, k, n - q, k - p, to + p * stride + q, stride);
}

// The same as a panel (RightMatrix::pack) of `columns` rows of k elements of f16, `stride` apart; terms behind the last whole tile through a buffer. Elements
// widened one by one take longer than a tile from LEAST_TURNED on, floats do not.
constexpr int64_t LEAST_TURNED = 2;
OPSCOPE_APART void turn_panel(const F16* from, int64_t stride, int64_t columns, int64_t k, float* to) {
  constexpr int64_t SIDE = 8;
  const int64_t whole = k / SIDE * SIDE;
  for (int64_t i = 0; columns <= NR - SIDE && i < whole * NR; i += W) vstore(to + i, vset(0));
  for (int64_t q = 0; q < columns; q += SIDE)
    for (int64_t p = 0; p < whole; p += SIDE) turn_tile(from + q * stride + p, stride, columns - q, SIDE, to + p * NR + q, NR);
  alignas(64) float rest[SIDE * NR] = {};
  for (int64_t q = 0; q < columns; q += SIDE) turn_tile(from + q * stride + whole, stride, columns - q, k - whole, rest + q, NR);
  for (int64_t i = 0; i < (k - whole) * NR; i += W) vstore(to + whole * NR + i, vload(rest + i));
}
#endif

}  // namespace
