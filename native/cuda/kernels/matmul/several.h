// f32 products by tiles of which a multiprocessor has three at a time (matmul_f32_several.cu). Pure; see products_f32_test.cc.
#pragma once
#include "f32.h"

namespace opscope::cuda {

struct SeveralPlan {
  int rows, columns;  // of a tile, as kernels are built: 64 x 128 or 128 x 64; the fewer blocks
  int64_t blocks;
};

constexpr int several_threads = 128, several_stages = 3;
inline unsigned several_shared_bytes(const SeveralPlan& p) { return several_stages * static_cast<unsigned>(p.rows + p.columns) * f32_step * 4; }

inline SeveralPlan several_plan(const ProductShape& s) {
  const auto blocks = [&](int rows, int columns) { return s.batch * up(s.m, rows) * up(s.n, columns); };
  const bool tall = blocks(128, 64) < blocks(64, 128);
  return {tall ? 128 : 64, tall ? 64 : 128, std::min(blocks(128, 64), blocks(64, 128))};
}

// Microseconds, fitted to 32 products on an H200 (5 % root mean square error). `pace`: multiply-adds of a multiprocessor in one; operands copied a word at a time, and each with k contiguous, take longer.
inline double several_cost(int sm_count, const ProductShape& s) {
  constexpr double start = 7.93, end = 0.76, pace = 184e3, words = 0.113, rows_of_k = 0.062;
  const SeveralPlan p = several_plan(s);
  const double slower = 1 + words * (!rows_aligned_a(s, 4) + !rows_aligned_b(s, 4)) + rows_of_k * (!s.trans_a + s.trans_b);
  return start + static_cast<double>(up(p.blocks, sm_count)) * (end + static_cast<double>(p.rows * p.columns) * static_cast<double>(up(s.k, 4) * 4) * slower / pace);
}

// Whether it is faster than other tiles, on Hopper. With both transposed it is not, nor are large products, by tiles of f32.h.
inline bool is_several(int sm_count, int64_t shared_bytes, const ProductShape& s) {
  constexpr int least_k = 97, most_k = 700, least_side = 73;
  constexpr int64_t most_rounds = 32;
  constexpr double margin = 0.97, start_of_tiles = 4.5, steps_of_us = 6300;
  if (s.k < least_k || s.k > most_k || std::min(s.m, s.n) < least_side || (s.trans_a && s.trans_b) || several_plan(s).blocks > most_rounds * sm_count) return false;
  const double tiles = start_of_tiles + f32_plan(sm_count, s).cost / steps_of_us, slab = slab_in_rounds_cost(sm_count, shared_bytes, s);
  return several_cost(sm_count, s) < margin * (slab > 0 ? std::min(slab, tiles) : tiles);
}

}  // namespace opscope::cuda
