// Groups of few channels and filters of 16 bits, by tensor cores from tiles of the input in shared memory (convolution_group.cu): which convolutions, and how tiles share them. Layers of volumes are
// images, and the layers of their filters are filters, whose results are added up. Pure; see
// convolution_test.cc.
#pragma once
#include <algorithm>
#include <cmath>

#include "each.h"

namespace opscope::cuda {

// No eights: other kernels take the case.
struct ConvGrouped {
  int eights = 0;       // of filters that a block has
  int64_t blocks = 0;   // of a group and part of its filters
  unsigned shared = 0;  // bytes
  ConvGroup conv = {};
  int64_t sums = 0;     // of volumes: of each layer of the input with each of the filters; 0: images
  double cost = 0;      // microseconds
};

inline ConvGrouped conv_grouped(int sm_count, const ConvSizes& s, const ConvShape& c) {
  constexpr int64_t most_channels = 16, most_filters = 16, most_layers = 32, most_sums = int64_t{1} << 30, most_tile = 24 << 10, most_shared = 64 << 10, most = int64_t{1} << 31, most_positions = 2048, most_groups = 65'535;
  const int64_t taps = int64_t{s.height.kernel} * s.width.kernel, filters = c.filters * s.depth.kernel, layers = int64_t{s.batch} * s.depth.input;
  const bool flat = s.depth.input == 1 && s.depth.kernel == 1 && s.depth.padding == 0;
  if (c.element_bytes != 2 || c.largest >= most || c.channels < 2 || c.channels > most_channels || filters > (flat ? most_filters : most_layers) || c.groups > most_groups || taps < 2 || (!flat && s.depth.kernel == 1)) return {};
  ConvGrouped g;
  if (!flat) g.sums = layers * filters * c.groups * s.height.output * s.width.output;
  if (g.sums >= most_sums) return {};
  ConvGroup& k = g.conv;
  g.eights = static_cast<int>(up(filters, 8));
  k.channels = static_cast<int>(c.channels), k.filters = static_cast<int>(filters);
  k.pairs = static_cast<int>(up(c.channels, 2));
  k.steps = static_cast<int>(up(k.pairs * taps, 8));
  const auto reach = [&](int64_t outputs, const ConvAxis& axis) { return (outputs - 1) * s.stride + int64_t{s.dilation} * (axis.kernel - 1) + 1; };
  // Lines of pairs start 8 banks apart.
  const auto pitch = [&](int64_t rows, int64_t cols) { return (reach(rows, s.height) * reach(cols, s.width) + 23) / 32 * 32 + 8; };
  const auto fits = [&](int64_t rows, int64_t cols) { return pitch(rows, cols) * k.pairs * 4 <= most_tile && rows * cols <= most_positions; };
  // Whole rows where enough of them fit for what tiles read twice to be little.
  const int64_t few_rows = std::min<int64_t>(s.height.output, 2 * s.height.kernel);
  int64_t cols = s.width.output, rows = 1;
  while (cols > 32 && !fits(few_rows, cols)) cols = up(cols, 2);
  if (!fits(1, cols)) return {};
  while (rows < s.height.output && fits(rows + 1, cols)) rows++;
  rows = up(s.height.output, up(s.height.output, rows));
  k.rows = static_cast<int>(rows), k.cols = static_cast<int>(cols);
  k.lines = static_cast<int>(reach(rows, s.height)), k.line = static_cast<int>(reach(cols, s.width)), k.pitch = static_cast<int>(pitch(rows, cols));
  k.tiles_down = static_cast<int>(up(s.height.output, rows)), k.tiles_across = static_cast<int>(up(s.width.output, cols));
  const int64_t tiles = layers * k.tiles_down * k.tiles_across, shared = int64_t{g.eights} * k.steps * 32 * 8 + int64_t{k.steps} * 8 * 4 + int64_t{k.pairs} * k.pitch * 4;
  if (tiles >= most || shared > most_shared) return {};
  k.tiles = static_cast<int>(tiles);
  k.vector = k.tiles_across > 1 ? 1 : s.width.input % 4 == 0 ? 4 : s.width.input % 2 == 0 ? 2 : 1;
  k.by_pairs = conv_divisor(k.pairs), k.by_line = conv_divisor(k.line), k.by_lines = conv_divisor(k.lines), k.by_vectors = conv_divisor(s.width.input / k.vector), k.by_cols = conv_divisor(k.cols);
  k.by_across = conv_divisor(k.tiles_across), k.by_down = conv_divisor(k.tiles_down);
  g.shared = static_cast<unsigned>(shared);
  // A few turns of each block, so that the operands of the filters are made once for them.
  const int64_t resident = std::clamp<int64_t>((220 << 10) / (shared + 1024), 1, 5);
  g.blocks = std::min(tiles, std::max<int64_t>(1, up(int64_t{sm_count} * resident * 3, c.groups)));
  // Microseconds of staging a tile, of 32 positions of a warp and of a step of them where nothing hides them, and of both of a multiprocessor that is filled; words staged in a microsecond.
  constexpr double stage = 3, wait = 0.5, step_wait = 0.15, part = 0.06, step = 0.018;
  const double words = k.vector == 1 && s.stride > 1 ? 3e5 : 5e5;
  const double wide = 0.7 + 0.3 * g.eights, parts = static_cast<double>(up(rows * cols, 32)), turns = static_cast<double>(up(tiles * c.groups, sm_count * resident)), all = static_cast<double>(tiles * c.groups);
  const double alone = 1 + turns * (stage + static_cast<double>(up(up(rows * cols, 32), 4)) * (wait + step_wait * k.steps * wide));
  const double filled = (all * parts * (part + step * k.steps) * wide / 132 + all * k.pairs * k.lines * k.line / words) * 132 / sm_count;
  g.cost = 5 + std::hypot(filled, alone);
  // What adds the layers up.
  constexpr double launch = 2.5, bytes = 2.6e6;
  if (g.sums > 0) g.cost += launch + static_cast<double>(g.sums * 8 + c.outputs() * 2) / bytes * 132 / sm_count;
  return g;
}

}  // namespace opscope::cuda
