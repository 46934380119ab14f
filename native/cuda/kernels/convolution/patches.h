// Convolutions of one or two filters whose stride is the width of their kernel (convolution_patches.cu). Pure; see convolution_narrow_test.cc.
#pragma once
#include <algorithm>

#include "packed.h"
#include "patches_task.h"
#include "shape.h"

namespace opscope::cuda {

// No blocks: other kernels take the case.
struct ConvPatchesShape {
  int64_t blocks = 0;
  unsigned shared = 0;
  ConvPatches conv = {};
  double cost = 0;  // microseconds
};

// Where it was faster than other kernels on an H200 (NOTES.md).
inline ConvPatchesShape conv_patches(int sm_count, const ConvSizes& s, const ConvShape& c) {
  constexpr int most_filters = 2, least_stride = 2, most_stride = 4, least_rows = 6, warps = conv_patches_threads / 32, resident = 32;  // warps of a multiprocessor
  constexpr int64_t most = int64_t{1} << 31, most_shared = 36 << 10, least_bytes = 3'000'000;
  constexpr double start = 8, bytes_of_us = 2.7e6;
  const auto whole = [](const ConvAxis& a) { return a.padding == 0; };
  if (s.groups != 1 || s.dilation != 1 || s.stride < least_stride || s.stride > most_stride || s.width.kernel != s.stride || s.filters > most_filters || !whole(s.depth) || !whole(s.height) || !whole(s.width)) return {};
  const int rows = s.depth.kernel * s.height.kernel, run = 32 * conv_patches_columns(s.stride), area = s.height.input * s.width.input;
  if (c.largest >= most || c.columns * s.stride >= most || c.bytes < least_bytes || int64_t{s.channels} * rows < least_rows) return {};
  ConvPatchesShape r;
  const int64_t shared = int64_t{s.channels} * rows * s.filters * s.stride * 4, runs = (c.columns * s.stride + run - 1) / run;
  if (shared > most_shared) return {};
  r.shared = static_cast<unsigned>(shared);
  // Warps share channels where runs are too few to fill the GPU.
  int sharing = 1;
  while (sharing < warps && runs * sharing < int64_t{sm_count} * resident && s.channels >= 2 * sharing) sharing *= 2;
  r.blocks = (runs * sharing + warps - 1) / warps;
  r.conv = {static_cast<int>(c.columns), s.channels, rows, s.height.kernel, static_cast<int>(c.plane), s.width.output, s.height.output, s.width.input, area, s.depth.input * area, sharing,
            conv_divisor(static_cast<int>(c.plane)), conv_divisor(s.width.output), conv_divisor(s.height.output)};
  r.cost = start + static_cast<double>(c.bytes) / bytes_of_us * 132 / sm_count;
  return r;
}

}  // namespace opscope::cuda
