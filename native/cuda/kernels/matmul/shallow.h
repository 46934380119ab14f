// Products whose k is so short that the bytes of the result bound them (matmul_shallow.cu in 16 bits, matmul_shallow_f32.cu). Pure; see plan_test.cc.
#pragma once
#include <algorithm>

#include "shape.h"
#include "sizes.h"

namespace opscope::cuda {

// ---- 16 bits ----

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

// ---- f32 ----

// Narrow and smaller results go to threads of their own (matmul/each.h), tf32 with more of k to tensor cores.
inline bool is_shallow_f32(const ProductShape& s, bool tf32) { return s.k <= (tf32 ? 4 : 8) && s.n >= 32 && s.m >= 16 && s.batch * s.m * s.n >= 96 << 10 && s.batch <= int64_t{1} << 30; }

struct ShallowPlan {
  bool wide;        // 16 bytes of a row at a time
  int k;            // of its kernels: 1, 2, 4 or 8
  int across;       // threads side by side
  int64_t x, y, z;  // blocks: columns, rows, products
};

// b with k contiguous is read an element at a time: vectors of lanes would lie in as many lines.
inline ShallowPlan shallow_plan(int sm_count, const ProductShape& s) {
  constexpr int64_t most = 65'535;
  ShallowPlan p = {s.n % 4 == 0 && (!s.trans_b || s.k == 1), 1};
  while (p.k < s.k) p.k *= 2;
  // Accesses of a row, and of a thread. As many threads side by side as leave the fewest without work.
  const int64_t accesses = p.wide ? s.n / 4 : s.n, each = p.wide ? 1 : shallow_accesses;
  const auto given = [&](int across) { return up(accesses, across * each) * across; };
  p.across = shallow_threads;
  for (int across = p.across; across >= 16; across /= 2)
    if (given(across) < given(p.across)) p.across = across;
  p.x = up(accesses, p.across * each);
  p.z = std::min(s.batch, most);
  const int64_t groups = up(up(s.m, shallow_f32_rows), shallow_threads / p.across);
  p.y = std::clamp<int64_t>(up(int64_t{sm_count} * 4, p.x * p.z), 1, std::min(groups, most));
  return p;
}

}  // namespace opscope::cuda
