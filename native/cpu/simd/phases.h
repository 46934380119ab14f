// Convolutions whose windows are not read from the input itself: a part of it is padded, widened to f32 and split by what is left of a place
// divided by the stride (its phase). In such a copy the places that one element of the kernel meets lie next to one another for all outputs of
// a row. Tiles read them there, across rows as well, and what falls between two rows of outputs is computed and left out; or, where that would
// be much, panels are packed from the copy without a look at edges and strides.
#pragma once
#include "windows.h"

namespace {

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
  V some(int64_t i, int n) const { return take(x + i, n); }
  V some_even(int64_t i, int n) const { return vload_even_between(x + i, 0, n, 0); }
  float one(int64_t i) const { return to_float(x[i]); }
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
  V some(int64_t i, int n) const { return vpairs(x + i, other ? other + i : nullptr, n); }
  V some_even(int64_t i, int n) const { return vpaired(vload_even_between(x + i, 0, n, 0), other ? vload_even_between(other + i, 0, n, 0) : vset(0)); }
  float one(int64_t i) const { return pair_of(x[i], other ? other[i] : BF16{0}); }
};
#endif

// One axis of a part of `outputs` outputs: `cells` of each of the phases.
struct PhaseAxis {
  int64_t phases, cells;
  PhaseAxis(const Geometry& g, const Axis& axis, int64_t outputs) {
    const int64_t reach = (axis.kernel - 1) * g.dilation;
    phases = least(g.stride, reach + 1);
    cells = outputs + reach / g.stride;
  }
};

constexpr int64_t PART_FLOATS = 1 << 16, LEAST_COLUMNS = 1024, MOST_COLUMNS = 1 << 14;  // of a part, so that sums and copied input stay in the second-level cache
constexpr int64_t MOST_FLOATS = 4 << 20;  // of one thread
constexpr int64_t PLANES_FLOATS = 1 << 18; // of several planes that are copied together: about a second-level cache
constexpr int64_t PACKING = 12, PACKING_RUNS = NR * 8 / 5;  // takes about as long as so many rows of a product, these by the outputs of a row; rows that start within lines take 1.05x

// How a convolution is cut into parts, each of some whole planes of outputs (one depth of an image) or some rows or columns of one, and what
// one thread needs for them. Cells lie by channel, phase, depth, plane, row and column.
struct Parts {
  const Geometry& g;
  int64_t across, down;  // parts of a plane
  int64_t columns, rows, planes;  // of a part
  PhaseAxis d, h, w;
  int64_t plane, phase;  // cells of one depth of a plane, and of all
  bool packs;            // panels are packed, for many vectors would lie between rows of outputs
  bool copies_planes;    // parts are whole planes of the input without padding
  // Floats: the copied input and a slab (vectors reach behind their ends), sums, a block of filters, and where each term lies.
  int64_t input_floats, slab_floats, sum_stride, sum_floats, block_floats, floats;

  Parts(const Geometry& geometry, int threads) : Parts(geometry, threads, (geometry.width.output + most_columns(geometry) - 1) / most_columns(geometry)) {}
  int64_t all_planes() const { return g.batch * g.depth.output; }
  int64_t count() const { return g.groups * ((all_planes() + planes - 1) / planes) * down * across; }
  int64_t flat(int64_t some_planes, int64_t some_rows, int64_t some_columns) const { return (some_planes - 1) * plane + (some_rows - 1) * w.cells + some_columns; }
  bool fits() const { return input_floats <= MOST_FLOATS && floats <= MOST_FLOATS; }

  void offsets(int32_t* to) const {
    const int64_t s = g.stride;
    for (int64_t c = 0; c < g.group_channels(); c++, to += g.volume())
      for (int64_t kd = 0; kd < g.depth.kernel; kd++)
        for (int64_t kh = 0; kh < g.height.kernel; kh++)
          for (int64_t kw = 0; kw < g.width.kernel; kw++) {
            const int64_t at_d = kd * g.dilation, at_h = kh * g.dilation, at_w = kw * g.dilation;
            const int64_t nth = ((c * d.phases + at_d % s) * h.phases + at_h % s) * w.phases + at_w % s;
            to[kd * g.depth.kernel_step + kh * g.height.kernel_step + kw * g.width.kernel_step] = static_cast<int32_t>(nth * phase + at_d / s * planes * plane + at_h / s * w.cells + at_w / s);
          }
  }

  // The input of one group, of `channels` channels, that `some` planes from `first` on meet, from output (row, column) of each on.
  template <class Rows, class T>
  void copy(const T* x, int64_t channels, int64_t group, int64_t first, int64_t some, int64_t row, int64_t column, float* to) const {
    if (copies_planes) return copy_planes<Rows>(x, channels, group, first, some, to);
    for (int64_t n = 0; n < some; n++) {
      const int64_t image = (first + n) / g.depth.output, depth = (first + n) % g.depth.output;
      const T* channel = x + (image * g.groups + group) * channels * g.in_plane();
      float* cells = to + n * plane;
      for (int64_t c = 0; c < channels; c += Rows::CHANNELS, channel += Rows::CHANNELS * g.in_plane())
        for (int64_t pd = 0; pd < d.phases; pd++)
          for (int64_t ph = 0; ph < h.phases; ph++)
            for (int64_t pw = 0; pw < w.phases; pw++)
              for (int64_t i = 0; i < d.cells; i++, cells += planes * plane)
                for (int64_t j = 0; j < h.cells; j++) {
                  const int64_t at_d = (depth + i) * g.stride + pd - g.depth.padding, at_h = (row + j) * g.stride + ph - g.height.padding;
                  const bool inside = at_d >= 0 && at_d < g.depth.input && at_h >= 0 && at_h < g.height.input;
                  const Rows from(channel + (inside ? at_d * g.depth.step + at_h * g.height.step : 0), g.in_plane(), c + 1 == channels);
                  copy_row(from, column * g.stride + pw - g.width.padding, inside ? g.width.input : 0, cells + j * w.cells);
                }
    }
  }

 private:
  Parts(const Geometry& geometry, int threads, int64_t parts_across)
      : Parts(geometry, threads, parts_across, parts_down(geometry, threads, parts_across), (geometry.width.output + parts_across - 1) / parts_across) {}
  Parts(const Geometry& geometry, int threads, int64_t parts_across, int64_t parts_down, int64_t part_columns)
      : g(geometry), across(parts_across), down(parts_down), columns(part_columns), rows((geometry.height.output + parts_down - 1) / parts_down), d(g, g.depth, 1), h(g, g.height, rows), w(g, g.width, columns) {
    const Products s = g.products();
    const int64_t shared = g.groups >= threads ? all_planes() : (all_planes() + threads - 1) / threads;
    // Few, for the first-level cache, but more where each part reads many filters again.
    const int64_t most = (s.m < 128 ? 256 : least(2 * s.m, LEAST_COLUMNS)) / (rows * columns);
    const int64_t cached = PLANES_FLOATS / times(times(g.group_channels(), d.cells * d.phases), times(times(h.cells, h.phases), times(w.cells, w.phases))), enough = (NR + rows * columns - 1) / (rows * columns);
    planes = across * down > 1 || most < 1 ? 1 : least(shared, least(most, cached < enough ? enough : cached));
    plane = times(h.cells, w.cells);
    phase = times(d.cells * planes, plane);
    copies_planes = across * down == 1 && g.width.step == 1 && g.depth.input == 1 && plane == g.in_plane() && d.phases * h.phases * w.phases == 1 && g.depth.padding + g.height.padding + g.width.padding == 0 && w.cells == g.width.input;
    const int64_t filters = s.m, outputs = planes * rows * columns, all = (flat(planes, rows, columns) + W - 1) / W, used = (outputs + W - 1) / W;
    packs = 21 * all * filters > 20 * used * (filters + PACKING + PACKING_RUNS / columns);
    input_floats = up(least(times(g.group_channels() * d.phases * h.phases * w.phases, phase), MOST_FLOATS) + 2 * NR, LINE);
    slab_floats = packs ? up(s.terms() * up(outputs, NR) + W, LINE) : 0;
    sum_stride = packs ? outputs : up(flat(planes, rows, columns), LINE) + LINE;
    sum_floats = up(filters * sum_stride, LINE);
    block_floats = s.a_floats();
    floats = input_floats + slab_floats + sum_floats + block_floats + up(s.k, LINE);
  }

  static int64_t most_columns(const Geometry& g) {
    const int64_t columns = PART_FLOATS / (g.group_filters() > g.group_channels() ? g.group_filters() : g.group_channels());
    // Of the columns alone, whatever the rest of a part is.
    const int64_t reach = ((g.height.kernel - 1) * g.dilation + 1) * ((g.depth.kernel - 1) * g.dilation + 1), fit = MOST_FLOATS / 2 / g.stride / times(g.group_channels(), reach);
    const int64_t most = columns < LEAST_COLUMNS ? LEAST_COLUMNS : least(columns, MOST_COLUMNS);
    return fit < NR ? NR : least(most, fit);
  }
  // More where threads would else have nothing or unequal work.
  static int64_t parts_down(const Geometry& g, int threads, int64_t across) {
    const int64_t planes = g.batch * g.groups * g.depth.output * across, most = g.width.output < most_columns(g) ? most_columns(g) / g.width.output : 1;
    int64_t parts = (g.height.output + most - 1) / most;
    for (int tries = 0; planes * parts % threads != 0 && parts < g.height.output && tries < threads; tries++) parts++;
    return parts;
  }

  // Whole planes as they are, those of a channel next to one another.
  template <class Rows, class T>
  void copy_planes(const T* x, int64_t channels, int64_t group, int64_t first, int64_t some, float* to) const {
    const int64_t image = g.groups * channels * plane;
    x += (first * g.groups + group) * channels * plane;
    for (int64_t c = 0; c < channels; c += Rows::CHANNELS, to += phase)
      for (int64_t n = 0; n < some; n++) {
        const Rows from(x + n * image + c * plane, plane, c + 1 == channels);
        float* const cells = to + n * plane;
        int64_t i = 0;
        for (; i + W <= plane; i += W) vstore(cells + i, from.next(i));
        if (i < plane) vstore_n(cells + i, from.some(i, static_cast<int>(plane - i)), static_cast<int>(plane - i));
      }
  }

  // Every stride-th element of a row of `width` elements, from place `first` on, which may lie in the padding.
  template <class Rows>
  void copy_row(const Rows& from, int64_t first, int64_t width, float* to) const {
    const int64_t s = g.stride, cells = w.cells, step = g.width.step;
    const int64_t begin = least(cells, first < 0 ? (s - 1 - first) / s : 0), past = width <= first ? 0 : least(cells, (width - 1 - first) / s + 1), end = past > begin ? past : begin;
    for (int64_t i = 0; i < begin; i++) to[i] = 0;
    int64_t i = begin;
    if (s <= 2 && step == 1) {
      for (; i + W <= end; i += W) vstore(to + i, s == 1 ? from.next(first + i) : from.even(first + 2 * i));
      if constexpr (W >= 16) {
        if (const int rest = static_cast<int>(end - i); rest > 0) vstore_n(to + i, s == 1 ? from.some(first + i, rest) : from.some_even(first + 2 * i, rest), rest);
        i = end;
      }
    }
    for (; i < end; i++) to[i] = from.one((first + i * s) * step);
    for (i = end; i < cells; i++) to[i] = 0;
  }
};

// The windows of a part as the right operand: `rows` rows of `columns` outputs of each plane.
template <class U>
struct Copied {
  using Panel = PanelOf<U>;
  const Parts& p;
  const float* copy;
  const int32_t* offsets;
  int64_t rows, columns;

  int64_t lying(int64_t, int64_t, int) const { return 0; }
  Panel place(int64_t, int64_t) const { return {}; }
  // Whole vectors, over what the next run or row writes; missing columns are left as they are.
  void pack(int64_t j, int count, int64_t l, int64_t kc, float* to) const {
    int64_t from[NR];
    int at[NR + 1], runs = 0;
    for (int q = 0; q < count; runs++) {
      const int64_t row = (j + q) / columns, column = (j + q) - row * columns;
      from[runs] = row / rows * p.plane + row % rows * p.w.cells + column;
      at[runs] = q;
      q += static_cast<int>(least(columns - column, count - q));
    }
    at[runs] = count;
    for (int64_t i = 0; i < kc; i++, to += NR) {
      const float* const term = copy + offsets[l + i];
      for (int r = 0; r < runs; r++)
        for (int q = at[r]; q < at[r + 1]; q += W) vstore(to + q, vload(term + from[r] + q - at[r]));
    }
  }
};

// to[i * step] = from[i]
template <class T>
OPSCOPE_APART void write_apart(const float* from, int64_t n, T* to, int64_t step) {
  for (int64_t i = 0; i < n; i++) set(to + i * step, from[i]);
}

// channels: of a group of the input; filters_of(group): the filters as the left operand, of terms as `p` has them.
template <class Rows, class T, class F>
void run_parts(const Call& call, const Parts& p, int64_t channels, F filters_of) {
  using Unit = typename Rows::Unit;
  const Geometry& g = p.g;
  const Products s = g.products();
  const int64_t filters = g.group_filters(), stride = p.sum_stride, terms = s.terms(), step = g.width.output_step;
  float* const copy = call.scratch + call.thread * p.floats;
  float *const slab = copy + p.input_floats, *const sums = slab + p.slab_floats, *const block = sums + p.sum_floats;
  int32_t* const offsets = reinterpret_cast<int32_t*>(block + p.block_floats);
  p.offsets(offsets);
  const Range mine = part(p.count(), 1, call.thread, call.threads);
  for (int64_t nth = mine.begin; nth < mine.end; nth++) {
    const int64_t across = nth % p.across, down = nth / p.across % p.down, left_over = nth / (p.across * p.down), first = left_over / g.groups * p.planes, group = left_over % g.groups;
    const int64_t row = down * p.rows, column = across * p.columns;
    const int64_t planes = least(p.planes, p.all_planes() - first), rows = least(p.rows, g.height.output - row), columns = least(p.columns, g.width.output - column);
    if (rows <= 0 || columns <= 0) continue;
    p.template copy<Rows>(input<T>(call, 0), channels, group, first, planes, row, column, copy);
    const auto a = filters_of(group);
    const auto output_of = [&](int64_t n) {
      const int64_t image = (first + n) / g.depth.output, depth = (first + n) % g.depth.output;
      return output<T>(call) + (image * g.groups + group) * filters * g.stored_plane + g.output_first + depth * g.depth.output_step + row * g.height.output_step + column * step;
    };
    if (p.packs) {
      const int64_t outputs = planes * rows * columns;
      const auto multiply_to = [&](const Direct& to) {
        for (int64_t l = 0; l < s.k; l += terms)
          multiply(a, Copied<Unit>{p, copy, offsets, rows, columns}, false, true, to, {0, filters}, 0, outputs, {0, outputs}, l, least(terms, s.k - l), slab, block, false);
      };
      if constexpr (sizeof(T) == sizeof(float))
        if (planes == 1 && step == 1 && (rows == 1 || columns == g.height.output_step)) {
          multiply_to({output_of(0), g.stored_plane});
          continue;
        }
      multiply_to({sums, stride});
    } else {
      const int64_t flat = p.flat(planes, rows, columns);
      for (int64_t l = 0; l < s.k; l += terms) {
        const int64_t kc = least(terms, s.k - l), height = even_part(filters, a.block_rows(kc));
        for (int64_t f = 0; f < filters; f += height) {
          const int64_t count = least(height, filters - f);
          const Left left = a.block(f, count, l, kc, block);
          for (int64_t j = 0; j < flat; j += NR)
            multiply_panel(left, count, ScatteredOf<Unit>{copy + j, offsets + l}, kc, sums + f * stride + j, stride, static_cast<int>(least(NR, flat - j)), l == 0);
        }
      }
    }
    // Where nothing lies between them, the rows of a plane follow one another, as in the output.
    const int64_t cells = p.packs ? columns : p.w.cells, plane = p.packs ? rows * columns : p.plane;
    const bool joined = cells == columns && columns == g.height.output_step && step == 1;
    const int64_t runs = joined ? 1 : rows, length = joined ? rows * columns : columns;
    for (int64_t n = 0; n < planes; n++) {
      T* const out = output_of(n);
      for (int64_t f = 0; f < filters; f++) {
        const float* const from = sums + f * stride + n * plane;
        T* const to = out + f * g.stored_plane;
        for (int64_t r = 0; step == 1 && r < runs; r++) map1<false>(from + r * cells, Rows::output(to + r * g.height.output_step), 0, length, [](V v) { return v; });
        for (int64_t r = 0; step > 1 && r < runs; r++) write_apart(from + r * cells, length, to + r * g.height.output_step, step);
      }
    }
  }
}

}  // namespace
