// Convolutions in f32 by tiles of which a multiprocessor of Hopper has several at a time (convolution_several.cu): which, and into how many shares the sum is split. Pure; see convolution_f32_test.cc.
#pragma once
#include <algorithm>

#include "../matmul/f32_task.h"
#include "../matmul/sizes.h"
#include "shape.h"

namespace opscope::cuda {

constexpr unsigned conv_several_threads = 128;

// Filters and outputs of a tile, its stages and their terms, blocks of a multiprocessor, and what an H200 gave in microseconds: a launch, a block, multiply-adds of a multiprocessor in one by as many blocks as are resident, of that
// pace what one block reaches, and what windows add to their time: gathering them, and each image beyond the first that a warp meets.
struct ConvSeveralTile {
  const char* name;
  int filters, outputs, stages, step, resident;
  double launch, end, pace, alone, gathered, images;
  unsigned shared() const { return static_cast<unsigned>(stages * (filters + outputs + 2 * f32_gap) * step * 4); }
};
inline constexpr ConvSeveralTile conv_several_tiles[] = {
  {"32_64", 32, 64, 4, 32, 4, 5.0, 1.0, 160e3, 0.69, 0.1, 0.03}, {"32_128", 32, 128, 4, 16, 4, 5.0, 1.0, 150e3, 0.7, 0.1, 0.03}, {"64_64", 64, 64, 4, 16, 4, 5.0, 0.7, 160e3, 0.71, 0.05, 0.03},
  {"64_128", 64, 128, 3, 16, 3, 5.0, 1.1, 175e3, 0.79, 0.05, 0.03},
};

// No tile: other kernels take the case.
struct ConvSeveral {
  const ConvSeveralTile* tile = nullptr;
  int64_t splits = 1;
  double cost = 0;  // microseconds
};

inline ConvSeveral conv_several(int sm_count, const ConvShape& c) {
  constexpr int64_t most = int64_t{1} << 31, most_taps = 32, most_shared = 1 << 24, least_steps = 4, most_groups = 65'535;
  constexpr double join = 1.8, join_elements = 0.6e6, bytes_of_us = 3.2e6;
  ConvSeveral best;
  if (c.element_bytes != 4 || !c.wgmma || c.largest >= most || c.columns >= most - 256 || c.groups > most_groups || (c.padded && c.terms / c.channels > most_taps)) return best;
  // Outputs of small planes, each in a line of memory of its own (conv_choice has the same for other tiles).
  constexpr double output = 7e-6, whole_plane = 12;
  const double apart = output * static_cast<double>(c.outputs()) * std::min(1.0, whole_plane / static_cast<double>(c.plane)) * 132 / sm_count;
  const double images = 32 / std::min(32.0, static_cast<double>(c.plane)) - 1, moved = static_cast<double>(c.bytes) / bytes_of_us * 132 / sm_count;
  // Few terms: what a block takes beside them is more than its model says.
  constexpr double few_terms = 6;
  const double few = 1 + few_terms / static_cast<double>(c.terms);
  for (const ConvSeveralTile& t : conv_several_tiles) {
    const int64_t count = up(c.filters, t.filters) * up(c.columns, t.outputs) * c.groups, steps = up(c.terms, t.step);
    if (count >= most) continue;
    for (const int64_t splits : {1, 2, 3, 4, 6, 8}) {
      const int64_t share = up(steps, splits);
      if (splits > 1 && (steps < splits * least_steps || share * (splits - 1) >= steps || splits * c.outputs() > most_shared)) break;
      const double block = t.end + static_cast<double>(t.filters * t.outputs) * static_cast<double>(splits > 1 ? share * t.step : up(c.terms, 4) * 4) * (1 + t.gathered + t.images * images) / t.pace;
      const int64_t blocks = up(count * splits, sm_count), rest = blocks % t.resident;
      const double missing = rest > 0 ? static_cast<double>(t.resident - rest) / (t.resident - 1) : 0, rounds = static_cast<double>(blocks - rest) + static_cast<double>(rest) / (1 - (1 - t.alone) * missing * missing);
      const double once = t.launch + std::max({block * rounds * few, moved, apart}), cost = splits > 1 ? once + join + static_cast<double>(splits * c.outputs()) / join_elements * 132 / sm_count : once;
      if (!best.tile || cost < best.cost) best = {&t, splits, cost};
    }
  }
  return best;
}

}  // namespace opscope::cuda
