// Few filters with a kernel of several elements over many channels, in 16 bits: a product of all channels with each element of each filter gives a row of sums for every element of the kernel
// (convolution_taps.cu), and an output adds up one of each, where its window meets the input. The input is read once. Pure; see convolution_test.cc.
#pragma once
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
  unsigned shared = 0;   // bytes
  double cost = 0;       // microseconds
};

inline ConvTapsShape conv_taps_shape(int sm_count, const ConvSizes& s, int64_t element_bytes) {
  constexpr int64_t most_filters = 8, least_channels = 32, most_rows = 256, most = int64_t{1} << 31;
  const int64_t taps = int64_t{s.depth.kernel} * s.height.kernel * s.width.kernel, plane = int64_t{s.depth.input} * s.height.input * s.width.input, rows = s.filters * taps, images = s.batch;
  ConvTapsShape t;
  if (element_bytes != 2 || s.groups != 1 || taps < 2 || s.filters > most_filters || s.channels < least_channels || rows > most_rows || plane >= most / 8) return t;
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t pitch = over(plane, 4) * 4, tiles = over(plane, conv_taps_positions), outputs = images * s.filters * s.depth.output * s.height.output * s.width.output;
  t.blocks = images * tiles;
  if (t.blocks >= most || images * rows * pitch >= most || outputs >= most) return t;
  t.sixteens = rows <= 16 ? 1 : rows <= 32 ? 2 : rows <= 64 ? 4 : 8;
  t.passes = over(rows, t.sixteens * 16);
  t.shared = static_cast<unsigned>(conv_taps_stages * (conv_taps_channels * conv_taps_line + t.sixteens * 16 * conv_taps_row));
  t.task = {s.channels, static_cast<int>(plane), static_cast<int>(rows), static_cast<int>(over(s.channels, conv_taps_channels) * conv_taps_channels), static_cast<int>(tiles), static_cast<int>(pitch), images * s.channels * plane};
  t.weights = t.passes * t.sixteens * 16 * t.task.padded;
  // Three launches; bytes in a microsecond of the input and of the sums, which are written and read; turns of blocks, each of which waits for the memory of a stage.
  constexpr double launches = 9.5, bytes = 2.8e6, turn = 1.5, stage = 0.25;
  const double read = static_cast<double>(images * s.channels * plane * 2 * t.passes), sums = static_cast<double>(images * rows * plane * 8), resident = t.sixteens == 8 ? 2 : 3;
  const double turns = std::ceil(static_cast<double>(t.blocks * t.passes) / (resident * sm_count));
  t.cost = launches + std::hypot((read + sums + static_cast<double>(outputs) * 2) / bytes * 132 / sm_count, turns * turn + stage * static_cast<double>(t.task.padded / conv_taps_channels));
  return t;
}

}  // namespace opscope::cuda
