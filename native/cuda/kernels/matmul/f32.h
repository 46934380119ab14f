// Which tiles an f32 product takes on Hopper, into how many shares k is split, and which operands are turned first (matmul_f32.cu). Pure; see
// plan_test.cc for what holds over the range.
#pragma once
#include "shape.h"

namespace opscope::cuda {

struct F32Plan {
  int rows = 0, columns = 0;  // of a tile; none where matmul_simt is faster
  int name = 0;               // of its kernels
  int64_t splits = 1;
  bool turns_a = false, turns_b = false;  // so that k is not contiguous: those kernels are faster, and rows start on 16 bytes
};

// Costs in multiply-adds of a multiprocessor at the pace of the fastest tile, 6300 in a microsecond of an H200; factors as measured there.
inline F32Plan f32_plan(int sm_count, const ProductShape& s) {
  constexpr double launch = 15'000, add = 0.0083, copy = 0.0168;  // of a launch, of an element of a share, of an element copied
  constexpr int step = 32;
  struct Tile {
    int rows, columns, name, blocks;  // of a multiprocessor
    double factor;
  };
  constexpr Tile tiles[] = {{256, 128, 256, 1, 1.0}, {128, 128, 128, 2, 1.0}, {128, 64, 64, 1, 1.09}};
  const int64_t steps = up(s.k, step);
  const auto joins = [&](int64_t splits) { return splits > 1 ? launch + add * static_cast<double>(splits * s.batch) * s.m * s.n : 0; };

  // matmul_simt with its small tiles, which half fill a multiprocessor alone.
  const int64_t small = s.batch * up(s.m, 64) * up(s.n, 64), small_splits = k_splits(sm_count * 2, small, steps, 4), small_blocks = small * small_splits;
  double least = static_cast<double>(up(steps, small_splits) * 4096) * (small_blocks <= sm_count ? 1.7 : 2.94 * static_cast<double>(up(small_blocks, 2 * sm_count))) + joins(small_splits);
  F32Plan best;
  if (s.m < 64 || s.n < 64 || s.batch > 65535 || up(s.m, 32) > 65535 || up(s.k, 32) > 65535 || up(s.n, 32) > 65535) return best;

  const bool must_a = (s.trans_a ? s.m : s.k) % 4 != 0, must_b = (s.trans_b ? s.k : s.n) % 4 != 0;
  for (const bool turns_a : {false, true})
    for (const bool turns_b : {false, true}) {
      // Rows of k that must be copied are turned at once; others lie right already.
      if (turns_a ? s.trans_a : must_a && !s.trans_a) continue;
      if (turns_b ? !s.trans_b : must_b && s.trans_b) continue;
      const bool rows_a = !s.trans_a && !turns_a, rows_b = s.trans_b && !turns_b;
      const double layout = rows_b ? (rows_a ? 1.13 : 1.07) : rows_a ? 1.04 : 1.0;
      const double before = (turns_a || must_a ? launch + copy * static_cast<double>(s.batch_a) * s.m * s.k : 0) + (turns_b || must_b ? launch + copy * static_cast<double>(s.batch) * s.k * s.n : 0);
      for (const Tile& t : tiles) {
        const int64_t count = s.batch * up(s.m, t.rows) * up(s.n, t.columns), most = k_splits(sm_count * t.blocks, count, steps, 4);
        for (const int64_t splits : {int64_t{1}, most}) {
          const double cost = static_cast<double>(up(count * splits, sm_count * t.blocks) * t.blocks * up(steps, splits) * t.rows * t.columns) * t.factor * layout + before + joins(splits);
          if (cost < least) least = cost, best = {t.rows, t.columns, t.name, splits, turns_a, turns_b};
        }
      }
    }
  return best;
}

}  // namespace opscope::cuda
