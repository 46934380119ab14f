// What a product with one long side (matmul_long.cu) gets from its plan (long.h).
#pragma once

namespace opscope::cuda {

constexpr int long_threads = 256, long_columns = 32;  // columns of the short side that a warp sums at a time

// What the kernels take. `x` is the operand with the long side, `w` the other one.
struct LongTask {
  int length, few, k;      // the long and the short side
  int tile, tiles;         // of the long side
  int w_k, w_few;          // elements of w from one to the next along k and along the short side
  int rows;                // of the output lie along the short side
  int steps;               // of 32 bytes of k
  int pitch_w, pitch_x, pitch_stage, pitch_out;  // bytes
  int x_at, out_at, stage_at;                    // bytes of shared memory before the tile of x, that of the output, and x as it lies in memory
};
static_assert(sizeof(LongTask) <= 128, "a launch stores up to 128 bytes per argument");

}  // namespace opscope::cuda
