// Reductions over the middle of [outer, reduce, inner], or of [groups, outer, reduce, inner] over groups too, from one line each:
//
//   OPSCOPE_REDUCTION(norm_l2, Adding, vmul(x, x), vsqrt(total))
//
// states the op, how elements are joined, what is joined of each element x, and what is made of the total and of n, the number of elements.
// dims: [outer, reduce, inner] or [outer, reduce, inner, groups]; out[o*inner + i] is made of x[((g*outer + o)*reduce + r)*inner + i].
//
// Contiguous (inner = 1): threads share the rows, or, when there are fewer rows than threads, parts of each row.
// Strided: threads share the columns; narrow tensors are split along the reduction instead and joined at the end.
#pragma once
#include "columns.h"
#include "reduce.h"

namespace {

// A join, as Extreme (reduce.h) is one: how two elements are joined, what changes nothing, and the join of n >= 0 contiguous floats.
struct Adding {
  static constexpr float NOTHING = 0;
  static constexpr bool ORDERED = true;  // the order of additions is part of their error
  static inline V join(V a, V b) { return vadd(a, b); }
  static inline V also(V total, V x, VNan&) { return vadd(total, x); }
  template <class T, class F>
  static inline float row(const T* x, int64_t n, F of) {
    return sum_of(x, n, of);
  }
};

template <class J>
inline float joined(float a, float b) {
  float lanes[W];
  vstore(lanes, J::join(vset(a), vset(b)));
  return lanes[0];
}

// Columns whose totals stay in the first-level cache while rows stream by; of rows from memory more, so that more of each is read at once.
constexpr int64_t COLUMNS = 4096;
inline int64_t columns_at_once(const Call& c) { return c.stream ? COLUMNS : COLUMNS / 2; }

struct Plan {
  int64_t outer, reduce, inner, groups;
  bool split;      // threads share the reduction, and partial totals go through the scratch
  int64_t stride;  // floats of one thread's partial totals
};

inline Plan plan(const int64_t* d, int count, int threads) {
  Plan p{d[0], d[1], d[2], count > 3 ? d[3] : 1, false, 0};
  const int64_t lines = p.inner == 1 ? 0 : p.inner / LINE;
  p.split = threads > 1 && p.outer < threads && lines < 4 * threads;
  p.stride = (p.outer * p.inner + LINE - 1) / LINE * LINE;
  return p;
}

// Calls use(x, n, k) for each run of rows of output o: n rows from x on, the first of them number k, of those in `r`.
template <class T, class F>
inline void each_run(const Plan& p, const T* x, int64_t o, Range r, F use) {
  for (int64_t k = r.begin; k < r.end;) {
    const int64_t group = p.groups == 1 ? 0 : k / p.reduce, row = k - group * p.reduce, n = least(p.reduce - row, r.end - k);
    use(x + ((group * p.outer + o) * p.reduce + row) * p.inner, n, k);
    k += n;
  }
}

template <int ROWS, class R, class T>
inline V rows_at(const T* x, int64_t stride) {
  if constexpr (ROWS == 1) return R::of(vload(x));
  else return R::join(rows_at<ROWS / 2, R>(x, stride), rows_at<ROWS / 2, R>(x + stride * (ROWS / 2), stride));
}

// `total` joined with ROWS rows at a column.
template <int ROWS, class R, class T>
inline V with_rows(V total, const T* x, int64_t stride) {
  if constexpr (ROWS == 1 || R::ORDERED) {
    return R::join(rows_at<ROWS, R>(x, stride), total);
  } else {
    VNan seen = vnan_none();
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r += 2) total = R::next(total, R::of(vload(x + r * stride)), R::of(vload(x + (r + 1) * stride)), seen);
    return vnan_put(total, seen);
  }
}

// out[j] = out[j] joined with ROWS rows at column j, j < n; `first`: with those alone.
template <int ROWS, class R, class T>
inline void join_rows(const T* x, int64_t stride, int64_t n, float* out, bool first) {
  int64_t j = 0;
  for (; j + W <= n; j += W) {
    vstore(out + j, with_rows<ROWS, R>(first ? vset(R::NOTHING) : vload(out + j), x + j, stride));
  }
  if (j == n) return;
  const int rest = static_cast<int>(n - j);
  V total = first ? vset(R::NOTHING) : vload_n(out + j, rest, 0);
  for (int r = 0; r < ROWS; r++) total = R::join(R::of(vload_n(x + r * stride + j, rest, 0)), total);
  vstore_n(out + j, total, rest);
}

// Column totals of the rows in `r` of output o: of columns from .. from + columns.
template <class R, class T>
void join_columns(const Plan& p, const T* x, int64_t o, Range r, int64_t first, int64_t columns, float* out) {
  for (int64_t from = 0; from < columns; from += COLUMNS) {
    const int64_t n = least(COLUMNS, columns - from);
    if (r.begin >= r.end)
      for (int64_t j = 0; j < n; j++) out[from + j] = R::NOTHING;
    each_run(p, x, o, r, [&](const T* row, int64_t rows, int64_t k) {
      const T* at = row + first + from;
      int64_t i = 0;
      for (; i + 8 <= rows; i += 8) join_rows<8, R>(at + i * p.inner, p.inner, n, out + from, k == r.begin && i == 0);
      if (i + 4 <= rows) join_rows<4, R>(at + i * p.inner, p.inner, n, out + from, k == r.begin && i == 0), i += 4;
      if (i + 2 <= rows) join_rows<2, R>(at + i * p.inner, p.inner, n, out + from, k == r.begin && i == 0), i += 2;
      if (i < rows) join_rows<1, R>(at + i * p.inner, p.inner, n, out + from, k == r.begin && i == 0);
    });
  }
}

// Apart from its callers, for its accumulators need the registers: with SSE2 one of them was kept in memory else.
template <class R, class T>
OPSCOPE_APART float join_part(const T* x, int64_t n) {
  return R::row(x, n, [](V v) { return R::of(v); });
}

// The total of the rows in `r` of output o, inner = 1.
template <class R, class T>
inline float join_row(const Plan& p, const T* x, int64_t o, Range r) {
  float total = R::NOTHING;
  each_run(p, x, o, r, [&](const T* row, int64_t n, int64_t k) {
    const float part = join_part<R>(row, n);
    total = k == r.begin ? part : joined<R>(total, part);
  });
  return total;
}

constexpr int64_t SHORT_SUM = 24, SEVERAL = 8;

// Whether rows are turned into columns (columns.h): whether they are short, and enough.
inline bool by_columns(const Plan& p, int64_t rows, int64_t longest) { return p.reduce <= longest && rows >= SEVERAL && p.groups == 1; }

template <class R, class T>
OPSCOPE_APART void join_short_rows(const T* x, int64_t cols, int64_t rows, float* totals) {
  alignas(64) float columns[LONGEST * AT_ONCE];
  for (int64_t from = 0; from < rows; from += AT_ONCE) {
    const int64_t n = least(AT_ONCE, rows - from);
    gather_columns(x + from * cols, cols, n, columns);
    for (int64_t r = 0; r < n; r += W) {
      V total = R::join(R::of(vload(columns + r)), vset(R::NOTHING));
      for (int64_t k = 1; k < cols; k++) total = R::join(R::of(vload(columns + k * AT_ONCE + r)), total);
      if (r + W <= n) vstore(totals + from + r, total);
      else vstore_n(totals + from + r, total, static_cast<int>(n - r));
    }
  }
}

template <class R, class T>
inline void finish(const Plan& p, const float* totals, T* out, int64_t count) {
  const V n = vset(static_cast<float>(p.reduce * p.groups));
  map1<false>(totals, out, 0, count, [n](V total) { return R::done(total, n); });
}

// Outputs `j` of few long rows, which stay in registers until they are written.
constexpr int FEW_LONG_ROWS = 8;
constexpr int64_t LONG_ROW = 1024;

template <int ROWS, bool STREAM, class R, class T>
void join_few_rows(const Plan& p, const T* x, T* out, Range j) {
  if constexpr (ROWS > 1)
    if (p.reduce < ROWS) return join_few_rows<ROWS - 1, STREAM, R>(p, x, out, j);
  const V count = vset(static_cast<float>(ROWS));
  const auto made = [&](const auto& load) {
    V total = R::of(load(x));
#pragma GCC unroll 8
    for (int r = 1; r < ROWS; r++) total = R::join(R::of(load(x + r * p.inner)), total);
    return R::done(total, count);
  };
  int64_t i = j.begin;
  for (; i + W <= j.end; i += W) put<STREAM>(out + i, made([i](const T* at) { return vload(at + i); }));
  if (const int rest = static_cast<int>(j.end - i); rest > 0) vstore_n(out + i, made([i, rest](const T* at) { return vload_n(at + i, rest, 0); }), rest);
  if constexpr (STREAM) vfence();
}

template <class R, class T>
void reduce_split(const Call& c, const Plan& p) {
  const T* x = input<T>(c, 0);
  const Range r = part(p.reduce * p.groups, p.inner == 1 && p.groups == 1 ? LINE : 1, c.thread, c.threads);
  float* mine = c.scratch + c.thread * p.stride;
  for (int64_t o = 0; o < p.outer; o++) {
    if (p.inner == 1) mine[o] = join_row<R>(p, x, o, r);
    else join_columns<R>(p, x, o, r, 0, p.inner, mine + o * p.inner);
  }
  c.barrier(c.team);
  const Range outputs = part(p.outer * p.inner, LINE, c.thread, c.threads);
  for (int64_t j = outputs.begin; j < outputs.end; j++) {
    float total = c.scratch[j];
    for (int t = 1; t < c.threads; t++) total = joined<R>(total, c.scratch[t * p.stride + j]);
    c.scratch[j] = total;  // of this thread's own outputs
  }
  finish<R>(p, c.scratch + outputs.begin, output<T>(c) + outputs.begin, outputs.end - outputs.begin);
}

template <class R, class T>
void run_reduction(const Call& c) {
  const Plan p = plan(c.dims, c.dim_count, c.threads);
  if (p.split) return reduce_split<R, T>(c, p);
  const T* x = input<T>(c, 0);
  T* out = output<T>(c);
  if (p.reduce * p.groups == 1) {
    // Of one element each.
    const Range r = part(p.outer * p.inner, LINE, c.thread, c.threads);
    map1<false>(x, out, r.begin, r.end, [](V v) { return R::done(R::join(R::of(v), vset(R::NOTHING)), vset(1)); });
    return;
  }
  const Range all{0, p.reduce * p.groups};
  alignas(64) float totals[COLUMNS];
  if (p.inner == 1) {
    const Range r = part(p.outer, p.outer >= LINE * c.threads ? LINE : 1, c.thread, c.threads);
    for (int64_t from = r.begin; from < r.end; from += COLUMNS) {
      const int64_t n = least(COLUMNS, r.end - from);
      if (by_columns(p, n, SHORT_SUM)) join_short_rows<R>(x + from * p.reduce, p.reduce, n, totals);
      else
        for (int64_t i = 0; i < n; i++) totals[i] = join_row<R>(p, x, from + i, all);
      finish<R>(p, totals, out + from, n);
    }
    return;
  }
  const bool by_outer = p.outer >= c.threads;
  const Range o = by_outer ? part(p.outer, 1, c.thread, c.threads) : Range{0, p.outer};
  const Range j = by_outer ? Range{0, p.inner} : part(p.inner, LINE, c.thread, c.threads);
  if (p.reduce <= FEW_LONG_ROWS && p.groups == 1 && p.inner >= LONG_ROW) {
    for (int64_t i = o.begin; i < o.end; i++) {
      if (c.stream && (p.outer == 1 || p.inner % LINE == 0)) join_few_rows<FEW_LONG_ROWS, true, R>(p, x + i * p.reduce * p.inner, out + i * p.inner, j);
      else join_few_rows<FEW_LONG_ROWS, false, R>(p, x + i * p.reduce * p.inner, out + i * p.inner, j);
    }
    return;
  }
  for (int64_t i = o.begin; i < o.end; i++)
    for (int64_t from = j.begin; from < j.end; from += columns_at_once(c)) {
      const int64_t n = least(columns_at_once(c), j.end - from);
      join_columns<R>(p, x, i, all, from, n, totals);
      finish<R>(p, totals, out + i * p.inner + from, n);
    }
}

bool reduction_shape(const int64_t* d, int count, int64_t* sizes) {
  sizes[1] = times(d[0], d[2]);
  sizes[0] = times(times(sizes[1], d[1]), count > 3 ? d[3] : 1);
  return true;
}

size_t reduction_scratch(const int64_t* d, int count, int threads, size_t) {
  const Plan p = plan(d, count, threads);
  return p.split ? static_cast<size_t>(p.stride * threads) : 0;
}

}  // namespace

#define OPSCOPE_REDUCTION(op, how, of_x, ...)                       \
  namespace {                                                      \
  struct op##_reduction : how {                                    \
    static inline V of(V x) { return of_x; }                       \
    static inline V done(V total, [[maybe_unused]] V n) { return __VA_ARGS__; } \
  };                                                               \
  template <class T>                                               \
  void op##_run(const Call& c) { run_reduction<op##_reduction, T>(c); } \
  }                                                                \
  OPSCOPE_TYPED(op, op##_run, "t>t", 3, 4, 0, reduction_shape, reduction_scratch)
