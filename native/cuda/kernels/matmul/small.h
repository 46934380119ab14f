// 16-bit products of a few tiles and a short k (matmul_small.cu). Pure; see plan_test.cc.
#pragma once
#include "shape.h"
#include "sizes.h"

namespace opscope::cuda {

// Rows that start on 16 bytes are faster by tiles of the copy engine, others too once copied, unless the product is small, or a large operand is used by one block only: an `a` that repeats over the batch is not.
inline bool is_small(int sm_count, const ProductShape& s) {
  constexpr int most_k = small_stage<small_tile>, most_k_of_copies = 320;  // where one operand would be copied, and where both
  const int64_t blocks = s.batch * up(s.m, small_tile) * up(s.n, small_tile);
  const bool a_aligned = rows_aligned_a(s, 2), b_aligned = rows_aligned_b(s, 2);
  const bool once = (!a_aligned && s.n <= small_tile && s.batch_a == s.batch) || (!b_aligned && s.m <= small_tile);
  return !(a_aligned && b_aligned) && (blocks <= sm_count ? s.k <= (a_aligned || b_aligned ? most_k : most_k_of_copies) : once && blocks >= 2 * sm_count);
}

// Of 5 to 16 of the short side also those of a longer k, in the place of larger blocks and of warps that share k.
inline bool is_small_of_few(int sm_count, const ProductShape& s) {
  constexpr int least = 5, most = 16, most_k = 640;
  const int few = std::min(s.m, s.n);
  return few >= least && few <= most && s.k <= most_k && s.batch * up(s.m, small_tile) * up(s.n, small_tile) <= sm_count && s.k > small_stage<small_tile> && !(rows_aligned_a(s, 2) && rows_aligned_b(s, 2));
}

// Blocks of a cluster that share k; one where other kernels are faster. Of more than a stage of k, in the place of tiles whose shares a launch adds up, or of copies before them.
inline int small_joined(int sm_count, bool clusters, const ProductShape& s) {
  constexpr int least_few = 5, most_blocks = 8, wanted_share = 192, most_aligned_tiles = 9;  // of rows on 16 bytes, which tensor cores take as they lie
  const int64_t tiles = s.batch * up(s.m, small_tile) * up(s.n, small_tile);
  if (!clusters || std::min(s.m, s.n) < least_few || s.k <= small_stage<small_tile> || tiles > (rows_aligned_a(s, 2) && rows_aligned_b(s, 2) ? most_aligned_tiles : sm_count)) return 1;
  int blocks = 1;
  while (blocks < most_blocks && s.k > wanted_share * blocks && tiles * blocks * 2 <= sm_count) blocks *= 2;
  // Of more in a block others are faster, but where they have a launch for shares of few rows or columns.
  constexpr int very_few = 14, least_length = 200, most_share_of_few = 680, most_share = 520;
  return up(s.k, blocks) <= (std::min(s.m, s.n) <= very_few && std::max(s.m, s.n) >= least_length ? most_share_of_few : most_share) ? blocks : 1;
}

// Larger blocks where a large operand that wgmma would have copied is used too seldom for that (shape.h), and a quarter of the multiprocessors have one without shares of k:
// mma.sync with the rows as they lie takes longer.
inline bool is_middle(int sm_count, const ProductShape& s) {
  return !(rows_aligned_a(s, 2) && rows_aligned_b(s, 2)) && !wgmma_pays(s, false) && s.batch * up(s.m, middle_tile) * up(s.n, middle_tile) * 4 >= sm_count;
}

// The same where all of k is one stage and the blocks are there together: a copy before the product takes longer than they do.
inline bool is_middle_at_once(int sm_count, const ProductShape& s) {
  return !(rows_aligned_a(s, 2) && rows_aligned_b(s, 2)) && s.k <= small_stage<middle_tile> && s.batch * up(s.m, middle_tile) * up(s.n, middle_tile) <= 2 * sm_count;
}

// Shares of k by larger blocks, of which two fit on a multiprocessor.
inline int64_t middle_splits(int sm_count, const ProductShape& s) {
  return k_splits(sm_count * 2, s.batch * up(s.m, middle_tile) * up(s.n, middle_tile), up(s.k, small_stage<middle_tile>), 2);
}

}  // namespace opscope::cuda
