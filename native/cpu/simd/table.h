// Element-wise kernels from one expression each. A line of a table,
//
//   OPSCOPE_MAP(clamp, 2, (V x), vmax(s0, vmin(s1, x)))
//
// states the op, how many scalars it has, the elements it takes (none to three, of as many tensors in the op's order) and the result;
// s0 and s1 are the scalars. dims: [n].
#pragma once
#include "map.h"
#include "activations.h"
#include "near_parts.h"

namespace {

// The number of elements that the expression takes.
template <class F> constexpr int arity(V (F::*)() const) { return 0; }
template <class F> constexpr int arity(V (F::*)(V) const) { return 1; }
template <class F> constexpr int arity(V (F::*)(V, V) const) { return 2; }
template <class F> constexpr int arity(V (F::*)(V, V, V) const) { return 3; }

// ">t", "t>t", "tt>t" or "ttt>t".
constexpr const char* map_tensors(int inputs) { return &"ttt>t"[3 - inputs]; }

template <class F>
inline F with_scalars(const Call& c, int count) {
  return F{vset(count > 0 ? static_cast<float>(c.scalars[0]) : 0), vset(count > 1 ? static_cast<float>(c.scalars[1]) : 0)};
}

template <class F>
bool map_shape(const int64_t* d, int, int64_t* sizes) {
  for (int i = 0; i <= arity(&F::operator()); i++) sizes[i] = d[0];
  return true;
}

template <class T, bool STREAM, bool FAR, class F>
inline void map(const Call& c, F f) {
  constexpr int inputs = arity(&F::operator());
  const auto in = [&c](int i) {
    if constexpr (FAR) return from_far(input<T>(c, i));
    else return input<T>(c, i);
  };
  const auto in_range = [&](Range r) {
    if constexpr (inputs == 0) map0<STREAM>(output<T>(c), r.begin, r.end, f);
    else if constexpr (inputs == 1) map1<STREAM>(in(0), output<T>(c), r.begin, r.end, f, fetching_of(c));
    else if constexpr (inputs == 2) map2<STREAM>(in(0), in(1), output<T>(c), r.begin, r.end, f);
    else map3<STREAM>(in(0), in(1), in(2), output<T>(c), r.begin, r.end, f);
  };
  each_near<requires { F::DIVIDES; }>(c, (inputs + 1) * c.dims[0] * static_cast<int64_t>(sizeof(T)), c.dims[0], LINE, in_range);
}

constexpr int64_t FAR_ELEMENTS = 1 << 18;  // of each of three tensors or more, which no second-level cache holds

template <class T, class F>
inline void run_map(const Call& c, int scalars) {
  const F f = with_scalars<F>(c, scalars);
  constexpr bool many = arity(&F::operator()) > 1, by_halves = many && W == 16 && sizeof(T) == sizeof(float);
  if (c.stream || (c.stream_of_many && many)) return map<T, true, by_halves>(c, f), vfence();
  if (by_halves && c.dims[0] >= FAR_ELEMENTS) map<T, false, by_halves>(c, f);
  else map<T, false, false>(c, f);
}

// A second tensor with fewer elements than the first. dims: [n] where they have as many; else [n, cols, which] with n a multiple of cols
// and b of cols elements (1, one for each column), n / cols elements (2, one for each row) or one (3).
enum Broadcast { NONE, ROW, COLUMN, SCALAR };

bool broadcast_shape(const int64_t* d, int count, int64_t* sizes) {
  sizes[0] = sizes[1] = sizes[2] = d[0];
  if (count == 1) return true;
  if (count != 3 || d[1] < 1 || d[0] % d[1] != 0 || d[2] < ROW || d[2] > SCALAR) return false;
  sizes[1] = d[2] == ROW ? d[1] : d[2] == COLUMN ? d[0] / d[1] : 1;
  return true;
}

constexpr int64_t SHORT_ROW = 64, EXPANDED = SHORT_ROW * LINE, STREAMED_ROW = 4096, ALIGNED_ROW = W < 16 ? 1000 : 128;

// Rows too short to be worked on one by one: the second tensor is written out for as many whole rows as the buffer holds, and as end with a line.
template <class T, bool STREAM, class F>
inline void map_short_rows(const Call& c, F f) {
  const int64_t cols = c.dims[1], rows = STREAM ? EXPANDED / cols / LINE * LINE : EXPANDED / 2 / cols;
  const bool by_row = c.dims[2] == ROW;
  const T* const b = input<T>(c, 1);
  alignas(64) float expanded[EXPANDED + W], widened[sizeof(T) < sizeof(float) ? EXPANDED : 1];
  const Range r = part(c.dims[0] / cols, rows, c.thread, c.threads);
  for (int64_t row = r.begin; row < r.end; row += rows) {
    const int64_t count = least(rows, r.end - row), begin = row * cols;
    if (!by_row) {
      const float* values = widened;
      if constexpr (sizeof(T) < sizeof(float)) map1<false>(b + row, widened, 0, count, [](V v) { return v; });
      else values = b + row;
      // Every store reaches into the rows behind, which follow.
      for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < cols; j += W) vstore(expanded + i * cols + j, vset(values[i]));
    } else if (row == r.begin) {
      map1<false>(b, expanded, 0, cols, [](V v) { return v; });
      for (int64_t done = cols; done < count * cols; done *= 2) map1<false>(expanded, expanded + done, 0, least(done, count * cols - done), [](V v) { return v; });
    }
    map2<STREAM>(input<T>(c, 0) + begin, expanded, output<T>(c) + begin, 0, count * cols, f);
  }
}

// Rows of a few vectors and an element of the second tensor for each: the last vector lies over the one before.
template <class T, class F>
inline void map_rows_of_vectors(const Call& c, F f) {
  const int64_t cols = c.dims[1], rows = c.dims[0] / cols;
  const T* const b = input<T>(c, 1);
  alignas(64) float values[EXPANDED];
  const Range r = part(rows, LINE, c.thread, c.threads);
  for (int64_t from = r.begin; from < r.end; from += EXPANDED) {
    const int64_t count = least(EXPANDED, r.end - from);
    map1<false>(b + from, values, 0, count, [](V v) { return v; });
    const T* a = input<T>(c, 0) + from * cols;
    T* out = output<T>(c) + from * cols;
    for (int64_t row = 0; row < count; row++, a += cols, out += cols) {
      const V value = vset(values[row]);
      for (int64_t i = 0; i + W <= cols; i += W) vstore(out + i, f(vload(a + i), value));
      if (cols % W != 0) vstore(out + cols - W, f(vload(a + cols - W), value));
    }
  }
}

template <class T, bool STREAM, class F>
inline void map_rows(const Call& c, F f) {
  const int64_t n = c.dims[0], cols = c.dims[1];
  const bool by_row = c.dims[2] == ROW;
  const T* const a = input<T>(c, 0);
  const T* const b = input<T>(c, 1);
  T* const out = output<T>(c);
  const Range r = part(n, LINE, c.thread, c.threads);
  for (int64_t begin = r.begin; begin < r.end;) {
    const int64_t row = begin / cols, first = row * cols, whole = least(first + cols, r.end);
    // What is streamed, and vectors of long rows, start with a line.
    const bool aligned = (!STREAM && cols < ALIGNED_ROW) || begin % LINE == 0;
    const int64_t end = aligned ? whole : least(whole, begin / LINE * LINE + LINE);
    if (!aligned) {
      if (by_row) map2<false>(a + first, b, out + first, begin - first, end - first, f);
      else map1<false>(a, out, begin, end, [f, value = vset(to_float(b[row]))](V x) { return f(x, value); });
    } else if (by_row) {
      map2<STREAM>(a + first, b, out + first, begin - first, end - first, f);
    } else {
      const V value = vset(to_float(b[row]));
      map1<STREAM>(a, out, begin, end, [f, value](V x) { return f(x, value); });
    }
    begin = end;
  }
}

// Rows of up to STREAMED_ROW elements that start within lines, streamed vector by vector: some vectors hold the end of a row and the begin of the next.
template <class T, class F>
inline void map_across_rows(const Call& c, F f) {
  const int64_t cols = c.dims[1];
  const T* const a = input<T>(c, 0);
  const T* const b = input<T>(c, 1);
  T* const out = output<T>(c);
  const Range r = part(c.dims[0], LINE, c.thread, c.threads);
  int64_t i = r.begin, row = i / cols, at = i - row * cols;  // element `at` of a row
  const auto each = [&](int64_t end, const auto& second) {
    for (; at < end && i + W <= r.end; at += W, i += W) vstream(out + i, f(vload(a + i), second()));
    if (const int rest = static_cast<int>(r.end - i); at < end && rest < W && rest > 0) vstore_n(out + i, f(vload_n(a + i, rest, 1), second()), rest), i = r.end;
  };
  if (c.dims[2] == ROW) {
    alignas(64) float repeated[STREAMED_ROW + W];
    map1<false>(b, repeated, 0, cols, [](V v) { return v; });
    map1<false>(b, repeated + cols, 0, W, [](V v) { return v; });
    for (; i < r.end; at -= cols) each(cols, [&] { return vload(repeated + at); });
  } else {
    for (; i < r.end; at -= cols, row++) {
      const V value = vset(to_float(b[row]));
      each(cols - W + 1, [value] { return value; });
      if (i < r.end) each(cols, [&] { return i + W <= r.end ? vfirst(value, static_cast<int>(cols - at), to_float(b[row + 1])) : value; });
    }
  }
}

template <class T, class F>
inline void run_broadcast(const Call& c) {
  const F f = with_scalars<F>(c, 0);
  if (c.dim_count == 1) return run_map<T, F>(c, 0);
  // Of one row or one column there is one element for each, or one for all.
  const int64_t rows = c.dims[0] / c.dims[1], cols = c.dims[1];
  if (c.dims[2] == ROW ? rows == 1 : c.dims[2] == COLUMN && cols == 1) return run_map<T, F>(c, 0);
  if (c.dims[2] == SCALAR || (c.dims[2] == ROW ? cols : rows) == 1) {
    const V value = vset(to_float(*input<T>(c, 1)));
    const auto with = [f, value](V x) { return f(x, value); };
    if (c.stream) {
      each_range(c, c.dims[0], LINE, [&](Range r) { map1<true>(input<T>(c, 0), output<T>(c), r.begin, r.end, with); });
    } else {
      const Range r = part(c.dims[0], LINE, c.thread, c.threads);
      map1<false>(input<T>(c, 0), output<T>(c), r.begin, r.end, with);
    }
  } else if (c.stream && cols <= (c.dims[2] == ROW ? SHORT_ROW : LINE)) {
    map_short_rows<T, true>(c, f);
  } else if (!c.stream && cols <= SHORT_ROW) {
    if (c.dims[2] == COLUMN && cols >= W && W > 1) map_rows_of_vectors<T>(c, f);
    else map_short_rows<T, false>(c, f);
  } else if (c.stream && (cols % LINE == 0 || cols >= STREAMED_ROW)) {
    map_rows<T, true>(c, f);
  } else if (c.stream && W > 1) {
    map_across_rows<T>(c, f);
  } else {
    map_rows<T, false>(c, f);
  }
  vfence();
}

}  // namespace

#define OPSCOPE_EXPRESSION_(op, parameters, ...)                                    \
  namespace {                                                                      \
  struct op##_expression {                                                         \
    V s0, s1;                                                                      \
    inline V operator() parameters const { return __VA_ARGS__; }                    \
  };                                                                               \
  }

#define OPSCOPE_MAP(op, scalar_count, parameters, ...)                                                                          \
  OPSCOPE_EXPRESSION_(op, parameters, __VA_ARGS__)                                                                              \
  template <class T>                                                                                                            \
  static void op##_run(const Call& c) { run_map<T, op##_expression>(c, scalar_count); }                                          \
  OPSCOPE_ROUNDED(op, op##_run, map_tensors(arity(&op##_expression::operator())), 1, 1, scalar_count, map_shape<op##_expression>, nullptr)

// The same with an expression of its own for 16-bit elements, which needs their digits alone.
#define OPSCOPE_COARSE(op, scalar_count, parameters, of_f32, of_16_bits)                                                         \
  OPSCOPE_EXPRESSION_(op, parameters, of_f32)                                                                                    \
  OPSCOPE_EXPRESSION_(op##_coarse, parameters, of_16_bits)                                                                       \
  template <class T>                                                                                                             \
  static void op##_run(const Call& c) {                                                                                          \
    if constexpr (sizeof(T) < sizeof(float)) run_map<T, op##_coarse_expression>(c, scalar_count);                                \
    else run_map<T, op##_expression>(c, scalar_count);                                                                           \
  }                                                                                                                              \
  OPSCOPE_ROUNDED(op, op##_run, map_tensors(arity(&op##_expression::operator())), 1, 1, scalar_count, map_shape<op##_expression>, nullptr)

// The same of functions that end with a quotient, as a template of how it is made (activations.h): `narrow` for 16-bit elements.
#define OPSCOPE_QUOTIENT(op, narrow, scalar_count, parameters, ...)                                                              \
  namespace {                                                                                                                  \
  template <class Q>                                                                                                           \
  struct op##_expression {                                                                                                     \
    static constexpr bool DIVIDES = true;                                                                                      \
    V s0, s1;                                                                                                                  \
    inline V operator() parameters const { return __VA_ARGS__; }                                                                \
  };                                                                                                                           \
  }                                                                                                                            \
  template <class T>                                                                                                            \
  static void op##_run(const Call& c) {                                                                                          \
    if constexpr (sizeof(T) < sizeof(float)) run_map<T, op##_expression<narrow>>(c, scalar_count);                               \
    else run_map<T, op##_expression<Divided>>(c, scalar_count);                                                                  \
  }                                                                                                                              \
  OPSCOPE_ROUNDED(op, op##_run, map_tensors(arity(&op##_expression<Divided>::operator())), 1, 1, scalar_count, map_shape<op##_expression<Divided>>, nullptr)

// Of bits alone, in pairs where elements have 16: what a pair becomes stands beside the result of an f32.
#define OPSCOPE_BITS(op, of_f32, of_pair)                                                                                       \
  OPSCOPE_EXPRESSION_(op, (V x), of_f32)                                                                                        \
  template <class T>                                                                                                            \
  static void op##_run(const Call& c) {                                                                                         \
    map_bits<T>(c, c.dims[0], [](V x) { return sizeof(T) == sizeof(float) ? of_f32 : of_pair; });                                \
  }                                                                                                                             \
  OPSCOPE_TYPED(op, op##_run, "t>t", 1, 1, 0, map_shape<op##_expression>, nullptr)

// Of two tensors, the second broadcast where the dims say so.
#define OPSCOPE_BROADCAST(op, parameters, ...)                                                     \
  OPSCOPE_EXPRESSION_(op, parameters, __VA_ARGS__)                                                 \
  template <class T>                                                                               \
  static void op##_run(const Call& c) { run_broadcast<T, op##_expression>(c); }                     \
  OPSCOPE_ROUNDED(op, op##_run, "tt>t", 1, 3, 0, broadcast_shape, nullptr)
