// Kernels of one element with few filters of many channels on small planes (convolution_planes.cu): which, and how their images are shared. Pure; see convolution_test.cc.
#pragma once
#include <algorithm>
#include <cmath>

#include "../matmul/shape.h"
#include "planes_task.h"
#include "shape.h"

namespace opscope::cuda {

struct ConvPlanesShape {
  ConvPlanesTask task = {};
  int eights = 0;      // of filters, as kernels are built; 0: other kernels take the case
  bool pairs = false;  // planes whose positions lie in words of two
  int64_t blocks = 0;
  unsigned shared = 0; // bytes
  double cost = 0;     // microseconds
};

inline ConvPlanesShape conv_planes(int sm_count, const ConvShape& c) {
  constexpr int64_t least_plane = 2, most_filters = 128, least_channels = 9, most_operands = 128 << 10, most = int64_t{1} << 31, most_stages = 8;
  // Shared memory of a multiprocessor's one block, or of each of two, whose filters take no more than half of it.
  constexpr int64_t of_one = 220 << 10, of_two = 110 << 10;
  ConvPlanesShape p;
  if (!c.point || !c.wgmma || c.element_bytes != 2 || c.groups > 1 || c.plane < least_plane || c.plane > conv_planes_of_tile || c.channels < least_channels || c.filters > most_filters || c.columns >= most || c.largest >= most) return p;
  for (const int eights : {1, 2, 3, 4, 6, 8, 12, 16})
    if (p.eights == 0 && eights * 8 >= c.filters) p.eights = eights;
  const int64_t images = c.columns / c.plane, together = std::min<int64_t>(conv_planes_of_tile / c.plane, images), sixteens = up(c.channels, 16), operands = sixteens * p.eights * 32 * 8;
  if (operands > most_operands) return {};
  // Copies of some hundred bytes and more.
  const int64_t chunk = 16 * std::min(sixteens, std::clamp<int64_t>(64 / c.plane, 4, 8)), pitch = up(14 + chunk * c.plane * 2, 16) * 16, staged = (together * c.filters * c.plane * 2 + 31) / 16 * 16;
  const int64_t resident = operands > of_two / 2 ? 1 : 2, stages = std::min(((resident == 1 ? of_one : of_two) - operands - staged) / (together * pitch + 16), most_stages);
  if (stages < 2) return {};
  p.pairs = c.plane % 2 == 0;
  const int64_t tiles = up(images, together);
  p.task = {static_cast<int>(images), static_cast<int>(c.channels), static_cast<int>(c.filters), static_cast<int>(c.plane), static_cast<int>(together), static_cast<int>(chunk), static_cast<int>(stages), static_cast<int>(pitch), static_cast<int>(tiles), divide_by(c.plane)};
  p.blocks = std::min<int64_t>(tiles, sm_count * resident);
  p.shared = static_cast<unsigned>(operands + staged + stages * (together * pitch + 16));
  // Microseconds of a launch, of eight bytes of the filters that a block orders, of a copy beyond the first few of a tile, of a tile and of sixteen of its channels; bytes in one. Fitted to 53 convolutions on an H200 (NOTES.md).
  constexpr double launch = 5.5, operand = 1.2e-3, copy = 0.012, bytes = 4e6, single = 1.4;  // single: of one image of a tile, whose positions are read an element at a time
  constexpr int64_t few_copies = 16;
  const double copies = static_cast<double>(std::max<int64_t>(together * up(sixteens * 16, chunk) - few_copies, 0)), tile = 0.9 + 0.1 * p.eights + copies * copy + static_cast<double>(sixteens) * (0.08 + 0.025 * p.eights), work = static_cast<double>(up(tiles, sm_count * resident)) * tile * (!p.pairs && together == 1 ? single : 1), moved = static_cast<double>(c.bytes) / bytes * 132 / sm_count;
  p.cost = launch + static_cast<double>(operands / 8) * operand + std::sqrt(std::hypot(work * work, moved * moved));
  return p;
}

}  // namespace opscope::cuda
