// Sums, sorting and selection along rows. dims: cumsum [rows, cols], sort [rows, cols, descending], topk [rows, cols, k]. Threads share
// the rows; a few long rows of cumsum are shared by all threads.
#include "simd/columns.h"
#include "simd/reduce.h"
#include "simd/short_order.h"
#include "simd/top.h"

namespace {

// ---- cumsum ----

// out[i] = before + x[0] + ... + x[i]; returns before + all. Vectors are added up by themselves, then four of them; what lies in front comes last.
// STREAM: `out` starts with a line.
template <bool STREAM, class T>
V scan(const T* x, T* out, int64_t n, V before) {
  int64_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W) {
    const V v0 = vscan(vload(x + i)), v1 = vscan(vload(x + i + W)), v2 = vscan(vload(x + i + 2 * W)), v3 = vscan(vload(x + i + 3 * W));
    const V one = vlast(v0), two = vadd(one, vlast(v1)), three = vadd(two, vlast(v2));
    put<STREAM>(out + i, vadd(before, v0));
    put<STREAM>(out + i + W, vadd(before, vadd(one, v1)));
    put<STREAM>(out + i + 2 * W, vadd(before, vadd(two, v2)));
    put<STREAM>(out + i + 3 * W, vadd(before, vadd(three, v3)));
    before = vadd(before, vadd(three, vlast(v3)));
  }
  for (; i < n; i += W) {
    const int count = static_cast<int>(least(W, n - i));
    const V own = vscan(take(x + i, count)), sum = vadd(before, own);
    if (count == W) put<STREAM>(out + i, sum);
    else vstore_n(out + i, sum, count);
    before = vadd(before, vlast(own));
  }
  return before;
}

// The same from line to line, where that is asked for.
template <class T>
void scan_row(const T* x, T* out, int64_t n, float carry, bool stream) {
  const V before = vset(carry);
  if (!stream) {
    scan<false>(x, out, n, before);
    return;
  }
  const int64_t past = reinterpret_cast<uintptr_t>(out) / sizeof(T) % LINE, first = past == 0 ? 0 : least(LINE - past, n);
  const V next = scan<false>(x, out, first, before);
  scan<true>(x + first, out + first, n - first, next);
}

// The same of many rows of a few elements.
template <bool STREAM, class T>
void scan_short_rows(const T* x, T* out, int64_t cols, int64_t rows) {
  alignas(64) float columns[LONGEST * AT_ONCE];
  for (int64_t from = 0; from < rows; from += AT_ONCE) {
    const int64_t n = least(AT_ONCE, rows - from);
    gather_columns(x + from * cols, cols, n, columns);
    for (int64_t r = 0; r < n; r += W) {
      V sum = vset(0);
      for (int64_t k = 0; k < cols; k++) {
        sum = vadd(sum, vload(columns + k * AT_ONCE + r));
        vstore(columns + k * AT_ONCE + r, sum);
      }
    }
    scatter_rows<STREAM>(columns, cols, n, out + from * cols);
  }
}

// Rows of so many vectors. The last vector reaches into the next row, which does not change the sums in front of it and is written after it; of the
// last row it is cut. STREAM: as many rows as end with a line at a time, for `out` starts with one. Rows of three vectors and more do not win by it:
// they are read again while their stores are on their way.
template <int VECTORS, bool STREAM, class T>
void scan_rows_of_vectors(const T* x, T* out, int64_t cols, int64_t rows) {
  alignas(64) float flat[STREAM ? VECTORS * W * LINE + W : 1];
  const auto scan_one = [&](const T* from, auto* to, int last) {
    V before = vset(0);
#pragma GCC unroll 4
    for (int i = 0; i < VECTORS; i++) {
      const bool whole = i + 1 < VECTORS || last == W;
      const V own = vscan(whole ? vload(from + i * W) : vload_n(from + i * W, last, 0)), sum = i == 0 ? own : vadd(before, own);
      if (whole) vstore(to + i * W, sum);
      else vstore_n(to + i * W, sum, last);
      if (i + 1 < VECTORS) before = vlast(sum);
    }
  };
  const int rest = static_cast<int>(cols - (VECTORS - 1) * W);
  const int64_t whole_rows = rows - 1;
  for (int64_t from = 0; from < rows; from += LINE) {
    const int64_t end = least(from + LINE, rows), whole = least(end, whole_rows);
    if constexpr (STREAM) {
      for (int64_t r = from; r < whole; r++) scan_one(x + r * cols, flat + (r - from) * cols, W);
      if (whole < end) scan_one(x + whole * cols, flat + (whole - from) * cols, rest);
      map1<true>(flat, out + from * cols, 0, (end - from) * cols, [](V v) { return v; });
    } else {
      for (int64_t r = from; r < whole; r++) scan_one(x + r * cols, out + r * cols, W);
      if (whole < end) scan_one(x + whole * cols, out + whole * cols, rest);
    }
  }
}

// The best of both for many rows of up to MOST_OF_MANY elements.
constexpr int64_t MOST_OF_MANY = W == 16 ? 4 * W : LONGEST;
template <class T>
constexpr int64_t MOST_BY_COLUMNS = W < 16 ? LONGEST : sizeof(T) == sizeof(float) ? 8 : 24;

template <bool STREAM, class T>
void scan_many_rows(const T* x, T* out, int64_t cols, int64_t rows) {
  if constexpr (W == 16) {
    if (cols > MOST_BY_COLUMNS<T>) {
      switch ((cols + W - 1) / W) {
        case 1: return scan_rows_of_vectors<1, STREAM>(x, out, cols, rows);
        case 2: return scan_rows_of_vectors<2, STREAM>(x, out, cols, rows);
        case 3: return scan_rows_of_vectors<3, false>(x, out, cols, rows);
        default: return scan_rows_of_vectors<4, false>(x, out, cols, rows);
      }
    }
  }
  scan_short_rows<STREAM>(x, out, cols, rows);
}

bool cumsum_shared(const int64_t* d, int threads) { return d[0] < threads && d[1] >= 8192; }

constexpr int64_t STREAMED_SCAN = 512;  // shorter rows that end within lines are not streamed, nor are 16-bit ones, whose vectors are half a line

template <class T>
void run_cumsum(const Call& c) {
  const int64_t rows = c.dims[0], cols = c.dims[1];
  const T* x = input<T>(c, 0);
  T* out = output<T>(c);
  const bool stream = c.stream && sizeof(T) == sizeof(float) && (cols % LINE == 0 || cols >= STREAMED_SCAN);
  if (!cumsum_shared(c.dims, c.threads)) {
    const bool many = is_short(rows / c.threads, cols, MOST_OF_MANY);
    const Range r = part(rows, many || cols == 1 ? LINE : 1, c.thread, c.threads);
    const int64_t first = r.begin * cols, count = r.end - r.begin;
    if (cols == 1) {
      if (c.stream) map1<true>(x, out, r.begin, r.end, [](V v) { return v; });
      else map1<false>(x, out, r.begin, r.end, [](V v) { return v; });
    } else if (many) {
      if (c.stream) scan_many_rows<true>(x + first, out + first, cols, count);
      else scan_many_rows<false>(x + first, out + first, cols, count);
    } else {
      for (int64_t row = r.begin; row < r.end; row++) scan_row(x + row * cols, out + row * cols, cols, 0, stream);
    }
    vfence();
    return;
  }
  const Range r = part(cols, LINE, c.thread, c.threads);
  for (int64_t row = 0; row < rows; row++) {
    float* const sums = c.scratch + (row & 1) * LINE * c.threads;
    sums[c.thread * LINE] = sum_of(x + row * cols + r.begin, r.end - r.begin, [](V v) { return v; });
    c.barrier(c.team);
    float carry = 0;
    for (int t = 0; t < c.thread; t++) carry += sums[t * LINE];
    scan_row(x + row * cols + r.begin, out + row * cols + r.begin, r.end - r.begin, carry, stream);
  }
  vfence();
}

bool cumsum_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = times(d[0], d[1]);
  return true;
}

size_t cumsum_scratch(const int64_t* d, int, int threads, size_t) { return cumsum_shared(d, threads) ? static_cast<size_t>(2 * LINE * threads) : 0; }

// ---- sort and topk ----

// The first n of a row in order.
template <class T>
inline void sort_row(const T* x, int64_t cols, bool descending, uint64_t* a, uint64_t* other, int64_t n, T* values, int32_t* indices) {
  key_row(x, cols, descending, a);
  write_order(x, sorted<T>(a, other, cols), n, values, indices);
}

// The order of rows of one element.
template <class T>
void copy_single(const Call& c) {
  const Range r = part(c.dims[0], LINE, c.thread, c.threads);
  if (r.begin == r.end) return;
  __builtin_memcpy(output<T>(c) + r.begin, input<T>(c, 0) + r.begin, static_cast<size_t>(r.end - r.begin) * sizeof(T));
  __builtin_memset(output<int32_t>(c, 1) + r.begin, 0, static_cast<size_t>(r.end - r.begin) * sizeof(int32_t));
}

template <class T>
void run_sort(const Call& c) {
  const int64_t cols = c.dims[1];
  if (cols == 1) return copy_single<T>(c);
  const bool descending = c.dims[2] != 0;
  uint64_t* const a = reinterpret_cast<uint64_t*>(c.scratch) + c.thread * 2 * cols;
  const Range r = part(c.dims[0], 1, c.thread, c.threads);
  const auto sort_one = [=, &c](int64_t row) { sort_row(input<T>(c, 0) + row * cols, cols, descending, a, a + cols, cols, output<T>(c) + row * cols, output<int32_t>(c, 1) + row * cols); };
  if (W > 1 && is_short(r.end - r.begin, cols, least(ORDERED, r.end - r.begin))) return order_short_rows(input<T>(c, 0), cols, cols, r, descending, output<T>(c), output<int32_t>(c, 1), sort_one);
  for (int64_t row = r.begin; row < r.end; row++) sort_one(row);
}

bool sort_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = sizes[2] = times(d[0], d[1]);
  return d[1] < INT32_MAX;
}

// Threads beyond the rows have none.
size_t sort_scratch(const int64_t* d, int, int threads, size_t) { return static_cast<size_t>(4 * d[1] * threads); }

template <class T>
void run_topk(const Call& c) {
  const int64_t cols = c.dims[1], k = c.dims[2], room = topk_room(cols, k), stride = top_by_digits(cols, k) ? cols : room;
  if (cols == 1) return copy_single<T>(c);
  uint64_t* const a = reinterpret_cast<uint64_t*>(c.scratch) + c.thread * 2 * stride;
  const Range r = part(c.dims[0], 1, c.thread, c.threads);
  const auto top_of = [=, &c](int64_t row) {
    const T* const x = input<T>(c, 0) + row * cols;
    T* const values = output<T>(c) + row * k;
    int32_t* const indices = output<int32_t>(c, 1) + row * k;
#if defined(OPSCOPE_KEY_VECTORS)
    if (top_by_vectors(x, cols, k, values, indices)) return;
#endif
    if (room == cols) sort_row(x, cols, true, a, a + room, k, values, indices);
    else if (stride == cols) top_of_buckets(x, cols, k, a, a + stride, values, indices);
    else top_of_row(x, cols, k, a, a + room, values, indices);
  };
  if (W > 1 && is_short(r.end - r.begin, cols, least(ORDERED, r.end - r.begin))) return order_short_rows(input<T>(c, 0), cols, k, r, true, output<T>(c), output<int32_t>(c, 1), top_of);
  for (int64_t row = r.begin; row < r.end; row++) top_of(row);
}

bool topk_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = times(d[0], d[1]);
  sizes[1] = sizes[2] = times(d[0], d[2]);
  return d[2] <= d[1] && d[1] < INT32_MAX;
}

size_t topk_scratch(const int64_t* d, int, int threads, size_t) { return static_cast<size_t>(4 * (top_by_digits(d[1], d[2]) ? d[1] : topk_room(d[1], d[2])) * threads); }

}  // namespace

OPSCOPE_TYPED(cumsum, run_cumsum, "t>t", 2, 2, 0, cumsum_shape, cumsum_scratch)
OPSCOPE_TYPED(sort, run_sort, "t>t>i", 3, 3, 0, sort_shape, sort_scratch)
OPSCOPE_TYPED(topk, run_topk, "t>t>i", 3, 3, 0, topk_shape, topk_scratch)
