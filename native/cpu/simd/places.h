// The place of the first of the largest or smallest, as i32, over the same dims as a reduction (reduction.h).
#pragma once
#include "reduction.h"

namespace {

// The largest or smallest of n >= 1 elements and the number of the first that equals it; NaN and the first NaN where there is one.
struct Place {
  float value;
  int64_t index;
};

constexpr int64_t PLACED = 2048;  // columns whose values and places stay in the first-level cache
constexpr int64_t SEARCHED = 4096;  // floats that are searched again for the place of what was found in them

template <class J, class T>
inline Place place_of(const T* x, int64_t n) {
  Place best{J::NOTHING, 0};
  for (int64_t from = 0; from < n && !is_nan(best.value); from += SEARCHED) {
    const float value = J::row(x + from, least(SEARCHED, n - from), [](V v) { return v; });
    if (from == 0 || J::beats(value, best.value)) best = {value, from};
  }
  const bool nan = is_nan(best.value);
  const V value = vset(best.value);
  while (!nan && best.index + W < n && !vany_equal(vload(x + best.index), value)) best.index += W;
  while (best.index + 1 < n && !(nan ? is_nan(to_float(x[best.index])) : to_float(x[best.index]) == best.value)) best.index++;
  return best;
}

// values[j] and the bits of places[j]: the best of `rows` more rows at column j, the first of them number `index`. A NaN is in `seen` or in values[j], but its place is not.
template <class J, class T>
inline void place_rows(const T* x, int64_t stride, int64_t rows, int64_t columns, int32_t index, float* values, float* places, VNan& seen) {
  const auto join = [&](V best, V place, int64_t j, const auto& load, const auto& put) {
    for (int64_t r = 0; r < rows; r++) {
      const V v = load(x + r * stride + j);
      seen = vnan_also(seen, v, v);
      place = J::place(v, best, vset(bits_float(static_cast<uint32_t>(index + r))), place);
      best = J::pick(v, best);
    }
    put(values + j, best);
    put(places + j, place);
  };
  int64_t j = 0;
  for (; j + W <= columns; j += W) join(vload(values + j), vload(places + j), j, [](const T* p) { return vload(p); }, [](float* p, V v) { vstore(p, v); });
  if (const int rest = static_cast<int>(columns - j); rest > 0)
    join(vload_n(values + j, rest, 0), vload_n(places + j, rest, 0), j, [rest](const T* p) { return vload_n(p, rest, 0); }, [rest](float* p, V v) { vstore_n(p, v, rest); });
}

// The same of rows of INNER elements, W rows at a time: INNER vectors hold them, a lane meets the same column again and again.
template <int INNER, class J, class T>
inline int64_t place_narrow_rows(const T* x, int64_t inner, int64_t rows, int32_t index, float* values, float* places, VNan& seen) {
  if constexpr (INNER > 2)
    if (inner < INNER) return place_narrow_rows<INNER - 1, J>(x, inner, rows, index, values, places, seen);
  V best[INNER], place[INNER];
  for (int v = 0; v < INNER; v++) best[v] = vset(J::NOTHING), place[v] = vset(0);
  const int64_t chunks = rows / W;
  for (int64_t i = 0; i < chunks; i++, x += INNER * W) {
    const V number = vset(bits_float(static_cast<uint32_t>(i)));
#pragma GCC unroll 8
    for (int v = 0; v < INNER; v++) {
      const V next = vload(x + v * W);
      seen = vnan_also(seen, next, next);
      place[v] = J::place(next, best[v], number, place[v]);
      best[v] = J::pick(next, best[v]);
    }
  }
  float found[INNER * W], chunk[INNER * W];
  for (int v = 0; v < INNER; v++) {
    vstore(found + v * W, best[v]);
    vstore(chunk + v * W, place[v]);
  }
  for (int column = 0; column < INNER; column++) {
    float value = J::NOTHING;
    int32_t row = INT32_MAX;
    for (int e = column; e < INNER * W; e += INNER) {
      const int32_t own = static_cast<int32_t>(float_bits(chunk[e])) * W + e / INNER;
      if (J::beats(found[e], value) || (found[e] == value && own < row)) value = found[e], row = own;
    }
    if (!J::beats(value, values[column])) continue;
    values[column] = value;
    places[column] = bits_float(static_cast<uint32_t>(index + row));
  }
  return chunks * W;
}

template <class J, class T>
inline void place_columns(const Plan& p, const T* x, int64_t o, Range r, int64_t first, int64_t columns, float* values, int32_t* out) {
  constexpr int64_t ROWS = 8;
  constexpr int NARROW = W < 16 ? 4 : 8;
  alignas(64) float places[PLACED];
  for (int64_t from = 0; from < columns; from += PLACED) {
    const int64_t n = least(PLACED, columns - from);
    float* const best = values + from;
    map0<false>(best, 0, n, [] { return vset(J::NOTHING); });
    map0<false>(places, 0, n, [r] { return vset(bits_float(static_cast<uint32_t>(r.begin))); });
    VNan seen = vnan_none();
    each_run(p, x, o, r, [&](const T* row, int64_t rows, int64_t k) {
      int64_t i = 0;
      if (W > 1 && p.inner >= 2 && p.inner <= NARROW && rows >= 4 * W) i = place_narrow_rows<NARROW, J>(row, p.inner, rows, static_cast<int32_t>(k), best, places, seen);
      for (; i < rows; i += ROWS) place_rows<J>(row + i * p.inner + first + from, p.inner, least(ROWS, rows - i), n, static_cast<int32_t>(k + i), best, places, seen);
    });
    __builtin_memcpy(out + from, places, static_cast<size_t>(n) * sizeof(float));
    bool nan = vnan_any(seen);
    for (int64_t j = 0; j < n; j++) nan |= is_nan(best[j]);
    if (!nan) continue;
    // Element by element where there is a NaN.
    each_run(p, x, o, r, [&](const T* row, int64_t rows, int64_t k) {
      for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < n; j++) {
          const float value = to_float(row[i * p.inner + first + from + j]);
          if (k + i != r.begin && !J::beats(value, best[j])) continue;
          best[j] = value;
          out[from + j] = static_cast<int32_t>(k + i);
        }
    });
  }
}

template <class J, class T>
inline Place place_row(const Plan& p, const T* x, int64_t o, Range r) {
  Place best{J::NOTHING, -1};
  each_run(p, x, o, r, [&](const T* row, int64_t n, int64_t k) {
    const Place found = place_of<J>(row, n);
    if (best.index < 0 || J::beats(found.value, best.value)) best = {found.value, k + found.index};
  });
  return best;
}

template <class J, class T>
OPSCOPE_APART void place_short_rows(const T* x, int64_t cols, int64_t rows, int32_t* out) {
  alignas(64) float columns[LONGEST * AT_ONCE], values[AT_ONCE], places[AT_ONCE];
  for (int64_t from = 0; from < rows; from += AT_ONCE) {
    const int64_t n = least(AT_ONCE, rows - from);
    gather_columns(x + from * cols, cols, n, columns);
    VNan seen = vnan_none();
    for (int64_t r = 0; r < n; r += W) {
      V best = vload(columns + r), place = vset(0);
      seen = vnan_also(seen, best, best);
      for (int64_t k = 1; k < cols; k++) {
        const V v = vload(columns + k * AT_ONCE + r);
        seen = vnan_also(seen, v, v);
        place = J::place(v, best, vset(bits_float(static_cast<uint32_t>(k))), place);
        best = J::pick(v, best);
      }
      vstore(values + r, best);
      vstore(places + r, place);
    }
    __builtin_memcpy(out + from, places, static_cast<size_t>(n) * sizeof(float));
    // In `seen`, or where the largest of two keeps it, in the values.
    bool nan = vnan_any(seen);
    for (int64_t r = 0; r < n; r++) nan |= is_nan(values[r]);
    if (nan)
      for (int64_t r = 0; r < n; r++) out[from + r] = static_cast<int32_t>(place_of<J>(x + (from + r) * cols, cols).index);
  }
}

// The places of outputs `o`, of short rows in many groups: those of the elements of a row over the groups, then the best of them.
template <class J, class T>
OPSCOPE_APART void place_groups(const Plan& p, const T* x, Range o, int32_t* out) {
  alignas(64) float values[PLACED];
  int32_t groups[PLACED];
  const int64_t at_once = PLACED / p.reduce;
  for (int64_t from = o.begin; from < o.end; from += at_once) {
    const int64_t rows = least(at_once, o.end - from);
    place_columns<J>(of_groups(p), x, 0, Range{0, p.groups}, from * p.reduce, rows * p.reduce, values, groups);
    for (int64_t i = 0; i < rows; i++) {
      Place best{values[i * p.reduce], groups[i * p.reduce] * p.reduce};
      for (int64_t k = 1; k < p.reduce; k++) {
        const float value = values[i * p.reduce + k];
        const int64_t index = groups[i * p.reduce + k] * p.reduce + k;
        if (J::beats(value, best.value) || (!J::beats(best.value, value) && index < best.index)) best = {value, index};
      }
      out[from + i] = static_cast<int32_t>(best.index);
    }
  }
}

// The scratch holds the values of every thread, then the places.
template <class J, class T>
void places_split(const Call& c, const Plan& p) {
  const T* x = input<T>(c, 0);
  const Range r = part(p.reduce * p.groups, p.inner == 1 && p.groups == 1 ? LINE : 1, c.thread, c.threads);
  int32_t* places = reinterpret_cast<int32_t*>(c.scratch + p.stride * c.threads);
  float* my_values = c.scratch + c.thread * p.stride;
  int32_t* my_places = places + c.thread * p.stride;
  for (int64_t o = 0; o < p.outer; o++) {
    for (int64_t j = 0; j < p.inner; j++) my_places[o * p.inner + j] = -1;
    if (p.inner > 1) {
      place_columns<J>(p, x, o, r, 0, p.inner, my_values + o * p.inner, my_places + o * p.inner);
    } else {
      const Place found = place_row<J>(p, x, o, r);
      my_values[o] = found.value;
      my_places[o] = static_cast<int32_t>(found.index);
    }
  }
  c.barrier(c.team);
  const Range outputs = part(p.outer * p.inner, LINE, c.thread, c.threads);
  for (int64_t j = outputs.begin; j < outputs.end; j++) {
    int best = 0;
    for (int t = 1; t < c.threads; t++) {
      const int64_t at = t * p.stride + j, kept = best * p.stride + j;
      if (places[at] >= 0 && (places[kept] < 0 || J::beats(c.scratch[at], c.scratch[kept]))) best = t;
    }
    output<int32_t>(c)[j] = places[best * p.stride + j];
  }
}

template <class J, class T>
void run_places(const Call& c) {
  const Plan p = plan(c.dims, c.dim_count, c.threads);
  int32_t* out = output<int32_t>(c);
  if (p.reduce * p.groups == 1) {
    const Range r = part(p.outer * p.inner, LINE, c.thread, c.threads);
    __builtin_memset(out + r.begin, 0, static_cast<size_t>(r.end - r.begin) * sizeof(int32_t));
    return;
  }
  if (p.split) return places_split<J, T>(c, p);
  const T* x = input<T>(c, 0);
  const Range all{0, p.reduce * p.groups};
  if (p.inner == 1) {
    const Range r = part(p.outer, p.outer >= LINE * c.threads ? LINE : 1, c.thread, c.threads);
    if (by_groups(p)) place_groups<J>(p, x, r, out);
    else if (by_columns(p, r.end - r.begin, LONGEST)) place_short_rows<J>(x + r.begin * p.reduce, p.reduce, r.end - r.begin, out + r.begin);
    else
      for (int64_t o = r.begin; o < r.end; o++) out[o] = static_cast<int32_t>(place_row<J>(p, x, o, all).index);
    return;
  }
  const bool by_outer = p.outer >= c.threads;
  const Range o = by_outer ? part(p.outer, 1, c.thread, c.threads) : Range{0, p.outer};
  const Range j = by_outer ? Range{0, p.inner} : part(p.inner, LINE, c.thread, c.threads);
  float values[PLACED];
  for (int64_t i = o.begin; i < o.end; i++)
    for (int64_t from = j.begin; from < j.end; from += PLACED) place_columns<J>(p, x, i, all, from, least(PLACED, j.end - from), values, out + i * p.inner + from);
}

size_t places_scratch(const int64_t* d, int count, int threads, size_t bytes) { return 2 * reduction_scratch(d, count, threads, bytes); }

}  // namespace

#define OPSCOPE_PLACE(op, how)                                     \
  namespace {                                                      \
  template <class T>                                               \
  void op##_run(const Call& c) { run_places<how, T>(c); }           \
  }                                                                \
  OPSCOPE_TYPED(op, op##_run, "t>i", 3, 4, 0, reduction_shape, places_scratch)
