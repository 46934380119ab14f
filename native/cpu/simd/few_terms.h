// Products of few terms: a row of results at a time, so that what is written is written in order. Terms of the right operand in rows.
#pragma once
#include "gemm.h"

namespace {

constexpr int FEW_TERMS_OF_ROW = 6;

// Up to two terms. Of up to five (six) where rows are few, or where panels that all rows meet in turn (tile.h) would be written more slowly than whole
// rows: rows about half a page apart meet in the same sets of the caches, and results beyond the caches may be streamed.
inline bool by_rows_of_results(const Products& p) {
  constexpr int64_t FEW_RESULTS_ROWS = W < 16 ? 12 : 7, HALF_PAGE = 512, STREAMED_RESULTS = 5 << 20;
  const int64_t k = p.k, m = p.m, n = p.n;
  const bool meet = (n + LINE) % HALF_PAGE <= 2 * LINE, streamed = n % LINE == 0 && times(p.batch, times(m, n)) >= STREAMED_RESULTS;
  const bool few = k <= 2 || (k < FEW_TERMS_OF_ROW && (meet || streamed)) || (k <= FEW_TERMS_OF_ROW && m <= FEW_RESULTS_ROWS);
  return few && n >= 4 * NR && (m > LOW || n * k <= FEW_FLOATS / 8);
}

// left(i, row, p): a term of a row of product i.
template <int K, bool STREAM, class T, class F>
void few_terms(const Call& c, const Products& s, const F& left, const T* right, T* results) {
  if constexpr (K > 1)
    if (s.k < K) return few_terms<K - 1, STREAM>(c, s, left, right, results);
  const int64_t n = s.n;
  const Range r = part(s.batch * s.m, 1, c.thread, c.threads);
  for (int64_t row = r.begin; row < r.end; row++) {
    const int64_t i = row / s.m, in = row - i * s.m;
    const T* const b = right + i * K * n;
    V x[K];
    for (int p = 0; p < K; p++) x[p] = vset(to_float(left(i, in, p)));
    const auto sum = [&](const auto& load) {
      V v = vmul(x[0], load(b));
#pragma GCC unroll 8
      for (int p = 1; p < K; p++) v = vfma(x[p], load(b + p * n), v);
      return v;
    };
    T* const out = results + row * n;
    int64_t j = 0;
    for (; j + W <= n; j += W) put<STREAM>(out + j, sum([j](const T* at) { return vload(at + j); }));
    if (const int rest = static_cast<int>(n - j); rest > 0) vstore_n(out + j, sum([j, rest](const T* at) { return vload_n(at + j, rest, 0); }), rest);
  }
  if constexpr (STREAM) vfence();
}

template <class T, class F>
void run_few_terms(const Call& c, const Products& s, const F& left, const T* right, T* results) {
  if (c.stream && s.n % LINE == 0) few_terms<FEW_TERMS_OF_ROW, true>(c, s, left, right, results);
  else few_terms<FEW_TERMS_OF_ROW, false>(c, s, left, right, results);
}

}  // namespace
