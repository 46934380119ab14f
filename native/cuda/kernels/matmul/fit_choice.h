// Which 16-bit products take tiles that fit their result (matmul/wgmma_fit.cuh), and which tiles. Pure; see test/choices_test.cc.
#pragma once
#include <algorithm>
#include <cmath>

#include "fit.h"
#include "shape.h"

namespace opscope::cuda {

struct FitPlan {
  int rows = 0, columns = 0;  // of a tile: of X and of Y; none where other kernels take the product
  bool turned = false;        // X is B, and rows of the result are those of Y
  int blocks = 1;             // of a cluster
  bool along_x = true;        // its tiles lie along X, and share Y; else along Y
  double cost = 0;            // ns
};

inline WgmmaShape fit_shape(const ProductShape& s, bool turned) { return {s.batch, turned ? s.n : s.m, turned ? s.m : s.n, s.k}; }
// Warp groups of a block.
constexpr int fit_groups(int rows) { return rows == 64 ? 1 : 2; }
// Blocks that run at a time: clusters of four leave some multiprocessors of a GPC out.
inline int64_t fit_room(int sm_count, int blocks) { return blocks < 4 ? sm_count / blocks * blocks : sm_count / 11 * 10 / blocks * blocks; }

struct FitTile {
  int rows, columns;
  double stage;  // ns of products of a stage
};
constexpr FitTile fit_tiles[] = {{256, 96, 441}, {256, 112, 497}, {256, 136, 657}, {256, 152, 710}, {256, 176, 774}, {256, 192, 832}, {128, 80, 193}, {128, 96, 227}, {128, 128, 264}, {128, 256, 562}, {64, 72, 157}, {64, 96, 129}, {64, 128, 155}};

// Costs in ns, fitted to 1,702 times of each tile in and out of L2 on an H200 (45 shapes in bf16; NOTES.md).
constexpr double fit_start = 2390, fit_end = 0.0757, fit_turned = 0.9575, fit_ingest = 150, fit_traffic = 3156, fit_pairs = 1.1, fit_off = 1.85;

// An operand has rows that start off 32 bytes, of which the copy engine takes more.
inline bool fit_is_off(const ProductShape& s) { return (s.trans_a ? s.m : s.k) % 16 != 0 || (s.trans_b ? s.k : s.n) % 16 != 0; }

// The tile of least cost for a product in 16 bits; none where rows start off 16 bytes or tiles are few.
inline FitPlan fit_plan(int sm_count, const ProductShape& s) {
  FitPlan best = {};
  constexpr int least_side = 64;
  if (!rows_aligned_a(s, 2) || !rows_aligned_b(s, 2) || s.n % 8 != 0 || std::min(s.m, s.n) < least_side || s.k < 64 || s.batch * up(s.m, 64) * up(s.n, 64) < sm_count / 2) return best;
  const double bytes = 2.0 * static_cast<double>(s.batch) * (static_cast<double>(s.m) * s.n + static_cast<double>(s.k) * (static_cast<double>(s.m) + s.n)), off = fit_is_off(s) ? fit_off : 1;
  const auto steps = static_cast<double>(up(s.k, 64));
  for (const FitTile& t : fit_tiles)
    for (const bool turned : {false, true}) {
      const WgmmaShape shape = fit_shape(s, turned);
      const bool lines_y = turned ? s.trans_a : !s.trans_b;
      for (const int kind : {0, 1, 2}) {  // a block; pairs along X, and along Y
        const int blocks = kind == 0 ? 1 : 2, count_x = kind == 1 ? 2 : 1, count_y = kind == 2 ? 2 : 1, rows_y = fit_rows_y(t.columns, lines_y);
        // Parts are whole boxes, or whole repeats of eight rows.
        if (blocks == 2 && (t.rows < 256 || rows_y / count_x % (lines_y ? 64 : 8) != 0)) continue;
        const int64_t work = s.batch * up(shape.x, t.rows * count_x) * up(shape.y, t.columns * count_y) * blocks;
        const auto waves = static_cast<double>(up(work, fit_room(sm_count, blocks)));
        const double share = static_cast<double>(std::min<int64_t>(work, sm_count)) / sm_count, read = (static_cast<double>(t.rows) / count_y + static_cast<double>(rows_y) / count_x) * 128 * share * off / fit_ingest, multiply = t.stage * (blocks == 2 ? fit_pairs : 1);
        const double cost = fit_start + std::max(waves * (steps * std::sqrt(multiply * multiply + read * read) + fit_end * t.rows * t.columns * (turned ? fit_turned : 1)), bytes / fit_traffic);
        if (best.rows == 0 || cost < best.cost) best = {t.rows, t.columns, turned, blocks, count_x == 2, cost};
      }
    }
  return best;
}

// Whether it takes less time than `others`, by wgmma_plan or, of groups that take turns, by turns_plan.
inline bool fit_pays(int sm_count, const ProductShape& s, const FitPlan& fit, const WgmmaPlan& others) {
  // Tiles of fewer rows, and operands whose rows start on 32 bytes, were slower than other kernels in the addon (NOTES.md): where the model prefers them, others take the product.
  constexpr int built_rows = 256;
  if (fit.rows != built_rows || !fit_is_off(s)) return false;
  constexpr double start_of_others = 6163, margin = 1.03;
  if (!others.turns) return (fit.cost - fit_start) * margin < others.cost - start_of_others;
  // An end of a tile, ns; operands off 32 bytes. Shorter ones were slower.
  constexpr double least_cost = 11'000;
  if (fit.cost < least_cost) return false;
  constexpr double end = 900, off_turns = 3, product = 0.0176;
  const double multiply = product * others.rows * others.columns, read = (others.rows + others.columns) * 128 * off_turns / fit_ingest;
  const auto waves = static_cast<double>(up(s.batch * up(s.m, others.rows) * up(s.n, others.columns), sm_count));
  return (fit.cost - fit_start) * margin < waves * (static_cast<double>(up(s.k, 64)) * std::sqrt(multiply * multiply + read * read) + end);
}

}  // namespace opscope::cuda
