// A convolution's extents: how it is trimmed, turned and cut into slices, and where its windows lie.
#pragma once
#include "pairs.h"

namespace {

constexpr int MOST_KERNEL = 16, MOST_KERNEL_ROWS = 128;  // elements of a row of the kernel, and rows, of which something is kept
constexpr int64_t PACKING = 12, PACKING_RUNS = NR * 8 / 5;  // takes about as long as so many rows of a product, these by the outputs of a row; rows that start within lines take 1.05x

struct Axis {
  int64_t input, kernel, padding, output;
  // Elements from one to the next, in a plane of the input, in one of the output and in a channel of a filter.
  int64_t step = 0, output_step = 0, kernel_step = 0;
};

struct Geometry {
  int64_t batch, channels, filters, groups, stride, dilation;
  Axis depth, height, width;
  bool spread = false;     // of each element of a row of the kernel what all outputs of a row meet is copied (simd/phases.h)
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
  bool meets_even() const { return stride == 2 && width.step == 1 && width.output >= W / 3 && (width.kernel - 1) * dilation <= MOST_KERNEL && depth.kernel * height.kernel <= MOST_KERNEL_ROWS; }
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
  // spread_rows: narrow ones may be copied for each element of a row of the kernel instead (tiles of bf16 do not read those).
  Geometry turned(bool spread_rows = true) const {
    Geometry g = *this;
    const bool by_depth = depth.output > height.output;
    const Turned turns = turning();
    if (spread_rows && spreads(turns)) {
      g.spread = true;
    } else if (turns != Turned::none) {
      Axis& longest = by_depth ? g.depth : g.height;
      const Axis last = g.width;
      g.width = longest;
      longest = last;
    }
    return g;
  }

 private:
  // Whether an axis takes the place of the width, and its rows are read and written element by element.
  enum class Turned { none, together, apart };
  Turned turning() const {
    constexpr int64_t FEW_TERMS = 32, FEW_FILTERS = 4, MANY_OUTPUTS = 1 << 19, MANY_OF_ALL = 1 << 20, MOST_ACROSS = 64, LONG = 2 * W;
    const bool by_depth = depth.output > height.output;
    const Axis& longest = by_depth ? depth : height;
    const bool together = longest.output >= LONG && longest.output_step <= MOST_ACROSS && (!by_depth || width.output == 1), scatters = longest.output_step > 1 && !together;
    if (width.output > W / 2 || longest.output < 2 * width.output) return Turned::none;
    if (scatters && (times(out_plane(), group_filters()) > MANY_OUTPUTS || times(batch, times(out_plane(), filters)) > MANY_OF_ALL)) return Turned::none;
    if (longest.output_step > 1 && !(together && width.output == 1) && group_channels() * volume() < FEW_TERMS && group_filters() > FEW_FILTERS) return Turned::none;
    return scatters ? Turned::apart : Turned::together;
  }
  // Whether narrow rows are copied once for each element of a row of the kernel (AVX-512): outputs then follow one another, without gaps between rows. That
  // saves, of each row of a copy, products for gaps (or the packing that leaves them out), and turning inputs and outputs; it takes more copies.
  bool spreads([[maybe_unused]] Turned turns) const {
#if defined(OPSCOPE_JOINED)
    constexpr double WRITTEN = 32, WRITTEN_OF_DEPTHS = 10, WRITTEN_OF_ROWS = 2, TURNED = 9, COPIED = 5, COPIED_STRIDED = 10, COPIED_TOGETHER = 3, STRIDED_TOGETHER = 5, LEAST_GAIN = 0.12, REPAYS = 1.5;
    constexpr int64_t FEW_CELLS = 5, LEAST_FILTERS = 4, MOST_ROWS = 256;
    if (width.kernel < 2 || width.kernel > MOST_KERNEL || width.step != 1 || width.output_step != 1 || width.output < 2 || width.output >= W - 1 || height.output < 2 || stride > 2) return false;
    const auto cells = [&](const Axis& axis) { return static_cast<double>(axis.output + (axis.kernel - 1) * dilation / stride); };
    const auto phases = [&](const Axis& axis) { return static_cast<double>(least(stride, (axis.kernel - 1) * dilation + 1)); };
    const double taps = static_cast<double>(width.kernel), across = static_cast<double>(width.output), of_filters = static_cast<double>(group_filters());
    const double copies = phases(depth) * cells(depth) * phases(height) * cells(height) * taps, products = static_cast<double>(times(out_plane(), volume())) * of_filters / W / copies;
    const bool turned = turns == Turned::apart && depth.output > height.output && stride == 1 && group_filters() >= LEAST_FILTERS;
    if (!turned && times(group_channels(), width.kernel * stride) > MOST_ROWS) return false;
    // Planes of few outputs leave vectors empty.
    if (height.output * width.output < (turns == Turned::none ? NR : depth.output > 1 ? W : 1)) return false;
    const Axis& longest = turns == Turned::none ? width : depth.output > height.output ? depth : height;
    const double gaps = cells(longest) / static_cast<double>(longest.output) - 1, packing = (static_cast<double>(PACKING) + static_cast<double>(PACKING_RUNS) / static_cast<double>(longest.output)) / of_filters;
    const double written = (turns == Turned::none ? WRITTEN_OF_ROWS : depth.output == 1 ? WRITTEN : WRITTEN_OF_DEPTHS) / static_cast<double>(group_channels() * volume()), saved = (gaps < packing ? gaps : packing) + written;
    const double each = stride == 1 ? COPIED : COPIED_STRIDED, copied = width.output <= FEW_CELLS && height.output >= 2 * W ? (stride == 1 ? COPIED_TOGETHER : STRIDED_TOGETHER) : each;
    const double more = copied * taps - (turns == Turned::none ? each : copied) * phases(width);
    return (saved >= LEAST_GAIN || turned) && products * saved * taps + (turned ? TURNED * across : 0) >= REPAYS * more;
#else
    return false;
#endif
  }

 public:
  // An axis of a few outputs two fifths or more of whose kernel lie in the padding, or a third where each output of it has rows of outputs that
  // lie together, or a tenth where these are many and fill vectors as before; null where there is none, or where what is computed in vain is little beside what another copy of the filters takes.
  // large_ones: those too.
  Axis Geometry::* mostly_padding(bool large_ones = true) const {
    constexpr int64_t FEW = 8, LEAST_OUTPUTS = 64, LEAST_PRODUCTS = 100000, LEAST_ROW = 4, LARGE = 512, LARGE_PLANE = 64, FILTERS_OF_LARGE = 16;
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
      const bool large = large_ones && rows && outputs / axis.output >= LARGE && out_plane() / axis.output >= LARGE_PLANE && group_filters() >= FILTERS_OF_LARGE && (which == &Geometry::depth || (depth.output == 1 ? stride > 1 : width.output >= 4 * W));
      if (20 * met < (large ? 18 : rows ? 14 : 12) * axis.output * (any.end - any.begin)) return which;
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

}  // namespace
