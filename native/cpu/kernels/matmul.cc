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

template <class T>
void run(const Call& c) {
  const Size s = size_of(c.dims);
  const int64_t rows = s.p.m, cols = s.p.n, inner = s.p.k;
  if (rows == 1 || cols == 1) return run_vectors<T>(c, s);
  const T *a = input<T>(c, 0), *b = input<T>(c, 1);
  T* const out = output<T>(c);
  run_products(c, s.p, sizeof(T) < sizeof(float), [=](int64_t i, float* sums, const auto& multiply_by) {
    multiply_into(out + i * rows * cols, cols, sums, LeftMatrix<T>{a + i * rows * inner, s.trans_a ? rows : inner, s.trans_a}, RightMatrix<T>{b + i * inner * cols, s.trans_b ? inner : cols, s.trans_b}, multiply_by);
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
  const Products s = size_of(d).p;
  return s.m == 1 || s.n == 1 ? 0 : s.scratch(threads, bytes < sizeof(float));
}

}  // namespace

OPSCOPE_TYPED(matmul, run, "tt>t", 6, 6, 0, shape, scratch)
