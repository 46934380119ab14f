// A convolution part by part (simd/phases.h): each part of the input is copied, multiplied by the filters, and its sums are written.
#pragma once
#include "fetch.h"
#include "part_copies.h"
#include "part_sums.h"

namespace {

// The windows of a part as the right operand: `rows` rows of `columns` outputs of each plane.
template <class U>
struct Copied {
  using Panel = PanelOf<U>;
  const Parts& p;
  const float* copy;
  const int32_t* offsets;
  int64_t rows, columns;

  int64_t lying(int64_t, int64_t, int) const { return 0; }
  Lines source(int64_t, int, int64_t, int64_t) const { return {}; }
  Panel place(int64_t, int64_t) const { return {}; }
  // Missing columns are left as they are, or are those of other outputs.
  void pack(int64_t j, int count, int64_t l, int64_t kc, float* to) const {
    Run runs[NR];
    int some = 0;
    for (int q = 0; q < count; some++) {
      const int64_t row = (j + q) / columns, column = (j + q) - row * columns;
      const int length = static_cast<int>(least(columns - column, count - q));
      runs[some] = {row / rows * p.plane + row % rows * p.w.cells + column, q, q + length};
      q += length;
    }
    // As many runs as a vector meets.
    int met[NV] = {}, most = 1;
    for (int r = 0; r < some; r++)
      for (int v = runs[r].begin / W; v <= (runs[r].end - 1) / W; v++)
        if (++met[v] > most) most = met[v];
    if (most == 1) return joined<1>(runs, some, l, kc, to);
    if (most == 2) return joined<2>(runs, some, l, kc, to);
    if (most == 3) return joined<3>(runs, some, l, kc, to);
    if (most == 4) return joined<4>(runs, some, l, kc, to);
    for (int64_t i = 0; i < kc; i++, to += NR) {
      const float* const term = copy + offsets[l + i];
      // Whole vectors, over what the next run or row writes.
      for (int r = 0; r < some; r++)
        for (int q = runs[r].begin; q < runs[r].end; q += W) vstore(to + q, vload(term + runs[r].from + q - runs[r].begin));
    }
  }

 private:
  // Outputs of one row in a panel, from column `begin` on, and where the first one lies.
  struct Run {
    int64_t from;
    int begin, end;
  };
  // Vectors that meet up to MOST runs, joined in registers.
  template <int MOST>
  OPSCOPE_APART void joined(const Run* runs, int some, int64_t l, int64_t kc, float* to) const {
    constexpr int64_t TERMS_AHEAD = 12;  // whose windows are fetched: they lie wherever the kernel meets the copy
    alignas(64) float lanes[W];
    for (int i = 0; i < W; i++) lanes[i] = static_cast<float>(i);
    const V lane = vload(lanes);
    // Where lane 0 would lie for each run that a vector meets, and the first lane of the run. Vectors of fewer runs load the last one again.
    int64_t from[NV][MOST] = {};
    V first[NV][MOST];
    for (int v = 0; v < NV; v++) {
      int met = 0;
      for (int r = 0; r < some; r++)
        if (runs[r].begin < (v + 1) * W && runs[r].end > v * W)
          for (int i = met++; i < MOST; i++) {
            from[v][i] = runs[r].from + v * W - runs[r].begin;
            first[v][i] = vset(static_cast<float>(runs[r].begin - v * W));
          }
      if (met == 0)
        for (int i = 0; i < MOST; i++) first[v][i] = vset(0);
    }
    for (int64_t i = 0; i < kc; i++, to += NR) {
      const float *const term = copy + offsets[l + i], *const ahead = copy + offsets[l + least(i + TERMS_AHEAD, kc - 1)];
      fetch_line(ahead + from[0][0], Near{});
      fetch_line(ahead + from[0][0] + W, Near{});
      fetch_line(ahead + from[NV - 1][MOST - 1] + W - 1, Near{});
#pragma GCC unroll 4
      for (int v = 0; v < NV; v++) {
        V all = vload(term + from[v][0]);
#pragma GCC unroll 4
        for (int m = 1; m < MOST; m++) all = vless(lane, first[v][m], all, vload(term + from[v][m]));
        vstore(to + v * W, all);
      }
    }
  }
};

// Rows of the filters times the windows of the `rows` times `columns` outputs of a plane, the first of which lies at `windows`. gap: cells between two
// rows of windows; stride: between the outputs of two filters.
template <class Unit>
void multiply_compact(const Left& left, int64_t count, const float* windows, int64_t gap, const int32_t* offsets, int64_t kc, int64_t rows, int64_t columns, float* out, int64_t stride, bool first) {
  const int64_t outputs = rows * columns;
  int64_t row = 0, column = 0;  // of the first output of the next vector
  for (int64_t j = 0; j < outputs; j += NR) {
    ApartOf<Unit> b{{}, offsets};
    [[maybe_unused]] int ends[NV];  // lanes of the first row that a vector meets
    [[maybe_unused]] bool whole = true;
    for (int v = 0; v < NV; v++) {
      b.at[v] = row < rows ? windows + j + v * W + row * gap : b.at[0];
      ends[v] = gap != 0 && row + 1 < rows && columns - column < W ? static_cast<int>(columns - column) : W;
      whole &= ends[v] == W;
      for (column += W; column >= columns && row < rows; row++) column -= columns;
    }
    const int some = static_cast<int>(least(NR, outputs - j));
#if defined(OPSCOPE_JOINED)
    if (!whole) {
      JoinedOf<Unit> joined{{}, offsets, gap, {}};
      for (int v = 0; v < NV; v++) joined.at[v] = b.at[v], joined.behind[v] = vlanes_from(ends[v]);
      multiply_panel(left, count, joined, kc, out + j, stride, some, first);
      continue;
    }
#endif
    multiply_panel(left, count, b, kc, out + j, stride, some, first);
  }
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
  const PartCopies copies(p, copy + p.floats - p.list_floats());
  const int64_t depth_parts = (g.depth.output + p.depths - 1) / p.depths;
  int64_t images_before = 0;
  const int64_t places = p.count() / p.filter_parts;
  const auto compute = [&](int64_t nth) {
    const int64_t share = nth / places, place = nth % places, across = place % p.across, down = place / p.across % p.down, left_over = place / (p.across * p.down), group = left_over % g.groups;
    const auto a = filters_of(group);
    int64_t granule = 1;
    if constexpr (requires { a.groups; }) granule = a.groups.rows;
    const Range own = part(filters, granule, static_cast<int>(share), static_cast<int>(p.filter_parts));
    const int64_t depth = left_over / g.groups % depth_parts * p.depths, image = left_over / g.groups / depth_parts * p.images, row = down * p.rows, column = across * p.columns;
    const int64_t images = least(p.images, g.batch - image), planes = images * least(p.depths, g.depth.output - depth), rows = least(p.rows, g.height.output - row), columns = least(p.columns, g.width.output - column);
    if (rows <= 0 || columns <= 0) return;
    if (images != images_before) p.offsets(images_before = images, offsets);
    copies.template copy<Rows>(input<T>(call, 0), channels, group, image, images, depth, row, column, copy);
    const auto output_of = [&](int64_t n) {
      return output<T>(call) + ((image + n % images) * g.groups + group) * filters * g.stored_plane + g.output_first + (depth + n / images) * g.depth.output_step + row * g.height.output_step + column * step;
    };
    // Where sums of outputs alone go: f32 into the output itself.
    const auto place_of = [&](int64_t n) -> Direct {
      if constexpr (sizeof(T) == sizeof(float)) return {output_of(n), g.stored_plane};
      return {sums + n * rows * columns, stride};
    };
    if constexpr (requires { a.groups; }) {
      if (p.lies) {
        const TileChannels of(g.group_channels());
        const int64_t volume = g.volume(), channel = g.group_channels() > 1 ? offsets[volume] - offsets[0] : 0;
        for (int64_t i = g.group_channels() * channel; i < of.all() * channel; i++) copy[i] = 0;
        const int64_t flat = p.flat(p.by_planes ? 1 : planes, rows, columns), past = p.by_planes ? planes * p.plane : flat, next = p.by_planes ? p.plane : flat;
        for (int64_t from = 0; from < past; from += next) a.multiply_lying(copy + from, offsets, volume, channel, of, own, flat, sums + from, stride);
      } else a.multiply(Copied<Unit>{p, copy, offsets, rows, columns}, own, planes * rows * columns, s.k, sums, stride, slab);
    } else if (p.packs) {
      const int64_t outputs = planes * rows * columns;
      const auto multiply_to = [&](const Direct& to) {
        for (int64_t l = 0; l < s.k; l += terms)
          multiply(a, Copied<Unit>{p, copy, offsets, rows, columns}, false, true, to, own, 0, outputs, {0, outputs}, l, least(terms, s.k - l), s.k, slab, block, call.distant_cache);
      };
      if constexpr (sizeof(T) == sizeof(float))
        if (planes == 1 && step == 1 && (rows == 1 || columns == g.height.output_step)) {
          multiply_to({output_of(0), g.stored_plane});
          return;
        }
      multiply_to({sums, stride});
    } else {
      const int64_t flat = p.flat(p.by_planes ? 1 : planes, rows, columns), of_plane = p.plane_vectors(rows, columns);
      for (int64_t l = 0; l < s.k; l += terms) {
        const int64_t kc = least(terms, s.k - l), height = even_part(own.end - own.begin, a.block_rows(kc));
        for (int64_t f = own.begin; f < own.end; f += height) {
          const int64_t count = least(height, own.end - f);
          const Left left = a.block(f, count, l, kc, block);
          if (p.compact) {
            for (int64_t n = 0; n < planes; n++) {
              const auto to = place_of(n);
              multiply_compact<Unit>(left, count, copy + n * p.plane, p.w.cells - columns, offsets + l, kc, rows, columns, to.out + f * to.stride, to.stride, l == 0);
            }
            continue;
          }
          if (!p.by_planes) {
            for (int64_t j = 0; j < flat; j += NR) multiply_panel(left, count, ScatteredOf<Unit>{copy + j, offsets + l}, kc, sums + f * stride + j, stride, static_cast<int>(least(NR, flat - j)), l == 0);
            continue;
          }
          // A panel meets several planes where these have fewer vectors.
          for (int64_t v = 0, past = planes * of_plane; v < past; v += NV) {
            ApartOf<Unit> b{{}, offsets + l};
            for (int64_t i = 0; i < NV; i++) {
              const int64_t one = least(v + i, past - 1), plane = one / of_plane;
              b.at[i] = copy + plane * p.plane + (one - plane * of_plane) * W;
            }
            multiply_panel(left, count, b, kc, sums + f * stride + v * W, stride, static_cast<int>(least(NV, past - v) * W), l == 0);
          }
        }
      }
    }
    if (p.compact && sizeof(T) == sizeof(float)) return;
    const bool by_vectors = p.by_planes && !p.lies;
    const bool alone = p.packs || p.compact;  // nothing lies between rows or planes
    const int64_t cells = alone ? columns : p.w.cells, plane = alone ? rows * columns : by_vectors ? p.plane_vectors(rows, columns) * W : p.plane;
    const PartSums part_sums{sums, stride, plane, cells, images, planes / images, rows, columns};
    if (step > 1)
      if (const RowsAcross turned(p, part_sums, sizeof(T)); turned.turns) {
        write_across<Rows, T>(p, part_sums, turned, own, output_of);
        return;
      }
    // Where nothing lies between them, the rows of a plane follow one another, as in the output, and so may depths.
    const bool joined = cells == columns && columns == g.height.output_step && step == 1, joins_depths = joined && images == 1 && plane == rows * columns && plane == g.depth.output_step;
    const int64_t runs = joined ? 1 : rows, length = (joined ? rows * columns : columns) * (joins_depths ? planes : 1), layers = joins_depths ? 1 : planes;
    // The depths of a filter follow one another, as in the output.
    for (int64_t i = 0; i < images; i++) {
      T* const out = output_of(i);
      for (int64_t f = own.begin; f < own.end; f++) {
        const float* from = sums + f * stride + i * plane;
        T* to = out + f * g.stored_plane;
        for (int64_t n = i; n < layers; n += images, from += images * plane, to += g.depth.output_step) {
          for (int64_t r = 0; step == 1 && r < runs; r++) {
            auto* const at = Rows::output(to + r * g.height.output_step);
            if (length < W) vstore_n(at, vload_n(from + r * cells, static_cast<int>(length), 0), static_cast<int>(length));
            else map1<false>(from + r * cells, at, 0, length, [](V v) { return v; });
          }
          for (int64_t r = 0; step > 1 && r < runs; r++) write_apart(from + r * cells, length, to + r * g.height.output_step, step);
        }
      }
    }
  };
  each_range_in(call, parts_of_work(call, g.batch * g.filters * g.out_plane() * s.k), p.count(), 1, [&](Range mine) {
    for (int64_t nth = mine.begin; nth < mine.end; nth++) compute(nth);
  });
}

}  // namespace
