// Products whose k is so short that the bytes of the result bound them and that matmul/short.h leaves (matmul_shallow.cu, 16 bits). Pure; see products_test.cc.
#pragma once
#include <algorithm>

#include "shape.h"
#include "sizes.h"

namespace opscope::cuda {

// Rows that do not start on 16 bytes: results are stored in pairs, which lie on 4 bytes, `pairs` of them by a thread in each of `rows` rows.
struct ShallowPairs {
  int rows, pairs;  // as kernels are built: 8 and 1, or 4 and 2; none for narrow results
};
inline ShallowPairs shallow_pairs(int m, int n) {
  if (n < 64) return {};
  return m >= 8 ? ShallowPairs{8, 1} : ShallowPairs{4, 2};
}

// Of smaller results, those with a very short k or a narrow side; others are done sooner by tiles, whose operands a block reads together.
inline bool is_shallow_16(const ProductShape& s) {
  const int64_t results = s.batch * s.m * s.n;
  return s.k <= 8 && s.batch <= int64_t{1} << 30 && (results >= 2 << 20 || (results >= 96 << 10 && (s.k <= 5 || std::min(s.m, s.n) < 64)));
}

}  // namespace opscope::cuda
