// Convolutions of one channel a group whose planes are small (AVX-512): vectors of outputs, row after row of a plane, straight from the input. What each
// element of the kernel meets of a plane is listed once for all of them: the lanes of one vector that some elements, which lie together, are for. With a stride
// of two they are put in these lanes by permutations; or, where several elements of the kernel meet whole rows of them, next to one another first, some planes
// at a time.
#pragma once
#include "gathered.h"
#include "joined_channels.h"

namespace {

#if defined(OPSCOPE_JOINED_CHANNELS)
// Lanes `lanes` meet element `element` of the kernel: those of a vector from `from` on in the plane.
struct PlaneTap {
  int32_t from;
  uint16_t element;
  VLanes lanes;
};

// With a stride: the elements that are read, and their order in the lanes.
struct PlaneOrder {
  __m512i order;
  VLanes met;
};

struct PlaneTaps {
  static constexpr int64_t MOST_OUTPUTS = 1 << 14, MOST_TAPS = 49, MOST_LISTED = 1 << 15, MOST_ORDERED = 1024;
  static constexpr int64_t MOST_CELLS = 2048, NEAR = 4096;  // floats of a plane whose elements are put in order, and of some planes
  const Geometry& g;
  int64_t outputs, vectors, depth_cells, height_cells, width_cells;  // of a phase: every stride-th element of each axis

  explicit PlaneTaps(const Geometry& geometry) : g(geometry), outputs(g.out_plane()), vectors((outputs + W - 1) / W) {
    const auto cells = [&](const Axis& axis) { return (axis.input + g.stride - 1) / g.stride; };
    depth_cells = cells(g.depth), height_cells = cells(g.height);
    width_cells = cells(g.width);
  }
  // As many as there are runs of outputs of one row in a vector, or with a stride pieces of them, for each element.
  int64_t listed() const { return times(g.volume(), (vectors + (outputs + g.width.output - 1) / g.width.output) * (ordered() ? g.stride : 1)); }
  bool by_phase() const {
    constexpr int64_t LEAST_TAPS_OF_PHASES = 9;
    return g.stride > 1 && g.volume() >= LEAST_TAPS_OF_PHASES && g.width.output == width_cells && cells() <= MOST_CELLS;
  }
  bool ordered() const { return g.stride > 1 && !by_phase(); }
  int64_t phase_cells() const { return depth_cells * height_cells * width_cells; }
  int64_t cells() const {
    const auto phases = [&](const Axis& axis) { return least(axis.input, g.stride); };
    return phases(g.depth) * phases(g.height) * phases(g.width) * phase_cells();
  }
  static bool pays(const Geometry& g) {
    constexpr int64_t LEAST_PLANES = 20, PLANES_OF_TAP = 2, PLANES_OF_STRIDED_TAP = 8, MOST_TAPS_OF_TWO = 25, MOST_TAPS_OF_ORDERED = 9, FEW_TAPS = 4, FEW_OUTPUTS = 4 * W, MANY_TAPS = 9, OUTPUTS_OF_MANY = 1 << 10;
    const int64_t volume = g.volume(), planes = g.batch * g.filters;
    if (g.group_channels() != 1 || g.groups == 1 || g.out_plane() == g.width.output || g.stride > 2 || volume > MOST_TAPS) return false;
    const PlaneTaps p(g);
    const bool together = g.stride == 1 && g.width.output == g.width.input;  // vectors of outputs meet those of the input, across the ends of rows
    if (planes < LEAST_PLANES || planes < PLANES_OF_TAP * volume || p.outputs > MOST_OUTPUTS || p.listed() > (p.ordered() ? MOST_ORDERED : MOST_LISTED)) return false;
    // Planes of one axis are rows of another kernel.
    if (p.outputs == larger(g.depth.output, g.height.output) && g.in_plane() == larger(g.depth.input, g.height.input)) return false;
    // Two filters of a channel or more repay a copy of it.
    if (g.group_filters() > 1) return together && g.group_filters() == 2 && volume > 1 && volume <= MOST_TAPS_OF_TWO;
    if (g.stride > 1) return volume <= MOST_TAPS_OF_ORDERED || (p.by_phase() && planes >= PLANES_OF_STRIDED_TAP * volume);
    // Many elements of the kernel repay a copy too, of a large plane.
    if (volume > MANY_TAPS) return together && p.outputs <= OUTPUTS_OF_MANY;
    return volume > 1 && (together || volume <= FEW_TAPS || g.width.output >= W || p.outputs <= FEW_OUTPUTS);
  }
  // Floats of a thread: the list, how much of it each vector has, and with a stride the orders, or the same of what is put next to one another, and that of some planes.
  int64_t list_floats() const { return up(listed() * static_cast<int64_t>(sizeof(PlaneTap) / sizeof(float)), LINE); }
  int64_t past_floats() const { return up(vectors, LINE); }
  int64_t gathered_vectors() const { return (cells() + W - 1) / W; }
  int64_t gathered_floats() const { return up(cells(), W) * static_cast<int64_t>(sizeof(Gathered) / sizeof(float)); }
  int64_t planes_together() const { return larger(NEAR / cells(), 1); }
  int64_t floats() const { return list_floats() + past_floats() + (by_phase() ? gathered_floats() + up(gathered_vectors(), LINE) + planes_together() * up(cells(), W) : ordered() ? order_floats() : 0); }
  int64_t order_floats() const { return listed() * static_cast<int64_t>(sizeof(PlaneOrder) / sizeof(float)); }
  size_t scratch(int threads) const { return static_cast<size_t>(floats() * threads); }

  // Where an element goes: as it lies, or by phase.
  int64_t place(int64_t depth, int64_t height, int64_t width) const {
    if (!by_phase()) return (depth * g.height.input + height) * g.width.input + width;
    const int64_t s = g.stride, high = least(g.height.input, s), wide = least(g.width.input, s);
    return ((depth % s * high + height % s) * wide + width % s) * phase_cells() + (depth / s * height_cells + height / s) * width_cells + width / s;
  }
  void list_cells(Gathered* list, int32_t* past) const {
    int64_t from[MOST_CELLS];
    for (int64_t i = 0; i < cells(); i++) from[i] = -1;
    for (int64_t d = 0, i = 0; d < g.depth.input; d++)
      for (int64_t h = 0; h < g.height.input; h++)
        for (int64_t w = 0; w < g.width.input; w++, i++) from[place(d, h, w)] = i;
    list_gathered(from, cells(), list, past);
  }
  void list(PlaneTap* taps, int32_t* past, PlaneOrder* orders) const {
    int32_t count = 0;
    for (int64_t v = 0; v < vectors; v++) {
      const int64_t begin = v * W, end = least(begin + W, outputs);
      uint16_t element = 0;
      for (int64_t kd = 0; kd < g.depth.kernel; kd++)
        for (int64_t kh = 0; kh < g.height.kernel; kh++)
          for (int64_t kw = 0; kw < g.width.kernel; kw++, element++) {
            const int32_t first = count;
            for (int64_t o = begin; o < end;) {
              const int64_t row = o / g.width.output, column = o - row * g.width.output, past_row = least(end, o - column + g.width.output), depth = row / g.height.output;
              const int64_t in_row = g.row(depth, row - depth * g.height.output, kd, kh);
              const Range valid = in_row < 0 ? Range{0, 0} : g.inside(kw, column, column + past_row - o);
              if (valid.begin < valid.end) {
                const int64_t in_depth = in_row / g.height.input;
                const int lane = static_cast<int>(o - begin + valid.begin - column), lanes = static_cast<int>(valid.end - valid.begin);
                const int64_t met = place(in_depth, in_row - in_depth * g.height.input, kw * g.dilation - g.width.padding + valid.begin * g.stride);
                const int32_t from = static_cast<int32_t>(met - lane);
                // Joined to the one before of the same element where both lie in one vector.
                if (orders) add_ordered(taps, orders, count, first, met, lane, lanes, element);
                else if (count > first && taps[count - 1].from == from) taps[count - 1].lanes = static_cast<VLanes>(taps[count - 1].lanes | vmask_between(lane, lane + lanes));
                else taps[count++] = {from, element, vmask_between(lane, lane + lanes)};
              }
              o = past_row;
            }
          }
      past[v] = count;
    }
  }

 private:
  void add_ordered(PlaneTap* taps, PlaneOrder* orders, int32_t& count, int32_t first, int64_t met, int lane, int lanes, uint16_t element) const {
    for (int i = 0; i < lanes; i++, met += g.stride) {
      if (count == first || met - taps[count - 1].from >= W) {
        taps[count] = {static_cast<int32_t>(met), element, 0};
        orders[count++] = {_mm512_setzero_si512(), 0};
      }
      const int at = static_cast<int>(met - taps[count - 1].from);
      const VLanes own = static_cast<VLanes>(1u << (lane + i));
      taps[count - 1].lanes = static_cast<VLanes>(taps[count - 1].lanes | own);
      orders[count - 1].met = static_cast<VLanes>(orders[count - 1].met | 1u << at);
      orders[count - 1].order = _mm512_mask_set1_epi32(orders[count - 1].order, own, at);
    }
  }
};

// One plane, by the factors of a filter.
template <bool ORDERED, class T, class Out>
OPSCOPE_INLINE void listed_plane(const PlaneTaps& p, const PlaneTap* taps, const int32_t* past, [[maybe_unused]] const PlaneOrder* orders, const T* x, const float* factors, Out* out) {
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
}

// The planes `mine`; factors(): those of the next one.
template <bool ORDERED, class T, class Out, class F>
OPSCOPE_APART void listed_planes(const Call& c, const PlaneTaps& p, Range mine, float* own, F factors, Out* output) {
  PlaneTap* const taps = reinterpret_cast<PlaneTap*>(own);
  int32_t* const past = reinterpret_cast<int32_t*>(own + p.list_floats());
  PlaneOrder* const orders = ORDERED ? reinterpret_cast<PlaneOrder*>(own + p.list_floats() + p.past_floats()) : nullptr;
  p.list(taps, past, orders);
  for (int64_t i = mine.begin; i < mine.end; i++) listed_plane<ORDERED>(p, taps, past, orders, input<T>(c, 0) + i / p.g.group_filters() * p.g.in_plane(), factors(), output + i * p.outputs);
}
// The same by phase: some planes are put in order before their products, which would wait for what was just written.
template <class T, class Out, class F>
OPSCOPE_APART void planes_by_phase(const Call& c, const PlaneTaps& p, Range mine, float* own, F factors, Out* output) {
  PlaneTap* const taps = reinterpret_cast<PlaneTap*>(own);
  int32_t* const past = reinterpret_cast<int32_t*>(own + p.list_floats());
  float* const behind = own + p.list_floats() + p.past_floats();
  Gathered* const gathered = reinterpret_cast<Gathered*>(behind);
  int32_t* const gathered_past = reinterpret_cast<int32_t*>(behind + p.gathered_floats());
  float* const cells = behind + p.gathered_floats() + up(p.gathered_vectors(), LINE);
  p.list(taps, past, nullptr);
  p.list_cells(gathered, gathered_past);
  const int64_t together = p.planes_together(), apart = up(p.cells(), W);
  for (int64_t i = mine.begin; i < mine.end; i += together) {
    const int64_t end = least(i + together, mine.end);
    for (int64_t j = i; j < end; j++) gather(input<T>(c, 0) + j * p.g.in_plane(), gathered, gathered_past, p.gathered_vectors(), cells + (j - i) * apart);
    for (int64_t j = i; j < end; j++) listed_plane<false>(p, taps, past, nullptr, cells + (j - i) * apart, factors(), output + j * p.outputs);
  }
}

template <class T, class Out>
OPSCOPE_APART void run_plane_taps(const Call& c, const Geometry& g, Out* const output) {
  const PlaneTaps p(g);
  float* const own = c.scratch + c.thread * p.floats();
  const Range mine = part(g.batch * g.filters, 1, c.thread, c.threads);
  if (mine.begin >= mine.end) return;
  alignas(64) float widened[PlaneTaps::MOST_TAPS + W];
  int64_t filter = mine.begin % g.filters;
  const auto factors = [&]() -> const float* {
    const T* const weight = input<T>(c, 1) + filter * g.volume();
    if (++filter == g.filters) filter = 0;
    if constexpr (sizeof(T) == sizeof(float)) return weight;
    else return map1<false>(weight, widened, 0, g.volume(), [](V v) { return v; }), widened;
  };
  if (p.by_phase()) planes_by_phase<T>(c, p, mine, own, factors, output);
  else if (p.ordered()) listed_planes<true, T>(c, p, mine, own, factors, output);
  else listed_planes<false, T>(c, p, mine, own, factors, output);
}
#endif

}  // namespace
