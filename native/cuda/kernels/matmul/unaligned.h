// tf32 products of few tiles and a long k, both operands as they lie (matmul_unaligned.cu). Pure; see products_test.cc.
#pragma once
#include "shape.h"
#include "unaligned_task.h"

namespace opscope::cuda {

struct UnalignedPlan {
  UnalignedTask task;
  int64_t blocks;
  int shared;
};

// A share of k for every multiprocessor, each long enough for its ring.
inline UnalignedPlan unaligned_plan(int sm_count, const ProductShape& s) {
  constexpr int64_t least_stages = 8;
  UnalignedPlan p = {};
  UnalignedTask& t = p.task;
  t.m = s.m, t.n = s.n, t.k = s.k;
  t.tiles_m = static_cast<int>(up(s.m, unaligned_tile)), t.tiles_n = static_cast<int>(up(s.n, unaligned_tile));
  t.batches_a = static_cast<int>(s.batch_a);
  const int64_t steps = up(s.k, unaligned_step), tiles = s.batch * t.tiles_m * t.tiles_n, each = up(steps, k_splits(sm_count, tiles, steps, least_stages));
  t.each = static_cast<int>(each), t.splits = static_cast<int>(up(steps, each));
  p.blocks = tiles * t.splits;
  p.shared = unaligned_stages * (unaligned_bytes(!s.trans_a) + unaligned_bytes(s.trans_b));
  return p;
}

// Where copies of both operands would take longer than the product (NOTES.md).
inline bool unaligned_pays(int sm_count, int64_t shared_bytes, const ProductShape& s) {
  constexpr int least_side = 97, least_k = 1 << 16;
  if ((rows_aligned_a(s, 4) && rows_aligned_b(s, 4)) || std::min(s.m, s.n) < least_side || std::max(s.m, s.n) > unaligned_tile || s.k < least_k) return false;
  const UnalignedPlan p = unaligned_plan(sm_count, s);
  return s.batch * 8 <= sm_count && p.shared <= shared_bytes;
}

}  // namespace opscope::cuda
