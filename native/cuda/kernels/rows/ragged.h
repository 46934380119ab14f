// What rows_ragged.cu and its plan (rows/shape.h) share.
#pragma once

namespace opscope::cuda {

// Threads of a block. Its rows at a time are a multiple of the elements of a vector, so that all rows of a lane start equally far off a boundary.
constexpr int ragged_threads = 256;

// Registers of a thread with so many `vectors` of a row of each of `inputs`, unpacked and of the next row as they are, and of `weights`; `lanes`: elements of a vector.
constexpr int ragged_registers(int lanes, int vectors, int inputs, int weights) { return vectors * (inputs * (lanes + 4) + weights * 4) + 34; }
// Blocks of a multiprocessor.
constexpr int ragged_blocks(int lanes, int vectors, int inputs, int weights) {
  const int registers = ragged_registers(lanes, vectors, inputs, weights);
  return registers > 128 ? 1 : registers > 80 ? 2 : registers > 64 ? 3 : 4;
}

}  // namespace opscope::cuda
