// An operand that matmul_spaced copies (matmul_parts.cu), the same for host and device.
#pragma once

namespace opscope::cuda {

// Threads of a block, and vectors of 16 bytes of a thread.
constexpr int spaced_threads = 256, spaced_each = 4;

}  // namespace opscope::cuda

struct SpacedOperand {
  unsigned long long from, out;  // addresses
  long long rows, blocks;        // of all products; blocks, none where there is nothing to copy
  int cols, vectors;             // elements of a row; vectors of 16 bytes of a row of `out`
};
