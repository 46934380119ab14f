// Row operations: a statistic of each row, then an output made of the row and its statistic. A policy P states one:
//
//   rows, cols                          of the call
//   struct Stats                        of a part of a row, at most LINE floats
//   Stats of(row, from, to)             of elements from .. to, at least one
//   static Stats join(Stats, Stats)     of two parts
//   template <bool STREAM> void write(row, from, to, const Stats&)
//
// Threads share the rows. Where those are few and long, all threads work on parts of each row.
#pragma once
#include "map.h"
#include "math.h"
#include "reduce.h"

namespace {

constexpr int64_t SHARED_COLUMNS = 4096;  // shortest row that threads share

inline bool rows_shared(int64_t rows, int64_t cols, int threads) { return rows < threads && cols >= SHARED_COLUMNS; }

// Floats that run_rows() takes of the scratch, from its begin.
inline size_t rows_scratch(int64_t rows, int64_t cols, int threads) { return rows_shared(rows, cols, threads) ? static_cast<size_t>(2 * LINE * threads) : 0; }

template <bool STREAM, class P>
inline void run_own_rows(const Call& c, P& p) {
  const Range r = part(p.rows, 1, c.thread, c.threads);
  for (int64_t row = r.begin; row < r.end; row++) p.template write<STREAM>(row, 0, p.cols, p.of(row, 0, p.cols));
}

template <class P>
inline void run_shared_rows(const Call& c, P& p) {
  using Stats = typename P::Stats;
  const Range r = part(p.cols, LINE, c.thread, c.threads);
  for (int64_t row = 0; row < p.rows; row++) {
    // Two sets of parts in turn, so that one barrier a row is enough.
    float* const parts = c.scratch + (row & 1) * LINE * c.threads;
    const auto at = [parts](int t) { return reinterpret_cast<Stats*>(parts + t * LINE); };
    if (r.begin < r.end) *at(c.thread) = p.of(row, r.begin, r.end);
    c.barrier(c.team);
    Stats whole = *at(0);
    for (int t = 1; t < c.threads; t++) {
      const Range other = part(p.cols, LINE, t, c.threads);
      if (other.begin < other.end) whole = other.begin == 0 ? *at(t) : P::join(whole, *at(t));
    }
    if (r.begin < r.end) p.template write<false>(row, r.begin, r.end, whole);
  }
}

template <class P>
inline void run_rows(const Call& c, P& p) {
  if (rows_shared(p.rows, p.cols, c.threads)) return run_shared_rows(c, p);
  if (c.stream && p.cols % LINE == 0) run_own_rows<true>(c, p);
  else run_own_rows<false>(c, p);
  vfence();
}

// out[i] = f(x[i], i, count) for n elements, `count` (W, or fewer at the end) at a time. STREAM: beyond the caches, where the next
// row, which starts after this one, is fetched while this one is written.
template <bool STREAM, class X, class O, class F>
inline void write_row(const X* x, O* out, int64_t n, F f) {
  int64_t i = 0;
  for (; i + 2 * W <= n; i += 2 * W) {
    if constexpr (STREAM)
      for (int64_t ahead = 0; ahead < 2 * W; ahead += LINE) vprefetch(x + n + i + ahead);
    const V first = f(vload(x + i), i, W), second = f(vload(x + i + W), i + W, W);
    put<STREAM>(out + i, first);
    in_order();
    put<STREAM>(out + i + W, second);
  }
  for (; i + W <= n; i += W) put<STREAM>(out + i, f(vload(x + i), i, W));
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    vstore_n(out + i, f(vload_n(x + i, rest, 0), i, rest), rest);
  }
}

// A vector of `count` elements, for write_row().
template <class T>
inline V take(const T* p, int count) {
  return count == W ? vload(p) : vload_n(p, count, 0);
}

inline float first_lane(V v) {
  float lanes[W];
  vstore(lanes, v);
  return lanes[0];
}
inline float exp_falling_of(float x) { return first_lane(vexp_falling(vset(x))); }
inline float log_of(float x) { return first_lane(vlog(vset(x))); }

// The sum of e^(x - max) of n elements, and KEEP: those in `e`. AHEAD: fetches the row after this one meanwhile, as the arithmetic leaves
// the memory idle. Four at a time, which is what the registers hold.
template <bool AHEAD, bool KEEP, class T>
inline float exponentials(const T* x, float max, [[maybe_unused]] float* e, int64_t n) {
  const V top = vset(max);
  Total total;
  for (int64_t from = 0; from < n; from += BLOCK) {
    const int64_t end = least(from + BLOCK, n);
    V s0 = vset(0), s1 = s0, s2 = s0, s3 = s0;
    int64_t i = from;
    for (; i + 4 * W <= end; i += 4 * W) {
      const V e0 = vexp_falling(vsub(vload(x + i), top)), e1 = vexp_falling(vsub(vload(x + i + W), top));
      const V e2 = vexp_falling(vsub(vload(x + i + 2 * W), top)), e3 = vexp_falling(vsub(vload(x + i + 3 * W), top));
      if constexpr (AHEAD)
        for (int64_t ahead = 0; ahead < 4 * W; ahead += LINE) vprefetch(x + n + i + ahead);
      if constexpr (KEEP) {
        vstore(e + i, e0);
        vstore(e + i + W, e1);
        vstore(e + i + 2 * W, e2);
        vstore(e + i + 3 * W, e3);
      }
      s0 = vadd(s0, e0);
      s1 = vadd(s1, e1);
      s2 = vadd(s2, e2);
      s3 = vadd(s3, e3);
    }
    for (; i + W <= end; i += W) {
      const V e0 = vexp_falling(vsub(vload(x + i), top));
      if constexpr (KEEP) vstore(e + i, e0);
      s0 = vadd(s0, e0);
    }
    if (i < end) {
      // The padding becomes exp(-inf) = 0.
      const int rest = static_cast<int>(end - i);
      const V e0 = vexp_falling(vsub(vload_n(x + i, rest, -__builtin_inff()), top));
      if constexpr (KEEP) vstore_n(e + i, e0, rest);
      s1 = vadd(s1, e0);
    }
    const V block = vadd(vadd(s0, s1), vadd(s2, s3));
    if (n <= BLOCK) return vsum(block);
    total.add(block);
  }
  return total.value();
}

// Largest element and the sum of e^(x - largest).
struct MaxSum {
  float max, sum;
};
template <class T>
inline MaxSum max_sum_of(const T* x, int64_t n) {
  const float max = max_of(x, n);
  return {max, exponentials<false, false>(x, max, nullptr, n)};
}
inline MaxSum joined_max_sum(MaxSum a, MaxSum b) {
  const float max = a.max > b.max ? a.max : b.max;
  return {max, a.sum * exp_falling_of(a.max - max) + b.sum * exp_falling_of(b.max - max)};
}

// Number of elements, mean, and sum of squared distances from it. Two passes: no cancellation.
struct Moments {
  float count, mean, squares;
};
template <class T>
inline float squares_of(const T* x, int64_t n, float mean) {
  const V m = vset(mean);
  return sum_of(x, n, [m](V v) {
    const V away = vsub(v, m);
    return vmul(away, away);
  });
}
template <class T>
inline Moments moments_of(const T* x, int64_t n) {
  const float count = static_cast<float>(n), mean = sum_of(x, n, [](V v) { return v; }) / count;
  return {count, mean, squares_of(x, n, mean)};
}
// Chan, Golub & LeVeque 1983.
inline Moments joined_moments(Moments a, Moments b) {
  const float count = a.count + b.count, away = b.mean - a.mean;
  return {count, a.mean + away * (b.count / count), a.squares + b.squares + away * away * (a.count * (b.count / count))};
}
// 1 / sqrt(biased variance + eps).
inline float rstd_of(const Moments& m, double eps) { return 1 / __builtin_sqrtf(m.squares / m.count + static_cast<float>(eps)); }

}  // namespace
