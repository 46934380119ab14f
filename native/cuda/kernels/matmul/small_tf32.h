// Products of tf32 with few multiplications (matmul_small_tf32.cu). Pure; see products_panels_test.cc.
#pragma once
#include <algorithm>

#include "shape.h"
#include "small_tf32_task.h"

namespace opscope::cuda {

struct SmallPlanTf32 {
  SmallTaskTf32 task = {};
  int rows = 0, columns = 0;  // of results of a block, as kernels are built; none where other kernels are faster
  int64_t blocks = 0;         // of a product
  int shared = 0;
};

// Where it was faster than other kernels on an H200 (NOTES.md).
inline SmallPlanTf32 small_plan_tf32(int sm_count, bool clusters, int64_t shared_bytes, const ProductShape& s) {
  constexpr int side = 32, warps = 8, step = 8, most_share = 320, most_blocks = 8, least_few = 5, least_few_rows = 9, least_k = 32, least_many_k = 48, most_many_k = 128;
  constexpr int64_t most_batch = 65'535, most_reads = 30'000, most_reads_of_copies = 65'000;  // tiles times k
  SmallPlanTf32 p = {};
  SmallTaskTf32& t = p.task;
  const int64_t tiles = s.batch * up(s.m, side) * up(s.n, side), reads = tiles * s.k;
  // wgmma would have an operand turned or copied first.
  const bool copies = (s.trans_a && !s.trans_b) || !(rows_aligned_a(s, 4) && rows_aligned_b(s, 4));
  if (s.batch > most_batch || std::min(s.m, s.n) < ((s.n < s.m ? !s.trans_a : s.trans_b) ? least_few_rows : least_few) || s.k < least_k) return p;
  const bool few = tiles <= sm_count && reads <= (copies ? most_reads_of_copies : most_reads);
  const bool many = !few && s.trans_a && !s.trans_b && s.k >= least_many_k && s.k <= most_many_k && 2 * s.batch * up(s.m, 2 * side) * up(s.n, 2 * side) <= 9 * sm_count;
  if (!few && !many) return p;
  p.rows = many ? 2 * side : side, p.columns = many && tiles > 4 * sm_count ? 2 * side : side;
  t.m = s.m, t.n = s.n, t.k = s.k, t.tiles_n = static_cast<int>(up(s.n, p.columns)), t.batches_a = static_cast<int>(s.batch_a);
  t.wide_a = rows_aligned_a(s, 4), t.wide_b = rows_aligned_b(s, 4);
  t.blocks = 1;
  while (few && clusters && t.blocks < most_blocks && s.k > most_share * t.blocks) t.blocks *= 2;
  t.share = static_cast<int>(up(up(s.k, t.blocks), step) * step);
  p.blocks = up(s.m, p.rows) * t.tiles_n * t.blocks;
  const auto panel = [&](int rows, bool k_contiguous) { return k_contiguous ? rows * static_cast<int>(up(t.share, 32) * 32 + 4) : t.share * (rows + 8); };
  p.shared = ((t.blocks > 1 ? p.rows * p.columns : 0) + std::max(panel(p.rows, !s.trans_a) + panel(p.columns, s.trans_b), warps * 1024)) * 4;
  if (p.shared > shared_bytes || int64_t{t.share} * (t.blocks - 1) >= s.k) p.rows = 0;
  return p;
}

}  // namespace opscope::cuda
