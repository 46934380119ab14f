// Few filters with a kernel of several elements in 16 bits, by tensor cores from tiles of the packed input in shared memory that all windows of a block share (convolution_halo.cu): which, and the tiles. Pure; see convolution_test.cc.
#pragma once
#include <algorithm>
#include <cmath>

#include "halo_task.h"
#include "packed.h"
#include "shape.h"

namespace opscope::cuda {

struct ConvHaloShape {
  ConvHalo task = {};
  int eights = 0;       // of filters in a block, as kernels are built; 0: other kernels take the case
  int64_t blocks = 0;   // of a group
  unsigned shared = 0;  // bytes
  double cost = 0;      // microseconds
};

inline ConvHaloShape conv_halo(int sm_count, const ConvSizes& s, const ConvShape& c, const ConvPacked& p) {
  constexpr int64_t outputs = conv_halo_outputs, least_cols = 8, most_shared = 220 << 10, most_groups = 65'535, most = int64_t{1} << 31;
  const PackedConv& k = p.conv;
  const int64_t taps = int64_t{k.kernel_height} * k.kernel_width;
  ConvHaloShape best;
  if (p.grain != 8 || c.filters > 64 || taps * k.kernel_depth < 2 || c.groups > most_groups || c.largest >= most) return best;
  const int64_t all_layers = int64_t{s.batch} * s.depth.output, height = s.height.output, width = s.width.output;
  for (const int eights : {1, 2, 3, 4, 6, 8})
    if (best.eights == 0 && (eights * 8 >= c.filters || eights == 8)) best.eights = eights;
  const int64_t filter_tiles = up(c.filters, best.eights * 8), stored = up(best.eights, 2) * 16, runs = k.pieces / k.run;
  const int tap_width = static_cast<int>(k.tap_width / static_cast<unsigned>(k.pieces)), tap_height = static_cast<int>(k.tap_height / k.line), tap_depth = static_cast<int>(k.tap_depth / k.slab);
  // Microseconds of the launches, of a block, of a stage where nothing hides it, of 128 copies of 16 bytes and of operands and multiply-adds of a step; what a block takes longer that has the multiprocessor to itself. Bytes packed in
  // one. Fitted to 105 times on an H200 (26 % root mean square error; NOTES.md).
  constexpr double launches = 9, begin = 0.96, wait = 1.33, copies = 0.075, step = 0.0031, alone = 1.5, packed_bytes = 2.3e6;
  constexpr int64_t of_shared = 227 << 10, own_shared = 5 << 10;
  const int64_t fits = best.eights <= 3 ? 3 : 2;
  for (const int bits : {1, 2, 3}) {
    const int64_t pieces = int64_t{1} << bits, steps = taps * (pieces / 2), parts = up(k.run, pieces), pitch = (pieces + 1) * 16, weights = taps * stored * pitch;
    if (steps > conv_halo_most_steps || (bits > 1 && k.run <= pieces / 2)) continue;
    int64_t last = 0;
    for (int64_t cap = std::min(width, outputs); cap >= std::min<int64_t>(width, least_cols); cap /= 2) {
      const int64_t cols = up(width, up(width, cap));
      if (cols == last) continue;
      last = cols;
      for (int64_t down = up(height, std::min(height, outputs / cols)); down <= height; down *= 2) {
        const int64_t rows = up(height, down), layers = std::min(all_layers, outputs / (rows * cols)), lines = (rows - 1) * k.stride_height + int64_t{tap_height} * (k.kernel_height - 1) + 1, line = (cols - 1) * k.stride_width + int64_t{tap_width} * (k.kernel_width - 1) + 1;
        const int64_t positions = layers * lines * line, staged = positions * pitch + weights, shared = std::max<int64_t>(2 * staged + positions * 4, best.eights * 8 * (conv_halo_outputs + 8) * 2);
        if (shared > most_shared) continue;
        const int64_t tiles = up(all_layers, layers) * up(height, rows) * up(width, cols);
        if (tiles * filter_tiles >= most) continue;
        const int64_t blocks = tiles * filter_tiles, resident = std::clamp<int64_t>(of_shared / (shared + own_shared), 1, fits), of_each = up(blocks * c.groups, sm_count);
        const double stages = static_cast<double>(runs * parts * k.kernel_depth), on_each = std::max(1.0, static_cast<double>(blocks * c.groups) / sm_count);
        const double work = copies * static_cast<double>((positions + taps * stored) * pieces) / 128 + step * static_cast<double>(steps) * std::max(4.0 + static_cast<double>(stored) / 16, 1.6 * best.eights);
        const double cost = launches + static_cast<double>(c.packed_bytes) / packed_bytes * 132 / sm_count + on_each * (begin + stages * work) * (resident == 1 ? alone : 1) + static_cast<double>(up(of_each, resident)) * stages * wait;
        if (best.blocks > 0 && cost >= best.cost) continue;
        best.cost = cost, best.blocks = blocks, best.shared = static_cast<unsigned>(shared);
        best.task = {static_cast<int>(layers), static_cast<int>(rows), static_cast<int>(cols), static_cast<int>(lines), static_cast<int>(line), bits, static_cast<int>(parts), static_cast<int>(pitch), static_cast<int>(up(width, cols)), static_cast<int>(up(height, rows)),
                     static_cast<int>(filter_tiles), static_cast<int>(all_layers), s.depth.output, s.height.output, tap_height, tap_width, tap_depth, static_cast<int>(k.slab / k.line), static_cast<int>(k.line / static_cast<unsigned>(k.pieces)), s.batch,
                     divide_by(rows * cols), divide_by(cols), divide_by(s.depth.output), divide_by(line), divide_by(lines)};
      }
    }
  }
  if (best.blocks == 0) return {};
  return best;
}

}  // namespace opscope::cuda
