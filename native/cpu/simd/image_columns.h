// Convolutions of many images of small planes: an output of all images is a product of the filters and a panel whose columns are images, made of
// just the elements of the kernel that meet the input there. Nothing is computed for padding or for places between rows of outputs.
#pragma once
#include "fetch.h"
#include "kernel_taps.h"
#include "phases.h"

namespace {

// As the right operand (simd/operand.h), of floats or of channels as pairs: where each term lies, and how far it is in the left operand from one to the next.
template <class U>
struct ListedOf {
  const float* data;
  const int32_t *offsets, *steps;
  using Unit = U;
  static constexpr bool FETCHED = false, LISTED = true;
  const float* row() const { return data + *offsets; }
  int64_t left_step() const { return *steps; }
  void step() { offsets++, steps++; }
};

struct ImageColumns {
  static constexpr int64_t MOST_OUTPUTS = 64;  // of an axis
  // Elements of an image: of a slab, of what is turned at once, and of what is else cut into slabs of channels; sums that slabs are added to.
  static constexpr int64_t SLAB_INPUTS = (1 << 16) / NR, FEW_INPUTS = (1 << 17) / NR, MOST_INPUTS = (1 << 20) / NR, FEW_SUMS = 1024;
  const Geometry& g;
  int64_t channels, units, filters, inputs, outputs, terms;  // units: channels, or pairs of them

  explicit ImageColumns(const Geometry& geometry, bool paired = false)
      : g(geometry), channels(g.group_channels()), units(paired ? (channels + 1) / 2 : channels), filters(g.group_filters()), inputs(channels * g.in_plane()), outputs(g.out_plane()), terms(units * g.volume()) {}

  int64_t channels_of_unit() const { return units < channels ? 2 : 1; }
  int64_t panels() const { return (g.batch + NR - 1) / NR; }
  bool in_slabs() const { return inputs > FEW_INPUTS && times(filters, outputs) <= FEW_SUMS; }
  // Channels that are turned and multiplied before the next ones are; sums stay where they are meanwhile.
  int64_t slab() const {
    const int64_t most = SLAB_INPUTS / g.in_plane() / 2 * 2;
    return in_slabs() ? least(channels, most < 2 ? 2 : most) : channels;
  }
  // Floats: of filters that are copied, and of what a thread needs: a panel, its results and where the terms lie.
  int64_t filter_floats() const { return times(g.filters, block_stride(terms)); }
  int64_t panel_floats() const { return slab() * g.in_plane() * NR; }
  int64_t result_floats() const { return (times(filters, outputs) + LINE) * NR; }
  int64_t own_floats() const { return up(panel_floats() + result_floats() + 2 * slab() * g.volume(), LINE); }
  size_t scratch(int threads) const { return static_cast<size_t>(filter_floats() + threads * own_floats()); }

  // The elements of the kernel that output `o` of an axis meets.
  Range met(const Axis& axis, int64_t o) const {
    const int64_t first = o * g.stride - axis.padding, begin = first < 0 ? (g.dilation - 1 - first) / g.dilation : 0;
    const int64_t end = first < axis.input ? least(axis.kernel, (axis.input - 1 - first) / g.dilation + 1) : 0;
    return begin < end ? Range{begin, end} : Range{0, 0};
  }
  int64_t all_met(const Axis& axis) const {
    int64_t all = 0;
    for (int64_t o = 0; o < axis.output; o++) {
      const Range own = met(axis, o);
      all += own.end - own.begin;
    }
    return all;
  }

  // Whether the product is worth turning what it reads and writes, and takes at most `share` of what all elements of the kernel would take: lanes
  // without an image count as computed. Slabs of few outputs are worth it sooner, for the copy that parts make takes longest.
  bool pays(double share = 1.02) const {
    constexpr int64_t MOST_PLANE = 256, LEAST_PRODUCTS = 3, LEAST_PRODUCTS_OF_FEW = 4, LEAST_PRODUCTS_OF_SLABS = 1;
    if (g.batch < W / 2 || outputs > MOST_PLANE || g.depth.output > MOST_OUTPUTS || g.height.output > MOST_OUTPUTS || g.width.output > MOST_OUTPUTS) return false;
    const bool slabs = in_slabs() && outputs < 2 * W;
    if ((inputs > MOST_INPUTS && !slabs) || times(filters, outputs) > MOST_INPUTS) return false;
    // Planes of a few outputs would be written element by element else: that takes longer than lanes without an image.
    constexpr double MOST_LANES = 1.25, MOST_LANES_OF_SLABS = 2;
    if (share > 1) share = slabs ? MOST_LANES_OF_SLABS : outputs < W / 2 && g.batch >= 2 * W ? MOST_LANES : share;
    const int64_t all = all_met(g.depth) * all_met(g.height) * all_met(g.width), least_products = outputs < W / 2 ? 0 : slabs ? LEAST_PRODUCTS_OF_SLABS : filters < 3 ? LEAST_PRODUCTS_OF_FEW : LEAST_PRODUCTS;
    return static_cast<double>(all * up(g.batch, W)) <= share * static_cast<double>(g.batch * outputs) * static_cast<double>(g.volume()) && times(filters, times(units, all)) >= least_products * (inputs + filters * outputs);
  }
  // The same where parts would multiply pairs of channels: that is less work for what is moved, but for narrow rows, whose outputs parts put next to one another.
  bool pays_beside_pairs() const {
    constexpr int64_t FEW_CHANNELS = 16, NARROW = W / 2;
    const bool narrow = g.volume() > 1 && g.width.output <= NARROW;
    return pays((outputs <= W / 2 || narrow) && (units < channels || channels <= FEW_CHANNELS) ? 1.02 : channels > FEW_CHANNELS ? 0.6 : 0.75);
  }
  // Whether parts that tiles multiply (simd/part_tiles.h) take less than this where both pay: their copy has padding, and rows of outputs are written one
  // by one, but filters take nearly nothing. In products of floats: of a row that is copied and a cell of it, an element that is turned, a row of outputs;
  // where a plane has few, also of a row with a stride (as much again), a channel, and an element of the filters, which many images repay.
  bool tiles_take_less() const {
    constexpr int64_t ROW = 160, CELL = 23, TURNED = 26, WRITTEN = 128, OF_FILTERS = 28, OF_CHANNEL = 100, MORE_CHANNELS = 4;
    if (g.is_matrix()) return true;
    if (g.volume() == 1 || channels < (outputs <= W / 2 ? MORE_CHANNELS : 1) * MANY_CHANNELS_OF_TILES) return false;
    const PhaseAxis d(g, g.depth, g.depth.output), h(g, g.height, g.height.output), w(g, g.width, g.width.output);
    const int64_t rows = d.phases * d.cells * h.phases * h.cells * w.phases, row = CELL * w.cells > ROW ? CELL * w.cells : ROW, all = all_met(g.depth) * all_met(g.height) * all_met(g.width);
    const bool few = outputs <= W;
    const int64_t of_few = few ? channels * OF_CHANNEL + OF_FILTERS * channels * filters * g.volume() / g.batch : 0, of_rows = channels * rows * row * (few && g.stride > 1 ? 2 : 1);
    return times(filters, channels * all - WRITTEN * g.depth.output * g.height.output) > of_rows - TURNED * inputs + of_few;
  }
};

// The outputs of an axis that meet the same number of elements of the kernel share a list of terms.
struct AxisOutputs {
  Range met[ImageColumns::MOST_OUTPUTS];
  AxisOutputs(const ImageColumns& c, const Axis& axis) {
    for (int64_t o = 0; o < axis.output; o++) met[o] = c.met(axis, o);
  }
};

// The terms of a box of elements of the kernel in so many units, from the first one on; returns how many.
inline int64_t list_terms(const ImageColumns& c, int64_t units, int64_t depth, int64_t height, int64_t width, int32_t* offsets, int32_t* steps) {
  const Geometry& g = c.g;
  const int64_t box = depth * height * width;
  int64_t i = 0, before = 0;
  for (int64_t d = 0; d < depth; d++)
    for (int64_t h = 0; h < height; h++)
      for (int64_t w = 0; w < width; w++, i++) {
        const int64_t element = (d * g.height.kernel + h) * g.width.kernel + w;
        offsets[i] = static_cast<int32_t>(((d * g.height.input + h) * g.width.input + w) * g.dilation * NR);
        if (i > 0) steps[i - 1] = static_cast<int32_t>(element - before);
        before = element;
      }
  if (box > 0) steps[box - 1] = static_cast<int32_t>(g.volume() - before);
  for (int64_t n = 1; n < units; n++) {
    const int32_t channel = static_cast<int32_t>(n * g.in_plane() * NR);
    for (int64_t j = 0; j < box; j++) offsets[n * box + j] = offsets[j] + channel, steps[n * box + j] = steps[j];
  }
  return units * box;
}

// sums[rows x columns] = (`first`) or += `terms` terms of rows of the filters times a panel.
template <class U>
void multiply_listed(const float* a, int64_t a_stride, int64_t rows, ListedOf<U> b, int64_t terms, float* sums, int64_t stride, int columns, bool first) {
  const int64_t tiles = (rows + MR - 1) / MR, slab = even_part(terms, KC);
  int64_t l = 0;
  do {
    const int64_t kc = least(slab, terms - l);
    for (int64_t t = 0; t < tiles; t++) {
      const int64_t i = rows * t / tiles, end = rows * (t + 1) / tiles;
      tile<MR, Walk::rows>(static_cast<int>(end - i), a + i * a_stride, a_stride, b, kc, sums + i * stride, stride, columns, first && l == 0, Ahead<float>{});
    }
    l += kc;
    for (int64_t p = 0; p < kc && l < terms; p++, b.step()) a += b.left_step();
  } while (l < terms);
}

// Fetches n elements into the second-level cache.
template <class T>
inline void fetch_lines(const T* p, int64_t n) {
  for (int64_t i = 0; i < n; i += IN_LINE<T>) fetch_line(p + i, Far{});
}

// out[i * stride + r] = sums[r, i] of `count` rows and `columns` columns of a panel.
template <class T>
void write_turned(const float* sums, int64_t count, int64_t columns, T* out, int64_t stride) {
  for (int64_t r = 0; r < count; r += LINE, sums += LINE * NR) {
    alignas(64) float turned[NR * LINE];
#if defined(OPSCOPE_TRANSPOSE_TILE)
    constexpr int64_t SIDE = TILE<uint32_t>;
    for (int64_t q = 0; q < columns; q += SIDE)
      for (int64_t i = 0; i < LINE; i += SIDE) transpose_tile(reinterpret_cast<const uint32_t*>(sums + i * NR + q), NR, reinterpret_cast<uint32_t*>(turned + q * LINE + i), LINE);
#else
    for (int64_t q = 0; q < columns; q++)
      for (int64_t i = 0; i < LINE; i++) turned[q * LINE + i] = sums[i * NR + q];
#endif
    for (int64_t q = 0; q < columns; q++) map1<false>(turned + q * LINE, out + q * stride + r, 0, least(LINE, count - r), [](V v) { return v; });
  }
}

#if defined(OPSCOPE_PAIRS)
// The rows of two channels of a panel, of so many lanes, as one of pairs, from the first channel on.
inline void pair_rows(float* panel, int64_t channels, int64_t plane, int lanes) {
  const int64_t row = plane * NR;
  float* to = panel;
  for (int64_t c = 0; c < channels; c += 2) {
    const float *const even = panel + c * row, *const odd = even + row;
    for (int64_t i = 0; i < row; i += NR, to += NR)
      for (int v = 0; v < lanes; v += W) vstore(to + v, vpaired(vload(even + i + v), c + 1 < channels ? vload(odd + i + v) : vset(0)));
  }
}
#endif

template <class U>
constexpr bool IS_PAIRED = true;
template <>
constexpr bool IS_PAIRED<Floats> = false;

// The filters as rows of terms.
template <class U, class T>
LeftMatrix<float> rows_of_filters(const Call& call, const ImageColumns& c) {
  const T* const weight = input<T>(call, 1);
  if constexpr (sizeof(T) == sizeof(float))
    if (const LeftMatrix<float> stored{weight, c.terms, false}; stored.lies(c.g.filters)) return stored;
  const int64_t stride = block_stride(c.terms);
  const Range mine = part(c.g.filters, 1, call.thread, call.threads);
#if defined(OPSCOPE_PAIRS)
  if constexpr (IS_PAIRED<U>) {
    const KernelTaps taps(c.g, KernelTaps::All{});
    const PairedChannels copied(taps);
    for (int64_t f = mine.begin; f < mine.end; f++) copied.copy(weight + f * c.channels * taps.volume, c.channels, {0, c.units}, call.scratch + f * stride);
  }
#endif
  if constexpr (!IS_PAIRED<U>)
    for (int64_t f = mine.begin; f < mine.end; f++) copy_row(weight + f * c.terms, call.scratch + f * stride, c.terms);
  call.barrier(call.team);
  return {call.scratch, stride, false};
}

// U: Floats, or Pairs of channels.
template <class U, class T>
void run_image_columns(const Call& call, const Geometry& g) {
  const ImageColumns c(g, IS_PAIRED<U>);
  const LeftMatrix<float> weight = rows_of_filters<U, T>(call, c);
  float *const panel = call.scratch + c.filter_floats() + call.thread * c.own_floats(), *const sums = panel + c.panel_floats();
  int32_t *const offsets = reinterpret_cast<int32_t*>(sums + c.result_floats()), *const steps = offsets + c.slab() * g.volume();
  const AxisOutputs depths(c, g.depth), heights(c, g.height), widths(c, g.width);
  // Threads share filters as well where panels could not be shared evenly.
  constexpr int64_t MANY_PANELS = 4;
  const int64_t places = g.groups * c.panels(), shares = places % call.threads == 0 || places >= MANY_PANELS * call.threads ? 1 : call.threads;
  const Range mine = part(places * shares, 1, call.thread, call.threads);
  constexpr int64_t FAR_BYTES = 4 << 20;  // of input and output, which lie behind the second-level cache
  const bool far = times(g.batch * g.groups, c.inputs + c.filters * c.outputs) >= FAR_BYTES / static_cast<int64_t>(sizeof(T));
  for (int64_t nth = mine.begin; nth < mine.end; nth++) {
    const int64_t group = nth % places % g.groups, image = nth % places / g.groups * NR, images = least(NR, g.batch - image), image_floats = g.groups * c.inputs;
    const int lanes = static_cast<int>(up(images, W));  // of a row of the panel that are met
    const Range own = part(c.filters, 1, static_cast<int>(nth / places), static_cast<int>(shares));
    T* const out = output<T>(call) + ((image * g.groups + group) * c.filters + own.begin) * c.outputs;
    if (far && g.groups == 1 && shares == 1 && c.slab() == c.channels) {
      // What is written now and read next, while this is multiplied.
      fetch_lines(out, images * c.filters * c.outputs);
      fetch_lines(input<T>(call, 0) + (image + images) * image_floats, least(NR, g.batch - image - images) * image_floats);
    }
    for (int64_t channel = 0; channel < c.channels; channel += c.slab()) {
      const int64_t channels = least(c.slab(), c.channels - channel), units = IS_PAIRED<U> ? (channels + 1) / 2 : channels;
      RightMatrix<T>{input<T>(call, 0) + image * image_floats + group * c.inputs, image_floats, true, c.inputs}.pack_transposed(0, static_cast<int>(images), channel * g.in_plane(), channels * g.in_plane(), panel, lanes);
#if defined(OPSCOPE_PAIRS)
      if constexpr (IS_PAIRED<U>) pair_rows(panel, channels, g.in_plane(), lanes);
#endif
      const float* const filters = weight.a + (group * c.filters + own.begin) * weight.stride + channel / c.channels_of_unit() * g.volume();
      const auto of_box = [&](int64_t depth, int64_t height, int64_t width) {
        int64_t terms = -1;
        for (int64_t d = 0; d < g.depth.output; d++) {
          const Range in_depth = depths.met[d];
          for (int64_t h = 0; in_depth.end - in_depth.begin == depth && h < g.height.output; h++) {
            const Range in_height = heights.met[h];
            for (int64_t w = 0; in_height.end - in_height.begin == height && w < g.width.output; w++) {
              const Range in_width = widths.met[w];
              if (in_width.end - in_width.begin != width) continue;
              if (terms < 0) terms = list_terms(c, units, depth, height, width, offsets, steps);
              const auto place = [&](const Axis& axis, int64_t o, Range taps) { return o * g.stride - axis.padding + taps.begin * g.dilation; };
              const int64_t first = (place(g.depth, d, in_depth) * g.height.input + place(g.height, h, in_height)) * g.width.input + place(g.width, w, in_width);
              const int64_t element = (in_depth.begin * g.height.kernel + in_height.begin) * g.width.kernel + in_width.begin, output = (d * g.height.output + h) * g.width.output + w;
              multiply_listed<U>(filters + element, weight.stride, own.end - own.begin, {panel + first * NR, offsets, steps}, terms, sums + output * NR, c.outputs * NR, lanes, channel == 0);
            }
          }
        }
      };
      for (int64_t d = 0; d <= g.depth.kernel; d++)
        for (int64_t h = 0; h <= g.height.kernel; h++)
          for (int64_t w = 0; w <= g.width.kernel; w++) of_box(d, h, w);
    }
    write_turned(sums, (own.end - own.begin) * c.outputs, images, out, g.groups * c.filters * c.outputs);
  }
}

}  // namespace
