// Narrow results of a short k, which no block needs to share what it reads for (matmul_each.cu). Pure; see plan_test.cc.
#pragma once
#include "shape.h"
#include "sizes.h"

namespace opscope::cuda {

// Narrow rows, or few of them in f32, where operands and result are counted with 32 bits.
inline bool is_each(const ProductShape& s, int64_t element_bytes) {
  constexpr int64_t most = int64_t{1} << 31;
  constexpr int narrow = 32, few_rows = 16, short_k = 16;
  return (s.n < narrow || (s.m < few_rows && element_bytes == 4)) && s.k < short_k && s.batch * s.m * s.n < most && s.batch_a * s.m * s.k < most && s.batch * s.n * s.k < most;
}

// Of those, products in f32 of one row that is long enough for a block.
inline bool is_each_row(const ProductShape& s, int64_t element_bytes) {
  constexpr int least_columns = 512;
  return element_bytes == 4 && s.m == 1 && s.n >= least_columns;
}

}  // namespace opscope::cuda
