// f32 products by large tiles, in whole rounds or so that blocks have equal runs of their stages (matmul_f32_runs.cu). Pure; see products_f32_test.cc.
#pragma once
#include "runs_task.h"
#include "several.h"

namespace opscope::cuda {

constexpr int runs_resident = 2, runs_threads = 128;  // blocks of a multiprocessor; of a block

// A tile as kernels are built, and its costs: in microseconds, of a launch of runs and of one of whole tiles, and of a tile; multiply-adds of a multiprocessor in one; of that pace, what one block of a multiprocessor reaches; more where lines are copied a
// word at a time, and where operands are turned, whose rows start on 16 bytes or not; of 10^6 bytes of operands, which runs read at different places at once.
struct RunsTile {
  int rows, columns;
  double start, whole_start, end, pace, alone, words_a, words_b, turned_16_a, turned_a, turned_16_b, turned_b, turned_16, turned, read;
};

// Fitted to 375 times of 222 products on an H200 (3 to 4 % root mean square error; NOTES.md).
constexpr RunsTile runs_tiles[] = {
    {96, 128, 11.76, 4.23, 1.87, 193.8e3, 0.876, 0.012, 0.026, 0.049, 0.049, 0.030, 0.060, 0.059, 0.101, 0.017},
    {128, 96, 11.56, 4.43, 1.78, 179.6e3, 0.857, 0.006, 0.029, -0.021, -0.021, -0.007, -0.007, 0.057, 0.086, 0.021},
};

// How a kernel of a tile is built.
struct RunsKernel {
  int stages, step;  // of k in a stage
  bool vectors;      // operands with k contiguous are copied 16 bytes at a time
};
inline RunsKernel runs_kernel(const RunsTile& t, const ProductShape& s) {
  const bool down = t.columns < t.rows, turns_a = !s.trans_a, vectors = s.k % 4 == 0 && turns_a && (s.trans_b || !down);
  if (down || (turns_a && !vectors)) return {4, 16, vectors};
  return {vectors && s.trans_b ? 2 : 3, 32, vectors};
}
inline unsigned runs_shared_bytes(const RunsTile& t, const RunsKernel& k) { return static_cast<unsigned>(k.stages * (t.rows + t.columns + 2 * f32_gap) * k.step) * 4; }

struct RunsPlan {
  const RunsTile* tile;  // none where tiles are too few or too many
  int64_t tiles, blocks;
  F32Runs runs;
  double cost;  // in microseconds
};

inline RunsPlan runs_plan(int sm_count, const ProductShape& s) {
  constexpr double bytes_of_us = 4.2e6;
  const double operands = (static_cast<double>(s.batch_a) * s.m * s.k + static_cast<double>(s.batch) * s.k * s.n) * 4, moved = (operands + static_cast<double>(s.batch) * s.m * s.n * 4) / bytes_of_us;
  const int64_t resident = int64_t{sm_count} * runs_resident;
  RunsPlan best = {};
  for (const RunsTile& t : runs_tiles) {
    const bool aligned = s.k % 4 == 0;
    const double lines = (s.trans_a && s.m % 4 != 0 ? t.words_a : 0) + (!s.trans_b && s.n % 4 != 0 ? t.words_b : 0);
    const double turned = s.trans_a ? (s.trans_b ? (aligned ? t.turned_16_b : t.turned_b) : 0) : s.trans_b ? (aligned ? t.turned_16 : t.turned) : aligned ? t.turned_16_a : t.turned_a;
    const double tile = t.end + static_cast<double>(t.rows * t.columns) * static_cast<double>(up(s.k, 4) * 4) * (1 + lines + turned) / t.pace;
    const int64_t tiles = s.batch * up(s.m, t.rows) * up(s.n, t.columns), steps = up(s.k, runs_kernel(t, s).step);
    constexpr int64_t most_stages = int64_t{1} << 30;
    if (tiles * steps >= most_stages) continue;
    const auto take = [&](double cost, int64_t blocks, const F32Runs& runs) {
      if (best.tile == nullptr || cost < best.cost) best = {&t, tiles, blocks, runs, cost};
    };
    // Of the last round, the multiprocessors that are ready first get two tiles each.
    take(t.whole_start + std::max(tile * (tiles <= sm_count ? 1 / t.alone : static_cast<double>(up(tiles, resident) * runs_resident)), moved), tiles, {0, static_cast<int>(steps), 0});
    // Where blocks are more than tiles each tile belongs to several of them, whose sums the last one reads one after the other: in microseconds, of each after the second.
    constexpr int64_t most_parts = 8, least_shared_k = 256;
    constexpr double part = 1;
    if (tiles * most_parts < resident || (tiles < resident && s.k < least_shared_k)) continue;
    // Whole tiles but for one or two of each block, so that most blocks are at the same place of k and share what they read.
    const int64_t rounds = std::max<int64_t>(tiles / resident - 1, 0), stages = (tiles - rounds * resident) * steps;
    take(t.start + std::max(static_cast<double>(tiles) / sm_count * tile, moved) + t.read * operands * 1e-6 + part * std::max(static_cast<double>(resident) / static_cast<double>(tiles) - 2, 0.0), resident, {static_cast<int>(rounds), static_cast<int>(stages / resident), static_cast<int>(stages % resident)});
  }
  return best;
}

// Whether it is faster than other tiles, on Hopper.
inline bool is_runs(int sm_count, int64_t shared_bytes, const ProductShape& s) {
  constexpr int least_k = 40, least_side = 73;                 // matmul_slim_f32 takes fewer
  constexpr double most_products = 3e10, most_moved = 1e8;  // more were not timed
  constexpr double unsure = 1.01;                          // of its cost, beside that of others
  const double left = static_cast<double>(s.batch_a) * s.m * s.k, right = static_cast<double>(s.batch) * s.k * s.n, results = static_cast<double>(s.batch) * s.m * s.n;
  if (s.k < least_k || std::min(s.m, s.n) < least_side || results * s.k > most_products || left + right > most_moved || results > most_moved) return false;
  const RunsPlan p = runs_plan(sm_count, s);
  return p.tile != nullptr && p.cost * unsure < f32_tiles_cost(sm_count, shared_bytes, s);
}

}  // namespace opscope::cuda
