// C = A B for [batch, m, n, k], either operand stored transposed. dims: [batch, m, n, k, transA, transB].
// A row or a column by itself (m or n of 1) is read once, as it lies; all else goes through simd/gemm.h.
#include "simd/dots.h"
#include "simd/tiles.h"

namespace {

struct Size {
  Products p;
  bool trans_a, trans_b;
};

Size size_of(const int64_t* d) { return {{d[0], d[1], d[2], d[3]}, d[4] != 0, d[5] != 0}; }

// out[j] = sum over l of v[l] * b[l, j] for columns `r`.
template <class T>
void add_rows(const T* v, const T* b, int64_t k, int64_t stride, Range r, T* out) {
  constexpr int64_t COLUMNS = 1024;
  alignas(64) float sums[COLUMNS];
  for (int64_t from = r.begin; from < r.end; from += COLUMNS) {
    const int64_t n = least(COLUMNS, r.end - from);
    for (int64_t j = 0; j < n; j++) sums[j] = 0;
    add_rows_to(sums, v, b + from, k, stride, n);
    map1<false>(sums, out + from, 0, n, [](V x) { return x; });
  }
}

// out[j] = sum over l of v[l] * b[j, l] for rows `r`.
template <class T>
void dot_rows(const T* v, const T* b, int64_t k, Range r, T* out) {
  for (int64_t j = r.begin; j < r.end; j++) set(out + j, sum_of_pairs(v, b + j * k, k, [](V x, V y) { return vmul(x, y); }));
}

// A vector times a matrix of n results, whose rows hold the results (by_rows) or the terms.
template <class T>
void run_vectors(const Call& c, const Size& s) {
  const bool row = s.p.m == 1;
  const int64_t n = row ? s.p.n : s.p.m, k = s.p.k;
  const bool terms_in_rows = n == 1 || (row ? s.trans_b : !s.trans_a);
  const T *vectors = input<T>(c, row ? 0 : 1), *matrices = input<T>(c, row ? 1 : 0);
  const bool by_product = s.p.batch >= c.threads;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, r = by_product ? Range{0, n} : part(n, LINE, c.thread, c.threads);
  for (int64_t i = products.begin; i < products.end; i++) {
    if (terms_in_rows) dot_rows(vectors + i * k, matrices + i * n * k, k, r, output<T>(c) + i * n);
    else add_rows(vectors + i * k, matrices + i * n * k, k, n, r, output<T>(c) + i * n);
  }
}

// Whether one operand has few rows, and the terms of both lie next to one another.
inline bool by_dots(const Size& s) { return !s.trans_a && s.trans_b && (s.p.m <= DOT_ROWS || s.p.n <= DOT_ROWS); }

template <class T>
void run_dots(const Call& c, const Size& s) {
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k;
  const bool few_rows = m <= n, by_product = s.p.batch >= c.threads;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, r = by_product ? Range{0, few_rows ? n : m} : part(few_rows ? n : m, LINE, c.thread, c.threads);
  for (int64_t i = products.begin; i < products.end; i++) {
    const T *a = input<T>(c, 0) + i * m * k, *b = input<T>(c, 1) + i * n * k;
    T* const out = output<T>(c) + i * m * n;
    if (few_rows) dots<DOT_ROWS>(a, b, m, k, r, out, n, 1);
    else dots<DOT_ROWS>(b, a, n, k, r, out, 1, n);
  }
}

// Columns behind the last whole vector, where a vector of them would be mostly empty: by dot products, which fill vectors with terms. A last
// vector of tiles takes as long as W columns of dot products, whose sums over the lanes take as long as so many terms.
constexpr int64_t TERMS_OF_SUM = W < 16 ? 10 : 3, LEAST_TERMS = 24, LEAST_SHARE = 20;
inline int64_t columns_by_dots(const Size& s, size_t element_bytes) {
  const int64_t rest = s.p.n % W;
  if (W < 8 || element_bytes != sizeof(float) || s.trans_a || rest == 0 || rest > W / 2) return 0;
  if (W < 16 && (s.p.n - rest) % NR != 0) return 0;  // tiles of one vector would wait for their multiplications
  const bool pays = s.p.k >= LEAST_TERMS && s.p.k * (W - rest) > TERMS_OF_SUM * W * rest && s.p.m >= rest + W / 2 && (W - rest) * LEAST_SHARE >= s.p.n;
  return pays ? rest : 0;
}
inline int64_t turned_floats(const Size& s, int64_t columns) { return s.trans_b ? 0 : columns * ((s.p.k + LINE - 1) / LINE * LINE); }

// The last `columns` of n columns and k rows as rows.
inline void turn_last(const float* b, int64_t k, int64_t n, int64_t columns, float* to) {
  const float* const last = b + n - columns;
  int64_t p = 0;
#if defined(OPSCOPE_TRANSPOSE_TILE)
  constexpr int64_t SIDE = TILE<uint32_t>;
  // Tiles reach into the next row, but not behind the last.
  for (uint32_t tile[SIDE * SIDE]; columns <= SIDE && (p + SIDE) * n + SIDE <= k * n; p += SIDE) {
    transpose_tile(reinterpret_cast<const uint32_t*>(last + p * n), n, tile, SIDE);
    for (int64_t j = 0; j < columns; j++) __builtin_memcpy(to + j * k + p, tile + j * SIDE, SIDE * sizeof(float));
  }
#endif
  for (; p < k; p++)
    for (int64_t j = 0; j < columns; j++) to[j * k + p] = last[p * n + j];
}

// The last `columns` columns of all products. turned: place for them as rows, of this thread.
void run_last_columns(const Call& c, const Size& s, int64_t columns, float* turned) {
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k;
  const bool by_product = s.p.batch >= c.threads;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, rows = by_product ? Range{0, m} : part(m, LINE, c.thread, c.threads);
  for (int64_t i = products.begin; i < products.end; i++) {
    const float *const b = input(c, 1) + i * n * k, *last = b + (n - columns) * k;
    if (!s.trans_b) {
      turn_last(b, k, n, columns, turned);
      last = turned;
    }
    dots<MOST_DOT_ROWS>(last, input(c, 0) + i * m * k, columns, k, rows, output(c) + i * m * n + n - columns, 1, n);
  }
}

// Products of few terms: a row of results at a time, so that what is written is written in order. Terms of b in rows.
constexpr int FEW_TERMS_OF_ROW = 6;

// Up to two terms. Of up to five (six) where rows are few, or where panels that all rows meet in turn (simd/tile.h) would be written more slowly than whole
// rows: rows about half a page apart meet in the same sets of the caches, and results beyond the caches may be streamed.
inline bool by_rows_of_results(const Size& s) {
  constexpr int64_t FEW_RESULTS_ROWS = W < 16 ? 12 : 7, HALF_PAGE = 512, STREAMED_RESULTS = 5 << 20;
  const int64_t k = s.p.k, m = s.p.m, n = s.p.n;
  const bool meet = (n + LINE) % HALF_PAGE <= 2 * LINE, streamed = n % LINE == 0 && times(s.p.batch, times(m, n)) >= STREAMED_RESULTS;
  const bool few = k <= 2 || (k < FEW_TERMS_OF_ROW && (meet || streamed)) || (k <= FEW_TERMS_OF_ROW && m <= FEW_RESULTS_ROWS);
  return few && n >= 4 * NR && (m > LOW || n * k <= FEW_FLOATS / 8) && (!s.trans_b || k == 1);
}

template <int K, bool STREAM, class T>
void few_terms(const Call& c, const Size& s) {
  if constexpr (K > 1)
    if (s.p.k < K) return few_terms<K - 1, STREAM, T>(c, s);
  const int64_t m = s.p.m, n = s.p.n;
  const Range r = part(s.p.batch * m, 1, c.thread, c.threads);
  for (int64_t row = r.begin; row < r.end; row++) {
    const int64_t i = row / m, in = row - i * m;
    const T *const a = input<T>(c, 0) + i * m * K, *const b = input<T>(c, 1) + i * K * n;
    V x[K];
    for (int p = 0; p < K; p++) x[p] = vset(to_float(s.trans_a ? a[p * m + in] : a[in * K + p]));
    const auto sum = [&](const auto& load) {
      V v = vmul(x[0], load(b));
#pragma GCC unroll 8
      for (int p = 1; p < K; p++) v = vfma(x[p], load(b + p * n), v);
      return v;
    };
    T* const out = output<T>(c) + row * n;
    int64_t j = 0;
    for (; j + W <= n; j += W) put<STREAM>(out + j, sum([j](const T* at) { return vload(at + j); }));
    if (const int rest = static_cast<int>(n - j); rest > 0) vstore_n(out + j, sum([j, rest](const T* at) { return vload_n(at + j, rest, 0); }), rest);
  }
  if constexpr (STREAM) vfence();
}

// Where the left operand is stored transposed, the product of what is stored may be better: that of the operands, transposed. Both stored so: few
// columns do not repay what turning both takes. The left one alone: its columns fill vectors, which those of a narrow result do not.
inline bool other_way(const Size& s, size_t element_bytes) {
  constexpr int64_t NARROW = W * 3 / 4;
  if (!s.trans_a) return false;
  if (s.trans_b) return s.p.k >= 256 && s.p.n <= 96;
  // 16-bit operands are widened and packed first.
  const bool lies = element_bytes == sizeof(float);
  return s.p.n <= NARROW && s.p.m >= (lies ? 2 * s.p.n : 2 * W) && s.p.k >= (lies ? 64 : 128);
}
inline Products turned(const Products& p) { return {p.batch, p.n, p.m, p.k}; }

// The operands as floats, as pairs of bf16, and as tiles of such pairs.
template <class T>
struct Widened {
  using State = NoState;
  static constexpr bool TILES = false;
  static Products products(const Products& p) { return p; }
  static T* output(T* out) { return out; }
  static LeftMatrix<T> left(const T* a, int64_t stride, bool transposed, int64_t) { return {a, stride, transposed}; }
  static RightMatrix<T> right(const T* b, int64_t stride, bool transposed, int64_t terms) { return {b, stride, transposed, terms}; }
};
#if defined(OPSCOPE_PAIRS)
struct Paired {
  using State = NoState;
  static constexpr bool TILES = false;
  static Products products(const Products& p) { return {p.batch, p.m, p.n, pairs(p.k)}; }
  static RoundedBF16* output(BF16* out) { return rounded(out); }
  static LeftPairs left(const BF16* a, int64_t stride, bool transposed, int64_t terms) { return {a, stride, transposed, terms}; }
  static RightPairs right(const BF16* b, int64_t stride, bool transposed, int64_t terms) { return {b, stride, transposed, terms}; }
};
#endif
#if defined(OPSCOPE_TILES)
struct Tiled {
  using State = Tiles;
  static constexpr bool TILES = true;
  static Products products(const Products& p) { return in_tiles(p); }
  static RoundedBF16* output(BF16* out) { return rounded(out); }
  static LeftOfTiles left(const BF16* a, int64_t stride, bool transposed, int64_t terms) { return {a, stride, transposed, terms}; }
  static RightOfTiles right(const BF16* b, int64_t stride, bool transposed, int64_t terms) { return {{b, stride, transposed, terms}}; }
};
#endif

#if defined(OPSCOPE_TILES)
// Setting up tiles takes as long as this many products of two elements: 0.1 us.
inline bool few_for_tiles(const Products& p) { return times(times(p.batch, p.m), times(p.n, p.k)) < 16384; }
#endif

// Of what goes through tiles.
inline size_t products_scratch(const Size& size, size_t bytes, int threads) {
  const bool rounded = bytes < sizeof(float) || other_way(size, bytes);
  const Products s = other_way(size, bytes) ? turned(size.p) : size.p;
  const auto larger = [](size_t a, size_t b) { return a > b ? a : b; };
  // Any of them may be cut into the longest parts.
  size_t floats = larger(s.scratch(threads, rounded), Products{s.batch, s.m, s.n, (s.k + 1) / 2}.scratch(threads, rounded));
#if defined(OPSCOPE_TILES)
  if (bytes == sizeof(BF16)) floats = larger(floats, in_tiles(s).scratch(threads, rounded));
#endif
  return floats;
}

template <class T, class Operands = Widened<T>>
void run(const Call& c) {
  const Size s = size_of(c.dims);
  const int64_t rows = s.p.m, cols = s.p.n, inner = s.p.k;
#if defined(OPSCOPE_TILES)
  if constexpr (Operands::TILES)
    if (few_for_tiles(s.p)) return run<T, Paired>(c);
#endif
  if (rows == 1 || cols == 1) return run_vectors<T>(c, s);
  if (by_dots(s)) return run_dots<T>(c, s);
  if (by_rows_of_results(s)) return c.stream && cols % LINE == 0 ? few_terms<FEW_TERMS_OF_ROW, true, T>(c, s) : few_terms<FEW_TERMS_OF_ROW, false, T>(c, s);
  const T *a = input<T>(c, 0), *b = input<T>(c, 1);
  T* const out = output<T>(c);
  [[maybe_unused]] const typename Operands::State state{};
  if (other_way(s, sizeof(T))) {
    run_products(c, Operands::products(turned(s.p)), true, [=](int64_t i, float* sums, const auto& multiply_by) {
      T* const to = out + i * rows * cols;
      const auto finished = [=](int64_t column, int64_t row, const float* from, int64_t n) {
        for (int64_t q = 0; q < n; q++) set(to + (row + q) * cols + column, from[q]);
      };
      multiply_by(Operands::left(b + i * inner * cols, s.trans_b ? inner : cols, !s.trans_b, inner), Operands::right(a + i * rows * inner, rows, false, inner), Rounded<decltype(finished)>{sums, finished});
    });
    return;
  }
  Products tiled = s.p;
  if (const int64_t last = columns_by_dots(s, sizeof(T)); last > 0) {
    if constexpr (sizeof(T) == sizeof(float)) run_last_columns(c, s, last, c.scratch + products_scratch(s, sizeof(T), c.threads) + c.thread * turned_floats(s, last));
    tiled.n -= last;
    if (tiled.n == 0) return;
  }
  const Products products = Operands::products(tiled);
  run_products(c, products, sizeof(T) < sizeof(float), [=](int64_t i, float* sums, const auto& multiply_by) {
    const auto into = [&](const auto& left, const auto& right) {
      auto* const to = Operands::output(out + i * rows * cols);
      if constexpr (!Operands::TILES && sizeof(T) < sizeof(float))
        if (products.terms() >= products.k) return multiply_by(left, right, once(to, cols));
      multiply_into(to, cols, sums, left, right, multiply_by);
    };
    into(Operands::left(a + i * rows * inner, s.trans_a ? rows : inner, s.trans_a, inner), Operands::right(b + i * inner * cols, s.trans_b ? inner : cols, s.trans_b, inner));
  });
}

#if defined(OPSCOPE_PAIRS)
constexpr opscope::cpu::Run PAIRED = run<BF16, Paired>;
#else
constexpr opscope::cpu::Run PAIRED = nullptr;
#endif
#if defined(OPSCOPE_TILES)
constexpr opscope::cpu::Run TILED = run<BF16, Tiled>;
#else
constexpr opscope::cpu::Run TILED = nullptr;
#endif

bool shape(const int64_t* d, int, int64_t* sizes) {
  const Products s = size_of(d).p;
  sizes[0] = times(times(s.batch, s.m), s.k);
  sizes[1] = times(times(s.batch, s.k), s.n);
  sizes[2] = times(times(s.batch, s.m), s.n);
  return true;
}

size_t scratch(const int64_t* d, int, int threads, size_t bytes) {
  const Size size = size_of(d);
  if (size.p.m == 1 || size.p.n == 1 || by_dots(size) || by_rows_of_results(size)) return 0;
  return products_scratch(size, bytes, threads) + static_cast<size_t>(threads * turned_floats(size, columns_by_dots(size, bytes)));
}

}  // namespace

OPSCOPE_KERNEL(matmul, "tt>t", 6, 6, 0, shape, scratch, {run<float>, run<F16>, run<BF16>, nullptr, nullptr, PAIRED, TILED})
