// C = A B for [batch, m, n, k], either operand stored transposed. dims: [batch, m, n, k, transA, transB].
// A row or a column by itself (m or n of 1) is read once, as it lies; all else goes through simd/gemm.h.
#include "simd/bf16_operands.h"
#include "simd/dot_blocks.h"
#include "simd/few_terms.h"
#include "simd/narrow_tiles.h"
#include "simd/narrow_products.h"
#include "simd/products_by_dots.h"
#include "simd/products_by_few_rows.h"
#include "simd/rows_in_order.h"
#include "simd/small_products.h"
#include "simd/streamed_products.h"
#include "simd/tiles_along_rows.h"
#include "simd/vector_products.h"

namespace {

inline bool by_rows(const Size& s) { return (!s.trans_b || s.p.k == 1) && by_rows_of_results(s.p); }
// Results beyond the caches, unless rows that start lines are written one by one, which is as fast.
inline bool streams(const Size& s, size_t element_bytes) { return by_streamed(s.p, element_bytes, s.trans_a) && !(by_rows(s) && rows_start_lines(s.p.n)); }

// Whether the product of two operands that are both stored transposed takes longer than that of what is stored, whose results are turned: in
// hundredths of a vector's multiplications, of which turning an operand takes 30 for each element of a column, and a result 250.
inline bool repays_turning(const Products& p) {
  const auto vectors = [](int64_t columns) { return (columns + W - 1) / W; };
  return p.k * (100 * p.m * vectors(p.n) + 30 * (p.m + p.n)) >= 100 * p.k * p.n * vectors(p.m) + 250 * p.m * p.n;
}

// Where the left operand is stored transposed, the product of what is stored may be better: that of the operands, transposed. Both stored so: where
// terms are many, or where the rows fill vectors that the columns leave partly empty (AVX-512). The left one alone: its columns fill vectors, which
// those of a narrow result do not.
inline bool other_way(const Size& s, size_t element_bytes) {
  constexpr int64_t NARROW = W * 3 / 4;
  if (!s.trans_a) return false;
#if defined(OPSCOPE_SMALL_PRODUCTS)
  // Far more rows than columns: these are turned instead.
  if (s.trans_b && element_bytes == sizeof(float) && s.p.m >= 4 * s.p.n && is_small(s.p, true, true)) return false;
#endif
  if (s.trans_b) return (s.p.n <= 96 || s.p.m < W) && ((s.p.k >= 256 && s.p.n <= 96) || (W == 16 && element_bytes == sizeof(float) && s.p.k >= 64 && repays_turning(s.p)));
  // 16-bit operands are widened and packed first.
  const bool lies = element_bytes == sizeof(float);
  return s.p.n <= NARROW && s.p.m >= (lies ? 2 * s.p.n : 2 * W) && s.p.k >= (lies ? 64 : 128);
}
inline Products turned(const Products& p) { return {p.batch, p.n, p.m, p.k}; }

// The right operand of a product.
template <class T>
struct RightOfProduct : RightMatrix<T> {
#if defined(OPSCOPE_SMALL_PRODUCTS)
  void pack(int64_t j, int columns, int64_t l, int64_t kc, float* to) const {
    // Rows of all their few terms, which follow one another.
    if constexpr (sizeof(T) == sizeof(float))
      if (this->transposed && kc == this->stride && kc > 1 && kc < MOST_INTERLEAVED && columns == NR) return turn_rows(this->b + j * kc, kc, NR, to, NR);
    if constexpr (__is_same(T, F16))
      if (this->transposed && kc % 8 >= LEAST_TURNED) return turn_panel(this->b + j * this->stride + l, this->stride, columns, kc, to);
    RightMatrix<T>::pack(j, columns, l, kc, to);
  }
#endif
};

// The operands as floats; as pairs of bf16 and as tiles of such pairs: simd/bf16_operands.h.
template <class T>
struct Widened {
  using State = NoState;
  using Term = T;  // of dot products
  static constexpr bool TILES = false, PAIRS = false;
  static Products products(const Products& p) { return p; }
  static T* output(T* out) { return out; }
  static LeftMatrix<T> left(const T* a, int64_t stride, bool transposed, int64_t) { return {a, stride, transposed}; }
  static RightOfProduct<T> right(const T* b, int64_t stride, bool transposed, int64_t terms) { return {{b, stride, transposed, terms}}; }
};
#if defined(OPSCOPE_PAIRS)
// The same, rounded by the processor.
struct WidenedRounded : Widened<BF16> {
  static RoundedBF16* output(BF16* out) { return rounded(out); }
};
#endif

#if defined(OPSCOPE_TILES)
// Setting up tiles takes as long as this many products of two elements: 0.1 us.
inline bool few_for_tiles(const Products& p) { return times(times(p.batch, p.m), times(p.n, p.k)) < 16384; }
// Few terms leave most of a tile empty: panels of floats that stay in registers take less time, for these processors multiply pairs more slowly than floats.
inline bool few_terms_for_tiles(const Size& s) {
  constexpr int64_t MOST_COLUMNS = 128;
  return s.p.k <= PANEL_TERMS && s.p.m > 1 && s.p.n > 1 && s.p.n <= MOST_COLUMNS && !s.trans_a;
}
#endif

// Where the last-level cache is far (AVX-512, f32): rows of the right operand a multiple of 8 KiB apart, which take each other's places in the second-level
// cache, are met in short slabs by few rows of the left one, else in slabs that the cache holds.
inline int64_t far_terms(const Size& s) {
  constexpr int64_t APART = 2048, MANY_ROWS = 6 * MR, FEW_TILES = 2 * MR, TERMS = 96, TERMS_OF_FEW = 32;
  return s.trans_b || s.p.n % APART != 0 || s.p.m < 8 || s.p.m > MANY_ROWS || s.p.k < 2 * TERMS ? KC : s.p.m <= FEW_TILES ? TERMS_OF_FEW : TERMS;
}
// And rows of the left operand a page apart that few columns meet are read as they lie: so many of them do not take each other's places in the
// first-level cache.
constexpr int64_t ROWS_A_PAGE_APART = 10;
struct LeftAPageApart : LeftMatrix<float> {
  int64_t block_rows(int64_t) const { return ROWS_A_PAGE_APART; }
  Left block(int64_t i, int64_t, int64_t l, int64_t, float*) const { return {a + i * stride + l, stride, false, true}; }
};
constexpr int64_t TERMS_A_PAGE_APART = 1024;
inline bool by_rows_a_page_apart(const Size& s, size_t element_bytes) {
  constexpr int64_t MANY_ROWS = 512, PAGE = 1024;
  return W == 16 && element_bytes == sizeof(float) && !s.trans_a && !s.trans_b && s.p.k % PAGE == 0 && s.p.n > W / 2 && s.p.n <= W && s.p.m >= MANY_ROWS;
}

// Of what goes through tiles.
inline size_t products_scratch(const Size& size, size_t bytes, int threads) {
  const bool rounded = bytes < sizeof(float) || other_way(size, bytes);
  const Products s = other_way(size, bytes) ? turned(size.p) : size.p;
  const auto larger = [](size_t a, size_t b) { return a > b ? a : b; };
  // Any of them may be cut into the longest parts.
  size_t floats = larger(s.scratch(threads, rounded), Products{s.batch, s.m, s.n, (s.k + 1) / 2}.scratch(threads, rounded));
  if (by_rows_a_page_apart(size, bytes)) floats = larger(floats, Products{s.batch, s.m, s.n, s.k, TERMS_A_PAGE_APART}.scratch(threads, rounded));
#if defined(OPSCOPE_TILES)
  if (bytes == sizeof(BF16)) floats = larger(floats, in_tiles(s).scratch(threads, rounded));
#endif
  return floats;
}

template <class T>
OPSCOPE_APART void run_narrow(const Call& c, const Size& s) {
  const NarrowProduct p = narrow(s);
  const bool by_product = s.p.batch >= c.threads;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, r = by_product ? Range{0, p.rows} : part(p.rows, AT_ONCE, c.thread, c.threads);
  for (int64_t i = products.begin; i < products.end; i++) {
    const T *a = input<T>(c, 0) + i * s.p.m * s.p.k, *b = input<T>(c, 1) + i * s.p.n * s.p.k;
    narrow_product(p, p.turned ? b : a, p.turned ? a : b, r, output<T>(c) + i * s.p.m * s.p.n);
  }
}

template <class T>
OPSCOPE_APART void run_rows(const Call& c, const Size& s) {
  const int64_t all = s.p.m * s.p.k, next_row = s.trans_a ? 1 : s.p.k, next_term = s.trans_a ? s.p.m : 1;
  const T* const a = input<T>(c, 0);
  run_few_terms(c, s.p, [=](int64_t i, int64_t row, int64_t p) { return a[i * all + row * next_row + p * next_term]; }, input<T>(c, 1), output<T>(c));
}

#if defined(OPSCOPE_INTERLEAVED)
// The same where the right operand is stored transposed: each thread turns it.
inline int64_t turned_right_floats(const Products& p) { return by_rows_beside_far_cache(p) ? up(p.n * p.k, LINE) : 0; }
OPSCOPE_APART void run_turned_rows(const Call& c, const Size& s) {
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k, next_row = s.trans_a ? 1 : k, next_term = s.trans_a ? m : 1;
  float* const turned = c.scratch + c.thread * turned_right_floats(s.p);
  for (int64_t i = 0; i < s.p.batch; i++) {
    const float* const a = input(c, 0) + i * m * k;
    turn_rows(input(c, 1) + i * n * k, k, n, turned, n);
    run_few_terms(c, Products{1, m, n, k}, [=](int64_t, int64_t row, int64_t p) { return a[row * next_row + p * next_term]; }, static_cast<const float*>(turned), output(c) + i * m * n);
  }
}
#else
inline int64_t turned_right_floats(const Products&) { return 0; }
#endif

// A vector of each product times a number.
template <class T>
OPSCOPE_APART void run_multiples(const Call& c, const Size& s) {
  const bool row = s.p.m == 1;
  const T* const factors = input<T>(c, row ? 0 : 1);
  run_few_terms(c, Products{s.p.batch, 1, row ? s.p.n : s.p.m, 1}, [=](int64_t i, int64_t, int64_t) { return factors[i]; }, input<T>(c, row ? 1 : 0), output<T>(c));
}

// The product of what is stored, of two operands whose results are turned.
template <class T, class Operands>
OPSCOPE_APART void run_turned(const Call& c, const Size& s) {
  [[maybe_unused]] const typename Operands::State state{};
  const int64_t rows = s.p.m, cols = s.p.n, inner = s.p.k;
  const T *a = input<T>(c, 0), *b = input<T>(c, 1);
  T* const out = output<T>(c);
  run_products(c, Operands::products(turned(s.p)), true, [=](int64_t i, float* sums, const auto& multiply_by) {
    T* const to = out + i * rows * cols;
    const auto finished = [=](int64_t column, int64_t row, const float* from, int64_t n) {
      for (int64_t q = 0; q < n; q++) set(to + (row + q) * cols + column, from[q]);
    };
    multiply_by(Operands::left(b + i * inner * cols, s.trans_b ? inner : cols, !s.trans_b, inner), Operands::right(a + i * rows * inner, rows, false, inner), Finished<decltype(finished)>{{sums}, finished});
  });
}

template <class T, class Operands>
OPSCOPE_APART void run_tiles(const Call& c, const Size& s) {
  [[maybe_unused]] const typename Operands::State state{};
  const int64_t rows = s.p.m, cols = s.p.n, inner = s.p.k;
  const T *a = input<T>(c, 0), *b = input<T>(c, 1);
  T* const out = output<T>(c);
  Products tiled = s.p;
  if (const int64_t last = last_few_columns(s, sizeof(T)); last > 0) {
    run_few_rows(c, s, last);
    tiled.n -= last;
  }
  const int64_t last = Operands::TILES ? 0 : columns_by_dots(s, sizeof(T));
  float* const turned = c.scratch + products_scratch(s, sizeof(T), c.threads) + c.thread * turned_floats(s, last);
  const bool alone = s.p.batch >= c.threads;  // one thread computes a product
  tiled.n -= last;
  if (last > 0 && (!alone || tiled.n == 0)) {
    const Range products = alone ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, r = alone ? Range{0, rows} : part(rows, LINE, c.thread, c.threads);
    for (int64_t i = products.begin; i < products.end; i++) multiply_last_columns<typename Operands::Term>(c, s, i, r, last, turned);
    if (tiled.n == 0) return;
  }
  if constexpr (W == 16 && sizeof(T) == sizeof(float))
    if (c.distant_cache) {
      tiled.most_terms = far_terms(s);
      if (by_rows_a_page_apart(s, sizeof(T))) {
        tiled.most_terms = TERMS_A_PAGE_APART;
        run_products(c, tiled, false, [=](int64_t i, float*, const auto& multiply_by) {
          multiply_by(LeftAPageApart{{a + i * rows * inner, inner, false}}, Operands::right(b + i * inner * cols, cols, false, inner), Direct{out + i * rows * cols, cols});
        });
        return;
      }
    }
#if defined(OPSCOPE_SMALL_PRODUCTS)
  if constexpr (sizeof(T) == sizeof(float))
    if (alone && is_small(s.p, s.trans_a, s.trans_b)) {
      const int64_t stride = s.trans_b ? apart(up(tiled.n, W), inner) : cols;
      float* const turned_right = c.scratch + c.thread * (tiled.b_floats() + tiled.a_floats());
      each_range_in(c, parts_of_work(c, s.p.multiplications()), s.p.batch, 1, [&](Range r) {
        for (int64_t i = r.begin; i < r.end; i++) {
          const float* const right = b + i * inner * cols;
          if (s.trans_b) turn_small(right, tiled.n, inner, turned_right, stride);
          small_product(rows, tiled.n, inner, SmallLeft{a + i * rows * inner, s.trans_a ? 1 : inner, s.trans_a ? rows : 1}, SmallColumns{s.trans_b ? turned_right : right, stride, out + i * rows * cols, cols, {}}, right + inner * cols, inner * cols);
          if (last > 0) multiply_last_columns<typename Operands::Term>(c, s, i, {0, rows}, last, turned);
        }
      });
      return;
    }
#endif
  const Products products = Operands::products(tiled);
  run_products(c, products, sizeof(T) < sizeof(float), [=](int64_t i, float* sums, const auto& multiply_by) {
    const auto into = [&](const auto& left, const auto& right) {
      auto* const to = Operands::output(out + i * rows * cols);
      if constexpr (!Operands::TILES && sizeof(T) < sizeof(float))
        if (products.terms() >= products.k) return multiply_by(left, right, once(to, cols));
      multiply_into(to, cols, sums, left, right, multiply_by);
    };
    into(Operands::left(a + i * rows * inner, s.trans_a ? rows : inner, s.trans_a, inner), Operands::right(b + i * inner * cols, s.trans_b ? inner : cols, s.trans_b, inner));
    if (last > 0 && alone) multiply_last_columns<typename Operands::Term>(c, s, i, {0, rows}, last, turned);
  });
}

template <class T, class Operands = Widened<T>>
void run(const Call& c) {
  const Size s = size_of(c.dims);
  const int64_t rows = s.p.m, cols = s.p.n, inner = s.p.k;
#if defined(OPSCOPE_TILES)
  if constexpr (Operands::TILES) {
    if (by_narrow_tiles(s)) return run_narrow_tiles(c, s);
    if (few_for_tiles(s.p)) return run<T, Paired>(c);
    if (few_terms_for_tiles(s)) return run<T, WidenedRounded>(c);
  }
#endif
  if (rows > 1 && cols > 1) {
    if (by_few_columns(s, sizeof(T))) return run_few_rows(c, s, cols);
    if (by_few_rows(s, sizeof(T))) return run_few_rows(c, s, 0);
    if constexpr (sizeof(T) < sizeof(float))
      if (by_widened_few_rows<T>(s)) return run_widened_few_rows<T>(c, s);
#if defined(OPSCOPE_ROWS_IN_ORDER)
    if constexpr (!Operands::PAIRS)
      if (by_rows_in_order<T>(s)) return run_rows_in_order<T>(c, s, Operands::output(output<T>(c)));
#endif
  }
  if (inner == 1 && (rows == 1 || cols == 1) && s.p.batch >= c.threads) return run_multiples<T>(c, s);
  if (is_narrow(s, sizeof(T) == sizeof(float))) return run_narrow<T>(c, s);
  if (rows == 1 || cols == 1) return run_vectors<T>(c, s);
#if defined(OPSCOPE_DOT_BLOCKS)
  if constexpr (sizeof(T) == sizeof(float))
    if (by_dot_blocks(s)) return run_dot_blocks(c, s);
#endif
  constexpr bool MORE_DOTS = WIDENED_AT_ONCE<T> && !Operands::TILES;
  if (by_dots(s, sizeof(T), MORE_DOTS) || by_turned_dots(s, sizeof(T), MORE_DOTS)) return run_dots<typename Operands::Term>(c, s, c.scratch + c.thread * turned_floats(s, rows));
  if constexpr (sizeof(T) == sizeof(float))
    if (c.distant_cache && by_tiles_along_rows(s, c.threads)) return run_along_rows(c, s);
  if constexpr (NR >= IN_LINE<T>)
    if (c.stream && c.distant_cache && streams(s, sizeof(T))) return run_streamed<T>(c, s, Operands::output(output<T>(c)));
#if defined(OPSCOPE_INTERLEAVED)
  if constexpr (sizeof(T) == sizeof(float))
    if (c.distant_cache && by_rows_beside_far_cache(s.p)) return s.trans_b ? run_turned_rows(c, s) : run_rows<T>(c, s);
#endif
  if (by_rows(s) && !(Operands::PAIRS && inner > 1 && rows >= W)) return run_rows<T>(c, s);
#if defined(OPSCOPE_PAIRS)
  // Rows of an odd number of terms would be copied one by one, for few columns.
  if constexpr (Operands::PAIRS)
    if (inner % 2 == 1 && inner <= PANEL_TERMS && cols <= W && !s.trans_a) return run<T, WidenedRounded>(c);
#endif
  if (other_way(s, sizeof(T))) return run_turned<T, Operands>(c, s);
  run_tiles<T, Operands>(c, s);
}

bool shape(const int64_t* d, int, int64_t* sizes) {
  const Products s = size_of(d).p;
  sizes[0] = times(times(s.batch, s.m), s.k);
  sizes[1] = times(times(s.batch, s.k), s.n);
  sizes[2] = times(times(s.batch, s.m), s.n);
  return true;
}

size_t scratch(const int64_t* d, int, int threads, size_t bytes) {
  const Size size = size_of(d);
  const bool is_float = bytes == sizeof(float);
#if defined(OPSCOPE_DOT_BLOCKS)
  const size_t dots = is_float && by_dot_blocks(size) ? static_cast<size_t>(threads * DotFloats(size).all) : 0;
#else
  constexpr size_t dots = 0;
#endif
  if (size.p.m == 1 || size.p.n == 1 || by_few_columns(size, bytes) || by_few_rows(size, bytes)) return 0;
  if (dots > 0) return dots;
  if (by_dots(size, bytes, is_float) || (is_float && by_rows(size) && !streams(size, bytes))) return 0;
  const auto larger = [](size_t a, size_t b) { return a > b ? a : b; };
  const size_t streamed = streams(size, bytes) ? static_cast<size_t>(threads * StreamedFloats(size.p).all()) : 0, along = is_float ? along_rows_scratch(size, threads) : 0;
  const size_t floats = larger(larger(products_scratch(size, bytes, threads), static_cast<size_t>(threads * turned_right_floats(size.p))), larger(streamed, along));
  return floats + static_cast<size_t>(threads * turned_floats(size, by_turned_dots(size, bytes, true) ? size.p.m : columns_by_dots(size, bytes)));
}

}  // namespace

OPSCOPE_KERNEL(matmul, "tt>t", 6, 6, 0, shape, scratch, OPSCOPE_MULTIPLIED_RUNS(run, Paired, Tiled))
