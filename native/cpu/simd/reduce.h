// Sums and maxima of contiguous elements.
#pragma once
#include "simd.h"

namespace {

// A running vector sum, and what rounding took from it (Knuth's two-sum), for adding up the sums of blocks.
struct Total {
  V sum = vset(0), lost = vset(0);
  inline void add(V v) {
    const V next = vadd(sum, v), added = vsub(next, sum);
    lost = vadd(lost, vadd(vsub(sum, vsub(next, added)), vsub(v, added)));
    sum = next;
  }
  inline float value() const {
    const float total = vsum(sum);
    // Nothing is lost of an infinity, and the difference of two is NaN.
    return total - total == 0 ? total + vsum(lost) : total;
  }
};

// Whether a row of n elements is read in vectors which start lines (16-bit: half lines), where vectors are lines.
template <class T>
inline bool starts_at_lines(int64_t n) {
  return W == LINE && n >= (sizeof(T) < sizeof(float) ? 64 : 8) * LINE;
}
constexpr int64_t BLOCK = 8192;  // floats added plainly before the compensated step

// Elements of a row in front of the first one that starts a vector's worth of bytes. Vectors that lie across two cache lines each take two reads,
// and one core has fewer lines of memory on their way meanwhile.
template <class T>
inline int64_t before_line(const T* x) {
  return static_cast<int64_t>((0 - reinterpret_cast<uintptr_t>(x)) / sizeof(T)) & (W - 1);
}

// Sum of at(i) over n floats, a vector each, and of `first`: eight independent accumulators, a compensated step per block. at(i, rest): of
// the last `rest` elements, the other lanes whatever they are.
template <class At, class Rest>
inline float total_of(int64_t n, At at, Rest at_rest, V first = vset(0)) {
  if (n < 8 * W) {
    // What follows costs more than such a row.
    V s0 = first, s1 = vset(0);
    int64_t i = 0;
    for (; i + 2 * W <= n; i += 2 * W) {
      s0 = vadd(s0, at(i));
      s1 = vadd(s1, at(i + W));
    }
    if (i + W <= n) s0 = vadd(s0, at(i)), i += W;
    if (const int rest = static_cast<int>(n - i); rest > 0) s1 = vadd(s1, vfirst(at_rest(i, rest), rest, 0));
    return vsum(vadd(s0, s1));
  }
  Total total;
  const int64_t whole = n - n % W;
  for (int64_t from = 0; from < n; from += BLOCK) {
    const int64_t end = least(from + BLOCK, whole);
    V s0 = from == 0 ? first : vset(0), s1 = vset(0), s2 = s1, s3 = s1, s4 = s1, s5 = s1, s6 = s1, s7 = s1;
    int64_t i = from;
    for (; i + 8 * W <= end; i += 8 * W) {
      s0 = vadd(s0, at(i));
      s1 = vadd(s1, at(i + W));
      s2 = vadd(s2, at(i + 2 * W));
      s3 = vadd(s3, at(i + 3 * W));
      s4 = vadd(s4, at(i + 4 * W));
      s5 = vadd(s5, at(i + 5 * W));
      s6 = vadd(s6, at(i + 6 * W));
      s7 = vadd(s7, at(i + 7 * W));
    }
    for (; i + 2 * W <= end; i += 2 * W) {
      s0 = vadd(s0, at(i));
      s1 = vadd(s1, at(i + W));
    }
    if (i + W <= end) s2 = vadd(s2, at(i));
    if (from + BLOCK >= n && whole < n) {
      const int rest = static_cast<int>(n - whole);
      s3 = vadd(s3, vfirst(at_rest(whole, rest), rest, 0));
    }
    const V block = vadd(vadd(vadd(s0, s1), vadd(s2, s3)), vadd(vadd(s4, s5), vadd(s6, s7)));
    if (n <= BLOCK) return vsum(block);
    total.add(block);
  }
  return total.value();
}

// Sum of f(x) over n floats.
template <class T, class F>
inline float sum_of(const T* x, int64_t n, F f) {
  if (starts_at_lines<T>(n)) {
    if (const int before = static_cast<int>(before_line(x)); before > 0) {
      const V first = vfirst(f(vload_n(x, before, 0)), before, 0);
      x += before, n -= before;
      return total_of(n, [=](int64_t i) { return f(vload(x + i)); }, [=](int64_t i, int rest) { return f(vload_n(x + i, rest, 0)); }, first);
    }
  }
  return total_of(n, [=](int64_t i) { return f(vload(x + i)); }, [=](int64_t i, int rest) { return f(vload_n(x + i, rest, 0)); });
}

// Sum of f(a, b) over n pairs of floats.
template <class A, class B, class F>
inline float sum_of_pairs(const A* a, const B* b, int64_t n, F f) {
  return total_of(n, [=](int64_t i) { return f(vload(a + i), vload(b + i)); }, [=](int64_t i, int rest) { return f(vload_n(a + i, rest, 0), vload_n(b + i, rest, 0)); });
}

inline bool is_nan(float x) { return x != x; }

// The largest or the smallest element; NaN where one is NaN, as in PyTorch and NumPy. vmax() and vmin() lose a NaN of their first
// operand on x86, where a new element is; those are looked for in pairs.
template <bool LARGEST>
struct Extreme {
  static constexpr float NOTHING = LARGEST ? -__builtin_inff() : __builtin_inff();
  static constexpr bool ORDERED = false;
  static inline V pick(V a, V b) { return LARGEST ? vmax(a, b) : vmin(a, b); }
  static inline V join(V x, V total) { return vnan_put(pick(x, total), vnan_also(vnan_none(), x, x)); }
  // `total` joined with two more, whose NaN `seen` takes.
  static inline V next(V total, V a, V b, VNan& seen) {
    seen = vnan_also(seen, a, b);
    return pick(pick(a, b), total);
  }
  static inline V also(V total, V x, VNan& seen) {
    seen = vnan_also(seen, x, x);
    return pick(x, total);
  }
  // Whether `a` comes before `b`.
  static inline bool beats(float a, float b) { return !(LARGEST ? a <= b : a >= b) & !is_nan(b); }
  // index where x comes before `best`, else `other`; a NaN never does.
  static inline V place(V x, V best, V index, V other) { return LARGEST ? vless(best, x, index, other) : vless(x, best, index, other); }
  // Of f(x) over n floats.
  template <class T, class F>
  static inline float row(const T* x, int64_t n, F f) {
    V m0 = vset(NOTHING), m1 = m0, m2 = m0, m3 = m0;
    VNan n0 = vnan_none(), n1 = n0, n2 = n0, n3 = n0;
    const auto at = [=](int64_t i) { return f(vload(x + i)); };
    int64_t i = 0;
    // The same element twice changes nothing.
    if (starts_at_lines<T>(n)) m0 = also(m0, at(0), n0), i = before_line(x);
    for (; i + 8 * W <= n; i += 8 * W) {
      m0 = next(m0, at(i), at(i + W), n0);
      m1 = next(m1, at(i + 2 * W), at(i + 3 * W), n1);
      m2 = next(m2, at(i + 4 * W), at(i + 5 * W), n2);
      m3 = next(m3, at(i + 6 * W), at(i + 7 * W), n3);
    }
    for (; i + 2 * W <= n; i += 2 * W) m0 = next(m0, at(i), at(i + W), n0);
    if (i + W <= n) m1 = next(m1, at(i), m0, n1), i += W;
    if (i < n) m2 = next(m2, f(vload_n(x + i, static_cast<int>(n - i), to_float(x[n - 1]))), m1, n2);
    const V most = pick(pick(m0, m1), pick(m2, m3));
    if (vnan_any(n0) | vnan_any(n1) | vnan_any(n2) | vnan_any(n3)) return __builtin_nanf("");
    return LARGEST ? vpeak(most) : vtrough(most);
  }
};
using Largest = Extreme<true>;
using Smallest = Extreme<false>;

// Largest of n >= 1 floats, for what a NaN reaches in another way.
template <class T>
inline float max_of(const T* x, int64_t n) {
  V m0 = vset(to_float(x[0])), m1 = m0, m2 = m0, m3 = m0;
  int64_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W) {
    m0 = vmax(m0, vload(x + i));
    m1 = vmax(m1, vload(x + i + W));
    m2 = vmax(m2, vload(x + i + 2 * W));
    m3 = vmax(m3, vload(x + i + 3 * W));
  }
  for (; i + W <= n; i += W) m0 = vmax(m0, vload(x + i));
  if (i < n) m1 = vmax(m1, vload_n(x + i, static_cast<int>(n - i), to_float(x[0])));
  return vpeak(vmax(vmax(m0, m1), vmax(m2, m3)));
}

}  // namespace
