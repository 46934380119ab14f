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
constexpr int64_t PACKING = 14;  // takes about as long as so many rows of a product; rows that start within lines take 1.05x

// How a convolution is cut into parts of one output depth, some rows and some columns, and what one thread needs for them.
struct Parts {
  const Geometry& g;
  int64_t across, down;  // parts of a plane of outputs
  int64_t columns, rows;  // of a part
  PhaseAxis d, h, w;
  int64_t plane;  // cells of a phase of a channel
  bool packs;     // panels are packed, for many vectors would lie between rows of outputs
  // Floats: the copied input and a slab (vectors reach behind their ends), sums, a block of filters, and where each term lies.
  int64_t input_floats, slab_floats, sum_stride, sum_floats, block_floats, floats;

  Parts(const Geometry& geometry, int threads) : Parts(geometry, threads, (geometry.width.output + most_columns(geometry) - 1) / most_columns(geometry)) {}
  int64_t count() const { return g.batch * g.groups * g.depth.output * down * across; }
  int64_t flat(int64_t some_rows, int64_t some_columns) const { return (some_rows - 1) * w.cells + some_columns; }
  bool fits() const { return input_floats <= MOST_FLOATS && floats <= MOST_FLOATS; }

  void offsets(int32_t* to) const {
    const int64_t s = g.stride;
    for (int64_t c = 0; c < g.group_channels(); c++)
      for (int64_t kd = 0; kd < g.depth.kernel; kd++)
        for (int64_t kh = 0; kh < g.height.kernel; kh++)
          for (int64_t kw = 0; kw < g.width.kernel; kw++) {
            const int64_t at_d = kd * g.dilation, at_h = kh * g.dilation, at_w = kw * g.dilation;
            const int64_t phase = ((c * d.phases + at_d % s) * h.phases + at_h % s) * w.phases + at_w % s;
            *to++ = static_cast<int32_t>(phase * plane + (at_d / s * h.cells + at_h / s) * w.cells + at_w / s);
          }
  }

  // The input that the part from output (depth, row, column) on meets, of channels that start at x.
  template <class T>
  void copy(const T* x, int64_t depth, int64_t row, int64_t column, float* to) const {
    for (int64_t c = 0; c < g.group_channels(); c++)
      for (int64_t pd = 0; pd < d.phases; pd++)
        for (int64_t ph = 0; ph < h.phases; ph++)
          for (int64_t pw = 0; pw < w.phases; pw++)
            for (int64_t i = 0; i < d.cells; i++)
              for (int64_t j = 0; j < h.cells; j++, to += w.cells) {
                const int64_t at_d = (depth + i) * g.stride + pd - g.depth.padding, at_h = (row + j) * g.stride + ph - g.height.padding;
                const bool inside = at_d >= 0 && at_d < g.depth.input && at_h >= 0 && at_h < g.height.input;
                const T* const from = x + c * g.in_plane() + (at_d * g.height.input + at_h) * g.width.input;
                copy_row(from, column * g.stride + pw - g.width.padding, inside ? g.width.input : 0, to);
              }
  }

 private:
  Parts(const Geometry& geometry, int threads, int64_t parts_across)
      : Parts(geometry, parts_across, parts_down(geometry, threads, parts_across), (geometry.width.output + parts_across - 1) / parts_across) {}
  Parts(const Geometry& geometry, int64_t parts_across, int64_t parts_down, int64_t part_columns)
      : g(geometry), across(parts_across), down(parts_down), columns(part_columns), rows((geometry.height.output + parts_down - 1) / parts_down), d(g, g.depth, 1), h(g, g.height, rows), w(g, g.width, columns) {
    const Products s = g.products();
    const int64_t filters = s.m, all = (flat(rows, columns) + W - 1) / W, used = (rows * columns + W - 1) / W;
    packs = 21 * all * filters > 20 * used * (filters + PACKING);
    plane = times(times(d.cells, h.cells), w.cells);
    input_floats = up(least(times(g.group_channels() * d.phases * h.phases * w.phases, plane), MOST_FLOATS) + 2 * NR, LINE);
    slab_floats = packs ? up(s.terms() * up(rows * columns, NR) + W, LINE) : 0;
    sum_stride = packs ? rows * columns : up(flat(rows, columns), LINE) + LINE;
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

// The windows of a part as the right operand: rows of `columns` outputs of a copy whose rows have `cells`.
struct Copied {
  const float* copy;
  const int32_t* offsets;
  int64_t columns, cells;

  int64_t lying(int64_t, int64_t, int) const { return 0; }
  Right place(int64_t, int64_t) const { return {}; }
  // Whole vectors, over what the next run or row writes; missing columns are left as they are.
  void pack(int64_t j, int count, int64_t l, int64_t kc, float* to) const {
    int64_t from[NR];
    int at[NR + 1], runs = 0;
    for (int q = 0; q < count; runs++) {
      const int64_t row = (j + q) / columns, column = (j + q) - row * columns;
      from[runs] = row * cells + column;
      at[runs] = q;
      q += static_cast<int>(least(columns - column, count - q));
    }
    at[runs] = count;
    for (int64_t p = 0; p < kc; p++, to += NR) {
      const float* const term = copy + offsets[l + p];
      for (int i = 0; i < runs; i++)
        for (int q = at[i]; q < at[i + 1]; q += W) vstore(to + q, vload(term + from[i] + q - at[i]));
    }
  }
};

template <class T>
void run_parts(const Call& call, const Parts& p) {
  const Geometry& g = p.g;
  const Products s = g.products();
  const int64_t filters = g.group_filters(), stride = p.sum_stride, terms = s.terms();
  float* const copy = call.scratch + call.thread * p.floats;
  float *const slab = copy + p.input_floats, *const sums = slab + p.slab_floats, *const block = sums + p.sum_floats;
  int32_t* const offsets = reinterpret_cast<int32_t*>(block + p.block_floats);
  p.offsets(offsets);
  const Range mine = part(p.count(), 1, call.thread, call.threads);
  for (int64_t nth = mine.begin; nth < mine.end; nth++) {
    const int64_t across = nth % p.across, down = nth / p.across % p.down, plane = nth / (p.across * p.down), depth = plane % g.depth.output, i = plane / g.depth.output;
    const int64_t row = down * p.rows, column = across * p.columns, rows = least(p.rows, g.height.output - row), columns = least(p.columns, g.width.output - column);
    if (rows <= 0 || columns <= 0) continue;
    p.copy(input<T>(call, 0) + i * g.group_channels() * g.in_plane(), depth, row, column, copy);
    const LeftMatrix<T> a{input<T>(call, 1) + i % g.groups * filters * s.k, s.k, false};
    T* const out = output<T>(call) + i * filters * g.out_plane() + (depth * g.height.output + row) * g.width.output + column;
    if (p.packs) {
      multiply_into(out, g.out_plane(), sums, a, Copied{copy, offsets, columns, p.w.cells}, [&](const auto& left, const auto& right, const auto& to) {
        for (int64_t l = 0; l < s.k; l += terms) multiply(left, right, false, true, to, {0, filters}, 0, rows * columns, {0, rows * columns}, l, least(terms, s.k - l), slab, block);
        to.finish({0, filters}, 0, {0, rows * columns}, rows * columns);
      });
      continue;
    }
    const int64_t flat = p.flat(rows, columns);
    for (int64_t l = 0; l < s.k; l += terms) {
      const int64_t kc = least(terms, s.k - l), height = even_part(filters, a.block_rows(kc));
      for (int64_t f = 0; f < filters; f += height) {
        const int64_t count = least(height, filters - f);
        const Left left = a.block(f, count, l, kc, block);
        for (int64_t j = 0; j < flat; j += NR)
          multiply_panel(left, count, Scattered{copy + j, offsets + l}, kc, sums + f * stride + j, stride, static_cast<int>(least(NR, flat - j)), l == 0);
      }
    }
    for (int64_t f = 0; f < filters; f++)
      for (int64_t r = 0; r < rows; r++) map1<false>(sums + f * stride + r * p.w.cells, out + f * g.out_plane() + r * g.width.output, 0, columns, [](V v) { return v; });
  }
}

}  // namespace
