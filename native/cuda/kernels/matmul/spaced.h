// An operand that matmul_spaced copies (matmul_parts.cu), the same for host and device.
#pragma once

struct SpacedOperand {
  unsigned long long from, out;  // addresses
  long long rows, blocks;        // of all products; blocks of 256 threads, none where there is nothing to copy
  int cols, vectors;             // elements of a row; vectors of 16 bytes of a row of `out`
};
