// What matmul_small_tf32 takes, the same for host and device.
#pragma once

struct SmallTaskTf32 {
  int m, n, k;
  int tiles_n, batches_a;
  int share, blocks;   // of k of a block, whole products of 8; blocks that share k, a cluster
  int wide_a, wide_b;  // whether rows start on 16 bytes
};
