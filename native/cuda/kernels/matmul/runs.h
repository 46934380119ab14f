// f32 products whose blocks have equal runs of the stages of tiles (matmul_f32_runs.cu). Pure; see products_f32_test.cc.
#pragma once
#include "runs_task.h"
#include "several.h"

namespace opscope::cuda {

// The tile as kernels are built: of k in a stage; blocks of a multiprocessor.
constexpr int runs_rows = 96, runs_columns = 128, runs_stages = 3, runs_step = 32, runs_resident = 2, runs_threads = 128;
constexpr unsigned runs_shared_bytes = runs_stages * (runs_rows + runs_columns + 2 * f32_gap) * runs_step * 4;

struct RunsPlan {
  int64_t tiles, blocks;  // no blocks where tiles are too few for the blocks that are resident
  F32Runs runs;
  double cost;  // in microseconds
};

inline RunsPlan runs_plan(int sm_count, const ProductShape& s) {
  // Of the launch and of a tile in microseconds, multiply-adds of a multiprocessor in one; what copies of words and turned copies take beside them (rows on 16 bytes or not), and both sides turned; of 10^6 bytes of
  // operands, which blocks at different places read at once. Fitted to times of 90 products on an H200 (3 % root mean square error; NOTES.md).
  constexpr double start = 10.66, end = 1.76, pace = 193.7e3, words_a = 0.018, words_b = 0.067, turned_16_a = 0.072, turned_16_b = 0.059, turned_a = 0.063, turned_b = 0.077, both = 1.077, read = 0.012, bytes_of_us = 4.2e6;
  const double operands = (static_cast<double>(s.batch_a) * s.m * s.k + static_cast<double>(s.batch) * s.k * s.n) * 4, moved = (operands + static_cast<double>(s.batch) * s.m * s.n * 4) / bytes_of_us;
  const bool aligned_a = rows_aligned_a(s, 4), aligned_b = rows_aligned_b(s, 4);
  const double copies_a = s.trans_a ? (aligned_a ? 0 : words_a) : aligned_a ? turned_16_a : turned_a, copies_b = !s.trans_b ? (aligned_b ? 0 : words_b) : aligned_b ? turned_16_b : turned_b;
  const int64_t tiles = s.batch * up(s.m, runs_rows) * up(s.n, runs_columns), steps = up(s.k, runs_step), blocks = int64_t{sm_count} * runs_resident;
  // Where blocks are more than tiles each tile belongs to two or three of them, which pays where k is long.
  constexpr int64_t most_stages = int64_t{1} << 30, least_shared_steps = 24;
  if (tiles * 2 < blocks || (tiles < blocks && steps < least_shared_steps) || tiles * steps >= most_stages) return {tiles, 0, {}, 0};
  // Whole tiles but for one or two of each block, so that most blocks are at the same place of k and share what they read.
  const int64_t rounds = std::max<int64_t>(tiles / blocks - 1, 0), stages = (tiles - rounds * blocks) * steps;
  const double work = static_cast<double>(runs_rows * runs_columns) * static_cast<double>(up(s.k, 4) * 4) * (1 + copies_a + copies_b) * (!s.trans_a && s.trans_b ? both : 1) / pace;
  const double cost = start + std::max(static_cast<double>(tiles) / sm_count * (end + work), moved) + read * operands * 1e-6;
  return {tiles, blocks, {static_cast<int>(rounds), static_cast<int>(stages / blocks), static_cast<int>(stages % blocks)}, cost};
}

// Whether it is faster than other tiles, on Hopper.
inline bool is_runs(int sm_count, int64_t shared_bytes, const ProductShape& s) {
  constexpr int least_k = 40, least_side = 73;                 // matmul_slim_f32 takes fewer
  constexpr double most_products = 3e10, most_moved = 1e8;  // more were not timed
  constexpr double unsure = 1.01;                          // of its cost, beside that of others
  const double left = static_cast<double>(s.batch_a) * s.m * s.k, right = static_cast<double>(s.batch) * s.k * s.n, results = static_cast<double>(s.batch) * s.m * s.n;
  if (s.k < least_k || std::min(s.m, s.n) < least_side || results * s.k > most_products || left + right > most_moved || results > most_moved) return false;
  const RunsPlan p = runs_plan(sm_count, s);
  return p.blocks > 0 && p.cost * unsure < f32_tiles_cost(sm_count, shared_bytes, s);
}

}  // namespace opscope::cuda
