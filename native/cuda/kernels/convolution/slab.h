// Convolutions in f32 whose blocks have up to 64 terms of their sums in shared memory (convolution_slab.cu): which, and how. Pure; see convolution_test.cc.
#pragma once
#include <algorithm>
#include <cmath>

#include "../matmul/slab_task.h"
#include "each.h"

namespace opscope::cuda {

// No filters: other kernels take the case.
struct ConvSlab {
  int filters = 0;      // of a tile: 32 by 256 outputs, 64 by 128, or 128 by 64
  int64_t tiles = 0;    // of filters
  int64_t blocks = 0;   // of a group
  int depth = 0;        // terms at a time
  unsigned shared = 0;  // bytes
  double cost = 0;      // microseconds
};

inline ConvSlab conv_slab(int sm_count, const ConvShape& c) {
  constexpr int64_t least_terms = 5, most_terms_odd = 144, most_terms_whole = 96, most_depth = 64, most_depth_of_few = 48, few_filters = 32, most_taps = 32, least_filters = 20, least_plane = 32, most_groups = 65'535, most = int64_t{1} << 31;
  // Tiles write planes that are no whole vectors an element at a time.
  const int64_t most_terms = c.plane % 4 == 0 ? most_terms_whole : most_terms_odd;
  if (c.element_bytes != 4 || c.terms < least_terms || c.terms > most_terms || (c.padded && c.terms / c.channels > most_taps) || c.filters < least_filters || c.groups > most_groups || c.largest >= most || c.columns >= most - 128) return {};
  // A batched product reads whole rows of the input, but has no such blocks for up to 32 filters, which leave half the warps of a block without any.
  if (c.point && c.plane >= least_plane && (c.filters > few_filters || c.plane % 4 == 0)) return {};
  ConvSlab s;
  s.filters = c.filters <= few_filters ? 32 : c.filters > 64 && up(c.filters, 128) * 128 <= up(c.filters, 64) * 64 ? 128 : 64;
  const int64_t outputs = s.filters == 32 ? 256 : 192 - s.filters, columns = up(c.columns, outputs);
  s.tiles = up(c.filters, s.filters), s.blocks = columns * s.tiles;
  if (s.blocks >= most || s.blocks * c.groups * 4 < 7 * sm_count) return {};
  const int64_t rounds = up(c.terms, s.filters == 32 ? most_depth_of_few : most_depth);
  s.depth = static_cast<int>(up(c.terms, rounds));
  const int64_t pitches = slab_pitch(s.filters) + slab_pitch(static_cast<int>(outputs)), results = c.plane % 4 == 0 ? 0 : s.filters * slab_pitch(static_cast<int>(outputs));
  s.shared = static_cast<unsigned>(std::max(s.depth * (pitches + 2), results) * 4);
  // As of a product (conv_slab_cost), what is gathered, elements in a microsecond, and microseconds of a term where a block has the multiprocessor to itself.
  constexpr double start = 5.6, rate = 1.7e5, gathered = 2e6, alone = 0.07;
  // Of kernels of one element, neighbours of a line meet it, and all of it is counted.
  const double bytes = c.sampled ? 3.6e6 : 2.2e6;
  constexpr int64_t resident = 4;
  const int64_t blocks = s.blocks * c.groups, full = up(blocks, sm_count) * sm_count;
  const double warps = static_cast<double>(up(c.filters, slab_warp_rows) * up(c.columns, slab_warp_columns) * c.groups) * static_cast<double>(full) / static_cast<double>(blocks), moved = static_cast<double>(c.bytes) / bytes,
               windows = static_cast<double>(columns * outputs * c.terms * s.tiles * c.groups) / gathered * 132 / sm_count;
  const double work = std::hypot(warps * (slab_warp_rows * slab_warp_columns) * static_cast<double>(c.terms) / (rate * sm_count), moved + windows), waiting = static_cast<double>(up(blocks, sm_count * resident) * c.terms) * alone;
  // What each term takes beyond that, of the more in tiles whose threads gather one output.
  constexpr double few_terms = 0.87, many_terms = 0.94, longer = 0.0022;
  s.cost = start + std::hypot(work, waiting) * ((s.filters == 32 ? few_terms : many_terms) + longer * static_cast<double>(c.terms));
  return s;
}

}  // namespace opscope::cuda
