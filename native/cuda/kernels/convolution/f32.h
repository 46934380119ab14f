// Convolutions in f32 by the tiles of f32 products on Hopper (convolution_f32.cu): which, and into how many shares the sum is split. Pure; see convolution_test.cc.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "../matmul/f32_task.h"
#include "../matmul/sizes.h"
#include "shape.h"

namespace opscope::cuda {

// Filters and outputs of a tile, stages, threads, blocks of a multiprocessor, and what an H200 gave (fitted to ... times of ... convolutions, ... root mean square error): microseconds of a launch and of a block,
// multiply-adds of a multiprocessor in one, and what is added to them where threads gather windows, for each other image that a warp meets, and for a stride.
struct ConvF32Tile {
  const char* name;
  int filters, outputs, stages, threads, resident;
  double launch, end, pace, gathered, images, strided;
  unsigned shared() const { return static_cast<unsigned>(stages * (filters + outputs + 2 * f32_gap) * 32 * 4); }
};
inline constexpr ConvF32Tile conv_f32_tiles[] = {
  {"256_128", 256, 128, 4, 256, 1, 4.28, 12.4, 194.5e3, 0.073, 0.0426, 0.001},
  {"128_128", 128, 128, 6, 256, 1, 5.18, 9.3, 197.5e3, 0.124, 0.0509, 0.001},
  {"128_64", 128, 64, 6, 256, 1, 5.85, 6.3, 175.4e3, 0.196, 0.0108, 0},
  {"several_64_128", 64, 128, 3, 128, 3, 6.47, 3.23, 155.5e3, 0.172, 0.0364, 0.0277},
};

// No tile: other kernels take the case.
struct ConvF32 {
  const ConvF32Tile* tile = nullptr;
  int64_t splits = 1;
  double cost = 0;  // microseconds
};

inline ConvF32 conv_f32(int sm_count, const ConvShape& c) {
  constexpr int64_t most = int64_t{1} << 31, most_taps = 32, step = 32, least_filters = 65, least_terms = 17, most_shared = 1 << 24, most_splits = 16;
  constexpr double join = 4.5, join_elements = 0.6e6, alone = 0.838, pair = 0.985;
  ConvF32 best;
  const char* forced = std::getenv("OPSCOPE_CONVF32");
  if (forced && *forced == 'x') return best;
  if (c.element_bytes != 4 || !c.wgmma || c.largest >= most || c.columns >= most - 256 || (c.padded && c.terms / c.channels > most_taps) || c.filters < least_filters || c.terms < least_terms) return best;
  const int64_t steps = up(c.terms, step);
  const double images = 32 / std::min(32.0, static_cast<double>(c.plane)) - 1;
  for (const ConvF32Tile& t : conv_f32_tiles) {
    if (forced && *forced != 'a' && &t - conv_f32_tiles != *forced - '0') continue;
    const int64_t tiles = up(c.filters, t.filters) * up(c.columns, t.outputs) * c.groups;
    const double slower = 1 + t.gathered + t.images * images + t.strided * static_cast<double>(c.stride - 1);
    for (int64_t wanted = 1; wanted <= most_splits; wanted++) {
      const int64_t splits = up(steps, up(steps, std::clamp<int64_t>(steps / 4, 1, wanted))), each = splits > 1 ? up(steps, splits) * step : up(c.terms, 4) * 4, blocks = up(tiles * splits, sm_count), rest = blocks % 3;
      if (splits > 1 && (t.resident > 1 || c.outputs() > most_shared)) break;
      const double block = t.end + static_cast<double>(t.filters * t.outputs * each) * slower / t.pace;
      const double rounds = t.resident == 1 ? static_cast<double>(blocks) : static_cast<double>(blocks - rest) + (rest == 1 ? 1 / alone : rest == 2 ? 2 / pair : 0);
      double cost = t.launch + rounds * block + (splits > 1 ? join + static_cast<double>(splits * c.outputs()) / join_elements : 0);
      if (forced && *forced != 'a') cost *= 1e-4;
      if (!best.tile || cost < best.cost) best = {&t, splits, cost};
    }
  }
  return best;
}

}  // namespace opscope::cuda
