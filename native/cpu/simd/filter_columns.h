// Convolutions of small planes much of whose kernel meets padding, of fewer images than a vector has lanes (AVX-512): an output of some images is a product
// of what they hold there and the filters, whose columns are filters. Only elements of the kernel that meet the input are multiplied; with more images,
// those are the columns (image_columns.h).
#pragma once
#include "image_columns.h"
#include "small_products.h"

namespace {

#if defined(OPSCOPE_SMALL_PRODUCTS)
#define OPSCOPE_FILTER_COLUMNS 1

struct FilterColumns {
  static constexpr int64_t SIDE = 8;                       // of a tile that is turned
  static constexpr int64_t SLAB_FLOATS = 1 << 16, MET_FLOATS = 1 << 12;  // of the input or of a panel of filters that are met together, and by an output
  static constexpr int64_t MOST_ROWS = SMALL_ROWS<2>, MOST_BOX_ROWS = 256;
  const Geometry& g;
  int64_t channels, filters, volume, plane, outputs;
  int64_t image_groups, images, vectors, panels, width, lanes;  // images and vectors of a tile, floats of a row of a panel and of a cell

  explicit FilterColumns(const Geometry& geometry) : g(geometry), channels(g.group_channels()), filters(g.group_filters()), volume(g.volume()), plane(g.in_plane()), outputs(g.out_plane()) {
    const auto parts = [](int64_t n, int64_t most) { return (n + most - 1) / most; };
    const int64_t all = parts(filters, W), rows[] = {SMALL_ROWS<2>, SMALL_ROWS<2>, SMALL_ROWS<3>, SMALL_ROWS<4>};
    // What a term takes: in halves of a vector's multiplication, those and the loads.
    int64_t best = INT64_MAX;
    for (int64_t most = least(all, 4); most > 0; most--) {
      const int64_t across = parts(all, most), wide = parts(all, across), down = parts(g.batch, rows[wide - 1]), high = parts(g.batch, down), taken = across * down * (2 * high * wide + high + wide);
      if (taken < best) best = taken, image_groups = down, images = high, vectors = wide, panels = across;
    }
    width = vectors * W;
    lanes = up(images, SIDE);
  }

  // Elements of the kernel that outputs of an image meet.
  int64_t all_met() const {
    const ImageColumns axes(g);
    return axes.all_met(g.depth) * axes.all_met(g.height) * axes.all_met(g.width);
  }
  // Channels that are multiplied before the next ones are: what an output meets of a panel of filters stays in the first-level cache, the rest in the second.
  int64_t slab() const {
    const int64_t of_input = SLAB_FLOATS / (plane * lanes), of_filters = SLAB_FLOATS / (volume * width), of_output = MET_FLOATS * outputs / larger(all_met() * width, 1), most = least(least(of_input, of_filters), of_output);
    return most < 1 ? 1 : even_part(channels, most);
  }
  int64_t input_floats() const { return up(slab() * plane, SIDE) * lanes * image_groups; }
  int64_t panel_floats() const { return up(slab() * volume, SIDE) * width; }
  int64_t panel_sums() const { return outputs * images * image_groups * width; }
  int64_t own_floats() const { return up(input_floats() + panel_floats() + panels * panel_sums() + SIDE * up(outputs, SIDE), LINE); }
  size_t scratch(int threads) const { return static_cast<size_t>(threads * own_floats()); }

  // Long sums that filters, each of whose elements is copied, meet often enough; longer ones where no padding is left out. Of single elements
  // with a stride or padding many channels and outputs alone. Beside images as columns of nearly whole vectors, filters must be met more often.
  bool pays() const {
    constexpr int64_t LEAST_IMAGES = 3, MOST_IMAGES = 2 * MOST_ROWS, MOST_OUTPUTS = 256, MOST_SUMS = 1 << 18;
    constexpr int64_t TERMS = 48, TERMS_WITHOUT_PADDING = 128, MEETINGS = 16, MEETINGS_BESIDE_IMAGES = 32, CHANNELS_OF_ONE = 512;
    if (g.batch < LEAST_IMAGES || g.batch > MOST_IMAGES || outputs > MOST_OUTPUTS || filters < W / 2 || (volume == 1 && (g.is_matrix() || channels < CHANNELS_OF_ONE || outputs <= W))) return false;
    if (g.depth.output > ImageColumns::MOST_OUTPUTS || g.height.output > ImageColumns::MOST_OUTPUTS || g.width.output > ImageColumns::MOST_OUTPUTS) return false;
    if (g.depth.kernel * g.height.kernel > MOST_BOX_ROWS || times(panels, panel_sums()) > MOST_SUMS || plane * lanes > SLAB_FLOATS || volume * width > SLAB_FLOATS) return false;
    const int64_t met = all_met(), terms = channels * met, padding = outputs * volume - met;
    if (terms < outputs * (10 * padding >= outputs * volume ? TERMS : TERMS_WITHOUT_PADDING)) return false;
    const bool full = g.batch > W * 3 / 4 && ImageColumns(g).pays();
    return met * g.batch >= volume * (full ? MEETINGS_BESIDE_IMAGES : MEETINGS);
  }
};

// A row of elements of the kernel that an output meets: where the first one lies in a channel of the copied input, and in one of a panel of filters.
struct BoxRow {
  int32_t input, filter;
};

// ROWS images times VECTORS vectors of filters: the sums over some channels of the elements that an output meets.
template <int ROWS, int VECTORS>
OPSCOPE_APART void filter_tile(const float* x, int64_t x_channel, int64_t x_step, const float* w, int64_t w_channel, const BoxRow* rows, int64_t box_rows, int64_t columns, int64_t channels, float* sums, bool first) {
  V sum[ROWS][VECTORS];
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) sum[i][v] = first ? vset(0) : vload(sums + (i * VECTORS + v) * W);
  for (int64_t c = 0; c < channels; c++, x += x_channel, w += w_channel)
    for (int64_t r = 0; r < box_rows; r++) {
      const float *at = x + rows[r].input, *filter = w + rows[r].filter;
      for (int64_t k = 0; k < columns; k++, at += x_step, filter += VECTORS * W) {
        V met[VECTORS];
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++) met[v] = vload(filter + v * W);
#pragma GCC unroll 16
        for (int i = 0; i < ROWS; i++) {
          const V one = vset(at[i]);
#pragma GCC unroll 4
          for (int v = 0; v < VECTORS; v++) sum[i][v] = VECTORS == 1 ? vfma(one, met[v], sum[i][v]) : vfma_in_place(one, met[v], sum[i][v]);
        }
      }
    }
#pragma GCC unroll 16
  for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) vstore(sums + (i * VECTORS + v) * W, sum[i][v]);
}

template <int ROWS, int VECTORS, class... Rest>
inline void filter_rows(int64_t images, Rest... rest) {
  if constexpr (ROWS > 1)
    if (images < ROWS) return filter_rows<ROWS - 1, VECTORS>(images, rest...);
  filter_tile<ROWS, VECTORS>(rest...);
}
template <class... Rest>
inline void filter_tile_of(int64_t vectors, int64_t images, Rest... rest) {
  if (vectors == 4) filter_rows<static_cast<int>(SMALL_ROWS<4>), 4>(images, rest...);
  else if (vectors == 3) filter_rows<static_cast<int>(SMALL_ROWS<3>), 3>(images, rest...);
  else if (vectors == 2) filter_rows<static_cast<int>(SMALL_ROWS<2>), 2>(images, rest...);
  else filter_rows<static_cast<int>(SMALL_ROWS<2>), 1>(images, rest...);
}

// `count` rows of k elements, `stride` apart, as columns of rows of `width` floats; columns behind those are that of the last row.
template <class T>
OPSCOPE_APART void turn_filters(const T* from, int64_t stride, int64_t count, int64_t k, float* to, int64_t width) {
  constexpr int64_t SIDE = FilterColumns::SIDE;
  for (int64_t q = 0; q < width; q += SIDE) {
    const int64_t first = least(q, count - 1);
    for (int64_t p = 0; p < k; p += SIDE) turn_tile(from + first * stride + p, stride, count - first, k - p, to + p * width + q, width);
  }
}

template <class T>
void run_filter_columns(const Call& call, const Geometry& g) {
  constexpr int64_t SIDE = FilterColumns::SIDE;
  const FilterColumns c(g);
  const ImageColumns axes(g);
  const AxisOutputs depths(axes, g.depth), heights(axes, g.height), widths(axes, g.width);
  float *const input_of = call.scratch + call.thread * c.own_floats(), *const panel = input_of + c.input_floats(), *const sums = panel + c.panel_floats(), *const turned = sums + c.panels * c.panel_sums();
  const int64_t image_floats = g.channels * c.plane, slab = c.slab(), turned_stride = up(c.outputs, SIDE), group_floats = up(slab * c.plane, SIDE) * c.lanes;
  const bool by_group = g.groups >= call.threads;
  const Range groups = by_group ? part(g.groups, 1, call.thread, call.threads) : Range{0, g.groups}, own = by_group ? Range{0, c.panels} : part(c.panels, 1, call.thread, call.threads);
  const auto first_image = [&](int64_t nth) { return g.batch * nth / c.image_groups; };
  for (int64_t group = groups.begin; group < groups.end && own.end > own.begin; group++) {
    for (int64_t channel = 0; channel < c.channels; channel += slab) {
      const int64_t some = least(slab, c.channels - channel);
      for (int64_t n = 0; n < c.image_groups; n++)
        turn_filters(input<T>(call, 0) + first_image(n) * image_floats + (group * c.channels + channel) * c.plane, image_floats, first_image(n + 1) - first_image(n), some * c.plane, input_of + n * group_floats, c.lanes);
      for (int64_t p = own.begin; p < own.end; p++) {
        const int64_t filter = p * c.width, of_filter = c.channels * c.volume;
        turn_filters(input<T>(call, 1) + ((group * c.filters + filter) * c.channels + channel) * c.volume, of_filter, least(c.width, c.filters - filter), some * c.volume, panel, c.width);
        float* to = sums + (p - own.begin) * c.panel_sums();
        for (int64_t d = 0; d < g.depth.output; d++)
          for (int64_t h = 0; h < g.height.output; h++) {
            const Range in_depth = depths.met[d], in_height = heights.met[h];
            BoxRow rows[FilterColumns::MOST_BOX_ROWS];
            int64_t box_rows = 0;
            for (int64_t kd = in_depth.begin; kd < in_depth.end; kd++)
              for (int64_t kh = in_height.begin; kh < in_height.end; kh++)
                rows[box_rows++] = {static_cast<int32_t>(g.row(d, h, kd, kh) * g.width.input * c.lanes), static_cast<int32_t>((kd * g.height.kernel + kh) * g.width.kernel * c.width)};
            for (int64_t w = 0; w < g.width.output; w++) {
              const Range in_width = widths.met[w];
              const int64_t place = (w * g.stride - g.width.padding + in_width.begin * g.dilation) * c.lanes;
              for (int64_t n = 0; n < c.image_groups; n++, to += c.images * c.width)
                filter_tile_of(c.vectors, first_image(n + 1) - first_image(n), input_of + n * group_floats + place, c.plane * c.lanes, g.dilation * c.lanes, panel + in_width.begin * c.width, c.volume * c.width, rows, box_rows, in_width.end - in_width.begin, some, to, channel == 0);
            }
          }
      }
    }
    for (int64_t p = own.begin; p < own.end; p++)
      for (int64_t n = 0; n < c.image_groups; n++)
        for (int64_t i = first_image(n); i < first_image(n + 1); i++) {
          const float* const from = sums + (p - own.begin) * c.panel_sums() + (n * c.images + i - first_image(n)) * c.width;
          const int64_t between = c.image_groups * c.images * c.width, first = p * c.width;
          for (int64_t q = 0; first + q < c.filters && q < c.width; q += SIDE) {
            for (int64_t o = 0; o < c.outputs; o += SIDE) turn_tile(from + o * between + q, between, c.outputs - o, SIDE, turned + o, turned_stride);
            T* const out = output<T>(call) + ((i * g.groups + group) * c.filters + first + q) * c.outputs;
            for (int64_t f = 0; f < least(SIDE, c.filters - first - q); f++) map1<false>(turned + f * turned_stride, out + f * c.outputs, 0, c.outputs, [](V v) { return v; });
          }
        }
  }
}
#endif

}  // namespace
