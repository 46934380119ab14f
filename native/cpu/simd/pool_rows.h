// Windows of planes, a row of outputs at a time: the columns of its windows are joined first, all at once, into a line of f32; then
// windows are joined across that line. Windows whose rows are long or span the plane are joined one by one instead.
#pragma once
#include "interleaved.h"
#include "map.h"
#include "reduction.h"

namespace {

constexpr int64_t BUFFERED = 8192;   // floats of a thread's buffer
constexpr int64_t LONG_WINDOW = 64;  // columns from which a window is joined by itself

// Where the windows of one axis lie.
struct Axis {
  int64_t input, output, kernel, stride, padding;  // kernel 0: adaptive
  inline int64_t first(int64_t o) const {
    if (kernel == 0) return o * input / output;
    const int64_t at = o * stride - padding;
    return at > 0 ? at : 0;
  }
  inline int64_t end(int64_t o) const { return kernel == 0 ? ((o + 1) * input + output - 1) / output : least(input, o * stride - padding + kernel); }
  // Whether every window has an element of the input.
  inline bool meets_input() const { return kernel == 0 || (stride >= 1 && 2 * padding <= kernel && (output - 1) * stride + kernel <= input + 2 * padding); }
  // Whether there is one window, of the whole input.
  inline bool is_all() const { return output == 1 && first(0) == 0 && end(0) == input; }
  // Whether each window is an element.
  inline bool is_each() const { return input == output && (kernel == 0 || (kernel == 1 && stride == 1)); }
  // What a mean divides by: padding counts.
  inline int64_t counted(int64_t o) const { return kernel == 0 ? end(o) - first(o) : kernel; }
  // Elements that a window has at most.
  inline int64_t longest() const { return kernel == 0 ? least(input, input / output + 2) : kernel; }
  // Elements between two windows, at most.
  inline int64_t step() const { return kernel == 0 ? input / output + 1 : stride; }
};

struct Planes {
  int64_t planes;
  Axis down, across;
  // signals: windows lie along the width alone.
  Planes(const int64_t* d, int count, bool signals)
      : planes(d[0]), down{d[1], d[3], count > 5 ? d[5] : 0, count > 5 ? d[6] : 1, count > 5 ? d[7] : 0}, across{d[2], d[4], down.kernel, down.stride, down.padding} {
    if (signals) down = {1, 1, 0, 1, 0};
    // A column is a signal.
    if (across.input == 1 && across.is_each()) {
      across = down;
      down = {1, 1, 0, 1, 0};
    }
  }
};

// Where the adaptive windows of a row lie, if these are few: worked out once for all rows.
struct Across : Axis {
  static constexpr int64_t FEW = 512;
  int32_t firsts[FEW], lengths[FEW];
  explicit Across(const Axis& a) : Axis(a) {
    for (int64_t o = 0; is_listed() && o < output; o++) {
      firsts[o] = static_cast<int32_t>(first(o));
      lengths[o] = static_cast<int32_t>(end(o) - first(o));
    }
  }
  bool is_listed() const { return kernel == 0 && output <= FEW && input <= INT32_MAX; }
};

// A join J as one of whole elements (reduction.h).
template <class J>
struct AsItIs : J {
  static inline V of(V x) { return x; }
};

template <class J, class T>
inline float joined_run(const T* x, int64_t n) {
  return J::row(x, n, [](V v) { return v; });
}

// The same of floats one by one, and of those where they are few.
template <class J>
inline float joined_singly(const float* x, int64_t n) {
  float total = J::NOTHING;
  bool nan = false;  // beside the maximum, which then is one instruction
  for (int64_t i = 0; i < n; i++) {
    if constexpr (J::NOTHING == 0) total += x[i];
    else nan |= is_nan(x[i]), total = x[i] > total ? x[i] : total;
  }
  return nan ? __builtin_nanf("") : total;
}
template <class J>
inline float joined_few(const float* x, int64_t n) {
  return n >= 2 * LINE ? joined_run<J>(x, n) : joined_singly<J>(x, n);
}

// Of a mean: divided by the elements of a window of `rows` rows; a maximum as it is.
template <class J>
inline float finished(float total, int64_t rows, int64_t columns) {
  return J::NOTHING == 0 ? total / static_cast<float>(rows * columns) : total;
}

// line[i] = the join of `rows` rows at x + i, i < n.
template <class J, class T>
inline void join_down(const T* x, int64_t stride, int64_t rows, int64_t n, float* line) {
  constexpr int64_t LONG = 256;  // rows that are read one after the other: several at once are slower from memory
  using R = AsItIs<J>;
  int64_t r = 0;
  if (n >= LONG)
    for (; r < rows; r++) {
      if (r == 0) map1<false>(x, line, 0, n, [](V v) { return v; });
      else map2<false>(x + r * stride, line, line, 0, n, [](V a, V b) { return J::join(a, b); });
    }
  for (; r + 4 <= rows; r += 4) join_rows<4, R>(x + r * stride, stride, n, line, r == 0);
  if (r + 2 <= rows) join_rows<2, R>(x + r * stride, stride, n, line, r == 0), r += 2;
  if (r < rows) join_rows<1, R>(x + r * stride, stride, n, line, r == 0);
}

// VECTORS vectors of neighbouring windows of `kernel` elements, STRIDE apart.
template <class J, int STRIDE, int VECTORS, class T>
inline void join_neighbours(const float* x, int64_t kernel, V share, T* out) {
  V total[VECTORS];
  VNan seen[VECTORS];
  for (int v = 0; v < VECTORS; v++) total[v] = vset(J::NOTHING), seen[v] = vnan_none();
  for (int64_t k = 0; k < kernel; k++)
    for (int v = 0; v < VECTORS; v++) {
      const float* const at = x + k + v * W * STRIDE;
      total[v] = J::also(total[v], STRIDE == 1 ? vload(at) : vload_even(at), seen[v]);
    }
  for (int v = 0; v < VECTORS; v++) vstore(out + v * W, J::NOTHING == 0 ? vmul(total[v], share) : vnan_put(total[v], seen[v]));
}

// `n` windows, at least W where STRIDE is given: those of the last vector may be joined twice.
template <class J, int STRIDE, class T>
inline void join_inside(const float* x, int64_t n, int64_t kernel, V share, T* out) {
  int64_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W) join_neighbours<J, STRIDE, 4>(x + i * STRIDE, kernel, share, out + i);
  for (; i + W <= n; i += W) join_neighbours<J, STRIDE, 1>(x + i * STRIDE, kernel, share, out + i);
  if (i < n) join_neighbours<J, STRIDE, 1>(x + (n - W) * STRIDE, kernel, share, out + n - W);
}

#if defined(OPSCOPE_INTERLEAVED)
// Strides of which the elements of W windows at one place are lanes of as many vectors.
inline bool is_wide_stride(int64_t stride) { return stride > 2 && stride <= MOST_INTERLEAVED; }

// W windows of `kernel` elements, STRIDE apart, the first of which begins at column `at` of a row of `width`. INSIDE: all of them lie in the row.
template <class J, int STRIDE, bool INSIDE>
OPSCOPE_INLINE V joined_wide(const float* row, int64_t width, int64_t at, int64_t kernel) {
  static constexpr Interleaved<STRIDE, false> places;
  const auto limited = [](int64_t place) { return static_cast<int>(place < 0 ? 0 : place < W ? place : W); };
  V total = vset(J::NOTHING);
  VNan seen = vnan_none();
  for (int64_t k = 0; k < kernel; k += STRIDE, at += STRIDE) {
    const int met = static_cast<int>(least(STRIDE, kernel - k));
    V read[STRIDE];
#pragma GCC unroll 8
    for (int q = 0; q < STRIDE; q++) {
      const int64_t first = at + q * W;
      if constexpr (!INSIDE) read[q] = vload_between(row + first, limited(-first), limited(width - first), J::NOTHING);
      else read[q] = q + 1 < STRIDE ? vload(row + first) : vload_n(row + first, W - STRIDE + met, 0);  // nothing behind the last window
    }
#pragma GCC unroll 8
    for (int q = 0; q < STRIDE; q++)
      if (q < met) total = J::also(total, places.of(read, q), seen);
  }
  return J::NOTHING == 0 ? total : vnan_put(total, seen);
}

// Rows of `outputs` windows each, `step` elements of the input from one to the next.
struct WideRows {
  int64_t rows, step, width, padding, outputs, kernel;
};
template <class J, int STRIDE, class T>
OPSCOPE_APART void join_wide(const WideRows& r, const float* x, V share, T* out) {
  const int64_t met = (W - 1) * STRIDE + r.kernel;  // columns that W windows meet
  const int some = static_cast<int>(least(W, r.outputs));
  for (int64_t row = 0; row < r.rows; row++, x += r.step, out += r.outputs)
    for (int64_t i = 0; i < r.outputs; i += W) {
      // The last ones may be joined twice.
      const int64_t window = least(i, r.outputs - some), at = window * STRIDE - r.padding;
      const V total = at >= 0 && at + met <= r.width ? joined_wide<J, STRIDE, true>(x, r.width, at, r.kernel) : joined_wide<J, STRIDE, false>(x, r.width, at, r.kernel);
      vstore_n(out + window, J::NOTHING == 0 ? vmul(total, share) : total, some);
    }
}
template <class J, int STRIDE = MOST_INTERLEAVED, class T>
inline void join_wide(const WideRows& rows, int64_t stride, const float* x, V share, T* out) {
  if constexpr (STRIDE > 3)
    if (stride < STRIDE) return join_wide<J, STRIDE - 1>(rows, stride, x, share, out);
  join_wide<J, STRIDE>(rows, x, share, out);
}
#endif

// The same of any stride, an element of all windows at a time.
template <class J, class T>
inline void join_inside_apart(const float* x, int64_t n, int64_t kernel, int64_t stride, V share, T* out) {
  constexpr int64_t CHUNK = 256;
  float totals[CHUNK];
  for (int64_t begin = 0; begin < n; begin += CHUNK) {
    const int64_t count = least(CHUNK, n - begin);
    const float* const from = x + begin * stride;
    for (int64_t i = 0; i < count; i++) totals[i] = from[i * stride];
    for (int64_t k = 1; k < kernel; k++)
      for (int64_t i = 0; i < count; i++) {
        const float value = from[i * stride + k];
        if constexpr (J::NOTHING == 0) totals[i] += value;
        else totals[i] = J::beats(value, totals[i]) ? value : totals[i];
      }
    map1<false>(totals, out + begin, 0, count, [share](V v) { return J::NOTHING == 0 ? vmul(v, share) : v; });
  }
}

// Windows from .. to of a row whose line starts at column `left`; rows: what a mean counts of them.
template <class J, class T>
inline void join_across(const Across& axis, const float* line, int64_t left, int64_t rows, int64_t from, int64_t to, T* out) {
  if (axis.is_each()) {
    const V share = vset(1 / static_cast<float>(rows));
    return map1<false>(line, out + from, 0, to - from, [share](V v) { return J::NOTHING == 0 ? vmul(v, share) : v; });
  }
  const int64_t kernel = axis.kernel, stride = axis.stride;
  // Windows that lie inside are joined together.
  int64_t inside = to, inside_end = to;
  if (kernel != 0) {
    inside = from;
    while (inside < to && inside * stride < axis.padding) inside++;
    while (inside_end > inside && (inside_end - 1) * stride - axis.padding + kernel > axis.input) inside_end--;
    if (inside_end - inside < W || W == 1) inside = inside_end = to;
  }
  const auto join_one = [&](int64_t column, int64_t first, int64_t n) { set(out + column, finished<J>(joined_few<J>(line + first - left, n), rows, kernel == 0 ? n : kernel)); };
  if (axis.is_listed())
    for (int64_t column = from; column < to; column++) join_one(column, axis.firsts[column], axis.lengths[column]);
  else
    for (int64_t column = from; column < to; column++) {
      if (column == inside) column = inside_end;
      if (column < to) join_one(column, axis.first(column), axis.end(column) - axis.first(column));
    }
  if (inside == inside_end) return;
  const float* const x = line + inside * stride - axis.padding - left;
  const int64_t n = inside_end - inside;
  const V share = vset(1 / static_cast<float>(rows * kernel));
  if (stride == 1) join_inside<J, 1>(x, n, kernel, share, out + inside);
  else if (stride == 2) join_inside<J, 2>(x, n, kernel, share, out + inside);
#if defined(OPSCOPE_INTERLEAVED)
  else if (is_wide_stride(stride)) join_wide<J>(WideRows{1, 0, (n - 1) * stride + kernel, 0, n, kernel}, stride, x, share, out + inside);
#endif
  else join_inside_apart<J>(x, n, kernel, stride, share, out + inside);
}

inline const float* line_of(const float* x) { return x; }
template <class T>
inline const float* line_of(const T*) {
  return nullptr;
}

// Outputs of one row `o` of windows, columns from .. to: `x` is the plane.
template <class J, class T>
void pool_row(const Planes& s, const Across& across, const T* x, int64_t o, int64_t from, int64_t to, float* buffer, T* out) {
  const int64_t top = s.down.first(o), rows = s.down.end(o) - top, width = s.across.input, counted = s.down.counted(o);
  const int64_t left = s.across.first(from), right = s.across.end(to - 1);
  const bool apart = s.across.kernel == 0 ? s.across.input >= LONG_WINDOW * s.across.output : s.across.kernel >= LONG_WINDOW;
  if (apart || right - left > BUFFERED) {
    for (int64_t column = from; column < to; column++) {
      const int64_t first = s.across.first(column), n = s.across.end(column) - first;
      float total = J::NOTHING;
      // Rows that follow one another are one.
      if (n == width) total = joined_run<J>(x + top * width, rows * width);
      else
        for (int64_t r = top; r < top + rows; r++) total = joined<J>(total, joined_run<J>(x + r * width + first, n));
      set(out + column, finished<J>(total, counted, s.across.counted(column)));
    }
    return;
  }
  const T* const at = x + top * width + left;
  const float* line = rows == 1 ? line_of(at) : nullptr;
  if (!line) {
    join_down<J>(at, width, rows, right - left, buffer);
    line = buffer;
  }
  join_across<J>(across, line, left, counted, from, to, out);
}

// Rows of a plane that fit a vector: it holds the joined columns of a row of windows. 16-bit elements are widened first, for as many
// rows of outputs as half of the buffer holds.
inline bool is_narrow(const Planes& s) {
  return W > 1 && s.across.input <= W && s.across.output <= W && s.down.longest() <= BUFFERED / 2 / W - s.down.step();
}

template <class J>
void pool_narrow_rows(const Planes& s, const float* x, int64_t from, int64_t count, float* out) {
  const int64_t width = s.across.input, outputs = s.across.output, start = s.down.first(from);
  int64_t first[W], length[W];
  float counted[W];
  for (int64_t o = 0; o < outputs; o++) {
    first[o] = s.across.first(o);
    length[o] = s.across.end(o) - first[o];
    counted[o] = static_cast<float>(s.across.counted(o));
  }
  alignas(64) float line[W];
  for (int64_t i = from; i < from + count; i++, out += outputs) {
    const int64_t top = s.down.first(i), end = s.down.end(i);
    V total = vset(J::NOTHING);
    VNan seen = vnan_none();
    for (int64_t r = top; r < end; r++) total = J::also(total, width == W ? vload(x + (r - start) * width) : vload_n(x + (r - start) * width, static_cast<int>(width), J::NOTHING), seen);
    vstore(line, J::ORDERED ? total : vnan_put(total, seen));
    const float rows = static_cast<float>(s.down.kernel == 0 ? end - top : s.down.kernel);
    for (int64_t o = 0; o < outputs; o++) {
      const float one = joined_singly<J>(line + first[o], length[o]);
      out[o] = J::NOTHING == 0 ? one / (rows * counted[o]) : one;
    }
  }
}

template <class J, class T>
void pool_narrow(const Call& c, const Planes& s) {
  const int64_t width = s.across.input, outputs = s.across.output, rows = s.down.output;
  const int64_t together = least((BUFFERED / 2 / W - s.down.longest()) / s.down.step(), BUFFERED / 2 / W);
  float* const wide = c.scratch + c.thread * BUFFERED;
  float* const results = wide + BUFFERED / 2;
  const auto plain = [](V v) { return v; };
  const Range r = part(s.planes * rows, 1, c.thread, c.threads);
  for (int64_t row = r.begin; row < r.end;) {
    const int64_t plane = row / rows, o = row - plane * rows;
    const int64_t top = s.down.first(o);
    const T* const x = input<T>(c, 0) + (plane * s.down.input + top) * width;
    T* const out = output<T>(c) + row * outputs;
    int64_t count = least(r.end - row, rows - o);
    if constexpr (sizeof(T) == sizeof(float)) {
      pool_narrow_rows<J>(s, x, o, count, out);
    } else {
      count = least(count, together);
      map1<false>(x, wide, 0, (s.down.end(o + count - 1) - top) * width, plain);
      pool_narrow_rows<J>(s, wide, o, count, results);
      map1<false>(results, out, 0, count * outputs, plain);
    }
    row += count;
  }
}

}  // namespace
