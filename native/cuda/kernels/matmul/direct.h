// 16-bit products of few results with rows that start on 16 bytes (matmul_direct.cu). Pure; see test/choices_test.cc.
#pragma once
#include <algorithm>

#include "shape.h"
#include "sizes.h"

namespace opscope::cuda {

struct DirectPlan {
  int rows = 0;   // of results of a block; none where other kernels take the product
  int warps = 0;  // of a block, which share k
  unsigned shared() const { return static_cast<unsigned>(warps * rows * direct_columns * 4); }
};

// Bounds are where it was faster than tiles of wgmma on an H200 (NOTES.md): what blocks read from L2 grows with their number.
inline DirectPlan direct_plan(int sm_count, const ProductShape& s) {
  constexpr int least_few = 2, most_k = 512, short_k = 256, few_warps = 8, many_warps = 16;
  constexpr int64_t most_batch = 65'535, most_reads = 256 * 128;
  const int64_t columns = up(s.n, direct_columns), low = s.batch * up(s.m, 16) * columns, high = s.batch * up(s.m, 32) * columns;  // blocks of 16 and 32 rows
  if (s.batch > most_batch || s.k > most_k || std::min(s.m, s.n) < least_few || !rows_aligned_a(s, 2) || !rows_aligned_b(s, 2)) return {};
  if (high > sm_count && (high > 2 * sm_count || high * s.k > most_reads)) return {};
  const int warps = s.k > short_k ? many_warps : few_warps;
  return {!s.trans_b && (low <= sm_count || warps == many_warps) ? 16 : 32, warps};
}

}  // namespace opscope::cuda
