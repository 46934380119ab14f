// What the kernels of a long matrix times a short side take besides SkinnyArguments (matmul_stream.cu), the same for host and device.
#pragma once

struct StreamTask {
  unsigned long long few;  // address of the short side as it is multiplied, where a launch before made it so
  long long blocks;  // of a product and a share of k; each takes every so manieth tile
  int period;        // rows of the matrix so far apart start equally far behind 16 bytes
  int warp_rows;     // warps of a block side by side along the long side, where k is contiguous; the others share k
  int window;        // columns of a block, where k is not
};
