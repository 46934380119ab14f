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

  int64_t rows() const { return g.batch * g.groups * outputs; }
  // Floats for those rows, of elements of so many bytes.
  size_t scratch(size_t bytes) const { return (static_cast<size_t>(rows() * terms) * bytes + 3) / 4; }
  // Half a vector of outputs takes as long as they would as columns; fewer filters do not repay the copy.
  bool pays() const {
    constexpr int64_t MOST_OUTPUTS = W / 2, LEAST_TERMS = 256, MOST_COPIED = 1 << 20;
    const int64_t least_filters = g.volume() == 1 ? 32 : 12;
    return W >= 8 && g.batch < MOST_OUTPUTS && g.batch * outputs <= MOST_OUTPUTS && g.volume() <= MOST_TAPS && terms >= LEAST_TERMS && g.group_filters() >= least_filters && times(rows(), terms) <= MOST_COPIED;
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

template <class T>
void run_few_outputs(const Call& c, const Geometry& g) {
  constexpr int64_t NEAR_BYTES = 256 << 10;  // of filters, which every image meets while they are in the second-level cache
  const FewOutputs few(g);
  const int64_t channels = g.group_channels(), volume = g.volume(), outputs = few.outputs, terms = few.terms, filters = g.group_filters();
  const T *const x = input<T>(c, 0), *const weight = input<T>(c, 1);
  T* const rows = reinterpret_cast<T*>(c.scratch);
  const Range copied = part(few.rows() * channels, LINE, c.thread, c.threads);
  int64_t taps[FewOutputs::MOST_TAPS];
  for (int64_t i = copied.begin; i < copied.end; i++) {
    const int64_t row = i / channels, channel = i - row * channels, of_image = row / outputs;
    if (i == copied.begin || channel == 0) list_taps(g, row - of_image * outputs, taps);
    const T* const from = x + (of_image * channels + channel) * g.in_plane();
    for (int64_t v = 0; v < volume; v++) rows[i * volume + v] = taps[v] < 0 ? T{} : from[taps[v]];
  }
  c.barrier(c.team);
  const bool by_group = g.groups >= c.threads;
  const Range groups = by_group ? part(g.groups, 1, c.thread, c.threads) : Range{0, g.groups}, own = by_group ? Range{0, filters} : part(filters, LINE, c.thread, c.threads);
  const int64_t some = g.batch == 1 ? filters : up(NEAR_BYTES / (terms * static_cast<int64_t>(sizeof(T))) + 1, LINE);
  for (int64_t group = groups.begin; group < groups.end; group++)
    for (int64_t f = own.begin; f < own.end; f += some)
      for (int64_t n = 0; n < g.batch; n++) {
        const int64_t of_image = n * g.groups + group;
        dot_products(rows + of_image * outputs * terms, outputs, weight + group * filters * terms, terms, {f, least(f + some, own.end)}, output<T>(c) + of_image * filters * outputs, One{}, outputs);
      }
}

}  // namespace
