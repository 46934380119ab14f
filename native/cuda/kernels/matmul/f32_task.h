// What f32 tiles take, the same for host and device (matmul/f32.cuh).
#pragma once

namespace opscope::cuda {

// Words between lines of a stage where threads copy operands, so that words of eight of k and four rows meet all banks.
constexpr int f32_gap = 4;

// The left operand repeats after `batches_a` products.
struct F32Product {
  int m, n, k, tiles_m, tiles_n, batches_a;
};

// Of blocks that share tiles evenly (matmul_f32_even.cu): how many there are, and how many tiles they share, the first ones; every other tile has a block of its own.
struct F32Even {
  int blocks, shared;
};

}  // namespace opscope::cuda
