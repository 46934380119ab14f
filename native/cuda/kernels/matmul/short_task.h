// What the kernels of products with a short k take (matmul_short.cu, matmul_short_f32.cu), the same for host and device.
#pragma once
#include "../common/divide.h"

namespace opscope::cuda {

// Of tensor cores: a unit of work of a warp is a class of rows, `period` apart, of one product and of the columns of a tile, and every `splits`-th of its tiles of 16 rows.
struct ShortTask {
  int m, n, k;
  int period, log2_period, tiles, splits, across;  // tiles of 16 rows of a class; tiles of columns
  int units;
  int align;                             // elements that a row's pieces start on
  int staged;                            // bytes of shared memory of a warp
  Divide by_across, by_splits;
  long long a_row, a_k, b_column, b_k;   // elements from one to the next
};

constexpr int short_threads = 128;

struct ShortTaskF32 {
  int m, n, k;
  int rows, columns;     // of results of a block
  int pieces;            // of 16 bytes in these columns
  int tiles_m, tiles_n;  // blocks down and across
  Divide by_tiles_m, by_tiles_n;
  int b_at;              // bytes of shared memory before the columns of b
  long long a_row, a_k, b_column, b_k;  // elements from one to the next
};

// Threads of a block; most columns of it.
constexpr int short_f32_threads = 256, short_f32_columns = 128;

}  // namespace opscope::cuda
