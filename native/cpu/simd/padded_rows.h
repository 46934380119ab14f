// Rows of a convolution's input as they are copied with their padding: of one channel, or of two as pairs.
#pragma once
#include "gathered.h"
#include "pairs.h"

namespace {

// Some lanes of a vector, and every second element in some lanes: what a row of padded cells meets, worked out once for all rows.
struct Lanes {
  static constexpr int64_t STEP = 1;
  Lanes() = default;
#if defined(OPSCOPE_ISA_avx512)
  __mmask16 mask = 0;
  Lanes(int first, int past) : mask(vmask_between(first, past)) {}
  template <class T>
  V load(const T* p) const { return vload_masked(p, mask); }
#else
  int from = 0, to = 0;
  Lanes(int first, int past) : from(first), to(past) {}
  template <class T>
  V load(const T* p) const { return vload_between(p, from, to, 0); }
#endif
};
struct EvenLanes {
  static constexpr int64_t STEP = 2;
  Lanes low, high;
  EvenLanes() = default;
  EvenLanes(int from, int to) : low(limited(2 * from), limited(2 * to - 1)), high(limited(2 * from - W + 1), limited(2 * to - W)) {}
  static int limited(int place) { return place < 0 ? 0 : place < W ? place : W; }
  template <class T>
  V load(const T* p) const { return veven(low.load(p), high.load(p + W - 1)); }
};
template <bool EVEN>
struct RowLanes { using Type = Lanes; };
template <>
struct RowLanes<true> { using Type = EvenLanes; };

// Rows of the input as they are copied: of one channel..
template <class T>
struct OneChannel {
  static constexpr int64_t CHANNELS = 1;
  using Unit = Floats;
  static T* output(T* out) { return out; }
  const T* x;
  OneChannel(const T* channel, int64_t, bool) : x(channel) {}
  V next(int64_t i) const { return vload(x + i); }
  V even(int64_t i) const { return vload_even(x + i); }
  // Some elements, zero in the other lanes.
  template <class L>
  V load(int64_t i, const L& lanes) const { return lanes.load(x + i); }
  float one(int64_t i) const { return to_float(x[i]); }
#if defined(OPSCOPE_GATHERED)
  V gather(const Gathered* one, const Gathered* end) const { return gathered(x, one, end); }
#endif
#if defined(OPSCOPE_TRANSPOSE_ROWS)
  __m128 four(int64_t i) const { return four_floats(x + i); }
#endif
};
#if defined(OPSCOPE_PAIRS)
// .. or of two as pairs; the last channel may have none beside it.
struct TwoChannels {
  static constexpr int64_t CHANNELS = 2;
  using Unit = Pairs;
  static RoundedBF16* output(BF16* out) { return rounded(out); }
  const BF16 *x, *other;
  TwoChannels(const BF16* channel, int64_t plane, bool last) : x(channel), other(last ? nullptr : channel + plane) {}
  V next(int64_t i) const { return vpaired(vload(x + i), other ? vload(other + i) : vset(0)); }
  V even(int64_t i) const { return vpaired(vload_even(x + i), other ? vload_even(other + i) : vset(0)); }
  template <class L>
  V load(int64_t i, const L& lanes) const { return vpaired(lanes.load(x + i), other ? lanes.load(other + i) : vset(0)); }
  float one(int64_t i) const { return pair_of(x[i], other ? other[i] : BF16{0}); }
  V gather(const Gathered* one, const Gathered* end) const { return vpaired(gathered(x, one, end), other ? gathered(other, one, end) : vset(0)); }
  __m128 four(int64_t i) const {
    const auto of = [i](const BF16* p) { return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + i)); };
    return _mm_castsi128_ps(_mm_unpacklo_epi16(of(x), other ? of(other) : _mm_setzero_si128()));
  }
};
#endif

// Every stride-th element of a row of the input, from place `first` on, which may lie in the padding: the cells `met` lie in the row.
struct Row {
  int64_t stride, step, cells, first;
  Range met;
  bool vector() const { return cells <= W && stride <= 2 && step == 1; }
  template <class Rows>
  OPSCOPE_INLINE void copy(const Rows& from, float* to) const {
    if (stride <= 2 && step == 1) {
      int64_t q = 0;
      for (; q < met.begin; q += W) edge(from, q, to);
      if (stride == 1)
        for (; q + W <= met.end; q += W) vstore(to + q, from.next(first + q));
      else
        for (; q + W <= met.end; q += W) vstore(to + q, from.even(first + 2 * q));
      for (; q < cells; q += W) edge(from, q, to);
      return;
    }
    for (int64_t i = 0; i < met.begin; i++) to[i] = 0;
    for (int64_t i = met.begin; i < met.end; i++) to[i] = from.one((first + i * stride) * step);
    for (int64_t i = met.end; i < cells; i++) to[i] = 0;
  }

 private:
  // The vector of the cells from q on, not all of which lie in the row.
  template <class Rows>
  OPSCOPE_INLINE void edge(const Rows& from, int64_t q, float* to) const {
    const int begin = met.begin > q ? static_cast<int>(least(W, met.begin - q)) : 0, end = met.end > q ? static_cast<int>(least(W, met.end - q)) : 0;
    V v = vset(0);
    if (begin < end) v = stride == 1 ? from.load(first + q, Lanes(begin, end)) : from.load(first + 2 * q, EvenLanes(begin, end));
    vstore(to + q, v);
  }
};
// The same of a row that is one vector.
template <bool EVEN>
struct RowOfVector {
  int64_t first;
  typename RowLanes<EVEN>::Type met;
  explicit RowOfVector(const Row& row) : first(row.first), met(static_cast<int>(row.met.begin), static_cast<int>(row.met.end)) {}
  template <class Rows>
  OPSCOPE_INLINE void copy(const Rows& from, float* to) const {
    vstore(to, from.load(first, met));
  }
};

}  // namespace
