// Convolutions in f32 by the tiles of f32 products on Hopper (convolution_f32.cu): which, and into how many shares the sum is split. Pure; see convolution_f32_test.cc.
#pragma once
#include <algorithm>

#include "../matmul/f32_task.h"
#include "../matmul/sizes.h"
#include "shape.h"

namespace opscope::cuda {

constexpr unsigned conv_f32_threads = 256;

// Filters and outputs of a tile, its stages, and what an H200 gave: microseconds of a launch and of a block, multiply-adds of a multiprocessor in one, and what windows add to
// their time: gathering them, and each image beyond the first that a warp meets. Fitted to 220 times of 87 convolutions (3 to 8 % root mean square error).
struct ConvF32Tile {
  const char* name;
  int filters, outputs, stages;
  double launch, end, pace, gathered, images;
  unsigned shared() const { return static_cast<unsigned>(stages * (filters + outputs + 2 * f32_gap) * 32 * 4); }
};
inline constexpr ConvF32Tile conv_f32_tiles[] = {
  {"256_128", 256, 128, 4, 5.1, 13.3, 183.7e3, 0, 0.005}, {"128_128", 128, 128, 6, 5.7, 9.8, 180.5e3, 0.026, 0.01}, {"128_64", 128, 64, 6, 6.1, 6.4, 174.5e3, 0.145, 0.024},
};

// No tile: other kernels take the case.
struct ConvF32 {
  const ConvF32Tile* tile = nullptr;
  int64_t splits = 1;
  double cost = 0;  // microseconds
};

inline ConvF32 conv_f32(int sm_count, const ConvShape& c) {
  // Few channels: convolution_slab and the tiles of convolution.cu, of which several share a multiprocessor.
  constexpr int64_t most = int64_t{1} << 31, most_taps = 32, step = 32, least_filters = 65, least_channels = 32, most_shared = 1 << 24, most_splits = 16;
  constexpr double join = 0.3, join_elements = 0.6e6;
  ConvF32 best;
  if (c.element_bytes != 4 || !c.wgmma || c.largest >= most || c.columns >= most - 256 || (c.padded && c.terms / c.channels > most_taps) || c.filters < least_filters || c.channels < least_channels) return best;
  const int64_t steps = up(c.terms, step);
  const double images = 32 / std::min(32.0, static_cast<double>(c.plane)) - 1;
  for (const ConvF32Tile& t : conv_f32_tiles) {
    const int64_t tiles = up(c.filters, t.filters) * up(c.columns, t.outputs) * c.groups;
    const double slower = 1 + t.gathered + t.images * images;
    for (int64_t wanted = 1; wanted <= most_splits; wanted++) {
      const int64_t splits = up(steps, up(steps, std::clamp<int64_t>(steps / 4, 1, wanted))), each = splits > 1 ? up(steps, splits) * step : up(c.terms, 4) * 4;
      if (splits > 1 && c.outputs() > most_shared) break;
      const double block = t.end + static_cast<double>(t.filters * t.outputs * each) * slower / t.pace, joined = splits > 1 ? join + static_cast<double>(splits * c.outputs()) / join_elements : 0;
      if (const double cost = t.launch + static_cast<double>(up(tiles * splits, sm_count)) * block + joined; !best.tile || cost < best.cost) best = {&t, splits, cost};
    }
  }
  return best;
}

}  // namespace opscope::cuda
