// Largest element or mean of windows of planes. dims: [planes, height, width, outHeight, outWidth] and, but for adaptive windows,
// [.., kernel, stride, padding]; height and outHeight are 1 for signals.
#include "simd/pool_rows.h"

namespace {

// Windows of up to SMALL elements a side, one or two apart, are joined in registers, a vector of neighbouring windows at a time.
constexpr int64_t SMALL = 3;

inline bool is_small(const Axis& a) { return a.kernel >= 1 && a.kernel <= SMALL && a.stride >= 1 && a.stride <= 2; }

// The totals of W windows of `rows` rows, the first of which begins at column `at`; INSIDE: all lie inside the input.
template <class J, int STRIDE, int KERNEL, bool INSIDE>
inline V joined_windows(const float* x, int64_t width, int64_t rows, int64_t at) {
  V total = vset(J::NOTHING);
  VNan seen = vnan_none();
  int from[KERNEL], to[KERNEL];
  for (int k = 0; k < KERNEL; k++) {
    const int64_t first = (STRIDE - 1 - at - k) / STRIDE, end = (width - at - k + STRIDE - 1) / STRIDE;
    from[k] = at + k >= 0 ? 0 : static_cast<int>(least(first, W));
    to[k] = end > 0 ? static_cast<int>(least(end, W)) : 0;
  }
  for (int64_t r = 0; r < rows; r++) {
    const float* const row = x + r * width + at;
#pragma GCC unroll 3
    for (int k = 0; k < KERNEL; k++) {
      V v;
      if constexpr (INSIDE) v = STRIDE == 1 ? vload(row + k) : vload_even(row + k);
      else v = STRIDE == 1 ? vload_between(row + k, from[k], to[k], J::NOTHING) : vload_even_between(row + k, from[k], to[k], J::NOTHING);
      total = J::also(total, v, seen);
    }
  }
  return J::ORDERED ? total : vnan_put(total, seen);
}

// Inline, so that the usual call, of whole rows of a plane, is compiled by itself: 1.15x.
// Outputs `from` .. `to` of row `o` of windows: `x` has the rows that they join, `width` elements each from column `left` of the plane on.
template <class J, int STRIDE, int KERNEL>
OPSCOPE_INLINE void pool_small_row(const Planes& s, const float* x, int64_t width, int64_t left, int64_t o, int64_t from, int64_t to, float* out) {
  const int64_t rows = s.down.end(o) - s.down.first(o);
  const V share = vset(1 / static_cast<float>(s.down.counted(o) * KERNEL));
  const auto finished = [&](V total) { return J::NOTHING == 0 ? vmul(total, share) : total; };
  for (int64_t column = from; column < to; column += W, out += W) {
    const int64_t at = column * STRIDE - s.across.padding - left;
    if (at >= 0 && at + (W - 1) * STRIDE + KERNEL <= width && column + W <= to) vstore(out, finished(joined_windows<J, STRIDE, KERNEL, true>(x, width, rows, at)));
    else if (column + W <= to) vstore(out, finished(joined_windows<J, STRIDE, KERNEL, false>(x, width, rows, at)));
    else vstore_n(out, finished(joined_windows<J, STRIDE, KERNEL, false>(x, width, rows, at)), static_cast<int>(to - column));
  }
}

// 16-bit elements are widened first, for as many rows of outputs as the buffer holds: a load that meets two stores which are on their way
// waits for both. Of wide planes some columns of one row.
template <class J, int STRIDE, int KERNEL, class T>
void pool_small_rows(const Call& c, const Planes& s) {
  constexpr int64_t CHUNK = 512;
  const auto plain = [](V v) { return v; };
  const int64_t width = s.across.input, outputs = s.across.output, joined_rows = s.down.kernel == 0 ? 1 : KERNEL;
  const int64_t room = (BUFFERED - joined_rows * width) / (STRIDE * width + outputs), together = room < 1 ? 1 : room, chunk = room < 1 ? CHUNK : outputs;
  float* const wide = c.scratch + c.thread * BUFFERED;
  const Range r = part(s.planes * s.down.output, 1, c.thread, c.threads);
  for (int64_t row = r.begin; row < r.end;) {
    const int64_t plane = row / s.down.output, o = row - plane * s.down.output;
    const T* const x = input<T>(c, 0) + plane * s.down.input * width;
    T* const out = output<T>(c) + row * outputs;
    if constexpr (sizeof(T) == sizeof(float)) {
      pool_small_row<J, STRIDE, KERNEL>(s, x + s.down.first(o) * width, width, 0, o, 0, outputs, out);
      row++;
    } else {
      const int64_t count = least(together, least(r.end - row, s.down.output - o)), top = s.down.first(o), bottom = s.down.end(o + count - 1);
      for (int64_t from = 0; from < outputs; from += chunk) {
        const int64_t to = least(from + chunk, outputs), left = s.across.first(from), columns = s.across.end(to - 1) - left;
        float* const results = wide + (bottom - top) * columns;
        if (columns == width) map1<false>(x + top * width, wide, 0, (bottom - top) * width, plain);
        else
          for (int64_t k = top; k < bottom; k++) map1<false>(x + k * width + left, wide + (k - top) * columns, 0, columns, plain);
        for (int64_t i = 0; i < count; i++)
          pool_small_row<J, STRIDE, KERNEL>(s, wide + (s.down.first(o + i) - top) * columns, columns, left, o + i, from, to, results + i * (to - from));
        map1<false>(results, out + from, 0, count * (to - from), plain);
      }
      row += count;
    }
  }
}

template <class J, int STRIDE, class T>
void pool_small(const Call& c, const Planes& s) {
  if (s.across.kernel == 1) pool_small_rows<J, STRIDE, 1, T>(c, s);
  else if (s.across.kernel == 2) pool_small_rows<J, STRIDE, 2, T>(c, s);
  else pool_small_rows<J, STRIDE, 3, T>(c, s);
}

// Windows that are whole planes: rows of a reduction.
template <class J, class T>
void pool_planes(const Call& c, const Planes& s) {
  const int64_t n = s.down.input * s.across.input;
  const V share = vset(1 / static_cast<float>(s.down.counted(0) * s.across.counted(0)));
  alignas(64) float totals[AT_ONCE];
  const Range r = part(s.planes, s.planes >= LINE * c.threads ? LINE : 1, c.thread, c.threads);
  for (int64_t from = r.begin; from < r.end; from += AT_ONCE) {
    const int64_t planes = least(AT_ONCE, r.end - from);
    const T* const x = input<T>(c, 0) + from * n;
    if (n <= SHORT_SUM && planes >= SEVERAL) join_short_rows<AsItIs<J>>(x, n, planes, totals);
    else
      for (int64_t i = 0; i < planes; i++) totals[i] = join_part<AsItIs<J>>(x + i * n, n);
    map1<false>(totals, output<T>(c) + from, 0, planes, [share](V v) { return J::NOTHING == 0 ? vmul(v, share) : v; });
  }
}

constexpr int64_t LONGEST_PLANE = 256;  // elements of planes that are turned into columns

// Whether planes are turned: those of up to LONGEST elements, and longer ones where windows are neither long nor fill vectors side by side.
inline bool turns_planes(const Planes& s, bool small, bool fills, int threads) {
  constexpr int64_t LONG = 32, SIDE_BY_SIDE = 4 * W;
  const int64_t n = s.down.input * s.across.input, outputs = s.down.output * s.across.output;
  if (fills || s.planes < SEVERAL * threads) return false;
  if (n <= LONGEST && outputs <= LONGEST) return true;
  const bool side_by_side = s.across.kernel != 0 && s.across.stride <= 2 && s.across.output >= SIDE_BY_SIDE;
  return !small && !side_by_side && n <= LONGEST_PLANE && outputs <= LONGEST_PLANE && n <= LONG * outputs && s.planes >= 4 * SEVERAL * threads;
}

constexpr int64_t FAR_INPUT = 1 << 20;  // elements of all planes, which lie behind the second-level cache

// Many planes of a few elements: a vector holds an element of neighbouring planes, whatever the windows are.
template <class J, class T>
void pool_short_planes(const Call& c, const Planes& s) {
  const int64_t n = s.down.input * s.across.input, width = s.across.input, outputs = s.down.output * s.across.output;
  alignas(64) float columns[LONGEST_PLANE * AT_ONCE], results[LONGEST_PLANE * AT_ONCE];
  const Range r = part(s.planes, LINE, c.thread, c.threads);
  const bool far = times(s.planes, n) >= FAR_INPUT;
  for (int64_t from = r.begin; from < r.end; from += AT_ONCE) {
    const int64_t planes = least(AT_ONCE, r.end - from);
    // Planes that are turned are read in short pieces, which the processor does not read ahead of.
    if (far)
      for (int64_t i = 0, next = least(AT_ONCE, r.end - from - planes) * n; i < next; i += IN_LINE<T>) fetch_line(input<T>(c, 0) + (from + planes) * n + i, Far{});
    gather_columns<LONGEST_PLANE>(input<T>(c, 0) + from * n, n, planes, columns);
    for (int64_t down = 0, o = 0; down < s.down.output; down++)
      for (int64_t across = 0; across < s.across.output; across++, o++) {
        const int64_t top = s.down.first(down), bottom = s.down.end(down), left = s.across.first(across), right = s.across.end(across);
        const V share = vset(1 / static_cast<float>(s.down.counted(down) * s.across.counted(across)));
        for (int64_t p = 0; p < planes; p += W) {
          V total = vset(J::NOTHING);
          VNan seen = vnan_none();
          for (int64_t row = top; row < bottom; row++)
            for (int64_t column = left; column < right; column++) total = J::also(total, vload(columns + (row * width + column) * AT_ONCE + p), seen);
          vstore(results + o * AT_ONCE + p, J::NOTHING == 0 ? vmul(total, share) : vnan_put(total, seen));
        }
      }
    scatter_rows<false, LONGEST_PLANE>(results, outputs, planes, output<T>(c) + from * outputs);
  }
}

#if defined(OPSCOPE_INTERLEAVED)
// Rows of windows three to eight elements apart that fill two vectors, or one where what is read lies behind the second-level cache.
inline bool by_wide_rows(const Planes& s) {
  const bool wide = s.down.is_each() && s.across.kernel > 0 && s.across.kernel < LONG_WINDOW && is_wide_stride(s.across.stride);
  return wide && s.across.output >= (times(s.planes * s.down.input, s.across.input) >= FAR_INPUT ? W : 2 * W);
}
template <class J, class T>
void pool_wide_rows(const Call& c, const Planes& s) {
  const int64_t width = s.across.input, outputs = s.across.output;
  const Range r = part(s.planes * s.down.output, 1, c.thread, c.threads);
  const V share = vset(1 / static_cast<float>(s.down.counted(0) * s.across.kernel));
  join_wide<J>(WideRows{r.end - r.begin, width, width, s.across.padding, outputs, s.across.kernel}, s.across.stride, input<T>(c, 0) + r.begin * width, share, output<T>(c) + r.begin * outputs);
}
#endif

// Outputs that are worked on together: what the buffer holds.
inline int64_t columns_at_once(const Axis& a) {
  const int64_t room = (BUFFERED - a.longest()) / a.step();
  return room < 1 ? 1 : least(room, a.output);
}

template <class J, class T>
void run(const Call& c, bool signals) {
  const Planes s(c.dims, c.dim_count, signals);
  if (s.down.is_all() && s.across.is_all()) return pool_planes<J, T>(c, s);
  if (s.down.is_each() && s.across.is_each()) return map_bits<T>(c, s.planes * s.down.input * s.across.input, [](V v) { return v; });
  constexpr int64_t FEW = 4;  // windows of a row that are joined by themselves faster than side by side
  const bool small = is_small(s.across);
  // Of f32, rows of small windows that fill vectors are read as they lie.
  const bool fills = small && sizeof(T) == sizeof(float) && (s.across.output % W == 0 || s.across.output >= LINE);
#if defined(OPSCOPE_INTERLEAVED)
  if constexpr (sizeof(T) == sizeof(float))
    if (by_wide_rows(s)) return pool_wide_rows<J, T>(c, s);
#endif
  if (turns_planes(s, small, fills, c.threads)) return pool_short_planes<J, T>(c, s);
  if (!(small && s.across.output > FEW) && is_narrow(s)) return pool_narrow<J, T>(c, s);
  if (small) return s.across.stride == 1 ? pool_small<J, 1, T>(c, s) : pool_small<J, 2, T>(c, s);
  const int64_t rows = s.planes * s.down.output, at_once = columns_at_once(s.across), parts = (s.across.output + at_once - 1) / at_once;
  float* const buffer = c.scratch + c.thread * BUFFERED;
  const Across across(s.across);
  const Range r = part(rows * parts, 1, c.thread, c.threads);
  // Counted, not divided for: a division takes about as long as a short row.
  int64_t row = r.begin / parts, from = r.begin % parts * at_once, plane = row / s.down.output, o = row % s.down.output;
  for (int64_t i = r.begin; i < r.end; i++) {
    pool_row<J>(s, across, input<T>(c, 0) + plane * s.down.input * s.across.input, o, from, least(from + at_once, s.across.output), buffer, output<T>(c) + row * s.across.output);
    from += at_once;
    if (from < s.across.output) continue;
    from = 0, row++;
    if (++o == s.down.output) o = 0, plane++;
  }
}

template <class T>
void run_max1d(const Call& c) {
  run<Largest, T>(c, true);
}
template <class T>
void run_max2d(const Call& c) {
  run<Largest, T>(c, false);
}
template <class T>
void run_avg1d(const Call& c) {
  run<Adding, T>(c, true);
}
template <class T>
void run_avg2d(const Call& c) {
  run<Adding, T>(c, false);
}

template <bool SIGNALS>
bool shape(const int64_t* d, int count, int64_t* sizes) {
  sizes[0] = times(times(d[0], d[1]), d[2]);
  sizes[1] = times(times(d[0], d[3]), d[4]);
  if (d[1] < 1 || d[2] < 1 || d[3] < 1 || d[4] < 1 || (SIGNALS && (d[1] != 1 || d[3] != 1))) return false;
  if (count == 5) return true;
  const Planes s(d, count, SIGNALS);
  // Every window meets the input.
  return s.down.meets_input() && s.across.meets_input();
}

size_t scratch(const int64_t*, int, int threads, size_t) { return static_cast<size_t>(BUFFERED * threads); }

}  // namespace

OPSCOPE_TYPED(max_pool1d, run_max1d, "t>t", 8, 8, 0, shape<true>, scratch)
OPSCOPE_TYPED(max_pool2d, run_max2d, "t>t", 8, 8, 0, shape<false>, scratch)
OPSCOPE_ROUNDED(avg_pool1d, run_avg1d, "t>t", 8, 8, 0, shape<true>, scratch)
OPSCOPE_ROUNDED(avg_pool2d, run_avg2d, "t>t", 8, 8, 0, shape<false>, scratch)
OPSCOPE_ROUNDED(adaptive_avg_pool2d, run_avg2d, "t>t", 5, 5, 0, shape<false>, scratch)
OPSCOPE_TYPED(adaptive_max_pool2d, run_max2d, "t>t", 5, 5, 0, shape<false>, scratch)
