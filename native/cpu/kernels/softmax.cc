// Row operations with exponentials (simd/rows.h): softmax, log_softmax, cross_entropy and its gradient, the gradient of softmax.
// dims: [rows, cols] of all of them.
#include "simd/softmax_backward.h"

namespace {

template <class T>
struct ByMaxSum {
  using Stats = MaxSum;
  int64_t rows, cols;
  const T* x;
  explicit ByMaxSum(const Call& c) : rows(c.dims[0]), cols(c.dims[1]), x(input<T>(c, 0)) {}
  template <class F = Nothing>
  MaxSum of(int64_t row, int64_t from, int64_t to, F beside = {}) const {
    return max_sum_of(x + row * cols + from, to - from, beside);
  }
  static MaxSum join(MaxSum a, MaxSum b) { return joined_max_sum(a, b); }
  void fetch(int64_t i, auto where) const { fetch_line(x + i, where); }
};

bool same_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[1] = times(d[0], d[1]);
  return true;
}

size_t scratch(const int64_t* d, int, int threads, size_t) { return rows_scratch(d[0], d[1], threads); }

// Rows of one element: all that is left of it is x - x, which is 0, or NaN where x is infinite or NaN. out = f of that, element by element.
template <class T, class F>
void map_single(const Call& c, F f) {
  const T* const x = input<T>(c, 0);
  const Range r = part(c.dims[0], LINE, c.thread, c.threads);
  map1<false>(x, output<T>(c), r.begin, r.end, [f](V v) { return f(vsub(v, v)); });
}

// ---- softmax ----
//
// The exponentials of a row wait in a buffer of the thread's own (of short rows in the output itself, where that is f32 and stays in the caches)
// until their sum is known: each is made once, and the output is written once without being read first. Of longer rows, and of rows
// that threads share, they are made twice.

constexpr int64_t BUFFERED = 32768;     // longest row, in floats, that waits in a buffer (128 KiB of second-level cache)
constexpr int64_t WRITTEN_BEHIND = 512;  // shortest row of f32 that is written while the exponentials of the next one are made, within the caches

// Three longer rows exceed the first-level cache, and the second-level one of processors with a far last-level cache waits for them.
inline bool writes_behind(const Call& c, int64_t cols) {
  constexpr int64_t LONGEST = 2048;
  return !c.stream && cols >= WRITTEN_BEHIND && (cols <= LONGEST || !c.distant_cache);
}

template <class T>
struct Softmax : ByMaxSum<T> {
  T* out;
  explicit Softmax(const Call& c) : ByMaxSum<T>(c), out(output<T>(c)) {}
  auto value(int64_t row, int64_t from, const MaxSum& s) const {
    const V top = vset(s.max), factor = vset(1 / s.sum);
    return [=, x = this->x + row * this->cols + from](int64_t i, int n) { return vmul(vexp_falling(vsub(take(x + i, n), top)), factor); };
  }
};

inline float* place_for(float* row) { return row; }
template <class T>
inline float* place_for(T*) {
  return nullptr;
}

// Rows of so many vectors, the last of which may be shorter, stay in registers.
template <int VECTORS, class T>
void softmax_of_vectors(const Softmax<T>& p, Range rows) {
  const int rest = static_cast<int>(p.cols - (VECTORS - 1) * W);
  for (int64_t row = rows.begin; row < rows.end; row++) {
    const T* const x = p.x + row * p.cols;
    T* const out = p.out + row * p.cols;
    V v[VECTORS];
    for (int i = 0; i < VECTORS; i++) v[i] = i + 1 < VECTORS || rest == W ? vload(x + i * W) : vload_n(x + i * W, rest, -__builtin_inff());
    V top = v[0], sum = vset(0);
    for (int i = 1; i < VECTORS; i++) top = vmax(top, v[i]);
    top = vset(vpeak(top));
    for (int i = 0; i < VECTORS; i++) sum = vadd(sum, v[i] = vexp_falling(vsub(v[i], top)));
    const V factor = vset(1 / vsum(sum));
    for (int i = 0; i < VECTORS; i++) {
      if (i + 1 < VECTORS || rest == W) vstore(out + i * W, vmul(v[i], factor));
      else vstore_n(out + i * W, vmul(v[i], factor), rest);
    }
  }
}

template <class T>
bool softmax_short_rows(const Call& c, const Softmax<T>& p) {
  if (c.stream || W == 1) return false;
  const Range r = part(p.rows, 1, c.thread, c.threads);
  switch ((p.cols + W - 1) / W) {
    case 1: return softmax_of_vectors<1>(p, r), true;
    case 2: return softmax_of_vectors<2>(p, r), true;
    case 3: return softmax_of_vectors<3>(p, r), true;
    case 4: return softmax_of_vectors<4>(p, r), true;
    default: return false;
  }
}

// Each row is written while the exponentials of the next one are made, which take its place in the buffer.
template <bool STREAM, class T>
void softmax_behind(const Softmax<T>& p, Range rows, float* e) {
  V factor;
  const auto make = [&](int64_t row, auto beside) {
    const T* const x = p.x + row * p.cols;
    factor = vset(1 / exponentials<true>(x, max_of(x, p.cols), e, p.cols, beside));
  };
  const auto made = [&](int64_t) { return [e, factor](int64_t i, int n) { return vmul(take(e + i, n), factor); }; };
  where_rows_fit(p.cols, [&](auto where) { write_behind<STREAM>(p, p.out, rows, where, make, made); });
  if constexpr (STREAM) vfence();
}

template <class T>
void run_softmax(const Call& c) {
  if (c.dims[1] == 1) return map_single<T>(c, [](V none) { return vadd(none, vset(1)); });
  Softmax<T> p(c);
  if (softmax_short_rows(c, p)) return;
  const bool stream = c.stream && p.cols % LINE == 0, in_place = sizeof(T) == sizeof(float) && !stream;
  if (rows_shared(p.rows, p.cols, c.threads) || (!in_place && p.cols > BUFFERED)) return run_rows(c, p);
  float* const buffer = c.scratch + c.thread * BUFFERED;
  if (stream) return each_range(c, p.rows, 1, [&](Range rows) { softmax_behind<true>(p, rows, buffer); });
  if (in_place && writes_behind(c, p.cols) && p.cols <= BUFFERED) return each_near(c, 2 * p.rows * p.cols * static_cast<int64_t>(sizeof(T)), p.rows, 1, [&](Range rows) { softmax_behind<false>(p, rows, buffer); });
  each_near(c, 2 * p.rows * p.cols * static_cast<int64_t>(sizeof(T)), p.rows, 1, [&](Range r) {
    for (int64_t row = r.begin; row < r.end; row++) {
      const T* const x = p.x + row * p.cols;
      T* const out = p.out + row * p.cols;
      float* const e = in_place ? place_for(out) : buffer;
      const float max = max_of(x, p.cols);
      const V factor = vset(1 / exponentials<true>(x, max, e, p.cols, Nothing{}));
      map1<false>(e, out, 0, p.cols, [factor](V v) { return vmul(v, factor); });
    }
  });
}

size_t softmax_scratch(const int64_t* d, int, int threads, size_t bytes) {
  if (rows_shared(d[0], d[1], threads)) return rows_scratch(d[0], d[1], threads);
  return d[1] <= BUFFERED && (d[1] % LINE == 0 || d[1] >= WRITTEN_BEHIND || bytes < sizeof(float)) ? static_cast<size_t>(BUFFERED * threads) : 0;
}

// ---- log_softmax ----

template <class T>
struct LogSoftmax : ByMaxSum<T> {
  T* out;
  explicit LogSoftmax(const Call& c) : ByMaxSum<T>(c), out(output<T>(c)) {}
  auto value(int64_t row, int64_t from, const MaxSum& s) const { return value(row, from, s.max, log_of(s.sum)); }
  auto value(int64_t row, int64_t from, float max, float logarithm) const {
    const V top = vset(max), log = vset(logarithm);
    return [=, x = this->x + row * this->cols + from](int64_t i, int n) { return vsub(vsub(take(x + i, n), top), log); };
  }
};

// The sums of short rows are turned into logarithms a vector at a time: one takes longer than a row of a few vectors. Then use(row, max, logarithm).
template <class T, class F>
inline bool with_logarithms(const Call& c, const ByMaxSum<T>& p, F use) {
  constexpr int64_t SHORT = 512;
  if (c.stream || p.cols > SHORT || rows_shared(p.rows, p.cols, c.threads)) return false;
  float maxima[LINE], logs[LINE];
  const Range r = part(p.rows, 1, c.thread, c.threads);
  for (int64_t row = r.begin; row < r.end; row += LINE) {
    const int64_t n = least(LINE, r.end - row);
    for (int64_t i = 0; i < n; i++) {
      const MaxSum s = max_sum_of(p.x + (row + i) * p.cols, p.cols);
      maxima[i] = s.max;
      logs[i] = s.sum;
    }
    map1<false>(logs, logs, 0, n, [](V v) { return vlog(v); });
    for (int64_t i = 0; i < n; i++) use(row + i, maxima[i], logs[i]);
  }
  return true;
}

template <class T>
void log_softmax_behind(const LogSoftmax<T>& p, Range rows) {
  MaxSum s;
  const auto make = [&](int64_t row, auto beside) { s = p.of(row, 0, p.cols, beside); };
  where_rows_fit(p.cols, [&](auto where) { write_behind<false>(p, p.out, rows, where, make, [&](int64_t row) { return p.value(row, 0, s); }); });
}

template <class T>
void run_log_softmax(const Call& c) {
  if (c.dims[1] == 1) return map_single<T>(c, [](V none) { return none; });
  LogSoftmax<T> p(c);
  if (with_logarithms(c, p, [&](int64_t row, float max, float log) { write_row<false>(p.out + row * p.cols, p.cols, p.value(row, 0, max, log)); })) return;
  if constexpr (sizeof(T) == sizeof(float))
    if (!c.stream && p.cols >= WRITTEN_BEHIND && !rows_shared(p.rows, p.cols, c.threads)) return each_near(c, 2 * p.rows * p.cols * static_cast<int64_t>(sizeof(T)), p.rows, 1, [&](Range rows) { log_softmax_behind(p, rows); });
  run_rows(c, p);
}

// ---- cross_entropy ----

// The class of a token, or none where the index is outside.
inline int64_t class_of(const Call& c, int64_t token) {
  const int64_t target = input<int32_t>(c, 1)[token];
  return target >= 0 && target < c.dims[1] ? target : INT64_MIN;
}

template <class T>
struct CrossEntropy : ByMaxSum<T> {
  const Call& c;
  double total = 0;  // of the tokens whose class this thread has met
  explicit CrossEntropy(const Call& call) : ByMaxSum<T>(call), c(call) {}
  template <bool STREAM>
  void write(int64_t row, int64_t from, int64_t to, const MaxSum& s) {
    const int64_t target = class_of(c, row);
    if (target >= from && target < to) add(row, target, s.max, log_of(s.sum));
  }
  void add(int64_t row, int64_t target, float max, float log) { total += max - to_float(this->x[row * this->cols + target]) + log; }
};

// Of this thread's tokens: 0, or NaN.
template <class T>
float loss_of_one_class(const Call& c, const T* x) {
  const int32_t* const targets = input<int32_t>(c, 1);
  const Range r = part(c.dims[0], 1, c.thread, c.threads);
  bool all = true;
  for (int64_t i = r.begin; i < r.end; i++) {
    const float v = to_float(x[i]);
    all &= (v - v == 0) | (targets[i] != 0);
  }
  return all ? 0 : __builtin_nanf("");
}

template <class T>
void run_cross_entropy(const Call& c) {
  CrossEntropy<T> p(c);
  const auto short_row = [&](int64_t row, float max, float log) {
    if (const int64_t target = class_of(c, row); target >= 0) p.add(row, target, max, log);
  };
  if (p.cols == 1) p.total = loss_of_one_class(c, p.x);
  else if (!with_logarithms(c, p, short_row)) run_rows(c, p);
  double* const totals = reinterpret_cast<double*>(c.scratch + rows_scratch(p.rows, p.cols, c.threads));
  totals[c.thread * 8] = p.total;
  c.barrier(c.team);
  if (c.thread != 0) return;
  double sum = 0;
  for (int t = 0; t < c.threads; t++) sum += totals[t * 8];
  set(output<T>(c), static_cast<float>(sum / static_cast<double>(p.rows)));
}

bool cross_entropy_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = times(d[0], d[1]);
  sizes[1] = d[0];
  sizes[2] = 1;
  return true;
}

size_t cross_entropy_scratch(const int64_t* d, int, int threads, size_t) { return rows_scratch(d[0], d[1], threads) + static_cast<size_t>(LINE * threads); }

V with_lane(V v, int lane, float value) {
  float lanes[W];
  vstore(lanes, v);
  lanes[lane] = value;
  return vload(lanes);
}

template <class T>
struct CrossEntropyBackward : ByMaxSum<T> {
  const Call& c;
  float scale;
  T* out;
  explicit CrossEntropyBackward(const Call& call) : ByMaxSum<T>(call), c(call), scale(*input(call, 2) / static_cast<float>(call.dims[0])), out(output<T>(call)) {}
  auto value(int64_t row, int64_t from, const MaxSum& s) const {
    const T* const x = this->x + row * this->cols;
    const V top = vset(s.max), factor = vset(scale / s.sum);
    const int64_t target = class_of(c, row) - from;
    const float own = target >= 0 ? exp_falling_of(to_float(x[target + from]) - s.max) : 0, of_target = (own - s.sum) * (scale / s.sum);
    return [=, x = x + from](int64_t i, int n) {
      const V v = vmul(vexp_falling(vsub(take(x + i, n), top)), factor);
      return i <= target && target < i + n ? with_lane(v, static_cast<int>(target - i), of_target) : v;
    };
  }
};

template <class T>
void run_cross_entropy_backward(const Call& c) {
  CrossEntropyBackward<T> p(c);
  if (p.cols > 1) return run_rows(c, p);
  const int32_t* const targets = input<int32_t>(c, 1);
  const Range r = part(p.rows, 1, c.thread, c.threads);
  for (int64_t i = r.begin; i < r.end; i++) {
    const float v = to_float(p.x[i]), none = v - v;
    set(p.out + i, targets[i] == 0 ? none : none + p.scale);
  }
}

bool cross_entropy_backward_shape(const int64_t* d, int, int64_t* sizes) {
  sizes[0] = sizes[3] = times(d[0], d[1]);
  sizes[1] = d[0];
  sizes[2] = 1;
  return true;
}

}  // namespace

OPSCOPE_ROUNDED(softmax, run_softmax, "t>t", 2, 2, 0, same_shape, softmax_scratch)
OPSCOPE_ROUNDED(log_softmax, run_log_softmax, "t>t", 2, 2, 0, same_shape, scratch)
OPSCOPE_TYPED(cross_entropy, run_cross_entropy, "ti>t", 2, 2, 0, cross_entropy_shape, cross_entropy_scratch)
OPSCOPE_ROUNDED(cross_entropy_backward, run_cross_entropy_backward, "tif>t", 2, 2, 0, cross_entropy_backward_shape, scratch)
OPSCOPE_ROUNDED(softmax_backward, run_softmax_backward, "tt>t", 2, 2, 0, softmax_backward_shape, scratch)
