// Sums and maxima of contiguous elements.
#pragma once
#include "simd.h"

namespace {

// A running vector sum with Kahan's compensation (Kahan 1965), for adding up the sums of blocks.
struct Total {
  V sum = vset(0), lost = vset(0);
  inline void add(V v) {
    const V y = vsub(v, lost);
    const V next = vadd(sum, y);
    lost = vsub(vsub(next, sum), y);
    sum = next;
  }
};

constexpr int64_t BLOCK = 8192;  // floats added plainly before the compensated step

// Sum of at(i) over n floats, a vector each: eight independent accumulators, a compensated step per block. at(i, rest): of the
// last `rest` elements, the other lanes whatever they are.
template <class At, class Rest>
inline float total_of(int64_t n, At at, Rest at_rest) {
  Total total;
  for (int64_t from = 0; from < n; from += BLOCK) {
    const int64_t end = least(from + BLOCK, n);
    V s0 = vset(0), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
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
    for (; i + W <= end; i += W) s0 = vadd(s0, at(i));
    total.add(vadd(vadd(vadd(s0, s1), vadd(s2, s3)), vadd(vadd(s4, s5), vadd(s6, s7))));
  }
  float sum = vsum(total.sum);
  const int rest = static_cast<int>(n % W);
  if (rest > 0) {
    // Lanes past the end must add nothing.
    float last[W > 1 ? W : 1];
    vstore(last, at_rest(n - rest, rest));
    for (int i = 0; i < rest; i++) sum += last[i];
  }
  return sum;
}

// Sum of f(x) over n floats.
template <class T, class F>
inline float sum_of(const T* x, int64_t n, F f) {
  return total_of(n, [=](int64_t i) { return f(vload(x + i)); }, [=](int64_t i, int rest) { return f(vload_n(x + i, rest, 0)); });
}

// Sum of f(a, b) over n pairs of floats.
template <class T, class F>
inline float sum_of_pairs(const T* a, const T* b, int64_t n, F f) {
  return total_of(n, [=](int64_t i) { return f(vload(a + i), vload(b + i)); }, [=](int64_t i, int rest) { return f(vload_n(a + i, rest, 0), vload_n(b + i, rest, 0)); });
}

// The join (reduction.h) of f(x) over n floats, where to join one twice changes nothing.
template <class J, class T, class F>
inline float extreme_of(const T* x, int64_t n, F f) {
  V m0 = vset(J::NOTHING), m1 = m0, m2 = m0, m3 = m0;
  int64_t i = 0;
  for (; i + 4 * W <= n; i += 4 * W) {
    m0 = J::join(m0, f(vload(x + i)));
    m1 = J::join(m1, f(vload(x + i + W)));
    m2 = J::join(m2, f(vload(x + i + 2 * W)));
    m3 = J::join(m3, f(vload(x + i + 3 * W)));
  }
  for (; i + W <= n; i += W) m0 = J::join(m0, f(vload(x + i)));
  if (i < n) m1 = J::join(m1, f(vload_n(x + i, static_cast<int>(n - i), to_float(x[n - 1]))));
  return J::across(J::join(J::join(m0, m1), J::join(m2, m3)));
}

// Largest of n >= 1 floats.
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
