// Gradients of norms of many short rows (norm_backward_short.cu), the same for host and device: threads of a block at most, of elements of a row; rows of a tile and bytes of a tensor of it, at most.
#pragma once

constexpr int norm_short_threads = 512, norm_short_rows = 1024, norm_short_bytes = 8 << 10;

struct NormShortArguments {
  unsigned long long grad, x, weight, mean, rstd, out, parts;  // addresses; what an op has not is 0
  long long tokens;
  int dim, rows, lanes;  // rows of a tile, and lanes of a warp that have a row: powers of two
};
