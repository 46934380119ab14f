// Products of few terms and large results (AVX-512, f32): tiles of six rows and four vectors follow one another along the rows of results, which are then
// written in order, six rows at a time. Panels of the right operand, which would write them column by column, wait for each line.
#pragma once
#include "small_products.h"
#include "streamed_products.h"

namespace {

#if defined(OPSCOPE_SMALL_PRODUCTS)
constexpr int64_t ALONG_COLUMNS = 4 * W, ALONG_ROWS = SMALL_ROWS<4>;

// Results of up to VECTOR_TERMS terms, but those of up to PANEL_TERMS only where they are not streamed; larger ones of more terms; of so many rows that a
// thread's own panels are repaid.
inline bool by_tiles_along_rows(const Size& s, int threads) {
  constexpr int64_t LEAST_TERMS = 8, MOST_TERMS = 128, LEAST_ROWS = 96, LEAST_ROWS_OF_TURNED = 72, LEAST_ROWS_OF_MANY = 128, RESULTS = 1 << 16, RESULTS_OF_MANY = 3 << 18;
  constexpr int64_t MOST_TERMS_OF_TURNED = 48, MOST_COLUMNS_OF_TURNED = 128, RESULTS_OF_TURNED = 3 << 19;
  const int64_t rows = s.p.batch >= threads ? s.p.m : s.p.m / threads, results = times(s.p.batch, times(s.p.m, s.p.n));
  if (s.p.k < LEAST_TERMS || s.p.k > MOST_TERMS || s.p.n <= 2 * W || rows < (s.trans_b ? LEAST_ROWS_OF_TURNED : LEAST_ROWS)) return false;
  // Small ones of whole panels: their own loop writes rows of results in runs of tiles.
  if (s.p.k > VECTOR_TERMS && s.p.n % ALONG_COLUMNS == 0 && !s.trans_a && !s.trans_b && is_small(s.p, false, false)) return false;
  const bool streamed = by_streamed(s.p, sizeof(float), s.trans_a);
  // Of a left operand that is stored transposed, six rows are copied for each tile: beside panels that are streamed, or few of them.
  if (s.p.k > VECTOR_TERMS && s.trans_a) return streamed || (s.p.k <= MOST_TERMS_OF_TURNED && s.p.n <= MOST_COLUMNS_OF_TURNED && results >= RESULTS_OF_TURNED);
  if (s.p.k > VECTOR_TERMS) return rows >= LEAST_ROWS_OF_MANY && results >= RESULTS_OF_MANY;
  return results >= RESULTS && (s.p.k > PANEL_TERMS || !streamed);
}

// Floats of a thread: panels of as many columns of the right operand as stay in the second-level cache, and the rows of the left one that a tile meets.
struct AlongFloats {
  int64_t columns, slab, rows;
  explicit AlongFloats(const Products& p) : columns(up(even_part(p.n, NEAR / p.k), ALONG_COLUMNS)), slab((up(p.k, TURNED) + TURNED) * columns), rows(up(p.k * ALONG_ROWS, LINE)) {}
  int64_t all() const { return slab + rows; }

 private:
  static constexpr int64_t NEAR = 1 << 17, TURNED = 8;  // terms that are turned together
};
inline size_t along_rows_scratch(const Size& s, int threads) { return by_tiles_along_rows(s, threads) ? static_cast<size_t>(threads * AlongFloats(s.p).all()) : 0; }

// ROWS rows times a panel; `ahead`: results that the next tile writes.
template <int ROWS, int VECTORS>
OPSCOPE_APART void tile_along(const SmallLeft& a, const float* b, int64_t k, float* c, int64_t c_stride, VLanes last, const float* ahead) {
  const int64_t row = a.row, term = a.term, gap = k * NR;
  constexpr int POINTERS = (ROWS + SHARED_POINTER - 1) / SHARED_POINTER;
  const float* at[POINTERS];
#pragma GCC unroll 16
  for (int i = 0; i < POINTERS; i++) at[i] = a.data + i * SHARED_POINTER * row;
  V sum[ROWS][VECTORS], met[VECTORS];
  const auto load = [&] {
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) {
      const float* const at_v = b + v / NV * gap + v % NV * W;
      met[v] = v + 1 < VECTORS ? vload(at_v) : vload_masked(at_v, last);
    }
    b += NR;
  };
  const auto element = [&](int i) { return vset(at[i / SHARED_POINTER][i % SHARED_POINTER * row]); };
  const auto add = [&] {
#pragma GCC unroll 16
    for (int i = 0; i < POINTERS; i++) at[i] = as_computed(at[i] + term);
    load();
#pragma GCC unroll 16
    for (int i = 0; i < ROWS; i++) {
      const V x = element(i);
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; v++) sum[i][v] = vfma_in_place(x, met[v], sum[i][v]);
    }
  };
  load();
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; i++) {
    const V x = element(i);
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) sum[i][v] = vmul(x, met[v]);
  }
  int64_t p = 1;
  for (; p <= ROWS && p < k; p++, ahead += c_stride) {
    OPSCOPE_PREFETCH_ROW(ahead);
    if constexpr (VECTORS == 4) vprefetch(ahead);
    add();
  }
  for (; p < k; p++) add();
  store_sums(sum, c, c_stride, last);
}

template <int ROWS, int VECTORS>
inline void rows_along(int rows, const SmallLeft& a, const float* b, int64_t k, float* c, int64_t c_stride, VLanes last, const float* ahead) {
  if constexpr (ROWS > 1)
    if (rows < ROWS) return rows_along<ROWS - 1, VECTORS>(rows, a, b, k, c, c_stride, last, ahead);
  tile_along<ROWS, VECTORS>(a, b, k, c, c_stride, last, ahead);
}

// Columns of the right operand from `from` on, as panels of NR of them.
inline void pack_along(const float* from, int64_t stride, bool transposed, int64_t n, int64_t k, float* to) {
  for (int64_t j = 0; j < n; j += NR, to += k * NR) {
    const int64_t some = least(NR, n - j);
    if (transposed) {
      turn_small(from + j * stride, some, k, to, NR);
      continue;
    }
    for (int64_t p = 0; p < k; p++) map1<false>(from + p * stride + j, to + p * NR, 0, some, [](V v) { return v; });
  }
}

// left_of(product): its left operand; pack(product, from, columns, to): columns of the right one as panels; out_of(product): its results, rows c_stride apart.
template <class L, class P, class O>
OPSCOPE_INLINE void multiply_along_rows(const Call& c, const Products& p, bool trans_a, L left_of, P pack, O out_of, int64_t c_stride) {
  const AlongFloats floats(p);
  const int64_t m = p.m, n = p.n, k = p.k;
  float *const slab = c.scratch + c.thread * floats.all(), *const rows = slab + floats.slab;
  const bool by_product = p.batch >= c.threads;
  const Range products = by_product ? part(p.batch, 1, c.thread, c.threads) : Range{0, p.batch}, r = by_product ? Range{0, m} : part(m, 1, c.thread, c.threads);
  for (int64_t q = products.begin; q < products.end && r.end > r.begin; q++) {
    const float* const a = left_of(q);
    float* const out = out_of(q);
    for (int64_t from = 0; from < n; from += floats.columns) {
      const int64_t columns = least(floats.columns, n - from);
      pack(q, from, columns, slab);
      for (int64_t i = r.begin; i < r.end; i += ALONG_ROWS) {
        const int height = static_cast<int>(least(ALONG_ROWS, r.end - i));
        SmallLeft left{a + i * k, k, 1};
        if (trans_a) {
          const VHalfLanes lanes = vhalf_lanes(height);
          for (int64_t l = 0; l < k; l++) vcopy_half(a + l * m + i, rows + l * ALONG_ROWS, lanes);
          left = {rows, 1, ALONG_ROWS};
        }
        for (int64_t j = 0; j < columns; j += ALONG_COLUMNS) {
          const float* const panel = slab + j * k;
          float* const at = out + i * c_stride + from + j;
          const int64_t some = least(ALONG_COLUMNS, columns - j);
          const float* const ahead = j + ALONG_COLUMNS < columns ? at + ALONG_COLUMNS : at + ALONG_ROWS * c_stride - j;
          const VLanes last = vlanes_to(static_cast<int>((some - 1) % W + 1));
          if (some > 3 * W) rows_along<ALONG_ROWS, 4>(height, left, panel, k, at, c_stride, last, ahead);
          else if (some > 2 * W) rows_along<ALONG_ROWS, 3>(height, left, panel, k, at, c_stride, last, ahead);
          else if (some > W) rows_along<ALONG_ROWS, 2>(height, left, panel, k, at, c_stride, last, ahead);
          else rows_along<ALONG_ROWS, 1>(height, left, panel, k, at, c_stride, last, ahead);
        }
      }
    }
  }
}

OPSCOPE_APART void run_along_rows(const Call& c, const Size& s) {
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k;
  const float *const a = input(c, 0), *const b = input(c, 1);
  float* const out = output(c);
  multiply_along_rows(c, s.p, s.trans_a, [=](int64_t q) { return a + q * m * k; },
    [=, t = s.trans_b](int64_t q, int64_t from, int64_t columns, float* to) { pack_along(b + q * n * k + from * (t ? k : 1), t ? k : n, t, columns, k, to); }, [=](int64_t q) { return out + q * m * n; }, n);
}
#else
inline bool by_tiles_along_rows(const Size&, int) { return false; }
inline size_t along_rows_scratch(const Size&, int) { return 0; }
inline void run_along_rows(const Call&, const Size&) {}
#endif

}  // namespace
