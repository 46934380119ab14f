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
inline int64_t fit_room(int sm_count, int blocks) { return blocks <= 2 ? sm_count / blocks * blocks : sm_count / 11 * 10 / blocks * blocks; }

// As kernels are built; `lines`: also where k is contiguous in neither operand.
struct FitTile {
  int rows, columns;
  bool lines = false;
};
constexpr FitTile fit_tiles[] = {{64, 64, true}, {64, 80}, {64, 96}, {64, 128, true}, {64, 152}, {64, 192, true}, {128, 64, true}, {128, 96}, {128, 128, true}, {128, 136}, {128, 152}, {128, 192, true},
                                 {192, 96, true}, {192, 128, true}, {192, 192, true}, {256, 96, true}, {256, 112}, {256, 128, true}, {256, 136, true}, {256, 152}, {256, 176}, {256, 192, true}};

// An operand has rows that start off 32 bytes, of which the copy engine takes more.
inline bool fit_is_off(const ProductShape& s) { return (s.trans_a ? s.m : s.k) % 16 != 0 || (s.trans_b ? s.k : s.n) % 16 != 0; }

// ns of the products of a stage: reads of shared memory by tensor cores and writes of the copy engine, 128 bytes a clock, or the products themselves.
inline double fit_stage_time(int rows, int columns, int rows_y) {
  constexpr double clock = 0.57;
  const double moved = rows / 64.0 * (2 + columns / 32.0) + (rows + rows_y) / 32.0;  // KB of 16 of k
  return clock * std::max(32 * moved, rows * columns / 32.0);
}

// The tile of least cost for a product in 16 bits; none where rows start off 16 bytes or tiles are few.
inline FitPlan fit_plan(int sm_count, const ProductShape& s) {
  constexpr double start = 2390, begin = 300, end = 0.0757, end_turned = 0.9575, ingest = 150, traffic = 3156, off_lines = 1.85;
  FitPlan best = {};
  constexpr int least_side = 64;
  if (!rows_aligned_a(s, 2) || !rows_aligned_b(s, 2) || s.n % 8 != 0 || std::min(s.m, s.n) < least_side || s.k < 64 || s.batch * up(s.m, 64) * up(s.n, 64) < sm_count / 2) return best;
  const double bytes = 2.0 * static_cast<double>(s.batch) * (static_cast<double>(s.m) * s.n + static_cast<double>(s.k) * (static_cast<double>(s.m) + s.n)), off = fit_is_off(s) ? off_lines : 1;
  const auto steps = static_cast<double>(up(s.k, 64));
  for (const FitTile& t : fit_tiles)
    for (const bool turned : {false, true}) {
      const WgmmaShape shape = fit_shape(s, turned);
      const bool lines_x = turned ? !s.trans_b : s.trans_a, lines_y = turned ? s.trans_a : !s.trans_b;
      if (lines_y && !(lines_x && t.lines)) continue;
      const int rows_y = fit_rows_y(t.columns, lines_y);
      for (int log_x = 0; log_x <= 2; log_x++)
        for (int log_y = 0; log_x + log_y <= 3 && log_y <= 2; log_y++) {
          const int count_x = 1 << log_x, count_y = 1 << log_y, blocks = count_x * count_y;
          // Parts are lines of k, or whole repeats of eight rows; a cluster has tiles in all its places.
          if (!lines_y && t.columns / count_x % 8 != 0) continue;
          if (shape.x <= t.rows * (count_x - 1) || shape.y <= t.columns * (count_y - 1)) continue;
          const int64_t work = s.batch * up(shape.x, int64_t{t.rows} * count_x) * up(shape.y, int64_t{t.columns} * count_y) * blocks, room = fit_room(sm_count, blocks);
          const auto waves = static_cast<double>(up(work, room));
          const double share = static_cast<double>(std::min(work, room)) / sm_count, read = (static_cast<double>(t.rows) / count_y + static_cast<double>(rows_y) / count_x) * 128 * share * off / ingest;
          const double cost = start + std::max(waves * (steps * std::max(fit_stage_time(t.rows, t.columns, rows_y), read) + begin + end * t.rows * t.columns * (turned ? end_turned : 1)), bytes / traffic);
          if (best.rows == 0 || cost < best.cost) best = {t.rows, t.columns, turned, log_x, log_y, cost};
        }
    }
  return best;
}

// Whether it takes less time than `others`, by wgmma_plan or, of groups that take turns, by turns_plan.
inline bool fit_pays(const FitPlan& fit, const WgmmaPlan& others) { return fit.rows > 0 && fit.cost < others.cost; }

}  // namespace opscope::cuda
