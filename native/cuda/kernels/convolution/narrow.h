// Kernels of one element with few channels of 16 bits, by tensor cores without shared memory for the input (convolution_narrow.cu): which, and how their positions are shared. Pure; see
// convolution_test.cc.
#pragma once
#include <algorithm>
#include <cmath>

#include "each.h"

namespace opscope::cuda {

// No steps: other kernels take the case.
struct ConvNarrowShape {
  int steps = 0;       // of 16 terms, that the kernel has registers for
  int positions = 0;   // neighbouring ones of a thread that are read together
  int64_t blocks = 0;  // of a group and a part of the filters
  int of_part = 0;     // eights of filters
  int64_t parts = 0;
  unsigned shared = 0; // bytes
  double cost = 0;     // microseconds
};

inline ConvNarrowShape conv_narrow(int sm_count, const ConvShape& c) {
  constexpr int64_t least_channels = 3, most_channels = 128, most_filters_alone = 256, most_operands = 128, most_groups = 65'535, most = int64_t{1} << 31, tile = conv_narrow_threads / 32 * conv_narrow_positions;
  if (!c.sampled || c.element_bytes != 2 || c.channels < least_channels || c.channels > most_channels || c.groups > most_groups || c.largest >= most || c.columns >= most - 2 * tile) return {};
  ConvNarrowShape n;
  n.steps = c.terms <= 16 ? 1 : c.terms <= 32 ? 2 : c.terms <= 64 ? 4 : 8;
  n.positions = !c.point ? 1 : c.plane % 8 == 0 ? 8 : c.plane % 4 == 0 ? 4 : c.plane % 2 == 0 ? 2 : 1;
  // Single elements of many channels are too many loads.
  if (n.steps == 8 && n.positions == 1) return {};
  const int64_t eights = up(c.filters, 8), tiles = up(c.columns, tile), resident = int64_t{sm_count} * (n.steps == 8 ? 2 : n.steps == 4 ? 4 : n.steps == 2 ? 6 : 8);
  // Blocks take turns where they are more than fit at once, so that the operands of the filters are made once.
  // Where they are fewer, they share the filters; so they do where operands exceed shared memory.
  const int64_t wanted = std::clamp<int64_t>(resident / (tiles * c.groups), 1, eights);
  // All filters of a block, of many channels or very many: others are faster.
  if (wanted == 1 && (n.steps == 8 || c.filters > most_filters_alone)) return {};
  n.of_part = static_cast<int>(std::min(up(eights, wanted), most_operands / n.steps));
  n.parts = up(eights, n.of_part);
  if (n.parts > most_groups) return {};
  n.blocks = std::min(tiles, std::max<int64_t>(1, resident * 2 / (c.groups * n.parts)));
  n.shared = static_cast<unsigned>(n.of_part * n.steps * 32 * 8);
  // Microseconds of a pass over eight filters where nothing hides it, bytes read and written in one.
  const double pass = n.positions == 1 ? 0.9 : n.positions == 2 ? 0.4 : n.positions == 4 ? 0.2 + 0.05 * n.steps : 0.1 + 0.05 * n.steps;
  const double read = n.positions == 1 ? 2e6 : n.positions == 2 ? 2.5e6 : 3.2e6, write = n.positions == 1 ? 1.4e6 : n.positions == 2 ? 1.25e6 : n.positions == 4 ? 2.1e6 : 3e6;
  const double written = static_cast<double>(c.outputs()) * 2, moved = (static_cast<double>(c.bytes) - written) / read + written / write;
  // Of small planes each element lies in a line of memory of its own.
  const double apart = std::max(1.0, (wanted > 1 && c.plane > 1 ? 4.0 : 6.0) / static_cast<double>(c.plane));
  // Few filters leave the reads of single elements in sight; blocks that share filters those of every channel. They are compared with products and packed operands, whose models promise too much where positions are few,
  // most for terms that are no whole vectors; one image is a product by every kernel.
  const double elements = n.positions == 1 ? 1.4 : 0.4, promised = c.columns == c.plane ? 0.5 : c.terms % 8 == 0 ? 1.8 : 2.3;
  const double reads = wanted > 1 ? elements * n.steps - promised : n.positions == 1 && c.filters <= 16 ? 1.2 * n.steps : 0;
  n.cost = 5.5 + reads + std::hypot(static_cast<double>(n.of_part) * pass, moved * apart * 132 / sm_count);
  return n;
}

}  // namespace opscope::cuda
