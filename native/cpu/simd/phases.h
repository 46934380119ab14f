// Convolutions whose windows are not read from the input itself: a part of it is padded, widened to f32 and split by what is left of a place
// divided by the stride (its phase). In such a copy the places that one element of the kernel meets lie next to one another for all outputs of
// a row. Tiles read them there, across rows as well, and what falls between two rows of outputs is computed and left out; or, where that would
// be much, panels are packed from the copy without a look at edges and strides.
#pragma once
#include "windows.h"

namespace {

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
  // Floats: the copied input and a slab (vectors reach behind their ends), sums, a block of filters, and where each term lies.
  int64_t input_floats, slab_floats, sum_stride, sum_floats, block_floats, floats;

  Parts(const Geometry& geometry, int threads) : Parts(geometry, threads, (geometry.width.output + most_columns(geometry) - 1) / most_columns(geometry)) {}
  int64_t all_planes() const { return g.batch * g.depth.output; }
  int64_t count() const { return g.groups * ((all_planes() + planes - 1) / planes) * down * across; }
  int64_t flat(int64_t some_planes, int64_t some_rows, int64_t some_columns) const { return (some_planes - 1) * plane + (some_rows - 1) * w.cells + some_columns; }
  bool fits() const { return input_floats <= MOST_FLOATS && floats <= MOST_FLOATS; }

  void offsets(int32_t* to) const {
    const int64_t s = g.stride;
    for (int64_t c = 0; c < g.group_channels(); c++)
      for (int64_t kd = 0; kd < g.depth.kernel; kd++)
        for (int64_t kh = 0; kh < g.height.kernel; kh++)
          for (int64_t kw = 0; kw < g.width.kernel; kw++) {
            const int64_t at_d = kd * g.dilation, at_h = kh * g.dilation, at_w = kw * g.dilation;
            const int64_t nth = ((c * d.phases + at_d % s) * h.phases + at_h % s) * w.phases + at_w % s;
            *to++ = static_cast<int32_t>(nth * phase + at_d / s * planes * plane + at_h / s * w.cells + at_w / s);
          }
  }

  // The input of one group that `some` planes from `first` on meet, from output (row, column) of each on.
  template <class T>
  void copy(const T* x, int64_t group, int64_t first, int64_t some, int64_t row, int64_t column, float* to) const {
    for (int64_t n = 0; n < some; n++) {
      const int64_t image = (first + n) / g.depth.output, depth = (first + n) % g.depth.output;
      const T* channel = x + (image * g.groups + group) * g.group_channels() * g.in_plane();
      float* cells = to + n * plane;
      for (int64_t c = 0; c < g.group_channels(); c++, channel += g.in_plane())
        for (int64_t pd = 0; pd < d.phases; pd++)
          for (int64_t ph = 0; ph < h.phases; ph++)
            for (int64_t pw = 0; pw < w.phases; pw++)
              for (int64_t i = 0; i < d.cells; i++, cells += planes * plane)
                for (int64_t j = 0; j < h.cells; j++) {
                  const int64_t at_d = (depth + i) * g.stride + pd - g.depth.padding, at_h = (row + j) * g.stride + ph - g.height.padding;
                  const bool inside = at_d >= 0 && at_d < g.depth.input && at_h >= 0 && at_h < g.height.input;
                  copy_row(channel + (inside ? (at_d * g.height.input + at_h) * g.width.input : 0), column * g.stride + pw - g.width.padding, inside ? g.width.input : 0, cells + j * w.cells);
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
    planes = across * down > 1 || most < 1 ? 1 : least(shared, most);
    plane = times(h.cells, w.cells);
    phase = times(d.cells * planes, plane);
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
    return columns < LEAST_COLUMNS ? LEAST_COLUMNS : least(columns, MOST_COLUMNS);
  }
  // More where threads would else have nothing or unequal work.
  static int64_t parts_down(const Geometry& g, int threads, int64_t across) {
    const int64_t planes = g.batch * g.groups * g.depth.output * across, most = g.width.output < most_columns(g) ? most_columns(g) / g.width.output : 1;
    int64_t parts = (g.height.output + most - 1) / most;
    for (int tries = 0; planes * parts % threads != 0 && parts < g.height.output && tries < threads; tries++) parts++;
    return parts;
  }

  // Every stride-th element of a row of `width` elements, from place `first` on, which may lie in the padding.
  template <class T>
  void copy_row(const T* from, int64_t first, int64_t width, float* to) const {
    const int64_t s = g.stride, cells = w.cells;
    const int64_t begin = least(cells, first < 0 ? (s - 1 - first) / s : 0), past = width <= first ? 0 : least(cells, (width - 1 - first) / s + 1), end = past > begin ? past : begin;
    for (int64_t i = 0; i < begin; i++) to[i] = 0;
    const T* const at = from + first;
    int64_t i = begin;
    if (s == 1) {
      map1<false>(at, to, begin, end, [](V v) { return v; });
      i = end;
    } else if (s == 2) {
      for (; i + W <= end; i += W) vstore(to + i, vload_even(at + 2 * i));
    }
    for (; i < end; i++) to[i] = to_float(at[i * s]);
    for (i = end; i < cells; i++) to[i] = 0;
  }
};

// The windows of a part as the right operand: `rows` rows of `columns` outputs of each plane.
struct Copied {
  const Parts& p;
  const float* copy;
  const int32_t* offsets;
  int64_t rows, columns;

  int64_t lying(int64_t, int64_t, int) const { return 0; }
  Right place(int64_t, int64_t) const { return {}; }
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

template <class T>
void run_parts(const Call& call, const Parts& p, const T* weight) {
  const Geometry& g = p.g;
  const Products s = g.products();
  const int64_t filters = g.group_filters(), stride = p.sum_stride, terms = s.terms();
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
    p.copy(input<T>(call, 0), group, first, planes, row, column, copy);
    const LeftMatrix<T> a{weight + group * filters * s.k, s.k, false};
    const auto output_of = [&](int64_t n) {
      const int64_t image = (first + n) / g.depth.output, depth = (first + n) % g.depth.output;
      return output<T>(call) + (image * g.groups + group) * filters * g.out_plane() + (depth * g.height.output + row) * g.width.output + column;
    };
    if (p.packs) {
      const int64_t outputs = planes * rows * columns;
      const auto multiply_to = [&](const Direct& to) {
        for (int64_t l = 0; l < s.k; l += terms)
          multiply(a, Copied{p, copy, offsets, rows, columns}, false, true, to, {0, filters}, 0, outputs, {0, outputs}, l, least(terms, s.k - l), slab, block);
      };
      if constexpr (sizeof(T) == sizeof(float))
        if (planes == 1) {
          multiply_to({output_of(0), g.out_plane()});
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
            multiply_panel(left, count, Scattered{copy + j, offsets + l}, kc, sums + f * stride + j, stride, static_cast<int>(least(NR, flat - j)), l == 0);
        }
      }
    }
    // Where nothing lies between them, the rows of a plane follow one another, as in the output.
    const bool joined = p.packs || (p.w.cells == columns && columns == g.width.output);
    const int64_t runs = joined ? 1 : rows, length = joined ? rows * columns : columns, plane = p.packs ? length : p.plane;
    for (int64_t n = 0; n < planes; n++) {
      T* const out = output_of(n);
      for (int64_t f = 0; f < filters; f++)
        for (int64_t r = 0; r < runs; r++) map1<false>(sums + f * stride + n * plane + r * p.w.cells, out + f * g.out_plane() + r * g.width.output, 0, length, [](V v) { return v; });
    }
  }
}

}  // namespace
