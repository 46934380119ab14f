// What the kernels of products of a long operand with a short k take (matmul/tall.cuh), the same for host and device.
#pragma once
#include "../common/divide.h"

namespace opscope::cuda {

// Threads of a block.
constexpr int tall_threads = 128;

struct TallTask {
  int length, few, k;      // rows of a long a, or columns of a long b; the other side
  int tiles, few_tiles;    // of the long side; of eight of the other side, an even number
  int rounds;              // of k
  int table;               // bytes of shared memory before the results
  int staged;              // bytes of results of a warp
  int few_line, few_k;     // elements from one line of the short operand to the next; from one of k to the next
  Divide by_few;
};

}  // namespace opscope::cuda
