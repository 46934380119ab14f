// Convolutions of one channel a group whose planes are small (AVX-512): vectors of outputs, row after row of a plane, straight from the input. What each
// element of the kernel meets of a plane is listed once for all of them: the lanes of one vector that some elements of the input, which lie together, are for.
#pragma once
#include "joined_channels.h"

namespace {

#if defined(OPSCOPE_JOINED_CHANNELS)
// Lanes `lanes` meet element `element` of the kernel: those of a vector from `from` on in the plane, with a stride `met` of it in the order `order`.
struct PlaneTap {
  int32_t from;
  uint16_t element;
  VLanes lanes;
};
struct PlaneOrder {
  __m512i order;
  VLanes met;
};

struct PlaneTaps {
  static constexpr int64_t MOST_OUTPUTS = 1 << 14, MOST_TAPS = 49, MOST_LISTED = 1 << 15, MOST_ORDERED = 1024;
  const Geometry& g;
  int64_t outputs, vectors;

  explicit PlaneTaps(const Geometry& geometry) : g(geometry), outputs(g.out_plane()), vectors((outputs + W - 1) / W) {}
  // Runs of outputs of one row in a vector, and pieces of a row with a stride.
  int64_t listed() const {
    const int64_t rows = (outputs + g.width.output - 1) / g.width.output;
    return times(g.volume(), (vectors + rows) * (g.stride > 1 ? g.stride : 1));
  }
  bool ordered() const { return g.stride > 1; }
  static bool pays(const Geometry& g) {
    constexpr int64_t LEAST_PLANES = 20, PLANES_OF_TAP = 2, MOST_TAPS_OF_STRIDED = 9, MOST_TAPS_OF_TWO = 25, FEW_TAPS = 4, FEW_OUTPUTS = 4 * W;
    const int64_t volume = g.volume(), planes = g.batch * g.filters;
    if (g.group_channels() != 1 || g.groups == 1 || g.out_plane() == g.width.output || g.stride > 2 || volume > MOST_TAPS) return false;
    const PlaneTaps p(g);
    const bool together = g.stride == 1 && g.width.output == g.width.input;  // vectors of outputs meet those of the input, across the ends of rows
    if (planes < LEAST_PLANES || planes < PLANES_OF_TAP * volume || p.outputs > MOST_OUTPUTS || p.listed() > (p.ordered() ? MOST_ORDERED : MOST_LISTED)) return false;
    // Planes of one axis are rows of another kernel.
    if (p.outputs == larger(g.depth.output, g.height.output) && g.in_plane() == larger(g.depth.input, g.height.input)) return false;
    // Two filters of a channel or more repay a copy of it.
    if (g.group_filters() > 1) return together && g.group_filters() == 2 && volume > 1 && volume <= MOST_TAPS_OF_TWO;
    if (g.stride > 1) return volume <= MOST_TAPS_OF_STRIDED;
    return volume > 1 && (together || volume <= FEW_TAPS || g.width.output >= W || p.outputs <= FEW_OUTPUTS);
  }
  // Floats of a thread: the list, how much of it each vector has, and the orders.
  int64_t list_floats() const { return up(listed() * static_cast<int64_t>(sizeof(PlaneTap) / sizeof(float)), LINE); }
  int64_t past_floats() const { return up(vectors, LINE); }
  int64_t order_floats() const { return ordered() ? listed() * static_cast<int64_t>(sizeof(PlaneOrder) / sizeof(float)) : 0; }
  int64_t floats() const { return list_floats() + past_floats() + order_floats(); }
  size_t scratch(int threads) const { return static_cast<size_t>(floats() * threads); }

  void list(PlaneTap* taps, int32_t* past, PlaneOrder* orders) const {
    int32_t count = 0;
    for (int64_t v = 0; v < vectors; v++) {
      const int64_t begin = v * W, end = least(begin + W, outputs);
      uint16_t element = 0;
      for (int64_t kd = 0; kd < g.depth.kernel; kd++)
        for (int64_t kh = 0; kh < g.height.kernel; kh++)
          for (int64_t kw = 0; kw < g.width.kernel; kw++, element++) {
            int32_t first = count;
            for (int64_t o = begin; o < end;) {
              const int64_t row = o / g.width.output, column = o - row * g.width.output, past_row = least(end, o - column + g.width.output), depth = row / g.height.output;
              const int64_t in_row = g.row(depth, row - depth * g.height.output, kd, kh);
              const Range valid = in_row < 0 ? Range{0, 0} : g.inside(kw, column, column + past_row - o);
              if (valid.begin < valid.end) {
                const int64_t place = in_row * g.width.input + kw * g.dilation - g.width.padding + valid.begin * g.stride;  // of the first of them
                const int lane = static_cast<int>(o - begin + valid.begin - column), lanes = static_cast<int>(valid.end - valid.begin);
                if (ordered()) first = add_ordered(taps, orders, count, first, place, lane, lanes, element);
                else first = add(taps, count, first, static_cast<int32_t>(place - lane), vmask_between(lane, lane + lanes), element);
              }
              o = past_row;
            }
          }
      past[v] = count;
    }
  }

 private:
  // Joined to the one before of the same element where both lie in one vector.
  static int32_t add(PlaneTap* taps, int32_t& count, int32_t first, int32_t from, VLanes lanes, uint16_t element) {
    if (count > first && taps[count - 1].from == from) taps[count - 1].lanes = static_cast<VLanes>(taps[count - 1].lanes | lanes);
    else taps[count++] = {from, element, lanes};
    return first;
  }
  int32_t add_ordered(PlaneTap* taps, PlaneOrder* orders, int32_t& count, int32_t first, int64_t place, int lane, int lanes, uint16_t element) const {
    for (int i = 0; i < lanes; i++, place += g.stride) {
      if (count == first || place - taps[count - 1].from >= W) {
        taps[count] = {static_cast<int32_t>(place), element, 0};
        orders[count++] = {_mm512_setzero_si512(), 0};
      }
      const int at = static_cast<int>(place - taps[count - 1].from);
      const VLanes own = static_cast<VLanes>(1u << (lane + i));
      taps[count - 1].lanes = static_cast<VLanes>(taps[count - 1].lanes | own);
      orders[count - 1].met = static_cast<VLanes>(orders[count - 1].met | 1u << at);
      orders[count - 1].order = _mm512_mask_set1_epi32(orders[count - 1].order, own, at);
    }
    return first;
  }
};

template <bool ORDERED, class T, class Out>
OPSCOPE_APART void run_listed_planes(const Call& c, const PlaneTaps& p, Out* const output) {
  const Geometry& g = p.g;
  float* const own = c.scratch + c.thread * p.floats();
  PlaneTap* const taps = reinterpret_cast<PlaneTap*>(own);
  int32_t* const past = reinterpret_cast<int32_t*>(own + p.list_floats());
  PlaneOrder* const orders = reinterpret_cast<PlaneOrder*>(own + p.list_floats() + p.past_floats());
  const int64_t per_channel = g.group_filters(), volume = g.volume(), plane = g.in_plane();
  const Range mine = part(g.batch * g.filters, 1, c.thread, c.threads);
  if (mine.begin >= mine.end) return;
  p.list(taps, past, orders);
  alignas(64) float widened[PlaneTaps::MOST_TAPS + W];
  int64_t filter = mine.begin % g.filters;
  for (int64_t i = mine.begin; i < mine.end; i++) {
    const T* const x = input<T>(c, 0) + i / per_channel * plane;
    const T* const weight = input<T>(c, 1) + filter * volume;
    const float* factors = widened;
    if constexpr (sizeof(T) == sizeof(float)) factors = weight;
    else map1<false>(weight, widened, 0, volume, [](V v) { return v; });
    Out* const out = output + i * p.outputs;
    int32_t t = 0;
    for (int64_t v = 0; v < p.vectors; v++) {
      // By turns, for the multiplications of one sum wait for each other.
      V sum = vset(0), other = vset(0);
      const auto add = [&](int32_t at, V to) __attribute__((always_inline)) {
        const PlaneTap tap = taps[at];
        if constexpr (ORDERED) return _mm512_mask3_fmadd_ps(_mm512_permutexvar_ps(orders[at].order, vload_masked(x + tap.from, orders[at].met)), vset(factors[tap.element]), to, tap.lanes);
        else return _mm512_mask3_fmadd_ps(vload_masked(x + tap.from, tap.lanes), vset(factors[tap.element]), to, tap.lanes);
      };
      const int32_t end = past[v];
      for (; t + 2 <= end; t += 2) sum = add(t, sum), other = add(t + 1, other);
      if (t < end) sum = add(t++, sum);
      sum = vadd(sum, other);
      if (v + 1 < p.vectors) vstore(out + v * W, sum);
      else vstore_n(out + v * W, sum, static_cast<int>(p.outputs - v * W));
    }
    if (++filter == g.filters) filter = 0;
  }
}

template <class T, class Out>
inline void run_plane_taps(const Call& c, const Geometry& g, Out* const output) {
  const PlaneTaps p(g);
  if (p.ordered()) run_listed_planes<true, T>(c, p, output);
  else run_listed_planes<false, T>(c, p, output);
}
#endif

}  // namespace
