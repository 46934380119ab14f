// Products whose k is so short that the bytes of the result bound them (matmul_shallow.cu). Pure; see plan_test.cc.
#pragma once

namespace opscope::cuda {

constexpr int shallow_rows = 4;  // of the result, of a thread

// 16-bit rows that do not start on 16 bytes: results are stored in pairs, which lie on 4 bytes, `pairs` of them by a thread in each of `rows` rows.
struct ShallowPairs {
  int rows, pairs;  // as kernels are built: 8 and 1, or 4 and 2; none for narrow results
};
inline ShallowPairs shallow_pairs(int m, int n) {
  if (n < 64) return {};
  return m >= 8 ? ShallowPairs{8, 1} : ShallowPairs{4, 2};
}

// Of smaller results, those with a very short k or a narrow side; others are done sooner by tiles, whose operands a block reads together.
inline bool is_shallow(long long batch, int m, int n, int k, long long element_bytes) {
  const long long results = batch * m * n;
  return k <= 8 && (results * element_bytes >= 4LL << 20 || (results >= 96LL << 10 && (k <= 5 || (m < n ? m : n) < 64)));
}

}  // namespace opscope::cuda
