// 16-bit products of a few tiles and a short k (matmul_small.cu). Pure; see plan_test.cc.
#pragma once

namespace opscope::cuda {

constexpr int small_tile = 32, small_k = 256;  // rows and columns of a block's results; of k that it loads at once

// Rows that start on 16 bytes are faster by tiles of the copy engine, others too once copied, unless the product is small, or a large operand is used by one block only.
inline bool is_small(int sm_count, long long batch, int m, int n, int k, bool a_aligned, bool b_aligned) {
  const long long blocks = batch * ((m + small_tile - 1) / small_tile) * ((n + small_tile - 1) / small_tile);
  const bool once = (!a_aligned && n <= small_tile) || (!b_aligned && m <= small_tile);
  return !(a_aligned && b_aligned) && (blocks <= sm_count ? k <= small_k : once && blocks >= 2 * sm_count);
}

}  // namespace opscope::cuda
