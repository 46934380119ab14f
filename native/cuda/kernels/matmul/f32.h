// Which tiles an f32 product takes on Hopper, into how many shares k is split, and which operands are turned first (matmul_f32.cu). Pure; see
// plan_test.cc for what holds over the range.
#pragma once
#include "shape.h"
#include "sizes.h"

namespace opscope::cuda {

struct F32Plan {
  int rows = 0, columns = 0;  // of a tile; none where matmul_simt or matmul_f32_small is faster
  int name = 0;               // of its kernels
  int64_t splits = 1;
  bool turns_a = false, turns_b = false;  // so that k is not contiguous: those kernels are faster, and rows start on 16 bytes
};

// Costs in multiply-adds of a multiprocessor at the pace of the fastest tile, 32 * 6300 in a microsecond, fitted to times of each tile and several numbers of
// shares on an H100 (25 shapes, 203 times; NOTES.md).
constexpr double f32_copy_launch = 34'000, f32_copy = 0.0249, f32_join_launch = 7'700, f32_add = 0.0150;  // of a launch, of an element copied, of an element of a share
constexpr int f32_step = 32;
inline double f32_joins(const ProductShape& s, int64_t splits) { return splits > 1 ? f32_join_launch + f32_add * static_cast<double>(splits * s.batch) * s.m * s.n : 0; }

// matmul_simt with the largest of its tiles that gives every multiprocessor one (matmul.plan.cc).
inline double f32_simt_cost(int sm_count, const ProductShape& s) {
  const auto tiles = [&](int rows, int columns) { return s.batch * up(s.m, rows) * up(s.n, columns); };
  const auto cost = [&](int rows, int columns, int resident) {
    const int64_t steps = up(s.k, f32_step), splits = k_splits(sm_count * 2, tiles(rows, columns), steps, 4), blocks = tiles(rows, columns) * splits;
    const double factor = rows > 64 || blocks > sm_count ? 1.557 : 0.912;
    return static_cast<double>(up(blocks, int64_t{sm_count} * resident) * resident * up(steps, splits) * rows * columns) * factor + f32_joins(s, splits);
  };
  if (tiles(256, 128) * 10 >= int64_t{sm_count} * 9) return cost(256, 128, 1);
  return tiles(128, 128) * 10 >= int64_t{sm_count} * 9 ? cost(128, 128, 2) : cost(64, 64, 2);
}

// matmul_f32_small: no shares of k, and four times as many blocks.
inline double f32_small_cost(int sm_count, const ProductShape& s) {
  constexpr double alone = 1.77, several = 1.72, end = 2200, unaligned = 0.36;  // beside its pace; of a round of blocks; more for rows that do not start on 16 bytes
  const int64_t rounds = up(s.batch * up(s.m, f32_small_tile) * up(s.n, f32_small_tile), sm_count), steps = up(s.k, f32_small_step) * (f32_small_step / f32_step);
  return static_cast<double>(rounds) * (static_cast<double>(steps * f32_small_tile * f32_small_tile) * (rounds == 1 ? alone : several) * (1 + unaligned * (!rows_aligned_a(s, 4) + !rows_aligned_b(s, 4))) + end);
}
inline bool is_f32_small(int sm_count, const ProductShape& s) {
  return s.batch * up(s.m, f32_small_tile) * up(s.n, f32_small_tile) < int64_t{1} << 31 && f32_small_cost(sm_count, s) < f32_simt_cost(sm_count, s);
}

inline F32Plan f32_plan(int sm_count, const ProductShape& s) {
  struct Tile {
    int rows, columns, name, blocks;  // of a multiprocessor
    double factor, alone, end;        // where blocks have a multiprocessor to themselves; of a round of blocks
  };
  constexpr Tile tiles[] = {{256, 128, 256, 1, 1.0, 1.0, 24'200}, {128, 128, 128, 2, 1.07, 2.11, 18'700}, {128, 64, 64, 1, 1.134, 1.134, 16'300}};
  constexpr int64_t most_shared = 1 << 24;  // results of which there may be several shares, in f32
  const int64_t steps = up(s.k, f32_step);
  double least = std::min(f32_simt_cost(sm_count, s), f32_small_cost(sm_count, s));
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
      const double before = (turns_a || must_a ? f32_copy_launch + f32_copy * static_cast<double>(s.batch_a) * s.m * s.k : 0) + (turns_b || must_b ? f32_copy_launch + f32_copy * static_cast<double>(s.batch) * s.k * s.n : 0);
      for (const Tile& t : tiles) {
        const int64_t count = s.batch * up(s.m, t.rows) * up(s.n, t.columns), most = k_splits(sm_count * t.blocks, count, steps, 4);
        for (const int64_t wanted : {int64_t{1}, int64_t{2}, int64_t{4}, most}) {
          // None of them empty, and four steps in each.
          const int64_t splits = up(steps, up(steps, std::clamp<int64_t>(steps / 4, 1, wanted))), blocks = count * splits, rounds = up(blocks, sm_count * t.blocks);
          if (splits > 1 && s.batch * s.m * s.n > most_shared) continue;
          const bool alone = blocks <= sm_count;
          const double cost = static_cast<double>((alone ? 1 : rounds * t.blocks) * up(steps, splits) * t.rows * t.columns) * (alone ? t.alone : t.factor) * layout + t.end * static_cast<double>(rounds) + before + f32_joins(s, splits);
          if (cost < least) least = cost, best = {t.rows, t.columns, t.name, splits, turns_a, turns_b};
        }
      }
    }
  return best;
}

}  // namespace opscope::cuda
