// f32 products by tiles of which a multiprocessor has three at a time (matmul_f32_several.cu). Pure; see products_f32_test.cc.
#pragma once
#include "f32.h"

namespace opscope::cuda {

struct SeveralPlan {
  int rows, columns;  // of a tile, as kernels are built: 64 x 128 or 64 x 64, the faster one
  int64_t blocks;
  double cost;        // in microseconds
};

constexpr int several_threads = 128, several_rows = 64;
inline unsigned several_shared_bytes(const SeveralPlan& p) { return (p.columns == 128 ? 3 : 4) * static_cast<unsigned>(p.rows + p.columns + 2 * f32_gap) * f32_step * 4; }

// Fitted to 585 times of 387 products on an H200 (3 % root mean square error).
inline SeveralPlan several_plan(int sm_count, const ProductShape& s) {
  struct Tile {
    int columns;
    double start, end, pace;                     // of the launch; of a block; multiply-adds of a multiprocessor in a microsecond, by three blocks
    double alone, pair;                          // of that pace, what one and two blocks reach
    double words, turned_on_16, turned_off_16;  // more where an operand is copied a word at a time, or turned
  };
  constexpr Tile tiles[] = {{128, 6.24, 1.142, 188.3e3, 0.844, 0.953, 0.0474, 0.1062, 0.1297}, {64, 6.4, 1.162, 164.1e3, 0.831, 0.954, 0.053, 0.0146, 0.0252}};
  constexpr double bytes_of_us = 4.2e6;
  const double moved = (static_cast<double>(s.batch_a) * s.m * s.k + static_cast<double>(s.batch) * (static_cast<double>(s.k) * s.n + static_cast<double>(s.m) * s.n)) * 4 / bytes_of_us;
  SeveralPlan best = {};
  for (const Tile& t : tiles) {
    const auto copies = [&](bool k_contiguous, bool aligned, int side) { return (k_contiguous ? (aligned ? t.turned_on_16 : t.turned_off_16) : aligned ? 0 : t.words) * 2 * side / (several_rows + t.columns); };
    const double slower = 1 + copies(!s.trans_a, rows_aligned_a(s, 4), several_rows) + copies(s.trans_b, rows_aligned_b(s, 4), t.columns);
    const double block = t.end + static_cast<double>(several_rows * t.columns) * static_cast<double>(up(s.k, 4) * 4) * slower / t.pace;
    const int64_t count = s.batch * up(s.m, several_rows) * up(s.n, t.columns), blocks = up(count, sm_count), rest = blocks % 3;
    const double rounds = static_cast<double>(blocks - rest) + (rest == 1 ? 1 / t.alone : rest == 2 ? 2 / t.pair : 0);
    if (const double cost = t.start + std::max(block * rounds, moved); best.blocks == 0 || cost < best.cost) best = {several_rows, t.columns, count, cost};
  }
  return best;
}

// Whether it is faster than other tiles, on Hopper.
inline bool is_several(int sm_count, int64_t shared_bytes, const ProductShape& s) {
  constexpr int least_k = 97, most_k = 1280, least_side = 73;
  constexpr int64_t most_rounds = 32;
  constexpr double start_of_tiles = 4.5, steps_of_us = 6300;
  if (s.k < least_k || s.k > most_k || std::min(s.m, s.n) < least_side) return false;
  const SeveralPlan p = several_plan(sm_count, s);
  const double slab = slab_in_rounds_cost(sm_count, shared_bytes, s);
  return p.blocks <= most_rounds * sm_count && p.cost < start_of_tiles + f32_plan(sm_count, s).cost / steps_of_us && (slab == 0 || p.cost < slab);
}

}  // namespace opscope::cuda
