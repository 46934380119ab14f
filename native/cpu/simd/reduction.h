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
#include "join.h"

namespace {

// bf16 of what needs no rounding.
struct ExactBF16 {
  uint16_t bits;
};
#if defined(OPSCOPE_ISA_avx512)
inline __m256i vnarrow(const ExactBF16*, V v) { return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_castps_si512(v), 16)); }
#elif defined(OPSCOPE_ISA_avx2)
inline __m128i vnarrow(const ExactBF16*, V v) {
  const __m256i bits = _mm256_srli_epi32(_mm256_castps_si256(v), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
}
#endif
template <class T>
inline T* exact(T* p) {
  return p;
}
#if defined(OPSCOPE_ISA_avx512) || defined(OPSCOPE_ISA_avx2)
inline ExactBF16* exact(BF16* p) { return reinterpret_cast<ExactBF16*>(p); }
#endif

// Apart from its callers, for its accumulators need the registers: with SSE2 one of them was kept in memory else.
template <class R, class T>
OPSCOPE_APART float join_part(const T* x, int64_t n) {
  return R::row(x, n, [](V v) { return R::of(v); });
}

// Sums of long rows from memory fetch what follows, where a vector is a line; extremes and 16-bit elements are no faster for it.
template <class R, class T>
inline float join_long_part(const T* x, int64_t n) {
  if constexpr (R::ORDERED && sizeof(T) == sizeof(float) && W == LINE) return join_part<R>(fetched_ahead(x), n);
  else return join_part<R>(x, n);
}

// The total of the rows in `r` of output o, inner = 1.
template <class R, class T>
inline float join_row(const Call& c, const Plan& p, const T* x, int64_t o, Range r) {
  float total = R::NOTHING;
  each_run(p, x, o, r, [&](const T* row, int64_t n, int64_t k) {
    const float part = c.stream && n >= LONG_ROW ? join_long_part<R>(row, n) : join_part<R>(row, n);
    total = k == r.begin ? part : joined<R>(total, part);
  });
  return total;
}

constexpr int64_t SHORT_SUM = 24, SEVERAL = 8, SHORT_OF_GROUP = 64;

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

// Whether groups are joined first, element by element: short rows of many groups, each of which costs a call else.
inline bool by_groups(const Plan& p) { return p.groups > 1 && p.reduce <= SHORT_OF_GROUP; }
// The groups of [outer, reduce] as rows of columns.
inline Plan of_groups(const Plan& p) { return {1, p.groups, p.outer * p.reduce, 1, false, 0}; }

// Totals of the outputs `o`, which have at most COLUMNS elements in a group.
template <class R, class T>
OPSCOPE_APART void join_groups(const Call& c, const Plan& p, const T* x, Range o, float* totals) {
  alignas(64) float columns[COLUMNS];
  const int64_t n = (o.end - o.begin) * p.reduce;
  join_columns<R>(c, order_of<T>(c, n), of_groups(p), x, 0, Range{0, p.groups}, o.begin * p.reduce, n, columns);
  for (int64_t i = 0; i < o.end - o.begin; i++) totals[i] = R::row(columns + i * p.reduce, p.reduce, [](V v) { return v; });
}

template <class R, class T>
inline void finish(const Plan& p, const float* totals, T* out, int64_t count) {
  const V n = vset(static_cast<float>(p.reduce * p.groups));
  map1<false>(totals, out, 0, count, [n](V total) { return R::done(total, n); });
}

// Outputs `j` of few long rows, which stay in registers until they are written.
constexpr int FEW_LONG_ROWS = 8;

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

// The parts of a thread's share where the reduction is split: what each is joined to takes memory, and time at the end.
inline int parts_of_split(const Plan& p, int parts) { return p.outer * p.inner <= LINE ? parts : 1; }

template <class R, class T>
void reduce_split(const Call& c, const Plan& p) {
  const T* x = input<T>(c, 0);
  const int parts = parts_of_split(p, c.parts), all = c.threads * parts;
  const Order order = order_of<T>(c, least(p.inner, COLUMNS));
  each_part(c, parts, [&](int i) {
    const Range r = part(p.reduce * p.groups, p.inner == 1 && p.groups == 1 ? LINE : 1, i, all);
    float* const mine = c.scratch + i * p.stride;
    for (int64_t o = 0; o < p.outer; o++) {
      if (p.inner == 1) mine[o] = join_row<R>(c, p, x, o, r);
      else join_columns<R>(c, order, p, x, o, r, 0, p.inner, mine + o * p.inner);
    }
  });
  c.barrier(c.team);
  const Range outputs = part(p.outer * p.inner, LINE, c.thread, c.threads);
  for (int64_t j = outputs.begin; j < outputs.end; j++) {
    float total = c.scratch[j];
    for (int i = 1; i < all; i++) total = joined<R>(total, c.scratch[i * p.stride + j]);
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
    map1<false>(x, exact(out), r.begin, r.end, [](V v) { return alone<R>(v); });
    return;
  }
  const Range all{0, p.reduce * p.groups};
  alignas(64) float totals[COLUMNS];
  if (p.inner == 1) {
    const Range r = part(p.outer, p.outer >= LINE * c.threads ? LINE : 1, c.thread, c.threads);
    const int64_t at_once = by_groups(p) ? COLUMNS / p.reduce : COLUMNS;
    for (int64_t from = r.begin; from < r.end; from += at_once) {
      const int64_t n = least(at_once, r.end - from);
      if (by_groups(p)) join_groups<R>(c, p, x, {from, from + n}, totals);
      else if (by_columns(p, n, SHORT_SUM)) join_short_rows<R>(x + from * p.reduce, p.reduce, n, totals);
      else
        for (int64_t i = 0; i < n; i++) totals[i] = join_row<R>(c, p, x, from + i, all);
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
  const Order order = order_of<T>(c, least(j.end - j.begin, COLUMNS));
  for (int64_t i = o.begin; i < o.end; i++)
    for (int64_t from = j.begin; from < j.end; from += columns_at_once(c)) {
      const int64_t n = least(columns_at_once(c), j.end - from);
      join_columns<R>(c, order, p, x, i, all, from, n, totals);
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
  return p.split ? static_cast<size_t>(p.stride * threads * parts_of_split(p, MOST_PARTS)) : 0;
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
