// f32 products by tiles of which a multiprocessor has several at a time (matmul_f32_several.cu). Pure; see products_f32_test.cc.
#pragma once
#include "f32.h"

namespace opscope::cuda {

// A tile as kernels are built, and its costs in microseconds.
struct SeveralTile {
  int rows, columns, threads, stages, step, resident;  // of k in a stage; blocks of a multiprocessor
  double start, end, pace, alone;                      // of the launch; of a block; multiply-adds of a multiprocessor in a microsecond, by as many blocks as are resident; of that pace, what one block reaches
  double words_a, words_b, turned_16_a, turned_16_b, turned_a, turned_b;  // more where an operand is copied a word at a time, or turned: its rows start on 16 bytes or not
  double both = 1;  // of this where both are turned
  bool held = false;  // operands with k contiguous go through registers, in stages of half as much of k, but for two off 16 bytes
};

// Fitted to times of 224 products on an H200, where the tile is within 1.35 times of the fastest (3 to 6 % root mean square error; NOTES.md).
constexpr SeveralTile several_tiles[] = {
    {32, 32, 128, 4, 32, 5, 4.51, 0.513, 138.0e3, 0.61, 0.097, 0.124, 0.056, 0.051, 0.057, 0.063, 1.03},
    {32, 64, 128, 4, 32, 4, 4.49, 0.903, 168.2e3, 0.687, 0.065, 0.107, 0.028, 0.097, 0.032, 0.119, 1.14},
    {32, 64, 256, 6, 32, 2, 4.25, 1.61, 149.2e3, 0.867, 0.048, 0.105, 0.000, 0.226, 0.000, 0.220, 0.939},
    {64, 32, 128, 4, 32, 4, 4.70, 0.9, 166.6e3, 0.704, 0.093, 0.099, 0.144, 0.013, 0.159, 0.019, 1.08},
    {64, 64, 128, 4, 16, 4, 4.37, 0.56, 165.1e3, 0.709, 0.029, 0.038, 0.029, 0.042, 0.026, 0.050, 0.959},
    {64, 64, 256, 4, 32, 2, 3.95, 1.81, 158.0e3, 0.882, 0.042, 0.050, 0.027, 0.000, 0.018, 0.000, 1.04},
    {64, 96, 128, 4, 16, 3, 4.93, 0.806, 164.0e3, 0.791, 0.010, 0.043, 0.021, 0.068, 0.010, 0.084, 0.999},
    {64, 128, 128, 3, 32, 3, 3.97, 1.061, 183.1e3, 0.799, 0.000, 0.028, -0.020, 0.026, 0.025, 0.076, 1.08, true},
    {128, 64, 128, 3, 32, 3, 4.07, 1.063, 184.8e3, 0.804, 0.001, 0.040, 0.017, -0.011, 0.062, 0.031, 1.10, true},
    {128, 96, 128, 3, 32, 2, 4.24, 2.21, 177.0e3, 0.798, 0.042, 0.045, 0.063, 0.015, 0.026, 0.052, 1},
    {96, 64, 256, 5, 32, 1, 3.61, 3.17, 158.9e3, 0.75, 0.019, 0.052, 0.071, 0.062, 0.077, 0.081, 1.01},
};

struct SeveralPlan {
  const SeveralTile* tile;
  int64_t blocks, splits;  // of a share of k; shares
  double cost;             // in microseconds
};

// Whether the kernel is that of two operands whose rows of k start on 16 bytes, and what it takes of shared memory: loads by way of registers are faster where L1 has more of it.
inline bool several_vectors(const SeveralTile& t, const ProductShape& s) { return t.held && !s.trans_a && s.trans_b && s.k % 4 == 0; }
inline unsigned several_shared_bytes(const SeveralTile& t, const ProductShape& s) {
  const bool held = t.held && (s.trans_a == s.trans_b || several_vectors(t, s));
  return static_cast<unsigned>(t.stages * (t.rows + t.columns + 2 * f32_gap) * (held ? t.step / 2 : t.step)) * 4;
}

inline SeveralPlan several_plan(int sm_count, const ProductShape& s) {
  constexpr double bytes_of_us = 4.2e6;
  constexpr int64_t most_shared = 1 << 24, least_steps = 4;  // results of all shares; stages of one
  constexpr double unsure = 1.03, unsure_held = 1.1;         // of the cost of shares; of tiles whose shares were not timed
  const double moved = (static_cast<double>(s.batch_a) * s.m * s.k + static_cast<double>(s.batch) * (static_cast<double>(s.k) * s.n + static_cast<double>(s.m) * s.n)) * 4 / bytes_of_us;
  const bool aligned_a = rows_aligned_a(s, 4), aligned_b = rows_aligned_b(s, 4);
  SeveralPlan best = {};
  for (const SeveralTile& t : several_tiles) {
    const double copies_a = s.trans_a ? (aligned_a ? 0 : t.words_a) : aligned_a ? t.turned_16_a : t.turned_a, copies_b = !s.trans_b ? (aligned_b ? 0 : t.words_b) : aligned_b ? t.turned_16_b : t.turned_b;
    const double copies = (1 + copies_a + copies_b) * (!s.trans_a && s.trans_b ? t.both : 1);
    const int64_t count = s.batch * up(s.m, t.rows) * up(s.n, t.columns), steps = up(s.k, t.step);
    for (const int64_t splits : {1, 2, 3, 4, 6, 8}) {
      const int64_t share = up(steps, splits);
      if (splits > 1 && (steps < splits * least_steps || share * (splits - 1) >= steps || splits * s.batch * s.m * s.n > most_shared)) break;
      const double block = t.end + static_cast<double>(t.rows * t.columns) * static_cast<double>(splits > 1 ? share * t.step : up(s.k, 4) * 4) * copies / t.pace;
      const int64_t blocks = up(count * splits, sm_count), rest = blocks % t.resident;
      const double missing = rest > 0 ? static_cast<double>(t.resident - rest) / (t.resident - 1) : 0, rounds = static_cast<double>(blocks - rest) + static_cast<double>(rest) / (1 - (1 - t.alone) * missing * missing);
      const double once = t.start + std::max(block * rounds, moved), cost = splits > 1 ? (once + f32_joins(s, splits) / f32_steps_of_us) * (t.held ? unsure_held : unsure) : once;
      if (best.tile == nullptr || cost < best.cost) best = {&t, count, splits, cost};
    }
  }
  return best;
}

// Rows or columns from which on, and multiply-adds, these tiles come before kernels of few.
constexpr int few_of_tiles = 73;  // matmul_slim_f32 takes fewer
constexpr double small_of_tiles = 1.5e7;

// Whether it is faster than other tiles, on Hopper. `only_tiles`: none of the kernels for few rows or columns, or for few products, takes it.
inline bool is_several(int sm_count, int64_t shared_bytes, const ProductShape& s, bool only_tiles = false) {
  const int least_k = only_tiles ? 9 : 17, most_k = only_tiles ? 20'000 : 9000, least_side = only_tiles ? 17 : few_of_tiles;
  constexpr int64_t most_rounds = 128;
  const double least_products = only_tiles ? 1e6 : small_of_tiles, products = static_cast<double>(s.batch) * s.m * s.n * s.k;  // fewer were not timed
  constexpr double unsure = 1.05;           // of its cost, beside that of slabs
  if (products < least_products) return false;
  if (s.k < least_k || s.k > most_k || std::min(s.m, s.n) < least_side || s.batch * up(s.m, 32) * up(s.n, 32) >= int64_t{1} << 31) return false;
  const SeveralPlan p = several_plan(sm_count, s);
  const double slab = slab_cost(sm_count, shared_bytes, s);
  if (p.blocks > most_rounds * sm_count || (slab > 0 && p.cost * unsure >= slab)) return false;
  constexpr double unsure_shares = 1.06;  // of the cost of shares of few, beside a cluster that adds them up
  const bool few = std::min(s.m, s.n) < few_of_tiles || products < small_of_tiles;
  return slab > 0 || p.cost * (few && p.splits > 1 ? unsure_shares : 1) < f32_start_of_tiles + f32_plan(sm_count, s).cost / f32_steps_of_us;
}

// What the faster of these tiles, of slabs and of those of f32_plan() takes, in microseconds.
inline double f32_tiles_cost(int sm_count, int64_t shared_bytes, const ProductShape& s) {
  if (is_several(sm_count, shared_bytes, s)) return several_plan(sm_count, s).cost;
  const double slab = slab_cost(sm_count, shared_bytes, s);
  return slab > 0 ? slab : f32_start_of_tiles + f32_plan(sm_count, s).cost / f32_steps_of_us;
}

}  // namespace opscope::cuda
