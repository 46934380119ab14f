// Totals of columns of [groups, outer, reduce, inner] over groups and reduce: how elements are joined, and in which order rows are read.
#pragma once
#include "columns.h"
#include "fetch.h"
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

// The same of what is divided by their number, and of what a root is taken of: alone(x) is made of an element by itself, whose square may be no float.
// Subnormal ones become zero, as in sums.
struct Averaging : Adding {
  static inline V alone(V x) { return vadd(x, vset(0)); }
};
struct AddingSquares : Adding {
  static inline V alone(V x) { return vabs(vadd(x, vset(0))); }
};
template <class R>
inline V alone(V x) {
  if constexpr (requires { R::alone(x); }) return R::alone(x);
  else return R::done(R::join(R::of(x), vset(R::NOTHING)), vset(1));
}

template <class J>
inline float joined(float a, float b) {
  float lanes[W];
  vstore(lanes, J::join(vset(a), vset(b)));
  return lanes[0];
}

// Columns whose totals stay in the first-level cache while rows stream by; of rows from memory more, so that more of each is read at once.
constexpr int64_t COLUMNS = 4096, LONG_ROW = 1024;
inline int64_t columns_at_once(const Call& c) { return c.stream ? COLUMNS : COLUMNS / 2; }

struct Plan {
  int64_t outer, reduce, inner, groups;
  bool split;      // threads share the reduction, and partial totals go through the scratch
  int64_t stride;  // floats of one thread's partial totals
};

// Groups whose elements lie next to one another in the reduction, and rows of one element, are those of an ordinary reduction.
inline Plan without_groups(const Plan& p) {
  if (p.groups == 1) return p;
  if (p.outer == 1) return {1, p.groups * p.reduce, p.inner, 1, false, 0};
  return p.reduce == 1 ? Plan{1, p.groups, p.outer * p.inner, 1, false, 0} : p;
}

inline Plan plan(const int64_t* d, int count, int threads) {
  Plan p = without_groups({d[0], d[1], d[2], count > 3 ? d[3] : 1, false, 0});
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

// out[j] = out[j] joined with ROWS rows at column j, j < n; `first`: with those alone. FETCH: the rows from `next` on are fetched.
template <int ROWS, bool FETCH, class R, class T>
inline void join_rows(const T* x, int64_t stride, int64_t n, float* out, bool first, const T* next) {
  const int64_t whole = n - n % W;
  each_vector<FETCH, ROWS>(whole, next, stride, [&](int64_t j) { vstore(out + j, with_rows<ROWS, R>(first ? vset(R::NOTHING) : vload(out + j), x + j, stride)); });
  if (whole == n) return;
  const int rest = static_cast<int>(n - whole);
  V total = first ? vset(R::NOTHING) : vload_n(out + whole, rest, 0);
  for (int r = 0; r < ROWS; r++) total = R::join(R::of(vload_n(x + r * stride + whole, rest, 0)), total);
  vstore_n(out + whole, total, rest);
}

template <int ROWS, class R, class T>
inline void join_rows(const T* x, int64_t stride, int64_t n, float* out, bool first) {
  join_rows<ROWS, false, R>(x, stride, n, out, first, x);
}

// How rows are read: eight side by side, the same while later ones are fetched, or one after the other.
enum class Order { SIDE_BY_SIDE, FETCHED, IN_TURN };

// Beyond the caches the processor reads ahead of rows side by side where they are very short, not of others.
template <class T>
inline Order order_of(const Call& c, int64_t columns) {
  const int64_t row = columns * static_cast<int64_t>(sizeof(T));
  if (!c.stream || row < (W < 8 ? 320 : 192)) return Order::SIDE_BY_SIDE;
  return row < 2560 ? Order::IN_TURN : Order::FETCHED;
}

// out[j] = out[j] joined with `rows` rows at column j, j < n <= PART; `first`: with those alone.
constexpr int64_t PART = 1280;
template <class R, class T>
inline void join_in_turn(const T* x, int64_t stride, int64_t rows, int64_t n, float* out, bool first) {
  constexpr int64_t ROWS = 128;  // added up by themselves, which takes less of the totals by rounding
  alignas(64) float part[PART];
  for (int64_t from = 0; from < rows; from += ROWS) {
    for (int64_t i = from; i < least(from + ROWS, rows); i++) join_rows<1, true, R>(x + i * stride, stride, n, part, i == from, x + i * stride + FETCHED_AHEAD<T>);
    if (first && from == 0) __builtin_memcpy(out, part, static_cast<size_t>(n) * sizeof(float));
    else map2<false>(part, out, out, 0, n, [](V more, V total) { return R::join(more, total); });
  }
}

constexpr int64_t AHEAD = 16384;  // elements between those that are joined and those that are fetched

// Column totals of the rows in `r` of output o: of columns from .. from + columns.
template <Order ORDER, class R, class T>
void join_columns(const Plan& p, const T* x, int64_t o, Range r, int64_t first, int64_t columns, float* out) {
  for (int64_t from = 0; from < columns; from += COLUMNS) {
    const int64_t n = least(COLUMNS, columns - from);
    if (r.begin >= r.end)
      for (int64_t j = 0; j < n; j++) out[from + j] = R::NOTHING;
    each_run(p, x, o, r, [&](const T* row, int64_t rows, int64_t k) {
      const T* at = row + first + from;
      if constexpr (ORDER == Order::IN_TURN) return join_in_turn<R>(at, p.inner, rows, n, out + from, k == r.begin);
      int64_t i = 0;
      const int64_t ahead = (AHEAD / n + 7) / 8 * 8;
      const auto join = [&]<int ROWS>() {
        // After the last eight rows come the next columns of the first ones.
        const T* const next = ROWS < 8 ? at + i * p.inner + n : i + ahead + ROWS <= rows ? at + (i + ahead) * p.inner : at + n;
        join_rows<ROWS, ORDER == Order::FETCHED, R>(at + i * p.inner, p.inner, n, out + from, k == r.begin && i == 0, next);
        i += ROWS;
      };
      while (i + 8 <= rows) join.template operator()<8>();
      if (i + 4 <= rows) join.template operator()<4>();
      if (i + 2 <= rows) join.template operator()<2>();
      if (i < rows) join.template operator()<1>();
    });
  }
}

// Rows of few elements as rows of many: out[j] is made of the columns j, j + columns .. of these.
constexpr int64_t NARROW = 48, WIDE = 1024, LEAST_WIDE_ROWS = 16;
// How many of them one is, a power of two; 1 where they are too few.
inline int64_t rows_of_wide(const Plan& p, Range r, int64_t columns) {
  if (W == 1 || p.groups > 1 || p.inner != columns || columns > NARROW) return 1;
  int64_t together = 1;
  while (2 * together * columns <= WIDE && r.end - r.begin >= LEAST_WIDE_ROWS * 2 * together) together *= 2;
  return together * columns < 2 * W ? 1 : together;
}

template <class R, class T>
OPSCOPE_APART void join_wide(bool beyond_caches, int64_t together, const Plan& p, const T* x, int64_t o, Range r, float* out) {
  alignas(64) float wide[WIDE];
  const T* const from = x + (o * p.reduce + r.begin) * p.inner;
  const int64_t rows = (r.end - r.begin) / together, rest = (r.end - r.begin) % together * p.inner;
  int64_t n = together * p.inner;
  const Plan of_wide{1, rows, n, 1, false, 0};
  if (beyond_caches) join_columns<Order::IN_TURN, R>(of_wide, from, 0, {0, rows}, 0, n, wide);
  else join_columns<Order::SIDE_BY_SIDE, R>(of_wide, from, 0, {0, rows}, 0, n, wide);
  if (rest > 0) join_rows<1, R>(from + rows * n, n, rest, wide, false);
  for (; n > p.inner; n /= 2) map2<false>(wide + n / 2, wide, wide, 0, n / 2, [](V more, V total) { return R::join(more, total); });
  __builtin_memcpy(out, wide, static_cast<size_t>(n) * sizeof(float));
}

template <class R, class T>
void join_columns(const Call& c, Order order, const Plan& p, const T* x, int64_t o, Range r, int64_t first, int64_t columns, float* out) {
  if (const int64_t together = rows_of_wide(p, r, columns); together > 1) return join_wide<R>(c.stream, together, p, x, o, r, out);
  if (order == Order::IN_TURN) join_columns<Order::IN_TURN, R>(p, x, o, r, first, columns, out);
  else if (order == Order::FETCHED) join_columns<Order::FETCHED, R>(p, x, o, r, first, columns, out);
  else join_columns<Order::SIDE_BY_SIDE, R>(p, x, o, r, first, columns, out);
}

}  // namespace
