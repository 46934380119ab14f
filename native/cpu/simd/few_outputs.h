// Convolutions of few outputs and many terms, whose products would leave most of a vector empty: what each output meets is copied as a row of terms,
// with zeros for padding, and the rows meet the filters as dot products.
#pragma once
#include "dot_products.h"
#include "windows.h"

namespace {

struct FewOutputs {
  static constexpr int64_t MOST_TAPS = 343;  // 7x7x7
  const Geometry& g;
  int64_t outputs, terms;  // of an image; of an output

  explicit FewOutputs(const Geometry& geometry) : g(geometry), outputs(g.out_plane()), terms(g.group_channels() * g.volume()) {}

  int64_t rows_of_group() const { return g.batch * outputs; }
  // A thread copies a group at a time, or threads copy all of them first.
  bool by_group(int threads) const { return g.groups >= threads; }
  // Floats for the rows of a thread's group, or for all, of elements of so many bytes.
  int64_t floats_of_group(size_t bytes) const { return up((rows_of_group() * terms * static_cast<int64_t>(bytes) + 3) / 4, LINE); }
  size_t scratch(size_t bytes, int threads) const { return static_cast<size_t>(floats_of_group(bytes) * (by_group(threads) ? threads : g.groups)); }
  // Whether filters are so few that sums of few channels, or of one at a time, do not repay the copy.
  bool of_few_filters() const { return g.group_filters() < (g.volume() == 1 ? 32 : 12); }
  // Few outputs take as long as a vector of them, and rows with a stride longer; those that are the columns of a matrix as they lie less.
  int64_t most_outputs() const { return g.is_matrix() ? W / 2 : g.stride > 1 ? 2 * W : W; }
  bool pays(int threads) const {
    constexpr int64_t LEAST_TERMS = 256, LEAST_CHANNELS = 32, MOST_COPIED = 1 << 20;
    const int64_t most = most_outputs();
    return W >= 8 && g.batch <= most && g.batch * outputs <= most && g.volume() <= MOST_TAPS && times(by_group(threads) ? rows_of_group() : g.groups * rows_of_group(), terms) <= MOST_COPIED &&
           (g.group_channels() >= LEAST_CHANNELS || (g.batch * outputs <= W / 2 && terms >= LEAST_TERMS && !of_few_filters()));
  }
};

// Where the elements of the kernel that output `o` meets lie in a channel; -1: padding.
inline void list_taps(const Geometry& g, int64_t o, int64_t* at) {
  const int64_t plane = g.height.output * g.width.output, d = o / plane, h = o % plane / g.width.output, w = o % g.width.output;
  for (int64_t kd = 0; kd < g.depth.kernel; kd++)
    for (int64_t kh = 0; kh < g.height.kernel; kh++) {
      const int64_t row = g.row(d, h, kd, kh);
      for (int64_t kw = 0; kw < g.width.kernel; kw++) {
        const int64_t column = w * g.stride - g.width.padding + kw * g.dilation;
        *at++ = row < 0 || column < 0 || column >= g.width.input ? -1 : row * g.width.input + column;
      }
    }
}

// The elements of the kernel that an output meets in the input.
struct MetTaps {
  const Geometry& g;
  int64_t volume, count = 0, places[FewOutputs::MOST_TAPS], at[FewOutputs::MOST_TAPS];  // in the kernel, in a channel

  explicit MetTaps(const Geometry& geometry) : g(geometry), volume(g.volume()) {}

  void list(int64_t output) {
    int64_t all[FewOutputs::MOST_TAPS];
    list_taps(g, output, all);
    count = 0;
    for (int64_t v = 0; v < volume; v++)
      if (all[v] >= 0) places[count] = v, at[count++] = all[v];
  }
  // What it meets in so many channels, with zeros for padding.
  template <class T>
  void copy(const T* from, int64_t channels, T* to) const {
    const int64_t plane = g.in_plane();
    if (count < volume) __builtin_memset(static_cast<void*>(to), 0, static_cast<size_t>(channels * volume) * sizeof(T));
    constexpr int64_t AT_ONCE = 64;  // whose rows stay in the first-level cache
    for (int64_t first = 0; first < channels; first += AT_ONCE, from += AT_ONCE * plane, to += AT_ONCE * volume)
      for (int64_t j = 0; j < count; j++) {
        const T* const element = from + at[j];
        T* const place = to + places[j];
        for (int64_t c = 0; c < least(AT_ONCE, channels - first); c++) place[c * volume] = element[c * plane];
      }
  }
};

template <class T>
void run_few_outputs(const Call& c, const Geometry& g) {
  constexpr int64_t NEAR_BYTES = 256 << 10;  // of filters, which every image meets while they are in the second-level cache
  const FewOutputs few(g);
  const int64_t channels = g.group_channels(), volume = g.volume(), outputs = few.outputs, terms = few.terms, filters = g.group_filters();
  const T *const x = input<T>(c, 0), *const weight = input<T>(c, 1);
  const bool by_group = few.by_group(c.threads);
  T* const rows = reinterpret_cast<T*>(c.scratch + (by_group ? c.thread * few.floats_of_group(sizeof(T)) : 0));
  MetTaps taps(g);
  // The rows of a group, image after image, `some` channels of all of them.
  const auto copy_rows = [&](int64_t group, Range some, T* to) {
    for (int64_t i = some.begin; i < some.end;) {
      const int64_t row = i / channels, channel = i - row * channels, met = least(channels - channel, some.end - i), image = row / outputs;
      taps.list(row - image * outputs);
      taps.copy(x + ((image * g.groups + group) * channels + channel) * g.in_plane(), met, to + i * volume);
      i += met;
    }
  };
  const int64_t of_group = few.rows_of_group() * channels;
  if (!by_group) {
    for (int64_t group = 0; group < g.groups; group++) copy_rows(group, part(of_group, LINE, c.thread, c.threads), rows + group * of_group * volume);
    c.barrier(c.team);
  }
  const Range groups = by_group ? part(g.groups, 1, c.thread, c.threads) : Range{0, g.groups}, own = by_group ? Range{0, filters} : part(filters, LINE, c.thread, c.threads);
  const int64_t some = g.batch == 1 ? filters : up(NEAR_BYTES / (terms * static_cast<int64_t>(sizeof(T))) + 1, LINE);
  for (int64_t group = groups.begin; group < groups.end; group++) {
    if (by_group) copy_rows(group, {0, of_group}, rows);
    const T* const met = rows + (by_group ? 0 : group * of_group * volume);
    for (int64_t f = own.begin; f < own.end; f += some)
      for (int64_t n = 0; n < g.batch; n++)
        dot_products(met + n * outputs * terms, outputs, weight + group * filters * terms, terms, {f, least(f + some, own.end)}, output<T>(c) + (n * g.groups + group) * filters * outputs, One{}, outputs);
  }
}

}  // namespace
