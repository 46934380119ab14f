// Products of few terms: a row of results at a time, so that what is written is written in order. Terms of the right operand in rows.
#pragma once
#include "gemm.h"
#include "reduce.h"

namespace {

constexpr int FEW_TERMS_OF_ROW = 6;

template <int N>
struct Count {
  static constexpr int VALUE = N;
};

// Rows that start lines are written several at a time, from three terms on.
inline bool rows_start_lines(int64_t n) { return n % LINE == 0; }

// Up to two terms. Of up to five (six) where rows are few, or where panels that all rows meet in turn (tile.h) would be written more slowly than whole
// rows: rows about half a page apart meet in the same sets of the caches, and results beyond the caches may be streamed.
inline bool by_rows_of_results(const Products& p) {
  constexpr int64_t FEW_RESULTS_ROWS = W < 16 ? 12 : 7, FEW_WHOLE_ROWS = 20, ROWS_OF_A_TILE = W < 16 ? 2 : 4, HALF_PAGE = 512, STREAMED_RESULTS = 5 << 20;
  const int64_t k = p.k, m = p.m, n = p.n;
  const bool meet = (n + LINE) % HALF_PAGE <= 2 * LINE, streamed = n % LINE == 0 && times(p.batch, times(m, n)) >= STREAMED_RESULTS;
  const bool few = k <= 2 || (k < FEW_TERMS_OF_ROW && (meet || streamed)) || (k <= FEW_TERMS_OF_ROW && m <= (rows_start_lines(n) ? FEW_WHOLE_ROWS : FEW_RESULTS_ROWS));
  return few && n >= 4 * NR && (m > ROWS_OF_A_TILE || n * k <= FEW_FLOATS / 8);
}

// Three to five terms also of more rows where the last-level cache is far (AVX-512, f32): panel by panel, lines would come from there again and again. The
// right operand, which is turned where it is stored transposed, stays in the first-level cache.
inline bool by_rows_beside_far_cache(const Products& p) {
  constexpr int64_t LEAST_TERMS = 3, MOST_TERMS = 5, LEAST_ROWS = 24, LEAST_COLUMNS = 2 * W, NEAR = 3 << 12;
  return W == 16 && p.k >= LEAST_TERMS && p.k <= MOST_TERMS && p.m >= LEAST_ROWS && p.n >= (p.k < MOST_TERMS ? 1 : 2) * LEAST_COLUMNS && p.n * p.k <= NEAR;
}

constexpr int ROWS_TOGETHER = W < 16 ? 2 : 4;  // whose factors stay in registers while they meet the same vectors

// How rows are written: streamed, or from the first vector on that starts a line by whole lines.
enum class Written { plainly, by_lines, streamed };

// ROWS rows of results. left(row, p): a term of one of them.
template <int ROWS, int K, Written WRITTEN, class T, class F>
OPSCOPE_INLINE void few_terms_of_rows(const F& left, const T* b, int64_t n, T* out) {
  V x[ROWS][K];
#pragma GCC unroll 4
  for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 8
    for (int p = 0; p < K; p++) x[i][p] = vset(to_float(left(i, p)));
  const auto sums = [&](const auto& load, V (&sum)[ROWS]) {
#pragma GCC unroll 8
    for (int p = 0; p < K; p++) {
      const V y = load(b + p * n);
#pragma GCC unroll 4
      for (int i = 0; i < ROWS; i++) sum[i] = p == 0 ? vmul(x[i][0], y) : vfma(x[i][p], y, sum[i]);
    }
  };
  int64_t j = 0;
  V sum[ROWS];
  if constexpr (WRITTEN != Written::plainly && ROWS == 1)
    if (const int head = static_cast<int>(before_line(out)); head > 0) {
      sums([head](const T* at) { return vload_n(at, head, 0); }, sum);
      vstore_n(out, sum[0], head);
      j = head;
    }
  for (; j + W <= n; j += W) {
    sums([j](const T* at) { return vload(at + j); }, sum);
#pragma GCC unroll 4
    for (int i = 0; i < ROWS; i++) put<WRITTEN == Written::streamed>(out + i * n + j, sum[i]);
  }
  if (const int rest = static_cast<int>(n - j); rest > 0) {
    sums([j, rest](const T* at) { return vload_n(at + j, rest, 0); }, sum);
    for (int i = 0; i < ROWS; i++) vstore_n(out + i * n + j, sum[i], rest);
  }
}

// left(i, row, p): a term of a row of product i.
template <int K, Written WRITTEN, class T, class F>
void few_terms(const Call& c, const Products& s, const F& left, const T* right, T* results) {
  if constexpr (K > 1)
    if (s.k < K) return few_terms<K - 1, WRITTEN>(c, s, left, right, results);
  const Range r = part(s.batch * s.m, 1, c.thread, c.threads);
  const bool together = rows_start_lines(s.n);
  for (int64_t row = r.begin; row < r.end;) {
    const int64_t i = row / s.m, in = row - i * s.m;
    const auto rows_of = [&](auto rows) {
      few_terms_of_rows<rows.VALUE, K, WRITTEN>([&](int64_t nth, int64_t p) { return left(i, in + nth, p); }, right + i * K * s.n, s.n, results + row * s.n);
      row += rows.VALUE;
    };
    const int64_t rest = least(s.m - in, r.end - row);
    if constexpr (K > 2) {
      if (together && rest >= ROWS_TOGETHER) {
        rows_of(Count<ROWS_TOGETHER>{});
        continue;
      }
      if (together && rest >= 2) {
        rows_of(Count<2>{});
        continue;
      }
    }
    rows_of(Count<1>{});
  }
  if constexpr (WRITTEN == Written::streamed) vfence();
}

template <class T, class F>
void run_few_terms(const Call& c, const Products& s, const F& left, const T* right, T* results) {
  constexpr int64_t LONG_ROWS = 1024;  // of whose lines few are not written whole
  if (c.stream && (s.n % LINE == 0 || (c.distant_cache && s.n >= LONG_ROWS))) return few_terms<FEW_TERMS_OF_ROW, Written::streamed>(c, s, left, right, results);
  if constexpr (W == 16 && sizeof(T) == sizeof(float))
    if (c.distant_cache) return few_terms<FEW_TERMS_OF_ROW, Written::by_lines>(c, s, left, right, results);
  few_terms<FEW_TERMS_OF_ROW, Written::plainly>(c, s, left, right, results);
}

}  // namespace
