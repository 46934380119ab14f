// tf32 products of few tiles and a long k, both operands as they lie (matmul_unaligned.cu), the same for host and device.
#pragma once

namespace opscope::cuda {

// Rows and columns of results of a block, k of a stage, stages of its ring, threads.
constexpr int unaligned_tile = 128, unaligned_step = 32, unaligned_stages = 5, unaligned_threads = 256;
// Bytes of an operand in a stage: 128 lines of 9 pieces of 16 bytes where k is contiguous, else 32 lines of 33, spaced so that neighbouring lanes meet different banks.
constexpr int unaligned_line_k = 9 * 16, unaligned_line_l = 34 * 16;
constexpr int unaligned_bytes(bool k_contiguous) { return k_contiguous ? unaligned_tile * unaligned_line_k : unaligned_step * unaligned_line_l; }

}  // namespace opscope::cuda

struct UnalignedTask {
  int m, n, k;
  int tiles_m, tiles_n;  // of a product
  int each, splits;      // stages of a share of k, and shares
  int batches_a;         // a repeats after so many products
};
