// Row operations: a statistic of each row, then an output made of the row and its statistic. A policy P states one:
//
//   rows, cols                          of the call
//   struct Stats                        of a part of a row, at most LINE floats
//   Stats of(row, from, to)             of elements from .. to, at least one
//   static Stats join(Stats, Stats)     of two parts
//   out, value(row, from, stats)        what is written, and a function of (i, n) that gives its n elements behind from + i
//   fetch(i, where)                     fetches all that is read of element i of the tensors (fetch_line())
//
// or, instead of the last two, template <bool STREAM> void write(row, from, to, stats).
//
// Threads share the rows. Where those are few and long, all threads work on parts of each row. Beyond the caches the next row is fetched
// while one is written. A statistic that takes longer than memory does has of(row, from, to, beside), which calls beside(i) for each
// vector of a row of whole lines: a row is then written while that of the next one is computed.
#pragma once
#include "fetch.h"
#include "map.h"
#include "math.h"
#include "near_parts.h"
#include "reduce.h"

namespace {

constexpr int64_t SHARED_COLUMNS = 4096;  // shortest row that threads share

inline bool rows_shared(int64_t rows, int64_t cols, int threads) { return rows < threads && cols >= SHARED_COLUMNS; }

// Floats that run_rows() takes of the scratch, from its begin.
inline size_t rows_scratch(int64_t rows, int64_t cols, int threads) { return rows_shared(rows, cols, threads) ? static_cast<size_t>(2 * LINE * threads) : 0; }

// Nothing is done beside.
struct Nothing {
  void operator()(int64_t) const {}
};

// out[i] = f(i, count) for n elements, `count` (W, or fewer at the end) at a time; before(i) comes first.
template <bool STREAM, class O, class F, class Before = Nothing>
inline void write_row(O* out, int64_t n, F f, Before before = {}) {
  int64_t i = 0;
  for (; i + 2 * W <= n; i += 2 * W) {
    before(i);
    before(i + W);
    const V first = f(i, W), second = f(i + W, W);
    put<STREAM>(out + i, first);
    in_order();
    put<STREAM>(out + i + W, second);
  }
  for (; i + W <= n; i += W) put<STREAM>(out + i, f(i, W));
  if (i < n) {
    const int rest = static_cast<int>(n - i);
    vstore_n(out + i, f(i, rest), rest);
  }
}

// The same streamed where rows start within lines: whole vectors from the first line on that starts in the row. before(j) comes before element j behind it.
template <class O, class F, class Before>
inline void stream_row_within_lines(O* out, int64_t n, F f, Before before) {
  const int64_t first = before_line(out);
  if (first > 0) vstore_n(out, f(0, static_cast<int>(first)), static_cast<int>(first));
  int64_t i = first;
  for (; i + W <= n; i += W) {
    before(i - first);
    vstream(out + i, f(i, W));
  }
  if (const int rest = static_cast<int>(n - i); rest > 0) vstore_n(out + i, f(i, rest), rest);
}

template <class P>
concept WrittenByValue = requires(const P& p, typename P::Stats s) { p.value(0, 0, s); };

template <bool STREAM, class P>
inline void write_part(P& p, int64_t row, int64_t from, int64_t to, const typename P::Stats& s) {
  if constexpr (WrittenByValue<P>) write_row<STREAM>(p.out + row * p.cols + from, to - from, p.value(row, from, s));
  else p.template write<STREAM>(row, from, to, s);
}

// A function of i that fetches, line by line, the row whose first element is `next`.
template <class T, class P, class Where>
inline auto fetching(const P& p, int64_t next, Where where) {
  return [&p, next, where](int64_t i) {
    if (i % IN_LINE<T> == 0) p.fetch(next + i, where);
  };
}

template <class P, class T, class Where>
inline auto fetching_behind(const P& p, const T*, int64_t next, Where where) {
  return fetching<T>(p, next, where);
}

// Calls of(row, beside) for each row, where beside(i) writes what before(row, i) gives of the row before it and fetches the next one. STREAM: rows are whole lines.
template <bool STREAM, class P, class T, class Where, class Of, class Before>
inline void write_behind(const P& p, T* out, Range rows, Where where, Of of, Before before) {
  if (rows.begin == rows.end) return;
  of(rows.begin, fetching<T>(p, (rows.begin + 1) * p.cols, where));
  for (int64_t row = rows.begin + 1; row < rows.end; row++) {
    T* const to = out + (row - 1) * p.cols;
    const auto value = before(row - 1);
    // beside() is called for whole vectors.
    if constexpr (!STREAM)
      if (const int64_t rest = p.cols % W; rest > 0) vstore_n(to + p.cols - rest, value(p.cols - rest, static_cast<int>(rest)), static_cast<int>(rest));
    of(row, [fetch = fetching<T>(p, (row + 1) * p.cols, where), to, value](int64_t i) {
      fetch(i);
      if constexpr (STREAM) vstream(to + i, value(i, W));
      else vstore(to + i, value(i, W));
    });
  }
  write_row<STREAM>(out + (rows.end - 1) * p.cols, p.cols, before(rows.end - 1));
}

template <class P, class T, class Where>
inline void stream_own_rows(const P& p, T* out, Range rows, Where where, bool distant_cache) {
  // Of longer rows the next one would be out of the second-level cache before it is read: what follows of the same one is fetched.
  constexpr int64_t LONG_BYTES = 512 << 10, AHEAD = 4096 / sizeof(T);
  const int64_t fetched = distant_cache && p.cols * static_cast<int64_t>(sizeof(T)) > LONG_BYTES ? AHEAD : p.cols;
  typename P::Stats stats;
  if constexpr (requires { p.of(0, 0, 0, Nothing{}); }) {
    write_behind<true>(p, out, rows, where, [&](int64_t row, auto beside) { stats = p.of(row, 0, p.cols, beside); }, [&](int64_t row) { return p.value(row, 0, stats); });
  } else {
    for (int64_t row = rows.begin; row < rows.end; row++) {
      stats = p.of(row, 0, p.cols);
      write_row<true>(out + row * p.cols, p.cols, p.value(row, 0, stats), fetching<T>(p, row * p.cols + fetched, where));
    }
  }
}

// Calls f(Near) or f(Far).
template <class F>
inline void where_rows_fit(int64_t cols, F f) {
  constexpr int64_t NEAR = 2048;  // three rows of so many floats fit the first-level cache
  if (cols > NEAR) f(Far{});
  else f(Near{});
}

// Calls f for the rows of this thread. What adds up over its rows has the same ones in every call, and so the same rounding; others are shared out by speed, or beyond the
// caches in parts.
template <class P, class F>
inline void each_own_rows(const Call& c, const P& p, F f) {
  if constexpr (!WrittenByValue<P> || requires { P::ADDS_UP; }) {
    if (const Range r = part(p.rows, 1, c.thread, c.threads); r.begin < r.end) f(r);
  } else {
    each_near(c, 2 * p.rows * p.cols * static_cast<int64_t>(sizeof(*p.out)), p.rows, 1, f);
  }
}

template <bool STREAM, class P>
inline void run_own_rows(const Call& c, P& p) {
  if constexpr (STREAM && WrittenByValue<P>) {
    each_own_rows(c, p, [&](Range rows) {
      where_rows_fit(p.cols, [&](auto where) { stream_own_rows(p, p.out, rows, where, c.distant_cache); });
    });
  } else {
    each_own_rows(c, p, [&](Range r) {
      for (int64_t row = r.begin; row < r.end; row++) write_part<STREAM>(p, row, 0, p.cols, p.of(row, 0, p.cols));
    });
  }
}

// Rows of f32 beyond the caches that start within lines, where the statistic takes less than memory does.
constexpr int64_t STREAMED_WITHIN_LINES = 256;
template <class P>
inline void stream_rows_within_lines(const Call& c, P& p) {
  where_rows_fit(p.cols, [&](auto where) {
    each_own_rows(c, p, [&](Range r) {
      for (int64_t row = r.begin; row < r.end; row++)
        stream_row_within_lines(p.out + row * p.cols, p.cols, p.value(row, 0, p.of(row, 0, p.cols)), fetching_behind(p, p.out, (row + 1) * p.cols, where));
    });
  });
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
    if (r.begin < r.end) write_part<false>(p, row, r.begin, r.end, whole);
  }
}

template <class P>
inline void run_rows(const Call& c, P& p) {
  if (rows_shared(p.rows, p.cols, c.threads)) return run_shared_rows(c, p);
  if (c.stream && p.cols % LINE == 0) {
    run_own_rows<true>(c, p);
  } else {
    if constexpr (WrittenByValue<P> && !requires { p.of(0, 0, 0, Nothing{}); })
      if (W == LINE && sizeof(*p.out) == sizeof(float) && c.stream && p.cols >= STREAMED_WITHIN_LINES) return stream_rows_within_lines(c, p), vfence();
    run_own_rows<false>(c, p);
  }
  vfence();
}

inline float first_lane(V v) {
  float lanes[W];
  vstore(lanes, v);
  return lanes[0];
}
inline float exp_falling_of(float x) { return first_lane(vexp_falling(vset(x))); }
inline float log_of(float x) { return first_lane(vlog(vset(x))); }

// The sum of e^(x - max) of n elements, and KEEP: those in `e`; beside(i) comes before element i is kept. Four at a time, which is what
// the registers hold.
template <bool KEEP, class T, class F>
inline float exponentials(const T* x, float max, [[maybe_unused]] float* e, int64_t n, F beside) {
  const V top = vset(max);
  Total total;
  for (int64_t from = 0; from < n; from += BLOCK) {
    const int64_t end = least(from + BLOCK, n);
    V s0 = vset(0), s1 = s0, s2 = s0, s3 = s0;
    int64_t i = from;
    for (; i + 4 * W <= end; i += 4 * W) {
      const V e0 = vexp_falling(vsub(vload(x + i), top)), e1 = vexp_falling(vsub(vload(x + i + W), top));
      const V e2 = vexp_falling(vsub(vload(x + i + 2 * W), top)), e3 = vexp_falling(vsub(vload(x + i + 3 * W), top));
      for (int64_t at = i; at < i + 4 * W; at += W) beside(at);
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
      beside(i);
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
inline MaxSum joined_max_sum(MaxSum a, MaxSum b) {
  const float max = a.max > b.max ? a.max : b.max;
  return {max, a.sum * exp_falling_of(a.max - max) + b.sum * exp_falling_of(b.max - max)};
}
template <class T, class F = Nothing>
inline MaxSum max_sum_of(const T* x, int64_t n, F beside = {}) {
  const float max = max_of(x, n);
  return {max, exponentials<false>(x, max, nullptr, n, beside)};
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
