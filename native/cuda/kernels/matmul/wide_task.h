// What matmul_wide takes, the same for host and device.
#pragma once
#include "../common/divide.h"

namespace opscope::cuda {

// Rows of results at a time; bytes of a row of results that a block computes.
constexpr int wide_rows = 32, wide_panel = 512;

struct WideTask {
  int m, n, k, batches_a;
  int tiles;      // of columns
  int each;       // tiles of rows of a block
  Divide by_tiles;
};

}  // namespace opscope::cuda
