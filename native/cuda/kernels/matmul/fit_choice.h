// Which 16-bit products take tiles that fit their result (matmul/wgmma_fit.cuh), and which tiles. Pure; see test/products_fit_test.cc.
#pragma once
#include <algorithm>
#include <cmath>

#include "fit.h"
#include "shape.h"

namespace opscope::cuda {

struct FitPlan {
  int rows = 0, columns = 0;  // of a tile: of X and of Y; none where other kernels take the product
  bool turned = false;        // X is B, and rows of the result are those of Y
  int log_x = 0, log_y = 0;   // a cluster has 2^log_x tiles along X, which share Y, by 2^log_y along Y
  double cost = 0;            // ns
};

inline WgmmaShape fit_shape(const ProductShape& s, bool turned) { return {s.batch, turned ? s.n : s.m, turned ? s.m : s.n, s.k}; }
// Blocks that run at a time: clusters of four and more leave some multiprocessors of a GPC out.
inline int64_t fit_room(int sm_count, int blocks) { return (blocks <= 2 ? sm_count : sm_count / 11 * 10) / blocks * blocks; }

// As kernels are built, in the layouts in which Y has k contiguous, and in those in which it has not: where X has not either, or in all.
enum class FitLines { none, of_both, of_y };
struct FitTile {
  int rows, columns;
  FitLines lines = FitLines::none;
};
constexpr FitTile fit_tiles[] = {{64, 64, FitLines::of_both},    {64, 96},                        {64, 128, FitLines::of_both}, {64, 152}, {64, 192, FitLines::of_both},
                                 {128, 64, FitLines::of_both},  {128, 96},                       {128, 128, FitLines::of_both},   {128, 136},                   {128, 152}, {128, 192, FitLines::of_both},
                                 {192, 96, FitLines::of_both},  {192, 128, FitLines::of_both},   {256, 96, FitLines::of_y},       {256, 112},                   {256, 128, FitLines::of_both},
                                 {256, 136, FitLines::of_y},    {256, 152},                      {256, 176},                      {256, 192, FitLines::of_y}};

// An operand has rows that start off 32 bytes, of which the copy engine takes more.
inline bool fit_is_off(const ProductShape& s) { return (s.trans_a ? s.m : s.k) % 16 != 0 || (s.trans_b ? s.k : s.n) % 16 != 0; }

// Clocks of the products of a stage: tensor cores read shared memory and the copy engine writes it, 128 bytes a clock together; or the products themselves.
constexpr double fit_stage_clocks(int rows, int columns, int rows_y) {
  const double moved = rows / 64.0 * (2 + columns / 32.0) + (rows + rows_y) / 32.0, products = rows * columns / 32.0;  // KB of 16 of k; of 64 of k
  return std::max(32 * moved, products);
}

// The tile of least cost for a product in 16 bits; none where rows start off 16 bytes or tiles are few.
inline FitPlan fit_plan(int sm_count, const ProductShape& s) {
  // Costs in ns, fitted to 11,000 times of these tiles, cold, on an H200 (391 products in bf16; NOTES.md).
  constexpr double start = 5980, pair = 600, more = 220, clock = 0.433, shared_clock = 1.11, begin = 189, end = 0.057, end_off = 1.12, end_turned = 0.035, ingest = 131, traffic = 4740, beside = 0.387, off_lines = 1.62, norm = 1.84;
  FitPlan best = {};
  constexpr int least_side = 64;
  if (!rows_aligned_a(s, 2) || !rows_aligned_b(s, 2) || s.n % 8 != 0 || std::min(s.m, s.n) < least_side || s.k < 64 || s.batch * up(s.m, 64) * up(s.n, 64) < sm_count / 4) return best;
  const double bytes = 2.0 * static_cast<double>(s.batch) * (static_cast<double>(s.m) * s.n + static_cast<double>(s.k) * (static_cast<double>(s.m) + s.n)), off = fit_is_off(s) ? off_lines : 1;
  const auto steps = static_cast<double>(up(s.k, 64));
  for (const FitTile& t : fit_tiles)
    for (const bool turned : {false, true}) {
      const WgmmaShape shape = fit_shape(s, turned);
      const bool lines_x = turned ? !s.trans_b : s.trans_a, lines_y = turned ? s.trans_a : !s.trans_b;
      if (lines_y && (t.lines == FitLines::none || (!lines_x && t.lines != FitLines::of_y))) continue;
      const int rows_y = fit_rows_y(t.columns, lines_y);
      for (int log_x = 0; log_x <= 2; log_x++)
        for (int log_y = 0; log_x + log_y <= 3 && log_y <= 2; log_y++) {
          const int count_x = 1 << log_x, count_y = 1 << log_y, blocks = count_x * count_y;
          // Where all rows start on 32 bytes one block by itself was as fast.
          if (blocks > 1 && !fit_is_off(s)) continue;
          // Parts are lines of k, or whole repeats of eight rows; a cluster has tiles in all its places.
          if (!lines_y && t.columns / count_x % 8 != 0) continue;
          if (shape.x <= t.rows * (count_x - 1) || shape.y <= t.columns * (count_y - 1)) continue;
          const int64_t work = s.batch * up(shape.x, int64_t{t.rows} * count_x) * up(shape.y, int64_t{t.columns} * count_y) * blocks, room = fit_room(sm_count, blocks);
          if (room == 0) continue;
          const auto waves = static_cast<double>(up(work, room));
          const double share = static_cast<double>(std::min(work, room)) / sm_count, read = (static_cast<double>(t.rows) / count_y + static_cast<double>(rows_y) / count_x) * 128 * share * off / ingest;
          const double multiply = clock * fit_stage_clocks(t.rows, t.columns, rows_y) * (blocks > 1 ? shared_clock : 1), stage = std::pow(std::pow(multiply, norm) + std::pow(read, norm), 1 / norm);
          const double work_time = waves * (steps * stage + begin + (turned ? end_turned : end * (s.n % 16 != 0 ? end_off : 1)) * t.rows * t.columns), memory = bytes / traffic;
          const double cost = start + (blocks > 2 ? more : blocks == 2 ? pair : 0) + std::max(work_time, memory) + beside * std::min(work_time, memory);
          if (best.rows == 0 || cost < best.cost) best = {t.rows, t.columns, turned, log_x, log_y, cost};
        }
    }
  return best;
}

// Whether it takes less time than `others`, by wgmma_plan or, of groups that take turns, by turns_plan.
inline bool fit_pays(int sm_count, const ProductShape& s, const FitPlan& fit, const WgmmaPlan& others) {
  // Longer ones on whole sectors were not faster.
  constexpr double most_cost = 100'000;
  if (fit.rows == 0 || (!fit_is_off(s) && fit.cost > most_cost)) return false;
  // What costs of others are short of in times; those that take turns store while they multiply, which their costs leave out.
  constexpr double start = 5300, start_of_others = 6163, longer = 1.07, margin_off = 0.97, margin_whole = 1.03;
  // Of small ones, where boxes lie partly outside of operands or k is short, others start sooner.
  constexpr int small_columns = 64, least_small_k = 384;
  const bool small = !others.turns && others.columns == small_columns, whole_boxes = s.m % 64 == 0 && s.n % 64 == 0;
  if (small && (s.k < least_small_k || !whole_boxes || (others.rows == small_columns && !fit.turned))) return false;
  const double margin = fit_is_off(s) || small ? margin_off : margin_whole;
  if (!others.turns) return fit.cost * margin < start + (others.cost - start_of_others) * longer;
  constexpr double more_of_turns = 0.05, start_of_turns = 5450, end = 900, off_turns = 3, product = 0.0176, ingest = 150;
  const double multiply = product * others.rows * others.columns, read = (others.rows + others.columns) * 128 * (fit_is_off(s) ? off_turns : 1) / ingest;
  const auto waves = static_cast<double>(up(s.batch * up(s.m, others.rows) * up(s.n, others.columns), sm_count));
  return fit.cost * (margin + more_of_turns) < start_of_turns + waves * (static_cast<double>(up(s.k, 64)) * std::sqrt(multiply * multiply + read * read) + end);
}

}  // namespace opscope::cuda
