// What the kernels of products with a short k by panels take (matmul/panels.cuh), the same for host and device.
#pragma once
#include "../common/divide.h"

namespace opscope::cuda {

// Threads of a block.
constexpr int panels_threads = 256;

struct PanelsTask {
  int m, n, k;
  int tiles_m, tiles_n;
  Divide by_tiles_m, by_tiles_n;
  int batches_a;  // a repeats after so many products
};

}  // namespace opscope::cuda
