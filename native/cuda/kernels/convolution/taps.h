// Few filters with a kernel of several elements, or a stride, over many channels, in 16 bits: a product of all channels with each element of each filter gives a row of sums for every element of the kernel
// (convolution_taps.cu), and an output adds up one of each, where its window meets the input. The input is read once. Pure; see convolution_test.cc.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../convolution.h"
#include "shape.h"
#include "taps_task.h"

namespace opscope::cuda {

struct ConvTapsShape {
  ConvTapsTask task = {};
  int sixteens = 0;      // rows of a block, as kernels are built: 1, 2, 4 or 8; none where other kernels take the case
  int64_t blocks = 0, passes = 0, weights = 0;  // of positions; over the input; elements of the filters as blocks read them
  int64_t shares = 1;    // of the channels, blocks with sums of their own
  unsigned shared = 0;   // bytes
  double cost = 0;       // microseconds
};

inline ConvTapsShape conv_taps_shape(int sm_count, const ConvSizes& s, int64_t element_bytes) {
  constexpr int64_t most_filters = 64, least_channels = 9, most_rows = 512, most_shares = 16, least_stages = 16, most = int64_t{1} << 31;
  const int64_t taps = int64_t{s.depth.kernel} * s.height.kernel * s.width.kernel, plane = int64_t{s.depth.input} * s.height.input * s.width.input, rows = s.filters * taps, images = s.batch;
  ConvTapsShape t;
  if (element_bytes != 2 || s.groups != 1 || (taps < 2 && s.stride == 1) || s.filters > most_filters || s.channels < least_channels || rows > most_rows || plane >= most / 8) return t;
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t pitch = over(plane, 4) * 4, tiles = over(plane, conv_taps_positions), outputs = images * s.filters * s.depth.output * s.height.output * s.width.output;
  t.blocks = images * tiles;
  if (t.blocks >= most || images * rows * pitch >= most || outputs >= most) return t;
  const int64_t stages = over(s.channels, conv_taps_channels);
  t.sixteens = rows <= 16 ? 1 : rows <= 32 ? 2 : rows <= 64 ? 4 : 8;
  t.passes = over(rows, t.sixteens * 16);
  t.shared = static_cast<unsigned>(conv_taps_stages * (conv_taps_channels * conv_taps_line + t.sixteens * 16 * conv_taps_row));
  t.task = {s.channels, static_cast<int>(plane), static_cast<int>(rows), static_cast<int>(stages * conv_taps_channels), static_cast<int>(tiles), static_cast<int>(pitch), static_cast<int>(stages), images * rows * pitch, images * s.channels * plane};
  t.weights = t.passes * t.sixteens * 16 * t.task.padded;
  if (t.weights >= most) return {};
  // Three launches; bytes in a microsecond of the input, and of the sums, which are written and read; turns of blocks, each of which waits for the memory of a stage, or multiplies many rows of it;
  // what adds up sums of shares, one after the other.
  constexpr double launches = 10, read_bytes = 3.2e6, sum_bytes = 2.5e6, turn = 1.5, add = 0.25;
  const double stage = t.sixteens <= 2 ? 0.9 : t.sixteens == 4 ? 1.4 : 1.35, resident = t.sixteens == 8 ? 2 : 3, power = t.sixteens == 8 ? 2 : 4;  // few rows hide one behind the other
  const double read = static_cast<double>(images * s.channels * plane * 2 * t.passes), sums = static_cast<double>(images * rows * plane * 8 + outputs * 2);
  // Where blocks are few, several of them share the channels.
  for (int64_t shares = 1; shares <= most_shares && (shares == 1 || (stages >= shares * least_stages && images * rows * pitch * shares < most)); shares *= 2) {
    const int64_t of_share = over(stages, shares);
    const double turns = std::max(1.0, static_cast<double>(t.blocks * t.passes * shares) / (resident * sm_count)), moved = read / read_bytes + sums * static_cast<double>(shares) / sum_bytes;
    const double cost = launches + std::pow(std::pow(moved * 132 / sm_count, power) + std::pow(turns * (turn + stage * static_cast<double>(of_share)), power), 1 / power) + static_cast<double>((shares - 1) * taps) * add;
    if (shares == 1 || cost < t.cost) t.cost = cost, t.shares = over(stages, of_share), t.task.stages = static_cast<int>(of_share);
  }
  return t;
}

}  // namespace opscope::cuda
