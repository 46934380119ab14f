// C = A B for [batch, m, n, k], either operand stored transposed. dims: [batch, m, n, k, transA, transB].
// A row or a column by itself (m or n of 1) is read once, as it lies; all else goes through simd/gemm.h.
#include "simd/gemm.h"
#include "simd/reduce.h"

namespace {

struct Size {
  Products p;
  bool trans_a, trans_b;
};

Size size_of(const int64_t* d) { return {{d[0], d[1], d[2], d[3]}, d[4] != 0, d[5] != 0}; }

// out[j] = sum over l of v[l] * b[l, j] for columns `r`: rows of b are added up, four at a time.
template <class T>
void add_rows(const T* v, const T* b, int64_t k, int64_t stride, Range r, T* out) {
  constexpr int64_t COLUMNS = 1024;
  alignas(64) float sums[COLUMNS];
  for (int64_t from = r.begin; from < r.end; from += COLUMNS) {
    const int64_t n = least(COLUMNS, r.end - from);
    for (int64_t j = 0; j < n; j++) sums[j] = 0;
    int64_t l = 0;
    for (; l + 4 <= k; l += 4) {
      const T* row = b + l * stride + from;
      const V v0 = vset(to_float(v[l])), v1 = vset(to_float(v[l + 1])), v2 = vset(to_float(v[l + 2])), v3 = vset(to_float(v[l + 3]));
      int64_t j = 0;
      for (; j + W <= n; j += W)
        vstore(sums + j, vfma(v3, vload(row + 3 * stride + j), vfma(v2, vload(row + 2 * stride + j), vfma(v1, vload(row + stride + j), vfma(v0, vload(row + j), vload(sums + j))))));
      for (; j < n; j++)
        for (int64_t i = 0; i < 4; i++) sums[j] += to_float(v[l + i]) * to_float(row[i * stride + j]);
    }
    for (; l < k; l++) {
      const V v0 = vset(to_float(v[l]));
      map2<false>(b + l * stride + from, sums, sums, 0, n, [v0](V x, V sum) { return vfma(v0, x, sum); });
    }
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

// Few rows times columns whose terms lie next to one another: dot products, for which the columns need no copy. out[r, j] at r * row + j * column.
template <int ROWS, int COLUMNS, class T>
inline void dot_tile(const T* a, const T* b, int64_t k, T* out, int64_t row, int64_t column) {
  V sum[ROWS][COLUMNS];
  for (int r = 0; r < ROWS; r++)
    for (int q = 0; q < COLUMNS; q++) sum[r][q] = vset(0);
  const auto join = [&](const auto& load, int64_t l) {
    V v[COLUMNS];
#pragma GCC unroll 4
    for (int q = 0; q < COLUMNS; q++) v[q] = load(b + q * k + l);
#pragma GCC unroll 4
    for (int r = 0; r < ROWS; r++) {
      const V x = load(a + r * k + l);
#pragma GCC unroll 4
      for (int q = 0; q < COLUMNS; q++) sum[r][q] = vfma(x, v[q], sum[r][q]);
    }
  };
  int64_t l = 0;
  for (; l + W <= k; l += W) join([](const T* p) { return vload(p); }, l);
  if (const int rest = static_cast<int>(k - l); rest > 0) join([rest](const T* p) { return vload_n(p, rest, 0); }, l);
  for (int r = 0; r < ROWS; r++)
    for (int q = 0; q < COLUMNS; q++) set(out + r * row + q * column, vsum(sum[r][q]));
}

constexpr int DOT_ROWS = 4, DOT_COLUMNS = W < 8 ? 2 : 4;

template <int ROWS, class T>
void dots(const T* a, const T* b, int64_t rows, int64_t k, Range columns, T* out, int64_t row, int64_t column) {
  if constexpr (ROWS > 2)
    if (rows < ROWS) return dots<ROWS - 1>(a, b, rows, k, columns, out, row, column);
  int64_t j = columns.begin;
  for (; j + DOT_COLUMNS <= columns.end; j += DOT_COLUMNS) dot_tile<ROWS, DOT_COLUMNS>(a, b + j * k, k, out + j * column, row, column);
  for (; j < columns.end; j++) dot_tile<ROWS, 1>(a, b + j * k, k, out + j * column, row, column);
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

// Products of few terms: a row of results at a time, so that what is written is written in order. Terms of b in rows.
constexpr int FEW_TERMS_OF_ROW = 3;

inline bool by_rows_of_results(const Size& s) { return s.p.k <= FEW_TERMS_OF_ROW && s.p.n >= 4 * NR && (s.p.m > LOW || s.p.n * s.p.k <= FEW_FLOATS / 8) && (!s.trans_b || s.p.k == 1); }

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

// Where both operands are stored transposed, what they are stored as have a product too: that of the operands, transposed. Few columns do not repay
// what turning both operands takes.
inline bool other_way(const Size& s) { return s.trans_a && s.trans_b && s.p.k >= 256 && s.p.n <= 96; }
inline Products turned(const Products& p) { return {p.batch, p.n, p.m, p.k}; }

template <class T>
void run(const Call& c) {
  const Size s = size_of(c.dims);
  const int64_t rows = s.p.m, cols = s.p.n, inner = s.p.k;
  if (rows == 1 || cols == 1) return run_vectors<T>(c, s);
  if (by_dots(s)) return run_dots<T>(c, s);
  if (by_rows_of_results(s)) return c.stream && cols % LINE == 0 ? few_terms<FEW_TERMS_OF_ROW, true, T>(c, s) : few_terms<FEW_TERMS_OF_ROW, false, T>(c, s);
  const T *a = input<T>(c, 0), *b = input<T>(c, 1);
  T* const out = output<T>(c);
  if (other_way(s)) {
    run_products(c, turned(s.p), true, [=](int64_t i, float* sums, const auto& multiply_by) {
      T* const to = out + i * rows * cols;
      const auto finished = [=](int64_t column, int64_t row, const float* from, int64_t n) {
        for (int64_t q = 0; q < n; q++) set(to + (row + q) * cols + column, from[q]);
      };
      multiply_by(LeftMatrix<T>{b + i * inner * cols, inner, false}, RightMatrix<T>{a + i * rows * inner, rows, false, inner}, Rounded<decltype(finished)>{sums, finished});
    });
    return;
  }
  run_products(c, s.p, sizeof(T) < sizeof(float), [=](int64_t i, float* sums, const auto& multiply_by) {
    multiply_into(out + i * rows * cols, cols, sums, LeftMatrix<T>{a + i * rows * inner, s.trans_a ? rows : inner, s.trans_a}, RightMatrix<T>{b + i * inner * cols, s.trans_b ? inner : cols, s.trans_b, inner}, multiply_by);
  });
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
  const Products& s = size.p;
  return s.m == 1 || s.n == 1 || by_dots(size) || by_rows_of_results(size) ? 0 : other_way(size) ? turned(s).scratch(threads, true) : s.scratch(threads, bytes < sizeof(float));
}

}  // namespace

OPSCOPE_TYPED(matmul, run, "tt>t", 6, 6, 0, shape, scratch)
