// 3x3 convolutions with stride 1 by Winograd's minimal filtering F(2x2, 3x3) (Lavin & Gray, "Fast algorithms for convolutional neural networks", 2016):
// 16 products instead of 36 for 2x2 outputs. Filters and 4x4 tiles of the input are transformed to 16 points each, at every point the filters
// [filters, channels] are multiplied by the tiles [channels, tiles], and the sums of a tile are transformed to its outputs.
//
// The sums and differences of the transforms make a NaN of infinities and may overflow where the direct form does not. So each thread adds up the
// squares of what it reads, in each lane of a vector, and where such a sum is too large, the direct form computes the result. The error of an output grows with the
// largest element of its tile times the largest of the filter, that of the direct form with the sum of their products: they differ where a few elements are far larger than the others.
#pragma once
#include "tile.h"
#include "windows.h"

#if defined(OPSCOPE_ISA_avx512)
#define OPSCOPE_WINOGRAD 1

namespace {

constexpr int64_t POINTS = 16;

struct Winograd {
  static constexpr int64_t TILE_FLOATS = 1 << 17, FILTER_FLOATS = 1 << 16;  // of transformed tiles and filters at a time: a part of the second-level cache
  static constexpr int64_t LEAST_TILES = 64;  // at a time, because filters are read again for each part
  const Geometry& g;
  int64_t channels, filters, across, down;  // tiles
  int64_t rows, chunks;                     // rows of tiles at a time, and how many such parts a plane has
  bool fused;                               // filters are transformed a block at a time, because they meet one part
  int64_t block;                            // filters at a time
  int64_t filter_groups = 1;                // threads that share rows of tiles, each with some of the filters

  Winograd(const Geometry& geometry, int threads)
      : g(geometry), channels(g.group_channels()), filters(g.group_filters()), across((g.width.output + 1) / 2), down((g.height.output + 1) / 2) {
    const int64_t fits = TILE_FLOATS / (POINTS * channels), most = (fits < LEAST_TILES ? LEAST_TILES : fits) / across, least_chunks = parts_of(down, most < 1 ? 1 : most);
    // Equal parts, or larger ones of fewer vectors.
    chunks = least_chunks;
    rows = parts_of(down, chunks);
    fused = g.batch * g.groups * chunks == 1;
    int64_t fewest = INT64_MAX;
    for (int64_t some = rows; some <= most && (chunks - 1) * some < down; some++) {
      const int64_t used = (chunks - 1) * parts_of(some * across, W) + parts_of((down - (chunks - 1) * some) * across, W);
      if (used < fewest) rows = some, fewest = used;
    }
    const int64_t fit = FILTER_FLOATS / POINTS / (fused && channels > tile_stride() ? channels : tile_stride());
    block = even_part(fused ? parts_of(filters, threads) : filters, fit < 2 * MR ? 2 * MR : fit);
    if (!fused && g.groups == 1) share_filters(threads);
  }

  // Whether it takes less time than the direct form: in multiplications of vectors for each filter and channel, transforms counted as such.
  static bool pays(const Geometry& g) {
    constexpr double TILE = 110, FILTER = 11, SHARE = 0.9;
    constexpr int64_t MOST_FILTERS = 1 << 20, LEAST_CHANNELS = 12;
    const bool square = g.height.kernel == 3 && g.width.kernel == 3 && g.depth.input == 1 && g.depth.kernel == 1 && g.depth.output == 1 && g.depth.padding == 0;
    if (!square || g.stride != 1 || g.dilation != 1 || g.group_channels() < LEAST_CHANNELS || g.mostly_padding()) return false;
    const Winograd p(g, 1);
    if (times(p.most_tiles(), POINTS * p.channels) > 4 * TILE_FLOATS || (!p.fused && times(g.filters, POINTS * p.channels) > MOST_FILTERS)) return false;
    const int64_t last = p.down - (p.chunks - 1) * p.rows, vectors = g.batch * ((p.chunks - 1) * parts_of(p.most_tiles(), W) + parts_of(last * p.across, W));
    const double outputs = static_cast<double>(g.batch * g.out_plane()) / W;
    return static_cast<double>(vectors) * (POINTS + TILE / static_cast<double>(p.filters) + TILE / static_cast<double>(p.channels)) + FILTER < SHARE * 9 * outputs;
  }

  // Where each thread would read all filters for few rows of tiles.
  void share_filters(int threads) {
    constexpr int64_t TILE = 110, FILTER = 20, MOST_GROUPS = 8;  // in multiplications of vectors: transforms of a tile, and a filter from another core's cache
    int64_t least_work = INT64_MAX;
    for (int64_t some = 1; some <= MOST_GROUPS && threads % some == 0; some *= 2) {
      const int64_t lines = parts_of(g.batch * down, threads / some), own = parts_of(filters, some), vectors = lines / rows * parts_of(most_tiles(), W) + parts_of(lines % rows * across, W);
      const int64_t work = vectors * (channels * (POINTS * own + TILE) + TILE * own) + FILTER * own * channels;
      if (work < least_work) filter_groups = some, least_work = some == 1 ? work * 4 / 5 : work;
    }
  }

  static int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }
  int64_t most_tiles() const { return rows * across; }
  // Floats from one filter to the next and from one point to the next, of transformed filters (`some` of them), tiles and sums.
  int64_t filter_stride() const { return block_stride(channels); }
  int64_t filter_point(int64_t some) const { return some * filter_stride(); }
  int64_t tile_point() const { return (channels + 1) * NR; }
  int64_t panel_stride() const { return POINTS * tile_point(); }
  int64_t tile_stride() const { return up(most_tiles(), NR) + LINE; }
  int64_t sum_point() const { return block * tile_stride() + LINE; }
  // Rows of the padded input that a part meets, and of each of its arrays of transformed columns.
  int64_t row_stride() const { return 2 * across + 2; }
  int64_t padded_floats() const { return up((2 * rows + 2) * row_stride() + 3 * W, LINE); }
  int64_t column_floats() const { return up((rows + 1) * across + 2 * W, LINE); }
  int64_t tile_floats() const { return up(most_tiles(), NR) / NR * panel_stride(); }
  int64_t filter_floats() const { return POINTS * (fused ? filter_point(block) : g.groups * filter_point(filters)); }
  int64_t output_floats() const { return 2 * (2 * up(most_tiles(), NR) + 2 * W); }
  int64_t own_floats() const { return (fused ? filter_floats() : tile_floats()) + POINTS * sum_point() + padded_floats() + 8 * column_floats() + output_floats() + LINE; }
  // What threads share: whether what each has read is in range, and filters or tiles.
  int64_t shared_floats(int threads) const { return up(threads, LINE) + (fused ? tile_floats() : filter_floats()); }
  size_t scratch(int threads) const { return static_cast<size_t>(shared_floats(threads) + threads * own_floats()); }
};

// Filters first .. past of all groups, of the channels of a group each: at point e, filter i at to[e * point + (i - first) * stride].
template <class T>
void transform_filters(const Winograd& p, const T* weight, Range some, float* to, int64_t point, V& squares) {
  constexpr int64_t AT_ONCE = 128, SIDE = TILE<uint32_t>, ELEMENTS = 9;
  alignas(64) float elements[ELEMENTS][AT_ONCE];
  const V half = vset(0.5f);
  V total = squares;
  for (int64_t f = some.begin; f < some.end; f++, to += p.filter_stride())
    for (int64_t c = 0; c < p.channels; c += AT_ONCE) {
      const int64_t count = least(AT_ONCE, p.channels - c);
      const T* const from = weight + (f * p.channels + c) * ELEMENTS;
      int64_t i = 0;
      for (; i + SIDE <= count; i += SIDE) {
        transpose_rows([=](int row, int part) { return four_floats(from + (i + row) * ELEMENTS + 4 * part); }, reinterpret_cast<uint32_t*>(&elements[0][i]), AT_ONCE);
        for (int64_t q = 0; q < SIDE; q++) elements[8][i + q] = to_float(from[(i + q) * ELEMENTS + 8]);
      }
      for (; i < up(count, W); i++)
        for (int64_t k = 0; k < ELEMENTS; k++) elements[k][i] = i < count ? to_float(from[i * ELEMENTS + k]) : 0;
      for (i = 0; i < count; i += W) {
        V columns[3][4], own = vset(0);
#pragma GCC unroll 3
        for (int row = 0; row < 3; row++) {
          const V a = vload(&elements[3 * row][i]), b = vload(&elements[3 * row + 1][i]), d = vload(&elements[3 * row + 2][i]);
          own = vadd(own, vfma(a, a, vfma(b, b, vmul(d, d))));
          const V outer = vmul(vadd(a, d), half), inner = vmul(b, half);
          columns[row][0] = a, columns[row][1] = vadd(outer, inner), columns[row][2] = vsub(outer, inner), columns[row][3] = d;
        }
        total = vadd(total, own);
#pragma GCC unroll 4
        for (int column = 0; column < 4; column++) {
          const V outer = vmul(vadd(columns[0][column], columns[2][column]), half), inner = vmul(columns[1][column], half);
          float* const at = to + c + i + column * point;
          vstore(at, columns[0][column]);
          vstore(at + 4 * point, vadd(outer, inner));
          vstore(at + 8 * point, vsub(outer, inner));
          vstore(at + 12 * point, columns[2][column]);
        }
      }
    }
  squares = total;
}

// Channels `some` of a group of an image, of the tiles of rows first .. first + rows.
template <class T>
void transform_tiles(const Winograd& p, const T* x, Range some, int64_t first, int64_t rows, float* own, float* to, V& squares) {
  const Geometry& g = p.g;
  float *const padded = own, *const columns = own + p.padded_floats();
  const int64_t across = p.across, stride = p.row_stride(), height = 2 * rows + 2, tiles = rows * across, of_column = p.column_floats();
  const int64_t point = p.tile_point(), of_panel = p.panel_stride(), of_plane = g.in_plane(), input = g.width.input;
  V total = squares;
  const int64_t before = least(g.width.padding, stride), inside = least(g.width.input, stride - before), behind = stride - before - inside;
  for (int64_t c = some.begin; c < some.end; c++) {
    const T* const plane = x + c * of_plane;
    float* row = padded;
    for (int64_t r = 0; r < height; r++, row += stride) {
      const int64_t h = 2 * first + r - g.height.padding;
      const bool met = h >= 0 && h < g.height.input;
      for (int64_t i = 0; i < (met ? before : stride); i += W) vstore(row + i, vset(0));
      if (!met) continue;
      const T* const from = plane + h * input;
      float* const at = row + before;
      int64_t i = 0;
      for (; i + W <= inside; i += W) {
        const V v = vload(from + i);
        total = vfma(v, v, total);
        vstore(at + i, v);
      }
      if (i < inside) {
        const V v = vload_n(from + i, static_cast<int>(inside - i), 0);
        total = vfma(v, v, total);
        vstore(at + i, v);
      }
      for (i = 0; i < behind; i += W) vstore(at + inside + i, vset(0));
    }
    // The columns of each row; those of even and of odd rows one behind the other.
    for (int64_t r = 0; r < height; r++)
      for (int64_t i = 0; i < across; i += W) {
        const float* const from = padded + r * stride + 2 * i;
        float* const at = columns + r % 2 * 4 * of_column + r / 2 * across + i;
        const V a = vload_even(from), b = vload_even(from + 1), d = vload_even(from + 2), e = vload_even(from + 3);
        vstore(at, vsub(a, d));
        vstore(at + of_column, vadd(b, d));
        vstore(at + 2 * of_column, vsub(d, b));
        vstore(at + 3 * of_column, vsub(b, e));
      }
    for (int64_t i = 0; i < tiles; i += W) {
      float* const at = to + i / NR * of_panel + c * NR + i % NR;
#pragma GCC unroll 4
      for (int column = 0; column < 4; column++) {
        const float *const even = columns + column * of_column + i, *const odd = even + 4 * of_column;
        const V a = vload(even), b = vload(odd), d = vload(even + across), e = vload(odd + across);
        float* const here = at + column * point;
        vstore(here, vsub(a, d));
        vstore(here + 4 * point, vadd(b, d));
        vstore(here + 8 * point, vsub(d, b));
        vstore(here + 12 * point, vsub(b, e));
      }
    }
  }
  squares = total;
}

// sums: of `count` filters; out: of the first of them, from row 2 * first of outputs on.
template <class O>
void transform_sums(const Winograd& p, const float* sums, int64_t count, int64_t first, int64_t rows, float* own, O* out) {
  const Geometry& g = p.g;
  const int64_t tiles = rows * p.across, point = p.sum_point(), width = 2 * p.across;
  float *const even = own, *const odd = own + p.output_floats() / 2;
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
  for (int64_t f = 0; f < count; f++, sums += p.tile_stride(), out += g.stored_plane) {
    for (int64_t i = 0; i < tiles; i += W) {
      V above[4], below[4];
#pragma GCC unroll 4
      for (int column = 0; column < 4; column++) {
        const float* const at = sums + i + column * point;
        const V a = vload(at), b = vload(at + 4 * point), d = vload(at + 8 * point), e = vload(at + 12 * point);
        above[column] = vadd(a, vadd(b, d));
        below[column] = vsub(vsub(b, d), e);
      }
      const auto write = [&](const V (&v)[4], float* to) {
        const V left = vadd(v[0], vadd(v[1], v[2])), right = vsub(vsub(v[1], v[2]), v[3]);
        vstore(to + 2 * i, _mm512_permutex2var_ps(left, low, right));
        vstore(to + 2 * i + W, _mm512_permutex2var_ps(left, high, right));
      };
      write(above, even);
      write(below, odd);
    }
    for (int64_t r = 0; r < rows; r++)
      for (int64_t half = 0; half < 2; half++) {
        const int64_t h = 2 * (first + r) + half;
        if (h < g.height.output) map1<false>((half ? odd : even) + r * width, out + h * g.width.output, 0, g.width.output, [](V v) { return v; });
      }
  }
}

// The sums of filters `some` of one group at all points. left: of the first of them.
inline void multiply_points(const Winograd& p, const float* left, int64_t left_point, int64_t count, const float* tiles, int64_t tile_count, float* sums) {
  const int64_t terms = even_part(p.channels, KC), stride = p.tile_stride();
  for (int64_t e = 0; e < POINTS; e++)
    for (int64_t l = 0; l < p.channels; l += terms) {
      const int64_t kc = least(terms, p.channels - l);
      const Left own{left + e * left_point + l, p.filter_stride(), false, true};
      const bool more = l + terms < p.channels;
      const Left next = more ? own.from(terms) : Left{left + (e + 1 < POINTS ? e + 1 : e) * left_point, p.filter_stride(), false, true};
      float* const to = sums + e * p.sum_point();
      // By all filters, not by those of one thread: their sums are rounded in another order.
      const bool few_terms = kc <= MOST_FEW_TERMS<float> && few_terms_pay(p.filters, kc, stride);
      for (int64_t j = 0; j < tile_count; j += NR) {
        const PanelOf<Floats> panel{tiles + j / NR * p.panel_stride() + e * p.tile_point() + l * NR, NR};
        const bool last = j + NR >= tile_count;
        const int columns = tile_count - j > W ? NR : W;
        if (few_terms) few_terms_of<MOST_FEW_TERMS<float>>(own, count, panel, kc, to + j, stride, columns);
        else multiply_panel(own, count, panel, kc, to + j, stride, columns, l == 0, Later<float>{last ? next : own, last ? (more ? to : to + p.sum_point()) : to + j + NR, last, false});
      }
    }
}

// False where the direct form must compute the result, on all threads.
template <class T>
bool run_winograd(const Call& c, const Geometry& g) {
  const Winograd p(g, c.threads);
  float *const flags = c.scratch, *const shared = flags + up(c.threads, LINE), *const own = c.scratch + p.shared_floats(c.threads) + c.thread * p.own_floats();
  float *const block = own, *const sums = own + (p.fused ? p.filter_floats() : p.tile_floats()), *const work = sums + POINTS * p.sum_point() + LINE, *const rows = work + p.padded_floats() + 8 * p.column_floats();
  const T *const x = input<T>(c, 0), *const weight = input<T>(c, 1);
  V squares = vset(0);
  const auto multiply_to = [&](const float* left, int64_t point, int64_t count, const float* tiles, int64_t first, int64_t some, T* out) {
    multiply_points(p, left, point, count, tiles, some * p.across, sums);
    transform_sums(p, sums, count, first, some, rows, out);
  };
  if (p.fused) {
    transform_tiles(p, x, part(p.channels, 1, c.thread, c.threads), 0, p.down, work, shared, squares);
    c.barrier(c.team);
    const Range mine = part(p.filters, 1, c.thread, c.threads);
    for (int64_t f = mine.begin; f < mine.end; f += p.block) {
      const Range some{f, least(f + p.block, mine.end)};
      transform_filters(p, weight, some, block, p.filter_point(p.block), squares);
      multiply_to(block, p.filter_point(p.block), some.end - some.begin, shared, 0, p.down, output<T>(c) + f * g.stored_plane);
    }
  } else {
    const int64_t point = p.filter_point(g.filters);
    const Range mine = part(g.filters, 1, c.thread, c.threads);
    transform_filters(p, weight, mine, shared + mine.begin * p.filter_stride(), point, squares);
    c.barrier(c.team);
    // Threads share the rows of tiles of all planes, groups of them the filters.
    const int groups = static_cast<int>(p.filter_groups);
    const Range lines = part(g.batch * g.groups * p.down, 1, c.thread / groups, c.threads / groups), filters = part(p.filters, 1, c.thread % groups, groups);
    for (int64_t i = lines.begin, some; i < lines.end; i += some) {
      const int64_t plane = i / p.down, first = i % p.down, group = plane % g.groups;
      some = least(least(p.rows, p.down - first), lines.end - i);
      transform_tiles(p, x + plane * p.channels * g.in_plane(), {0, p.channels}, first, some, work, block, squares);
      for (int64_t f = filters.begin; f < filters.end; f += p.block) {
        const int64_t count = least(p.block, filters.end - f);
        multiply_to(shared + (group * p.filters + f) * p.filter_stride(), point, count, block, first, some, output<T>(c) + (plane * p.filters + f) * g.stored_plane);
      }
    }
  }
  constexpr float MOST_SQUARES = 1e30f;
  flags[c.thread] = vall_at_most(squares, vset(MOST_SQUARES)) ? 1 : 0;
  c.barrier(c.team);
  bool in_range = true;
  for (int t = 0; t < c.threads; t++) in_range = in_range && flags[t] != 0;
  // Before the direct form writes to the same place.
  if (!in_range) c.barrier(c.team);
  return in_range;
}

}  // namespace

#endif
