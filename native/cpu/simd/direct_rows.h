// One-dimensional convolutions of groups of one channel whose outputs are a few vectors: each vector is added up from the input as it lies, by masked
// loads that leave out the padding. What else is done for each group takes longer than its work.
#pragma once
#include "padded_rows.h"
#include "windows.h"

namespace {

// A vector of outputs meets elements from `first` on in the row of the input by one column of the kernel.
template <class L>
struct RowTap {
  int64_t column, first;
  L lanes;
};

// What the outputs of a row meet, vector by vector: the same for all channels.
template <class L>
struct RowTaps {
  static constexpr int MOST = 48;
  RowTap<L> taps[MOST];
  int past[MOST], vectors = 0;  // of the taps of each vector

  explicit RowTaps(const Geometry& g) {
    int count = 0;
    for (int64_t q = 0; q < g.width.output; q += W) {
      for (int64_t column = 0; column < g.width.kernel; column++) {
        const int64_t first = q * g.stride + column * g.dilation - g.width.padding;
        const int64_t from = first < 0 ? (-first + g.stride - 1) / g.stride : 0, to = least(least(W, g.width.output - q), (g.width.input - first + g.stride - 1) / g.stride);
        if (from < to) taps[count++] = {column, first, L(static_cast<int>(from), static_cast<int>(to))};
      }
      past[vectors++] = count;
    }
  }
};

inline bool by_direct_rows(const Geometry& g) {
  constexpr int64_t MOST_VECTORS = 8, MOST_FILTERS = 4;
  const bool one_row = g.in_plane() == g.width.input && g.out_plane() == g.width.output && g.volume() == g.width.kernel && g.depth.padding == 0 && g.height.padding == 0;
  return W == 16 && one_row && g.group_channels() == 1 && g.groups > 1 && g.group_filters() <= MOST_FILTERS && g.stride <= 2 && g.width.output > 1 && g.width.output <= MOST_VECTORS * W &&
         (g.width.output + W - 1) / W * g.width.kernel <= RowTaps<Lanes>::MOST;
}

template <class T, class L, class Out>
OPSCOPE_APART void run_direct_rows(const Call& c, const Geometry& g, Out* const output) {
  const RowTaps<L> rows(g);
  const int64_t per_channel = g.group_filters(), outputs = g.width.output;
  const Range mine = part(g.batch * g.filters, 1, c.thread, c.threads);
  const T *const x = input<T>(c, 0), *const weight = input<T>(c, 1);
  int64_t channel = mine.begin / per_channel, left = per_channel - mine.begin % per_channel, filter = mine.begin % g.filters;
  for (int64_t i = mine.begin; i < mine.end; i++) {
    const T *const row = x + channel * g.width.input, *const kernel = weight + filter * g.width.kernel;
    Out* const out = output + i * outputs;
    int t = 0;
    for (int v = 0; v < rows.vectors; v++) {
      V sum = vset(0);
      for (; t < rows.past[v]; t++) sum = vfma(rows.taps[t].lanes.load(row + rows.taps[t].first), vset(to_float(kernel[rows.taps[t].column])), sum);
      vstore_n(out + v * W, sum, static_cast<int>(least(W, outputs - v * W)));
    }
    if (++filter == g.filters) filter = 0;
    if (--left == 0) channel++, left = per_channel;
  }
}

template <class T, class Out>
void run_direct_rows(const Call& c, const Geometry& g, Out* output) {
  if (g.stride == 1) run_direct_rows<T, Lanes>(c, g, output);
  else run_direct_rows<T, EvenLanes>(c, g, output);
}

}  // namespace
