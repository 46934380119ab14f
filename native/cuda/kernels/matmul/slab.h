// f32 products with a short k (matmul_slab_f32.cu). Pure; see products_f32_test.cc.
#pragma once
#include "shape.h"
#include "slab_task.h"

namespace opscope::cuda {

struct SlabPlan {
  SlabTask task;
  int rows, columns;  // of a tile, as kernels are built: 64 x 128 or 128 x 64
  int64_t blocks;
  int shared;
};

inline SlabPlan slab_plan(const ProductShape& s) {
  SlabPlan p = {};
  // Warps without results end at once, so that both tiles take the same work: the fewer blocks, and the longer rows of results.
  const auto blocks = [&](int rows, int columns) { return s.batch * up(s.m, rows) * up(s.n, columns); };
  const bool tall = blocks(128, 64) < blocks(64, 128);
  p.rows = tall ? 128 : 64, p.columns = tall ? 64 : 128, p.blocks = blocks(p.rows, p.columns);
  SlabTask& t = p.task;
  t.m = s.m, t.n = s.n, t.k = s.k;
  t.tiles_m = static_cast<int>(up(s.m, p.rows)), t.tiles_n = static_cast<int>(up(s.n, p.columns));
  t.by_tiles_m = divide_by(t.tiles_m), t.by_tiles_n = divide_by(t.tiles_n);
  t.batches_a = static_cast<int>(s.batch_a);
  t.wide_a = s.m % 4 == 0, t.wide_b = t.wide_c = s.n % 4 == 0;
  const int operands = t.k * (slab_pitch(p.rows) + slab_pitch(p.columns)), results = t.wide_c ? 0 : p.rows * slab_pitch(p.columns);
  p.shared = std::max(operands, results) * 4;
  return p;
}

// Whether operands, results and multiply-adds take about as long as each other, and tiles are many enough to overlap them (93 products on an H100, NOTES.md). `shared_bytes`: what a block may have.
inline bool is_slab(int64_t shared_bytes, const ProductShape& s) {
  constexpr int least_k = 9, most_k = 96, least_side = 33;
  constexpr int64_t least_blocks = 64, most_blocks = int64_t{1} << 31;
  if (s.k < least_k || s.k > most_k || std::min(s.m, s.n) < least_side || s.batch * up(s.m, 64) * up(s.n, 64) >= most_blocks) return false;
  const SlabPlan p = slab_plan(s);
  return p.blocks >= least_blocks && p.shared <= shared_bytes;
}

}  // namespace opscope::cuda
