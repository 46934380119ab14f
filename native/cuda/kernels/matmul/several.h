// f32 products by tiles of which a multiprocessor has three at a time (matmul_f32_several.cu). Pure; see products_f32_test.cc.
#pragma once
#include "f32.h"

namespace opscope::cuda {

struct SeveralPlan {
  int rows, columns;  // of a tile, as kernels are built: 64 x 128 or 128 x 64; the fewer blocks
  int64_t blocks;
};

constexpr int several_threads = 128, several_stages = 3;
inline unsigned several_shared_bytes(const SeveralPlan& p) { return several_stages * static_cast<unsigned>(p.rows + p.columns + 2 * f32_gap) * f32_step * 4; }

inline SeveralPlan several_plan(const ProductShape& s) {
  const auto blocks = [&](int rows, int columns) { return s.batch * up(s.m, rows) * up(s.n, columns); };
  const bool tall = blocks(128, 64) < blocks(64, 128);
  return {tall ? 128 : 64, tall ? 64 : 128, std::min(blocks(128, 64), blocks(64, 128))};
}

// Rows of k that start on 16 bytes are copied as they lie, 16 bytes at a time.
inline bool several_rows(const ProductShape& s) { return !s.trans_a && !s.trans_b && rows_aligned_a(s, 4); }

// Microseconds, fitted to 62 products on an H200 (5 % root mean square error). `pace`: multiply-adds of a multiprocessor in one, by three blocks; one or two reach `alone`, `pair` of it. Operands copied a word at a time or turned take longer.
inline double several_cost(int sm_count, const ProductShape& s) {
  constexpr double start = 4.64, end = 1.54, pace = 188e3, alone = 0.507, pair = 0.879, words = 0.0585, turned_on_16 = 0.0806, turned_off_16 = 0.102, bytes_of_us = 4.2e6;
  const SeveralPlan p = several_plan(s);
  if (several_rows(s)) {
    constexpr double start_rows = 7.53, end_rows = 0.72, pace_rows = 194e3, rows_of_k = 0.062, words_rows = 0.113;
    return start_rows + static_cast<double>(up(p.blocks, sm_count)) * (end_rows + static_cast<double>(p.rows * p.columns) * static_cast<double>(up(s.k, 4) * 4) * (1 + rows_of_k + words_rows * !rows_aligned_b(s, 4)) / pace_rows);
  }
  const bool aligned_a = rows_aligned_a(s, 4), aligned_b = rows_aligned_b(s, 4);
  const auto copies = [&](bool k_contiguous, bool aligned, int rows) { return (k_contiguous ? (aligned ? turned_on_16 : turned_off_16) : aligned ? 0 : words) * rows / 96; };
  const double slower = 1 + copies(!s.trans_a, aligned_a, p.rows) + copies(s.trans_b, aligned_b, p.columns);
  const double block = end + static_cast<double>(p.rows * p.columns) * static_cast<double>(up(s.k, 4) * 4) * slower / pace;
  const int64_t blocks = up(p.blocks, sm_count), rest = blocks % 3;
  const double rounds = static_cast<double>(blocks - rest) + (rest == 1 ? 1 / alone : rest == 2 ? 2 / pair : 0);
  const double moved = (static_cast<double>(s.batch_a) * s.m * s.k + static_cast<double>(s.batch) * (static_cast<double>(s.k) * s.n + static_cast<double>(s.m) * s.n)) * 4 / bytes_of_us;
  return start + std::max(block * rounds, moved);
}

// Whether it is faster than other tiles, on Hopper.
inline bool is_several(int sm_count, int64_t shared_bytes, const ProductShape& s) {
  constexpr int least_k = 97, most_k = 700, least_side = 73;
  constexpr int64_t most_rounds = 32;
  constexpr double margin = 0.97, start_of_tiles = 4.5, steps_of_us = 6300;
  constexpr int slab_k = 128;  // up to which two rounds of a slab are faster than their model says
  constexpr double slab_margin = 0.8;
  if (s.k < least_k || s.k > most_k || std::min(s.m, s.n) < least_side || several_plan(s).blocks > most_rounds * sm_count) return false;
  const double tiles = start_of_tiles + f32_plan(sm_count, s).cost / steps_of_us, slab = slab_in_rounds_cost(sm_count, shared_bytes, s);
  const double cost = several_cost(sm_count, s);
  return cost < margin * tiles && (slab == 0 || cost < (s.k < slab_k ? slab_margin : 1) * slab);
}

}  // namespace opscope::cuda
