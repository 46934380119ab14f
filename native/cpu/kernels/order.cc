// Sums, sorting and selection along rows. dims: cumsum [rows, cols], sort [rows, cols, descending], topk [rows, cols, k]. Threads share
// the rows; a few long rows of cumsum are shared by all threads.
#include "simd/columns.h"
#include "simd/reduce.h"

namespace {

// ---- cumsum ----

// out[i] = carry + x[0] + ... + x[i]. Vectors are added up by themselves, then four of them; what lies in front comes last.
template <class T>
void scan(const T* x, T* out, int64_t n, float carry) {
  V before = vset(carry);
  int64_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W) {
    const V v0 = vscan(vload(x + i)), v1 = vscan(vload(x + i + W)), v2 = vscan(vload(x + i + 2 * W)), v3 = vscan(vload(x + i + 3 * W));
    const V one = vlast(v0), two = vadd(one, vlast(v1)), three = vadd(two, vlast(v2));
    vstore(out + i, vadd(before, v0));
    vstore(out + i + W, vadd(before, vadd(one, v1)));
    vstore(out + i + 2 * W, vadd(before, vadd(two, v2)));
    vstore(out + i + 3 * W, vadd(before, vadd(three, v3)));
    before = vadd(before, vadd(three, vlast(v3)));
  }
  for (; i < n; i += W) {
    const int count = static_cast<int>(least(W, n - i));
    const V own = vscan(take(x + i, count)), sum = vadd(before, own);
    if (count == W) vstore(out + i, sum);
    else vstore_n(out + i, sum, count);
    before = vadd(before, vlast(own));
  }
}

// The same of many rows of a few elements.
template <class T>
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
    scatter_rows(columns, cols, n, out + from * cols);
  }
}

bool cumsum_shared(const int64_t* d, int threads) { return d[0] < threads && d[1] >= 8192; }

template <class T>
void run_cumsum(const Call& c) {
  const int64_t rows = c.dims[0], cols = c.dims[1];
  const T* x = input<T>(c, 0);
  T* out = output<T>(c);
  if (!cumsum_shared(c.dims, c.threads)) {
    const Range r = part(rows, 1, c.thread, c.threads);
    if (cols == 1) return map1<false>(x, out, r.begin, r.end, [](V v) { return v; });
    if (is_short(r.end - r.begin, cols, LONGEST)) return scan_short_rows(x + r.begin * cols, out + r.begin * cols, cols, r.end - r.begin);
    for (int64_t row = r.begin; row < r.end; row++) scan(x + row * cols, out + row * cols, cols, 0);
    return;
  }
  const Range r = part(cols, LINE, c.thread, c.threads);
  for (int64_t row = 0; row < rows; row++) {
    float* const sums = c.scratch + (row & 1) * LINE * c.threads;
    sums[c.thread * LINE] = sum_of(x + row * cols + r.begin, r.end - r.begin, [](V v) { return v; });
    c.barrier(c.team);
    float carry = 0;
    for (int t = 0; t < c.thread; t++) carry += sums[t * LINE];
    scan(x + row * cols + r.begin, out + row * cols + r.begin, r.end - r.begin, carry);
  }
}

bool cumsum_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = times(d[0], d[1]);
  return true;
}

size_t cumsum_scratch(const int64_t* d, int, int threads, size_t) { return cumsum_shared(d, threads) ? static_cast<size_t>(2 * LINE * threads) : 0; }

// ---- sort and topk ----
//
// An element and its place in one integer: the upper half orders as the values do (equal ones, -0 and 0 among them, alike; NaN above all), the lower
// half is the place, so that integers in ascending order are the stable order of the row.

template <class T>
inline uint64_t keyed(T x, int64_t place, bool descending) {
  const float value = to_float(x) + 0.0f;
  const uint32_t bits = float_bits(value), ascending = is_nan(value) ? UINT32_MAX : bits >> 31 ? ~bits : bits | 0x80000000u;
  return static_cast<uint64_t>(descending ? ~ascending : ascending) << 32 | static_cast<uint32_t>(place);
}

constexpr int64_t FEW = 8, RUN = 16;
constexpr int64_t LONG_FROM = 1024;  // elements from which three digits of 11 bits cost less than four of eight, which have an eighth of the buckets

inline void insertion_sort(uint64_t* a, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    const uint64_t x = a[i];
    int64_t j = i;
    for (; j > 0 && a[j - 1] > x; j--) a[j] = a[j - 1];
    a[j] = x;
  }
}

// Each of a few goes to the place that the number of those below it is: without branches, which nothing predicts.
template <int N>
inline void place_few(const uint64_t* a, uint64_t* out, int64_t n) {
  if constexpr (N > 1)
    if (n < N) return place_few<N - 1>(a, out, n);
  int below[N] = {};
#pragma GCC unroll 8
  for (int i = 1; i < N; i++) {
#pragma GCC unroll 8
    for (int j = 0; j < i; j++) {
      const int first = a[j] < a[i];
      below[i] += first;
      below[j] += 1 - first;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < N; i++) out[below[i]] = a[i];
}

// Bottom-up merges of runs. Returns which of the two holds the result.
inline uint64_t* merge_sort(uint64_t* a, uint64_t* other, int64_t n) {
  for (int64_t i = 0; i < n; i += RUN) insertion_sort(a + i, least(RUN, n - i));
  for (int64_t width = RUN; width < n; width *= 2) {
    for (int64_t i = 0; i < n; i += 2 * width) {
      const int64_t middle = least(i + width, n), end = least(i + 2 * width, n);
      int64_t left = i, right = middle;
      for (int64_t k = i; k < end; k++) {
        const bool from_left = right == end || (left < middle && a[left] < a[right]);
        other[k] = from_left ? a[left++] : a[right++];
      }
    }
    uint64_t* const swap = a;
    a = other;
    other = swap;
  }
  return a;
}

// Least significant digit first over the upper half, whose low bits may be known to be alike (16-bit types).
template <int DIGIT>
inline uint64_t* radix_sort(uint64_t* a, uint64_t* other, int64_t n, int from_bit) {
  constexpr int BUCKETS = 1 << DIGIT;
  uint32_t starts[BUCKETS];
  for (int shift = 32 + from_bit; shift < 64; shift += DIGIT) {
    for (int b = 0; b < BUCKETS; b++) starts[b] = 0;
    for (int64_t i = 0; i < n; i++) starts[a[i] >> shift & (BUCKETS - 1)]++;
    uint32_t total = 0;
    for (int b = 0; b < BUCKETS; b++) {
      const uint32_t count = starts[b];
      starts[b] = total;
      total += count;
    }
    for (int64_t i = 0; i < n; i++) other[starts[a[i] >> shift & (BUCKETS - 1)]++] = a[i];
    uint64_t* const swap = a;
    a = other;
    other = swap;
  }
  return a;
}

// Bits of the upper half that are the same for all values of a type.
template <class T>
constexpr int SAME_BITS = 0;
template <>
constexpr int SAME_BITS<F16> = 13;
template <>
constexpr int SAME_BITS<BF16> = 16;

template <class T>
inline uint64_t* sorted(uint64_t* a, uint64_t* other, int64_t n) {
  if (n <= FEW) return place_few<FEW>(a, other, n), other;
  constexpr int64_t RADIX_FROM = sizeof(T) < sizeof(float) ? 128 : 256;
  if (n < RADIX_FROM) return merge_sort(a, other, n);
  return n < LONG_FROM ? radix_sort<8>(a, other, n, SAME_BITS<T>) : radix_sort<11>(a, other, n, SAME_BITS<T>);
}

// The first n of the order, as values and places.
template <class T>
inline void write_order(const T* x, const uint64_t* order, int64_t n, T* values, int32_t* indices) {
  for (int64_t i = 0; i < n; i++) {
    indices[i] = static_cast<int32_t>(order[i]);
    values[i] = x[indices[i]];
  }
}

// The first n of a row in order.
template <class T>
inline void sort_row(const T* x, int64_t cols, bool descending, uint64_t* a, uint64_t* other, int64_t n, T* values, int32_t* indices) {
  for (int64_t i = 0; i < cols; i++) a[i] = keyed(x[i], i, descending);
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
  for (int64_t row = r.begin; row < r.end; row++)
    sort_row(input<T>(c, 0) + row * cols, cols, descending, a, a + cols, cols, output<T>(c) + row * cols, output<int32_t>(c, 1) + row * cols);
}

bool sort_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = sizes[2] = times(d[0], d[1]);
  return d[1] < INT32_MAX;
}

// Threads beyond the rows have none.
size_t sort_scratch(const int64_t* d, int, int threads, size_t) { return static_cast<size_t>(4 * d[1] * threads); }

// Candidates that are kept before all but the best k are dropped.
int64_t topk_room(int64_t cols, int64_t k) { return least(cols, 2 * k + (k < 32 ? 16 : 64)); }

// Of a row with more elements than candidates. These are those above the k-th best so far; the rest of the row is compared a few vectors at a time.
template <class T>
void top_of_row(const T* x, int64_t cols, int64_t k, uint64_t* a, uint64_t* other, T* values, int32_t* indices) {
  const int64_t room = topk_room(cols, k);
  int64_t count = 0, i = 0;
  const auto keep_best = [&] {
    const uint64_t* best = sorted<T>(a, other, count);
    if (best != a)
      for (int64_t j = 0; j < k; j++) a[j] = best[j];
    count = k;
  };
  for (; i < room; i++) a[count++] = keyed(x[i], i, true);
  keep_best();
  float least_kept = to_float(x[static_cast<int32_t>(a[k - 1])]);
  constexpr int64_t STEP = 4 * W;
  while (i < cols) {
    const int64_t end = least(i + STEP, cols);
    if (end - i == STEP) {
      VNan seen = vnan_none();
      const V most = Largest::next(Largest::next(vset(Largest::NOTHING), vload(x + i), vload(x + i + W), seen), vload(x + i + 2 * W), vload(x + i + 3 * W), seen);
      if (!vnan_any(seen) && vall_at_most(most, vset(least_kept))) {
        i = end;
        continue;
      }
    }
    for (; i < end; i++) {
      if (!Largest::beats(to_float(x[i]), least_kept)) continue;
      a[count++] = keyed(x[i], i, true);
      if (count < room) continue;
      keep_best();
      least_kept = to_float(x[static_cast<int32_t>(a[k - 1])]);
    }
  }
  write_order(x, sorted<T>(a, other, count), k, values, indices);
}

template <class T>
void run_topk(const Call& c) {
  const int64_t cols = c.dims[1], k = c.dims[2], room = topk_room(cols, k);
  if (cols == 1) return copy_single<T>(c);
  uint64_t* const a = reinterpret_cast<uint64_t*>(c.scratch) + c.thread * 2 * room;
  const Range r = part(c.dims[0], 1, c.thread, c.threads);
  for (int64_t row = r.begin; row < r.end; row++) {
    const T* const x = input<T>(c, 0) + row * cols;
    if (room == cols) sort_row(x, cols, true, a, a + room, k, output<T>(c) + row * k, output<int32_t>(c, 1) + row * k);
    else top_of_row(x, cols, k, a, a + room, output<T>(c) + row * k, output<int32_t>(c, 1) + row * k);
  }
}

bool topk_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = times(d[0], d[1]);
  sizes[1] = sizes[2] = times(d[0], d[2]);
  return d[2] <= d[1] && d[1] < INT32_MAX;
}

size_t topk_scratch(const int64_t* d, int, int threads, size_t) { return static_cast<size_t>(4 * topk_room(d[1], d[2]) * threads); }

}  // namespace

OPSCOPE_TYPED(cumsum, run_cumsum, "t>t", 2, 2, 0, cumsum_shape, cumsum_scratch)
OPSCOPE_TYPED(sort, run_sort, "t>t>i", 3, 3, 0, sort_shape, sort_scratch)
OPSCOPE_TYPED(topk, run_topk, "t>t>i", 3, 3, 0, topk_shape, topk_scratch)
