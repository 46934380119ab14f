// C = A B for [batch, m, n, k], either operand stored transposed. dims: [batch, m, n, k, transA, transB].
// A row or a column by itself (m or n of 1) is read once, as it lies; all else goes through simd/gemm.h.
#include "simd/dot_products.h"
#include "simd/few_columns.h"
#include "simd/few_terms.h"
#include "simd/narrow_products.h"
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
  int64_t j = r.begin;
#if defined(OPSCOPE_ISA_avx512)
  constexpr int TOGETHER = 8;
  if (k < 8 * W)
    for (; j + TOGETHER <= r.end; j += TOGETHER) dot_tile<1, TOGETHER>(v, b + j * k, k, k, out + j, int64_t{0}, 1);
#endif
  for (; j < r.end; j++) set(out + j, sum_of_pairs(v, b + j * k, k, [](V x, V y) { return vmul(x, y); }));
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
#if defined(OPSCOPE_FEW_COLUMNS)
    else if (r.end - r.begin <= FEW_COLUMNS && r.end > r.begin && k >= LEAST_ROWS) add_few_columns(vectors + i * k, matrices + i * n * k, k, n, r, output<T>(c) + i * n);
#endif
    else add_rows(vectors + i * k, matrices + i * n * k, k, n, r, output<T>(c) + i * n);
  }
}

constexpr int FEW_ROWS_OF_FEW = 8;
// Two to eight rows and few columns, whose sums stay in registers.
inline bool by_few_rows(const Size& s, size_t element_bytes) {
#if defined(OPSCOPE_FEW_COLUMNS)
  return element_bytes == sizeof(float) && !s.trans_b && s.p.m > 1 && s.p.m <= FEW_ROWS_OF_FEW && s.p.n > W && s.p.n <= FEW_COLUMNS && s.p.k >= LEAST_ROWS;
#else
  return s.p.k < 0 && element_bytes == 0;
#endif
}

void run_few_rows([[maybe_unused]] const Call& c, [[maybe_unused]] const Size& s) {
#if defined(OPSCOPE_FEW_COLUMNS)
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k;
  const Range products = part(s.p.batch, 1, c.thread, c.threads);
  for (int64_t i = products.begin; i < products.end; i++) few_rows<FEW_ROWS_OF_FEW>(m, input(c, 0) + i * m * k, s.trans_a ? m : k, s.trans_a, input(c, 1) + i * n * k, k, n, output(c) + i * m * n);
#endif
}

// Whether one operand has few rows, and the terms of both lie next to one another. Of up to DOT_ROWS rows always; of more, where sums over the
// lanes take little beside the terms, and (`more`) where no tiles of bf16 do better and each element is widened at once.
template <class T>
constexpr bool WIDENED_AT_ONCE = true;
template <>
constexpr bool WIDENED_AT_ONCE<F16> = W >= 8;
inline bool by_dots(const Size& s, size_t element_bytes, bool more) {
  constexpr int64_t MANY_TERMS = W < 16 ? 400 : 200, MANY_COLUMNS = 256;
  const int64_t few = least(s.p.m, s.p.n), many = s.p.m > s.p.n ? s.p.m : s.p.n, k = s.p.k;
  const bool is_float = element_bytes == sizeof(float);
  if (s.trans_a || !s.trans_b || (k == 1 && s.p.n > s.p.m)) return false;
  if (few <= DOT_ROWS) return true;
  if (!more || few > MOST_FEW_ROWS) return false;
  const bool all_few = many <= MOST_FEW_ROWS;
  if (is_float && !all_few && few * k > NEAR_FLOATS) return false;
  // Copies that one or two tiles meet are not repaid (AVX-512).
  constexpr int64_t FEW_TERMS = 40, FEW_COLUMNS = 64;
  const bool few_columns = s.p.m <= s.p.n && s.p.n <= FEW_COLUMNS;
  if (W == 16 && is_float && k >= FEW_TERMS && ((all_few && s.p.n > W / 2 && k >= 7 * few) || (few_columns && k >= 13 * few))) return true;
  // Columns that meet rows twice repay copies sooner.
  const bool repaid = few > MOST_DOT_ROWS && many > MANY_COLUMNS;
  return k >= (repaid ? (is_float ? 2 : 4) * MANY_TERMS : MANY_TERMS);
}

template <class T>
void run_dots(const Call& c, const Size& s) {
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k;
  const bool by_product = s.p.batch >= c.threads;
  const int64_t many = m > n ? m : n;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, r = by_product ? Range{0, many} : part(many, LINE, c.thread, c.threads);
  for (int64_t i = products.begin; i < products.end; i++) {
    const T *a = input<T>(c, 0) + i * m * k, *b = input<T>(c, 1) + i * n * k;
    T* const out = output<T>(c) + i * m * n;
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
inline int64_t turned_floats(const Size& s, int64_t columns) { return s.trans_b ? 0 : columns * ((s.p.k + LINE - 1) / LINE * LINE); }

// The last `columns` columns of all products. turned: place for them as rows, of this thread.
template <class T>
void run_last_columns(const Call& c, const Size& s, int64_t columns, float* turned) {
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k;
  const bool by_product = s.p.batch >= c.threads;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, rows = by_product ? Range{0, m} : part(m, LINE, c.thread, c.threads);
  T* const to = reinterpret_cast<T*>(turned);
  for (int64_t i = products.begin; i < products.end; i++) {
    const T* const b = input<T>(c, 1) + i * n * k;
    if (!s.trans_b) turn_last(b, k, n, columns, to);
    dot_products(s.trans_b ? b + (n - columns) * k : to, columns, input<T>(c, 0) + i * m * k, k, rows, output<T>(c) + i * m * n + n - columns, One{}, n);
  }
}

inline bool by_rows(const Size& s) { return (!s.trans_b || s.p.k == 1) && by_rows_of_results(s.p); }

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
  if (s.trans_b) return s.p.n <= 96 && (s.p.k >= 256 || (W == 16 && element_bytes == sizeof(float) && s.p.k >= 64 && repays_turning(s.p)));
  // 16-bit operands are widened and packed first.
  const bool lies = element_bytes == sizeof(float);
  return s.p.n <= NARROW && s.p.m >= (lies ? 2 * s.p.n : 2 * W) && s.p.k >= (lies ? 64 : 128);
}
inline Products turned(const Products& p) { return {p.batch, p.n, p.m, p.k}; }

// The operands as floats, as pairs of bf16, and as tiles of such pairs.
template <class T>
struct Widened {
  using State = NoState;
  using Term = T;  // of dot products
  static constexpr bool TILES = false;
  static Products products(const Products& p) { return p; }
  static T* output(T* out) { return out; }
  static LeftMatrix<T> left(const T* a, int64_t stride, bool transposed, int64_t) { return {a, stride, transposed}; }
  static RightMatrix<T> right(const T* b, int64_t stride, bool transposed, int64_t terms) { return {b, stride, transposed, terms}; }
};
#if defined(OPSCOPE_PAIRS)
// The same, rounded by the processor.
struct WidenedRounded : Widened<BF16> {
  static RoundedBF16* output(BF16* out) { return rounded(out); }
};
struct Paired {
  using Term = PairedBF16;
  static constexpr bool PAIRS = true;
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
  using Term = BF16;
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

// Whether one operand has few rows of few terms and the other one is turned into columns.
inline bool is_narrow(const Size& s, bool is_float) {
  constexpr int64_t FEW = 16, FEW_RESULTS = 8;
  const int64_t m = s.p.m, n = s.p.n, k = s.p.k;
  if (W == 1 || k > FEW || (m > n ? m : n) < LINE) return false;
  if (m <= n) return s.trans_b && k > 1 && (m <= DOT_ROWS || (W >= 8 && m <= FEW_RESULTS && (is_float || k < FEW)));
  if (n == 1) return !s.trans_a && (W >= 8 || k <= FEW / 2);
  if (s.trans_a) return n <= (W < 16 || (is_float && k < DOT_ROWS) ? 3 : is_float ? FEW_RESULTS : DOT_ROWS);
  return W >= 8 && k >= FEW / 2 && n <= 3;
}
inline NarrowProduct narrow(const Size& s) {
  if (s.p.m > s.p.n) return {s.p.m, s.p.k, s.p.n, s.trans_a || s.p.k == 1, s.trans_b, false};
  return {s.p.n, s.p.k, s.p.m, !s.trans_b, !s.trans_a, true};
}

template <class T>
void run_narrow(const Call& c, const Size& s) {
  const NarrowProduct p = narrow(s);
  const bool by_product = s.p.batch >= c.threads;
  const Range products = by_product ? part(s.p.batch, 1, c.thread, c.threads) : Range{0, s.p.batch}, r = by_product ? Range{0, p.rows} : part(p.rows, AT_ONCE, c.thread, c.threads);
  for (int64_t i = products.begin; i < products.end; i++) {
    const T *a = input<T>(c, 0) + i * s.p.m * s.p.k, *b = input<T>(c, 1) + i * s.p.n * s.p.k;
    narrow_product(p, p.turned ? b : a, p.turned ? a : b, r, output<T>(c) + i * s.p.m * s.p.n);
  }
}

template <class T, class Operands = Widened<T>>
void run(const Call& c) {
  const Size s = size_of(c.dims);
  const int64_t rows = s.p.m, cols = s.p.n, inner = s.p.k;
#if defined(OPSCOPE_TILES)
  if constexpr (Operands::TILES)
    if (few_for_tiles(s.p)) return run<T, Paired>(c);
#endif
  if (is_narrow(s, sizeof(T) == sizeof(float))) return run_narrow<T>(c, s);
  if (rows == 1 || cols == 1) return run_vectors<T>(c, s);
  if (by_dots(s, sizeof(T), WIDENED_AT_ONCE<T> && !Operands::TILES)) return run_dots<typename Operands::Term>(c, s);
  if (by_few_rows(s, sizeof(T))) return run_few_rows(c, s);
  const T *a = input<T>(c, 0), *b = input<T>(c, 1);
  T* const out = output<T>(c);
  if (by_rows(s)) return run_few_terms(c, s.p, [=](int64_t i, int64_t row, int64_t p) { return a[i * rows * inner + (s.trans_a ? p * rows + row : row * inner + p)]; }, b, out);
#if defined(OPSCOPE_PAIRS)
  // Rows of an odd number of terms would be copied one by one, for few columns.
  if constexpr (requires { Operands::PAIRS; })
    if (inner % 2 == 1 && inner <= PANEL_TERMS && cols <= W && !s.trans_a) return run<T, WidenedRounded>(c);
#endif
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
  if (const int64_t last = columns_by_dots(s, sizeof(T)); last > 0 && !Operands::TILES) {
    run_last_columns<typename Operands::Term>(c, s, last, c.scratch + products_scratch(s, sizeof(T), c.threads) + c.thread * turned_floats(s, last));
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
  if (size.p.m == 1 || size.p.n == 1 || by_dots(size, bytes, bytes == sizeof(float)) || by_few_rows(size, bytes) || by_rows(size)) return 0;
  return products_scratch(size, bytes, threads) + static_cast<size_t>(threads * turned_floats(size, columns_by_dots(size, bytes)));
}

}  // namespace

OPSCOPE_KERNEL(matmul, "tt>t", 6, 6, 0, shape, scratch, {run<float>, run<F16>, run<BF16>, nullptr, nullptr, PAIRED, TILED})
