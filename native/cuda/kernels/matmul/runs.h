// f32 products by large tiles, in whole rounds or so that blocks have equal runs of their stages (matmul_f32_runs.cu). Pure; see products_f32_test.cc.
#pragma once
#include "runs_sizes.h"
#include "runs_task.h"
#include "several.h"

namespace opscope::cuda {

// A tile as kernels are built, and its costs: in microseconds, of a launch of runs and of one of whole tiles, of a tile, and of each block after the second that a tile belongs to; multiply-adds of a multiprocessor in one; of
// that pace, what one block of a multiprocessor reaches; more where lines are copied a word at a time, and where operands are turned, whose rows start on 16 bytes or not; of 10^6 bytes of operands, which runs read at
// different places at once.
struct RunsTile {
  int rows, columns, resident, warp_columns;  // blocks of a multiprocessor; columns of a warp
  double start, whole_start, end, pace, alone, read, part, words_a, turned_16_a, turned_a, words_b, turned_16_b, turned_b;
};

// Fitted to times of 982 products on an H200 (4 to 7 % root mean square error; NOTES.md).
constexpr RunsTile runs_tiles[] = {
    {128, 128, 2, 64, 13.69, 6.15, 1.94, 201.4e3, 0.897, 0.032, 1.26, 0.020, 0.026, 0.032, 0.035, 0.038, 0.039},
    {256, 64, 2, 64, 13.80, 6.00, 2.00, 203.9e3, 0.915, 0.065, 1.26, 0.030, 0.053, 0.064, 0.062, 0.023, 0.018},
    {64, 256, 2, 64, 13.61, 6.26, 1.89, 199.6e3, 0.896, 0.043, 1.30, 0.026, 0.018, 0.022, 0.032, 0.049, 0.056},
    {96, 128, 2, 64, 12.14, 5.69, 1.44, 195.3e3, 0.887, 0.028, 0.72, 0.026, 0.027, 0.034, 0.040, 0.038, 0.042},
    {128, 96, 2, 96, 11.83, 5.38, 1.44, 200.5e3, 0.913, 0.040, 0.74, 0.051, 0.069, 0.078, 0.053, 0.051, 0.056},
    {64, 128, 3, 64, 11.15, 5.13, 1.01, 191.9e3, 0.885, 0.042, 0.80, 0.068, 0.052, 0.057, 0.086, 0.075, 0.078},
    {128, 64, 3, 64, 10.77, 4.88, 1.01, 188.9e3, 0.893, 0.059, 0.82, 0.076, 0.090, 0.095, 0.081, 0.036, 0.037},
};

inline unsigned runs_shared_bytes(const RunsTile& t) {
  constexpr int warps = (runs_threads - runs_feed) / 32, turned_rows = 4 * runs_warp_rows, gap = 4;  // of results that a warp turns at a time
  return static_cast<unsigned>(runs_stages * (t.rows + t.columns + 2 * f32_gap) * runs_step + warps * turned_rows * (t.warp_columns + gap)) * 4;
}

struct RunsPlan {
  const RunsTile* tile;  // none where tiles are too few or too many
  int64_t tiles, blocks;
  F32Runs runs;
  double cost;  // in microseconds
};

// Rounds of tiles of a multiprocessor where it has `t.resident` at a time; of the last one fewer may be left.
inline double runs_rounds(int sm_count, const RunsTile& t, int64_t tiles) {
  if (t.resident == 2) return tiles <= sm_count ? 1 / t.alone : static_cast<double>(up(tiles, 2 * int64_t{sm_count}) * 2);  // the multiprocessors that are ready first get two tiles each
  const int64_t blocks = up(tiles, sm_count), rest = blocks % t.resident;
  const double missing = rest > 0 ? static_cast<double>(t.resident - rest) / (t.resident - 1) : 0;
  return static_cast<double>(blocks - rest) + static_cast<double>(rest) / (1 - (1 - t.alone) * missing * missing);
}

inline RunsPlan runs_plan(int sm_count, const ProductShape& s) {
  constexpr double bytes_of_us = 4.2e6;
  const double operands = (static_cast<double>(s.batch_a) * s.m * s.k + static_cast<double>(s.batch) * s.k * s.n) * 4, moved = (operands + static_cast<double>(s.batch) * s.m * s.n * 4) / bytes_of_us;
  const int64_t steps = up(s.k, runs_step);
  RunsPlan best = {};
  for (const RunsTile& t : runs_tiles) {
    const int64_t resident = int64_t{sm_count} * t.resident;
    const bool aligned_a = rows_aligned_a(s, 4), aligned_b = rows_aligned_b(s, 4);
    const double brought = (s.trans_a ? (aligned_a ? 0 : t.words_a) : aligned_a ? t.turned_16_a : t.turned_a) + (!s.trans_b ? (aligned_b ? 0 : t.words_b) : aligned_b ? t.turned_16_b : t.turned_b);
    const double tile = t.end + static_cast<double>(t.rows * t.columns) * static_cast<double>(up(s.k, 4) * 4) * (1 + brought) / t.pace;
    const int64_t tiles = s.batch * up(s.m, t.rows) * up(s.n, t.columns);
    constexpr int64_t most_stages = int64_t{1} << 30;
    if (tiles * steps >= most_stages) continue;
    const auto take = [&](double cost, int64_t blocks, const F32Runs& runs) {
      if (best.tile == nullptr || cost < best.cost) best = {&t, tiles, blocks, runs, cost};
    };
    take(t.whole_start + std::max(tile * runs_rounds(sm_count, t, tiles), moved), tiles, {0, static_cast<int>(steps), 0});
    // Where blocks are more than tiles each tile belongs to several of them, whose sums the last one reads one after the other.
    constexpr int64_t most_parts = 8, least_shared_k = 256;
    if (tiles * most_parts < resident || (tiles < resident && s.k < least_shared_k)) continue;
    // Whole tiles but for one or two of each block, so that most blocks are at the same place of k and share what they read.
    const int64_t rounds = std::max<int64_t>(tiles / resident - 1, 0), stages = (tiles - rounds * resident) * steps;
    take(t.start + std::max(static_cast<double>(tiles) / sm_count * tile, moved) + t.read * operands * 1e-6 + t.part * std::max(static_cast<double>(resident) / static_cast<double>(tiles) - 2, 0.0), resident, {static_cast<int>(rounds), static_cast<int>(stages / resident), static_cast<int>(stages % resident)});
  }
  return best;
}

// Whether it is faster than other tiles, on Hopper.
inline bool is_runs(int sm_count, int64_t shared_bytes, const ProductShape& s) {
  constexpr int least_k = 128, least_side = 73;             // of a shorter k they were slower; matmul_slim_f32 takes fewer
  constexpr double most_products = 1.2e11, most_moved = 3e8;  // more were not timed
  constexpr double unsure = 1.02;                            // of its cost, beside that of others
  const double left = static_cast<double>(s.batch_a) * s.m * s.k, right = static_cast<double>(s.batch) * s.k * s.n, results = static_cast<double>(s.batch) * s.m * s.n;
  if (s.k < least_k || std::min(s.m, s.n) < least_side || results * s.k > most_products || left + right > most_moved || results > most_moved) return false;
  const RunsPlan p = runs_plan(sm_count, s);
  return p.tile != nullptr && p.cost * unsure < f32_tiles_cost(sm_count, shared_bytes, s);
}

}  // namespace opscope::cuda
