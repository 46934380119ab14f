// Convolutions of many channels to few filters (AVX-512): products of all elements of the kernel, of all filters, and of what they meet of the input, whose
// sums over the channels each output adds up. The input is the right operand as it lies, or its cells are copied to panels: those that the same elements of
// the kernel meet lie together (with a stride, every so many), without padding, those of several images next to one another.
#pragma once
#include "gathered.h"
#include "kernel_taps.h"
#include "small_products.h"

namespace {

#if defined(OPSCOPE_SMALL_PRODUCTS)
#define OPSCOPE_TAP_SUMS 1

// n in equal parts of up to `most`.
inline int64_t equal_part(int64_t n, int64_t most) {
  const int64_t parts = (n + most - 1) / most;
  return parts <= 1 ? n : (n + parts - 1) / parts;
}

// One axis, of the elements of the kernel that meet the same of every `stride` places of the input (its phase).
struct AxisPhase {
  static constexpr int64_t MOST = 16;
  int64_t phase, cells, count = 0;        // the first place, how many, and how many elements of the kernel
  int64_t element[MOST], shift[MOST];     // which; output o meets cell o + shift
  AxisPhase(const Geometry& g, const Axis& axis, int64_t nth) : phase(nth), cells(nth < axis.input ? (axis.input - 1 - nth) / g.stride + 1 : 0) {
    const Range met = g.taps(axis);
    for (int64_t k = met.begin; k < met.end && count < MOST; k++) {
      const int64_t place = k * g.dilation - axis.padding, over = (place % g.stride + g.stride) % g.stride;
      if (over != phase || !g.meets(axis, k)) continue;
      element[count] = k;
      shift[count++] = (place - over) / g.stride;
    }
    if (count == 0) cells = 0;
  }
};

// The cells of a phase of each axis, and the elements of the kernel that meet them.
struct Phase {
  AxisPhase d, h, w;
  int64_t cells, taps;
  Phase(const Geometry& g, int64_t nth) : d(g, g.depth, nth / g.stride / g.stride), h(g, g.height, nth / g.stride % g.stride), w(g, g.width, nth % g.stride), cells(d.cells * h.cells * w.cells), taps(d.count * h.count * w.count) {}
  // The place of a cell in a channel.
  int64_t place(const Geometry& g, int64_t cell) const {
    const int64_t row = cell / w.cells, depth = row / h.cells;
    return (depth * g.stride + d.phase) * g.depth.step + ((row - depth * h.cells) * g.stride + h.phase) * g.height.step + ((cell - row * w.cells) * g.stride + w.phase) * g.width.step;
  }
};

// With an axis of one element never as width where another has more.
inline Geometry longest_last(const Geometry& g) {
  return g.width_last([](const Axis& axis) { return axis.input == 1 && axis.output == 1; });
}

struct TapSums {
  static constexpr int64_t COLUMNS = 256, SUMS = 1 << 15, PANEL = 1 << 16;  // at once: columns, floats of sums and of a panel
  const Geometry g;
  int64_t channels, filters, volume, plane, phases;
  int64_t most_rows = 0, columns, images, at_once;  // rows of a product; columns and images that are met together; channels

  explicit TapSums(const Geometry& whole) : g(longest_last(whole)), channels(g.group_channels()), filters(g.group_filters()), volume(g.volume()), plane(g.in_plane()), phases(g.stride * g.stride * g.stride) {
    int64_t most_cells = 0;
    for (int64_t i = 0; i < phases; i++)
      if (const Phase p(g, i); p.taps * p.cells > 0) {
        taps += p.taps;
        products += p.taps * p.cells;
        most_rows = larger(most_rows, p.taps * filters);
        most_cells = larger(most_cells, p.cells);
      }
    most_rows = larger(most_rows, 1);
    columns = SUMS / most_rows / (4 * W) * (4 * W);
    columns = columns < 4 * W ? 4 * W : least(columns, COLUMNS);
    images = most_cells == 0 || most_cells >= columns ? 1 : least(g.batch, columns / most_cells);
    columns = least(columns, up(images * larger(most_cells, 1), W));
    at_once = equal_part(channels, PANEL / columns);
  }
  int64_t stride() const { return columns + (columns / W % 2 == 0 ? W : 0); }
  int64_t units() const { return g.groups * ((g.batch + images - 1) / images); }
  int64_t filter_floats() const { return up(at_once * most_rows, LINE) + W; }
  int64_t panel_floats() const { return at_once * stride() + W; }
  int64_t sum_floats() const { return most_rows * stride(); }
  int64_t output_floats() const { return up(images * filters * g.out_plane(), LINE); }
  int64_t gathered_floats() const { return static_cast<int64_t>(COLUMNS * sizeof(Gathered) / sizeof(float)); }
  int64_t floats() const { return gathered_floats() + filter_floats() + panel_floats() + 2 * sum_floats() + output_floats(); }
  size_t scratch(int threads) const { return static_cast<size_t>(floats() * threads); }

 private:
  int64_t taps = 0, products = 0;  // elements of the kernel, and products of one and a cell

 public:
  // Where parts (simd/phases.h) copy more than their few products repay, or more than stays near. Not where much is computed that no output meets, nor for
  // planes of a few elements where images as columns (simd/image_columns.h) have no such sums.
  static bool pays(const Geometry& whole, int threads) {
    constexpr int64_t MOST_FILTERS = 9, MOST_ROWS = 512, CHANNELS_OF_ONE = 128, CHANNELS_OF_TWO = 512, CHANNELS = 700, STRIDED_CHANNELS = 256, MANY_CHANNELS = 512, FEW_IMAGES = W / 2, MOST_OUTPUTS = 1 << 20;
    const int64_t channels = whole.group_channels(), filters = whole.group_filters(), outputs = whole.out_plane(), plane = whole.in_plane();
    if (filters > MOST_FILTERS || channels < CHANNELS_OF_ONE || whole.volume() == 1 || whole.stride > 2 || plane < 4) return false;
    if (whole.depth.kernel > AxisPhase::MOST || whole.height.kernel > AxisPhase::MOST || whole.width.kernel > AxisPhase::MOST) return false;
    const Geometry g = longest_last(whole);
    const int64_t of_rows = channels * least(g.width.output, W);
    if (g.stride > 1 && (plane == g.width.input || channels < STRIDED_CHANNELS || outputs < W || of_rows < 4 * STRIDED_CHANNELS)) return false;
    // Few outputs of many images: images as columns.
    if (g.stride > 1 && filters > 2 && g.batch >= W && outputs <= 4 * W) return false;
    if (g.stride == 1 && ((plane < W && g.batch >= FEW_IMAGES) || channels < (filters == 1 ? CHANNELS_OF_ONE : filters == 2 ? CHANNELS_OF_TWO : CHANNELS) || of_rows < 8 * STRIDED_CHANNELS)) return false;
    const TapSums s(whole);
    const int64_t most_products = channels >= MANY_CHANNELS ? 145 : 110;  // hundredths of those that outputs meet
    return 100 * s.products <= most_products * s.taps * outputs && s.most_rows <= MOST_ROWS && (threads == 1 || s.units() >= 2 * threads) && s.output_floats() <= MOST_OUTPUTS;
  }
};

// One unit: some images of a group, phase after phase.
template <class T>
struct TapSumsOf {
  const TapSums& s;
  const Geometry& g;
  Gathered* gathered;
  float *filters, *panel, *sums, *more, *outputs;
  TapSumsOf(const TapSums& of, float* scratch) : s(of), g(of.g), gathered(reinterpret_cast<Gathered*>(scratch)), filters(scratch + of.gathered_floats()), panel(filters + of.filter_floats()), sums(panel + of.panel_floats()), more(sums + of.sum_floats()), outputs(more + of.sum_floats()) {}

  // How much is gathered up to the end of each vector.
  struct Listed {
    int64_t vectors = 0;
    int32_t past[TapSums::COLUMNS / W];
  };
  // Columns `cols` of a phase.
  Listed list(const Phase& p, Range cols) const {
    Listed listed;
    int64_t place[TapSums::COLUMNS];
    const int64_t image = g.channels * s.plane, n = cols.end - cols.begin;
    for (int64_t j = 0; j < n; j++) place[j] = (cols.begin + j) / p.cells * image + p.place(g, (cols.begin + j) % p.cells);
    list_gathered(place, n, gathered, listed.past);
    listed.vectors = (n + W - 1) / W;
    return listed;
  }
  OPSCOPE_APART void fill_panel(const T* x, int64_t some, const Listed& listed) const {
    for (int64_t c = 0; c < some; c++) gather(x + c * s.plane, gathered, listed.past, listed.vectors, panel + c * s.stride());
  }
  // filters[channel][row]
  OPSCOPE_APART SmallLeft copy_filters(const T* weight, const Phase& p, int64_t from, int64_t some) const {
    const int64_t rows = p.taps * s.filters, of_filter = s.channels * s.volume;
    int64_t place[512];
    int64_t n = 0;
    for (int64_t f = 0; f < s.filters; f++)
      for (int64_t d = 0; d < p.d.count; d++)
        for (int64_t h = 0; h < p.h.count; h++)
          for (int64_t w = 0; w < p.w.count; w++) place[n++] = f * of_filter + p.d.element[d] * g.depth.kernel_step + p.h.element[h] * g.height.kernel_step + p.w.element[w] * g.width.kernel_step;
    const T* w = weight + from * s.volume;
    float* to = filters;
    if (s.volume <= 2 * W) {
      alignas(64) int32_t lanes[W] = {};
      for (int64_t i = 0; i < p.taps && i < W; i++) lanes[i] = static_cast<int32_t>(place[i]);
      const __m512i order = _mm512_load_si512(lanes);
      const int low = static_cast<int>(least(W, s.volume)), high = static_cast<int>(s.volume - low);
      const VLanes low_met = vlanes_to(low), high_met = vlanes_to(high);
      if (p.taps <= W) {
        // Over what the next filter or channel writes.
        for (int64_t c = 0; c < some; c++, w += s.volume)
          for (int64_t f = 0; f < s.filters; f++, to += p.taps) {
            const T* const one = w + f * of_filter;
            vstore(to, _mm512_permutex2var_ps(some_of(one, low_met), order, some_of(one + W, high_met)));
          }
        return {filters, 1, rows};
      }
    }
    for (int64_t c = 0; c < some; c++, w += s.volume, to += rows)
      for (int64_t r = 0; r < rows; r++) to[r] = to_float(w[place[r]]);
    return {filters, 1, rows};
  }
  // Adds the sums of columns `cols` of a phase to the outputs that meet them.
  OPSCOPE_APART void add(const Phase& p, Range cols, float* out, int64_t out_image) const {
    const int64_t stride = s.stride(), out_plane = g.out_plane();
    for (int64_t image = cols.begin / p.cells; image * p.cells < cols.end; image++) {
      const int64_t first = image * p.cells - cols.begin;  // of the image's cells, in the sums
      const float* from = sums;
      for (int64_t f = 0; f < s.filters; f++)
        for (int64_t d = 0; d < p.d.count; d++)
          for (int64_t h = 0; h < p.h.count; h++)
            for (int64_t w = 0; w < p.w.count; w++, from += stride) {
              const auto inside = [](int64_t shift, int64_t cells, int64_t outputs) { return Range{larger(0, -shift), least(outputs, cells - shift)}; };
              const Range od = inside(p.d.shift[d], p.d.cells, g.depth.output), oh = inside(p.h.shift[h], p.h.cells, g.height.output), ow = inside(p.w.shift[w], p.w.cells, g.width.output);
              for (int64_t i = od.begin; i < od.end; i++)
                for (int64_t j = oh.begin; j < oh.end; j++) {
                  const int64_t row = first + ((i + p.d.shift[d]) * p.h.cells + j + p.h.shift[h]) * p.w.cells + p.w.shift[w];
                  const int64_t begin = larger(ow.begin, -row), end = least(ow.end, cols.end - cols.begin - row);
                  float* const to = out + image * out_image + f * out_plane + i * g.depth.output_step + j * g.height.output_step;
                  for (int64_t q = begin; q < end; q += W) {
                    const VLanes lanes = vlanes_to(static_cast<int>(least(W, end - q)));
                    vstore_masked(to + q, vadd(vload_masked(to + q, lanes), vload_masked(from + row + q, lanes)), lanes);
                  }
                }
            }
    }
  }

  void run(const T* x, const T* weight, T* out, int64_t images) const {
    const int64_t stride = s.stride(), out_plane = g.out_plane();
    constexpr bool IN_PLACE = sizeof(T) == sizeof(float);
    constexpr int64_t LEAST_TAPS = 5, NEAR = 1 << 16;
    float* to = outputs;
    int64_t out_image = s.filters * out_plane;
    if constexpr (IN_PLACE) to = out, out_image = g.filters * out_plane;
    for (int64_t i = 0; i < images; i++) map0<false>(to + i * out_image, 0, s.filters * out_plane, [] { return vset(0); });
    for (int64_t nth = 0; nth < s.phases; nth++) {
      const Phase p(g, nth);
      const int64_t rows = p.taps * s.filters, all = p.cells * images;
      if (rows * all == 0) continue;
      const int64_t wide = up(equal_part(all, s.columns), W);
      for (int64_t j = 0; j < all; j += wide) {
        const Range cols{j, least(j + wide, all)};
        const int64_t n = cols.end - cols.begin;
        const bool lies = IN_PLACE && g.stride == 1 && cols.begin / p.cells == (cols.end - 1) / p.cells;
        const Listed listed = lies ? Listed{} : list(p, cols);
        // Rows of the input that lie are in as many pages: those that the first translations hold.
        const int64_t at_once = lies ? equal_part(s.channels, least(s.at_once, larger(NEAR / s.plane, 64))) : s.at_once;
        for (int64_t c = 0; c < s.channels; c += at_once) {
          const int64_t some = least(at_once, s.channels - c);
          SmallColumns right{panel, stride, c == 0 ? sums : more, stride, {}};
          if (!lies) fill_panel(x + c * s.plane, some, listed);
          if constexpr (IN_PLACE)
            if (lies) right.b = x + c * s.plane + cols.begin / p.cells * g.channels * s.plane + cols.begin % p.cells, right.b_stride = s.plane;
          if constexpr (IN_PLACE)
            if (p.taps == s.volume && (s.filters == 1 || p.taps >= LEAST_TAPS)) {
              // Each filter as it lies.
              for (int64_t f = 0; f < s.filters; f++, right.c += p.taps * stride) small_product(p.taps, n, some, {weight + (f * s.channels + c) * s.volume, 1, s.volume}, right, right.b, 0);
              right.c = nullptr;
            }
          if (right.c) small_product(rows, n, some, copy_filters(weight, p, c, some), right, right.b, 0);
          if (c > 0)
            for (int64_t r = 0; r < rows; r++)
              for (int64_t q = 0; q < n; q += W) vstore(sums + r * stride + q, vadd(vload(sums + r * stride + q), vload(more + r * stride + q)));
        }
        add(p, cols, to, out_image);
      }
    }
    if constexpr (!IN_PLACE)
      for (int64_t i = 0; i < images; i++) map1<false>(to + i * out_image, out + i * g.filters * out_plane, 0, s.filters * out_plane, [](V v) { return v; });
  }
};

template <class T>
OPSCOPE_APART void run_tap_sums(const Call& c, const Geometry& g) {
  const TapSums s(g);
  const TapSumsOf<T> unit(s, c.scratch + c.thread * s.floats());
  const int64_t groups_of_images = (g.batch + s.images - 1) / s.images;
  each_range_in(c, parts_of_work(c, g.batch * g.filters * g.out_plane() * s.channels * s.volume), s.units(), 1, [&](Range mine) {
    for (int64_t i = mine.begin; i < mine.end; i++) {
      const int64_t group = i / groups_of_images, image = i % groups_of_images * s.images;
      unit.run(input<T>(c, 0) + (image * g.groups + group) * s.channels * s.plane, input<T>(c, 1) + group * s.filters * s.channels * s.volume, output<T>(c) + (image * g.groups + group) * s.filters * g.out_plane(), least(s.images, g.batch - image));
    }
  });
}
#endif

}  // namespace
