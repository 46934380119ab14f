// Where a convolution's windows lie, and its windows as the right operand of a product.
#pragma once
#include "pairs.h"

namespace {

constexpr int MOST_KERNEL = 16;  // elements of a row of the kernel whose lanes are kept

#if defined(OPSCOPE_JOINED)
// Every second element of the two vectors from p on, of some of their elements, and zero in the other lanes.
inline V vload_even_masked(const float* p, VLanes low, VLanes high) {
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  return _mm512_permutex2var_ps(_mm512_maskz_loadu_ps(low, p), even, _mm512_maskz_loadu_ps(high, p + W));
}
#endif

struct Axis {
  int64_t input, kernel, padding, output;
  // Elements from one to the next, in a plane of the input, in one of the output and in a channel of a filter.
  int64_t step = 0, output_step = 0, kernel_step = 0;
};

struct Geometry {
  int64_t batch, channels, filters, groups, stride, dilation;
  Axis depth, height, width;
  int64_t stored_plane, output_first = 0;  // outputs of a channel as stored, and the first of them that this is about

  explicit Geometry(const int64_t* d) : batch(d[0]), channels(d[1]), filters(d[2]), groups(d[3]), stride(d[4]), dilation(d[5]) {
    Axis* axes[3] = {&depth, &height, &width};
    for (int i = 0; i < 3; i++) *axes[i] = {d[6 + 4 * i], d[7 + 4 * i], d[8 + 4 * i], d[9 + 4 * i]};
    height.step = (width.step = 1) * width.input;
    depth.step = height.step * height.input;
    height.output_step = (width.output_step = 1) * width.output;
    depth.output_step = height.output_step * height.output;
    stored_plane = out_plane();
  }
  int64_t in_plane() const { return depth.input * height.input * width.input; }
  int64_t out_plane() const { return depth.output * height.output * width.output; }
  int64_t volume() const { return depth.kernel * height.kernel * width.kernel; }
  int64_t group_channels() const { return channels / groups; }
  int64_t group_filters() const { return filters / groups; }
  Products products() const { return {batch * groups, group_filters(), out_plane(), group_channels() * volume()}; }
  // The kernel meets each image once and whole: the input is a matrix of images.
  bool meets_images() const {
    const auto whole = [](const Axis& axis) { return axis.output == 1 && axis.padding == 0 && axis.kernel == axis.input; };
    return groups == 1 && (dilation == 1 || volume() == 1) && whole(depth) && whole(height) && whole(width);
  }
  // Every second element along the width, which lie in one row for a third of a vector of outputs or more.
  bool meets_even() const { return stride == 2 && width.step == 1 && width.output >= W / 3 && width.kernel <= MOST_KERNEL; }
  // Whether panels of those are packed from the input (f32, AVX-512): where as many filters meet them as repay an element of the kernel after the other,
  // twice as many where vectors meet several rows, and enough panels for each thread that shares an image.
  bool packs_even([[maybe_unused]] int threads) const {
#if defined(OPSCOPE_JOINED)
    constexpr int64_t LEAST_CHANNELS = 3, LEAST_FILTERS = 4, FEW_TERMS_OR_FILTERS = 64, PANELS = 8;
    const bool shared = threads == 1 || batch * groups >= threads || out_plane() >= PANELS * NR * threads;
    const int64_t repaid = (width.output < W ? 10 : 5) * volume();
    return shared && meets_even() && out_plane() == stored_plane && out_plane() >= NR && group_channels() >= LEAST_CHANNELS && group_filters() >= LEAST_FILTERS && 4 * group_filters() >= repaid && (group_channels() * volume() >= FEW_TERMS_OR_FILTERS || group_filters() >= FEW_TERMS_OR_FILTERS);
#else
    return false;
#endif
  }
  // The input itself is the matrix.
  bool is_matrix() const { return volume() == 1 && stride == 1 && depth.padding == 0 && height.padding == 0 && width.padding == 0 && out_plane() == stored_plane; }
  // .. and is read as one. Planes of a few elements are better copied next to one another: a product of so few columns reads all filters, and
  // (not beside tiles of bf16) of those that leave a quarter of their panels empty.
  bool plain(bool tiles = false) const { return is_matrix() && !merges_planes(tiles); }
  bool merges_planes(bool tiles) const {
    // About a vector of them (AVX-512) takes little more than a whole one, where filters are read again for each image from near.
    constexpr int64_t NEAR_FILTERS = 1 << 17, NEAR_OF_LESS = 1 << 13;
    if (!tiles && W == 16 && out_plane() > W * 3 / 4 && out_plane() <= W && times(group_filters(), group_channels()) <= (out_plane() == W ? NEAR_FILTERS : NEAR_OF_LESS)) return false;
    const bool empty = out_plane() < W / 2 || (!tiles && 4 * out_plane() <= 3 * up(out_plane(), out_plane() <= NR ? NR : W));
    return batch > 1 && empty && group_filters() >= 2 * MR && group_channels() >= 32;
  }

  // The same with width as the last axis that is not `single`, and the steps of the kernel as it is.
  template <class Single>
  Geometry width_last(const Single& single) const {
    Geometry g = *this;
    g.height.kernel_step = (g.width.kernel_step = 1) * g.width.kernel;
    g.depth.kernel_step = g.height.kernel_step * g.height.kernel;
    for (int i = 0; i < 2 && single(g.width); i++) {
      const Axis last = g.width;
      g.width = g.height;
      g.height = g.depth;
      g.depth = last;
    }
    return g;
  }
  // The same without the outer parts of the kernel that meet nothing but padding, and with width as the last axis that has more than one element.
  Geometry trimmed() const {
    Geometry g = *this;
    Axis* const axes[] = {&g.depth, &g.height, &g.width};
    for (Axis* axis : axes) {
      const Range met = taps(*axis);
      axis->kernel = met.end - met.begin;
      axis->padding -= met.begin * dilation;
    }
    return g.width_last([](const Axis& axis) { return axis.input == 1 && axis.kernel == 1 && axis.output == 1 && axis.padding == 0; });
  }
  // The same with the axis of the most outputs as width, where rows have few: they fill vectors then. Where the outputs of some rows together do not lie
  // next to one another, they are written one by one: few terms do not repay that, nor do outputs whose lines leave the caches before the next
  // of them comes.
  Geometry turned() const {
    constexpr int64_t FEW_TERMS = 32, FEW_FILTERS = 4, MANY_OUTPUTS = 1 << 19, MANY_OF_ALL = 1 << 20, MOST_ACROSS = 64, LONG = 2 * W;
    Geometry g = *this;
    const bool by_depth = depth.output > height.output;
    Axis& longest = by_depth ? g.depth : g.height;
    const bool together = longest.output >= LONG && longest.output_step <= MOST_ACROSS && (!by_depth || width.output == 1), scatters = longest.output_step > 1 && !together;
    if (width.output > W / 2 || longest.output < 2 * width.output) return g;
    if (scatters && (times(out_plane(), group_filters()) > MANY_OUTPUTS || times(batch, times(out_plane(), filters)) > MANY_OF_ALL)) return g;
    if (longest.output_step > 1 && !(together && width.output == 1) && group_channels() * volume() < FEW_TERMS && group_filters() > FEW_FILTERS) return g;
    const Axis last = g.width;
    g.width = longest;
    longest = last;
    return g;
  }
  // An axis of a few outputs two fifths or more of whose kernel lie in the padding, or a third where each output of it has rows of outputs that
  // lie together; null where there is none, or where what is computed in vain is little beside what another copy of the filters takes.
  Axis Geometry::* mostly_padding() const {
    constexpr int64_t FEW = 8, LEAST_OUTPUTS = 64, LEAST_PRODUCTS = 100000, LEAST_ROW = 4;
    const int64_t outputs = batch * out_plane(), all = times(outputs, times(filters, group_channels() * volume()));
    Axis Geometry::* const axes[] = {&Geometry::depth, &Geometry::height, &Geometry::width};
    for (Axis Geometry::* which : axes) {
      const Axis& axis = this->*which;
      if (axis.output < 2 || axis.output > FEW || group_filters() < 2 || outputs / axis.output < LEAST_OUTPUTS || all / axis.output < LEAST_PRODUCTS) continue;
      int64_t met = 0;
      for (int64_t o = 0; o < axis.output; o++) {
        const Range own = slice(which, o).taps(which);
        met += own.end - own.begin;
      }
      const Range any = taps(axis);
      const bool rows = axis.output_step >= LEAST_ROW && outputs / axis.output >= 2 * LEAST_OUTPUTS;
      if (10 * met < (rows ? 7 : 6) * axis.output * (any.end - any.begin)) return which;
    }
    return nullptr;
  }
  // Output `o` alone of an axis.
  Geometry slice(Axis Geometry::* which, int64_t o) const {
    Geometry g = *this;
    Axis& axis = g.*which;
    axis.output = 1;
    axis.padding -= o * stride;
    g.output_first += o * axis.output_step;
    return g;
  }
  Range taps(Axis Geometry::* which) const { return taps(this->*which); }

  // Whether element `k` of the kernel meets the input anywhere along an axis.
  bool meets(const Axis& axis, int64_t k) const {
    const int64_t first = k * dilation - axis.padding, before = first < 0 ? (stride - 1 - first) / stride : 0;
    return before < axis.output && first + before * stride < axis.input;
  }
  // From the first to the last element of the kernel that does, at least one.
  Range taps(const Axis& axis) const {
    int64_t begin = 0, end = axis.kernel;
    while (begin + 1 < end && !meets(axis, begin)) begin++;
    while (begin + 1 < end && !meets(axis, end - 1)) end--;
    return {begin, end};
  }
  // All of the kernel meets padding: every output is zero.
  bool meets_nothing() const {
    const auto nothing = [&](const Axis& axis) { return !meets(axis, taps(axis).begin); };
    return nothing(depth) || nothing(height) || nothing(width);
  }

  // Outputs from .. to of a row whose element `k` of the kernel lies inside the input.
  Range inside(int64_t k, int64_t from, int64_t to) const {
    const int64_t offset = k * dilation - width.padding;
    if (stride == 1) {
      const int64_t begin = offset + from >= 0 ? from : -offset, end = width.input - offset;
      return begin < end && begin < to ? Range{begin, end < to ? end : to} : begin < to ? Range{begin, begin} : Range{to, to};
    }
    const int64_t first = offset >= 0 ? 0 : (-offset + stride - 1) / stride, end = width.input - 1 - offset < 0 ? 0 : (width.input - 1 - offset) / stride + 1;
    const int64_t begin = first > from ? first : from;
    return {begin, end < to ? (end > begin ? end : begin) : (to > begin ? to : begin)};
  }
  // The row of the input that output row (d, h) meets at kernel row (kd, kh); -1 outside.
  int64_t row(int64_t d, int64_t h, int64_t kd, int64_t kh) const {
    const int64_t at_depth = d * stride - depth.padding + kd * dilation, at_height = h * stride - height.padding + kh * dilation;
    if (at_depth < 0 || at_depth >= depth.input || at_height < 0 || at_height >= height.input) return -1;
    return at_depth * height.input + at_height;
  }
};

// Calls f for each part of a convolution whose kernel meets the input in a way of its own; for all of it where that is no gain.
template <class F>
void each_slice(const Geometry& g, const F& f) {
  Axis Geometry::* const axis = g.mostly_padding();
  if (!axis) return f(g);
  for (int64_t o = 0; o < (g.*axis).output; o++) each_slice(g.slice(axis, o), f);
}

// The windows of a group of an image as the right operand.
template <class T>
struct Windows {
  using Panel = Right;
  const T* x;  // the group's first channel
  const Geometry& g;

  bool stays(int64_t, int64_t, int64_t) const { return false; }
  Right place(int64_t, int64_t) const { return {}; }
  int64_t lying(int64_t, int64_t, int) const { return 0; }
  Lines source(int64_t, int, int64_t, int64_t) const { return {}; }

  // Outputs of one row in a panel, from column `at` on; at one place of the kernel, output q of them meets from[q * stride] where q is
  // in begin .. end, and padding elsewhere.
  struct Run {
    int64_t d, h, from;
    int at, count;
  };
  struct Piece {
    int64_t from;  // in a channel
    int begin, end;
  };

  void pack(int64_t j, int columns, int64_t l, int64_t kc, float* to) const {
#if defined(OPSCOPE_JOINED)
    if constexpr (sizeof(T) == sizeof(float))
      if (g.meets_even()) return pack_even(j, columns, l, kc, to);
#endif
    Run runs[NR];
    int run_count = 0;
    for (int q = 0; q < columns;) {
      const int64_t row = (j + q) / g.width.output, at = (j + q) - row * g.width.output, d = row / g.height.output;
      const int count = static_cast<int>(least(g.width.output - at, columns - q));
      runs[run_count++] = {d, row - d * g.height.output, at, q, count};
      q += count;
    }
    // The same for every channel.
    constexpr int64_t KEPT = 512;
    Piece kept[KEPT];
    const int64_t volume = g.volume();
    const bool keeps = volume * run_count <= KEPT && kc >= 2 * volume;
    for (int64_t v = 0; keeps && v < volume; v++)
      for (int i = 0; i < run_count; i++) kept[v * run_count + i] = piece(runs[i], v);
    int64_t channel = l / volume, v = l - channel * volume;
    for (int64_t p = 0; p < kc; p++, to += NR) {
      const T* const plane = x + channel * g.in_plane();
      for (int i = 0; i < run_count; i++) copy(plane, keeps ? kept[v * run_count + i] : piece(runs[i], v), runs[i], to);
      for (int q = columns; q < NR; q++) to[q] = 0;
      if (++v == volume) v = 0, channel++;
    }
  }

 private:
  Piece piece(const Run& run, int64_t v) const {
    const int64_t kw = v % g.width.kernel, rows = v / g.width.kernel, kh = rows % g.height.kernel, kd = rows / g.height.kernel;
    const int64_t row = g.row(run.d, run.h, kd, kh);
    if (row < 0) return {0, 0, 0};
    const Range valid = g.inside(kw, run.from, run.from + run.count);
    return {row * g.width.input + kw * g.dilation - g.width.padding + run.from * g.stride, static_cast<int>(valid.begin - run.from), static_cast<int>(valid.end - run.from)};
  }

#if defined(OPSCOPE_JOINED)
  // Outputs of one row in a vector: their row, where lane 0 would meet the first element of a row of the kernel, and for each of those the elements of two
  // vectors that are met, every second one of which is a lane.
  static constexpr int MOST_RUNS = 4;
  struct EvenRun {
    int64_t d, h, at;
    VLanes low[MOST_KERNEL], high[MOST_KERNEL];
  };
  static VLanes every_second(uint32_t lanes) {
    lanes = (lanes | lanes << 4) & 0x0f0f;
    lanes = (lanes | lanes << 2) & 0x3333;
    return static_cast<VLanes>((lanes | lanes << 1) & 0x5555);
  }
  // A vector of outputs of all terms after the other one.
  void pack_even(int64_t j, int columns, int64_t l, int64_t kc, float* to) const {
    for (int v = 0; v < NV; v++, to += W) {
      EvenRun runs[MOST_RUNS];
      const int64_t lanes = columns - v * W < W ? columns - v * W : W;
      int count = 0;
      for (int64_t q = 0; q < lanes; count++) {
        const int64_t row = (j + v * W + q) / g.width.output, column = j + v * W + q - row * g.width.output, past = least(q + g.width.output - column, lanes), depth = row / g.height.output;
        EvenRun& run = runs[count];
        run.d = depth, run.h = row - depth * g.height.output, run.at = 2 * (column - q) - g.width.padding;
        for (int64_t k = 0; k < g.width.kernel; k++) {
          const int64_t first = run.at + k * g.dilation, begin = first < 0 && (1 - first) / 2 > q ? (1 - first) / 2 : q, end = least(past, (g.width.input - first + 1) / 2);
          const uint32_t met = begin < end ? (1u << end) - (1u << begin) : 0;
          run.low[k] = every_second(met & 0xff), run.high[k] = every_second(met >> 8);
        }
        q = past;
      }
      if (count == 4) pack_runs<4>(runs, l, kc, to);
      else if (count == 3) pack_runs<3>(runs, l, kc, to);
      else if (count == 2) pack_runs<2>(runs, l, kc, to);
      else if (count == 1) pack_runs<1>(runs, l, kc, to);
      else for (int64_t p = 0; p < kc; p++) vstore(to + p * NR, vset(0));
    }
  }
  // An element of the kernel of some channels after the other, which all meet the same lanes.
  template <int RUNS>
  OPSCOPE_APART void pack_runs(const EvenRun* runs, int64_t l, int64_t kc, float* to) const {
    constexpr int64_t CHANNELS = 16;  // whose rows stay in the first-level cache
    const int64_t volume = g.volume(), plane = g.in_plane(), past = (l + kc - 1) / volume + 1;
    for (int64_t c = l / volume; c < past; c += CHANNELS)
      for (int64_t kd = 0, element = 0; kd < g.depth.kernel; kd++)
        for (int64_t kh = 0; kh < g.height.kernel; kh++) {
          int64_t rows[RUNS];
          for (int i = 0; i < RUNS; i++) rows[i] = g.row(runs[i].d, runs[i].h, kd, kh);
          for (int64_t kw = 0; kw < g.width.kernel; kw++, element++) {
            const int64_t begin = c * volume + element < l ? c + 1 : c, most = least(c + CHANNELS, past), end = (most - 1) * volume + element < l + kc ? most : most - 1;
            const float* from[RUNS];
            VLanes low[RUNS], high[RUNS];
            for (int i = 0; i < RUNS; i++) {
              from[i] = x + begin * plane + rows[i] * g.width.input + runs[i].at + kw * g.dilation;
              low[i] = rows[i] < 0 ? VLanes{} : runs[i].low[kw], high[i] = rows[i] < 0 ? VLanes{} : runs[i].high[kw];
            }
            float* at = to + (begin * volume + element - l) * NR;
            for (int64_t n = begin; n < end; n++, at += volume * NR) {
              V all = vload_even_masked(from[0], low[0], high[0]);
#pragma GCC unroll 4
              for (int i = 1; i < RUNS; i++) all = _mm512_or_ps(all, vload_even_masked(from[i], low[i], high[i]));
              vstore(at, all);
#pragma GCC unroll 4
              for (int i = 0; i < RUNS; i++) from[i] += plane;
            }
          }
        }
  }
#endif

  // Whole vectors may reach into the runs behind, which follow, but not out of the row.
  OPSCOPE_INLINE void copy(const T* plane, const Piece& piece, const Run& run, float* row) const {
    const T* const from = plane + piece.from;
    float* const to = row + run.at;
    if (g.stride <= 2) {
      for (int q = 0; q < run.count; q += W) {
        const int begin = piece.begin > q ? piece.begin - q : 0, end = piece.end - q < W ? piece.end - q : W;
        V v = vset(0);
        if (begin == 0 && end == W) v = g.stride == 1 ? vload(from + q) : vload_even(from + 2 * q);
        else if (g.stride == 1 && begin < end) v = vload_between(from + q, begin, end, 0);
        else if (begin < end) v = vload_even_between(from + 2 * q, begin, end, 0);
        if (run.at + q + W <= NR) vstore(to + q, v);
        else vstore_n(to + q, v, NR - run.at - q);
      }
      return;
    }
    for (int q = 0; q < run.count; q++) to[q] = q >= piece.begin && q < piece.end ? to_float(from[q * g.stride]) : 0;
  }
};

}  // namespace
