// One-dimensional convolutions of few filters a group straight from the input: each vector of outputs is added up in a register from the input as it
// lies, without a padded copy, which takes longer than the few products it is for.
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

// What some vectors of outputs of a row meet, from output `begin` on, vector by vector: the same for all channels. Masked loads leave out the padding.
template <class L>
struct RowTaps {
  static constexpr int MOST = 48;
  RowTap<L> taps[MOST];
  int past[MOST], vectors = 0;  // of the taps of each vector

  explicit RowTaps(const Geometry& g, int64_t begin, int64_t end) {
    int count = 0;
    for (int64_t q = begin; q < end; q += W) {
      for (int64_t column = 0; column < g.width.kernel; column++) {
        const int64_t first = q * g.stride + column * g.dilation - g.width.padding;
        const int64_t from = first < 0 ? (-first + g.stride - 1) / g.stride : 0, to = least(least(W, g.width.output - q), (g.width.input - first + g.stride - 1) / g.stride);
        if (from < to) taps[count++] = {column, first, L(static_cast<int>(from), static_cast<int>(to))};
      }
      past[vectors++] = count;
    }
  }
};

// Vectors of outputs that one pass over the channels adds up.
constexpr int64_t DIRECT_VECTORS = 4, MOST_DIRECT_FILTERS = 4;

// Rows of a few vectors, one channel each: what is done for each group by another kernel takes longer than its work.
inline bool by_short_rows(const Geometry& g) {
  constexpr int64_t MOST_VECTORS = 8;
  return g.group_channels() == 1 && g.groups > 1 && g.width.output <= MOST_VECTORS * W && (g.width.output + W - 1) / W * g.width.kernel <= RowTaps<Lanes>::MOST;
}

// Longer rows of one channel each; in 16 bits of one filter, whose factors are widened one by one. Of many channels, f32, where a row takes one pass over
// them and few images meet the filters, whose copy another kernel would not repay. Where the input is the matrix of a product it is read as it lies anyway.
inline bool by_long_rows(const Geometry& g, int threads, size_t bytes) {
  constexpr int64_t LEAST_CHANNELS = 64, MOST_IMAGES = 4, PASS = DIRECT_VECTORS * W;
  if (g.is_matrix() || g.width.output <= W / 2 || DIRECT_VECTORS * g.width.kernel > RowTaps<Lanes>::MOST) return false;
  if (bytes < sizeof(float) && g.group_channels() * g.group_filters() > 1) return false;
  if (g.group_channels() > 1 && (g.group_channels() < LEAST_CHANNELS || g.batch > MOST_IMAGES || g.width.output > PASS)) return false;
  return times(g.batch * g.groups, (g.width.output + PASS - 1) / PASS) >= threads;
}

// bytes: of an element.
inline bool by_direct_rows(const Geometry& g, int threads, size_t bytes) {
  const bool one_row = g.in_plane() == g.width.input && g.out_plane() == g.width.output && g.volume() == g.width.kernel && g.depth.padding == 0 && g.height.padding == 0;
  if (W < 16 || !one_row || g.group_filters() > MOST_DIRECT_FILTERS || g.stride > 2 || g.width.output < 2) return false;
  return by_short_rows(g) || by_long_rows(g, threads, bytes);
}

template <class T, class L, class Out>
OPSCOPE_APART void run_short_rows(const Call& c, const Geometry& g, Out* const output) {
  const RowTaps<L> rows(g, 0, g.width.output);
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

// VECTORS vectors of outputs of FILTERS filters, from output `q` on. x, weight, out: of the group.
template <int FILTERS, int VECTORS, class T, class L, class Out>
OPSCOPE_APART void direct_outputs(const Geometry& g, const T* x, const T* weight, Out* out, int64_t q) {
  const int64_t channels = g.group_channels(), kernel = g.width.kernel, outputs = g.width.output, first = q * g.stride - g.width.padding;
  V sums[FILTERS][VECTORS];
#pragma GCC unroll 4
  for (int f = 0; f < FILTERS; f++)
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++) sums[f][v] = vset(0);
  const auto add = [&](V in, const T* factor, int v) {
#pragma GCC unroll 4
    for (int f = 0; f < FILTERS; f++) sums[f][v] = vfma(in, vset(to_float(factor[f * channels * kernel])), sums[f][v]);
  };
  const bool whole = first >= 0 && first + (kernel - 1) * g.dilation + (VECTORS * W - 1) * g.stride < g.width.input && q + VECTORS * W <= outputs;
  if (whole) {
    for (int64_t channel = 0; channel < channels; channel++)
      for (int64_t column = 0; column < kernel; column++) {
        const T *const from = x + channel * g.width.input + first + column * g.dilation, *const factor = weight + channel * kernel + column;
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++) add(L::STEP == 2 ? vload_even(from + 2 * v * W) : vload(from + v * W), factor, v);
      }
#pragma GCC unroll 4
    for (int f = 0; f < FILTERS; f++)
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; v++) vstore(out + f * outputs + q + v * W, sums[f][v]);
    return;
  }
  const RowTaps<L> rows(g, q, least(q + VECTORS * W, outputs));
  for (int64_t channel = 0; channel < channels; channel++) {
    int t = 0;
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++)
      if (v < rows.vectors)
        for (; t < rows.past[v]; t++) add(rows.taps[t].lanes.load(x + channel * g.width.input + rows.taps[t].first), weight + channel * kernel + rows.taps[t].column, v);
  }
#pragma GCC unroll 4
  for (int f = 0; f < FILTERS; f++)
#pragma GCC unroll 4
    for (int v = 0; v < VECTORS; v++)
      if (q + v * W < outputs) vstore_n(out + f * outputs + q + v * W, sums[f][v], static_cast<int>(least(W, outputs - q - v * W)));
}

template <int FILTERS, class T, class L, class Out>
void run_long_rows(const Call& c, const Geometry& g, Out* const output) {
  if constexpr (FILTERS > 1)
    if (g.group_filters() < FILTERS) return run_long_rows<FILTERS - 1, T, L>(c, g, output);
  const int64_t outputs = g.width.output, passes = (outputs + DIRECT_VECTORS * W - 1) / (DIRECT_VECTORS * W);
  const Range mine = part(g.batch * g.groups * passes, 1, c.thread, c.threads);
  int64_t row = mine.begin / passes, pass = mine.begin % passes;
  for (int64_t i = mine.begin; i < mine.end; i++) {
    const T *const x = input<T>(c, 0) + row * g.group_channels() * g.width.input, *const weight = input<T>(c, 1) + row % g.groups * FILTERS * g.group_channels() * g.width.kernel;
    Out* const out = output + row * FILTERS * outputs;
    const int64_t q = pass * DIRECT_VECTORS * W;
    if (outputs - q <= W) direct_outputs<FILTERS, 1, T, L>(g, x, weight, out, q);
    else direct_outputs<FILTERS, DIRECT_VECTORS, T, L>(g, x, weight, out, q);
    if (++pass == passes) pass = 0, row++;
  }
}

template <class T, class Out>
void run_direct_rows(const Call& c, const Geometry& g, Out* output) {
  if constexpr (W >= 16) {
    if (by_short_rows(g)) {
      if (g.stride == 1) run_short_rows<T, Lanes>(c, g, output);
      else run_short_rows<T, EvenLanes>(c, g, output);
    } else if (g.stride == 1) {
      run_long_rows<MOST_DIRECT_FILTERS, T, Lanes>(c, g, output);
    } else {
      run_long_rows<MOST_DIRECT_FILTERS, T, EvenLanes>(c, g, output);
    }
  }
}

}  // namespace
