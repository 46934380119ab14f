// Products whose k is so short that the bytes of the result bound them (matmul_shallow.cu). Pure; see plan_test.cc.
#pragma once
#include <algorithm>

#include "shape.h"

namespace opscope::cuda {

constexpr int shallow_rows = 4, shallow_accesses = 2, shallow_threads = 256;  // of the result, that a thread has on its way; of a thread, where they are single elements or pairs

// Narrow results go to threads of their own (matmul/each.h); smaller ones, too.
inline bool is_shallow(const ProductShape& s) { return s.k <= 8 && s.n >= 32 && s.batch * s.m * s.n >= 96 << 10; }

struct ShallowPlan {
  const char* access;  // of its kernels: 16 bytes of a row at a time, single elements, or pairs of 16-bit elements, which lie on 4 bytes
  int k;               // of its kernels: 1, 2, 4 or 8
  int across;          // threads side by side
  int64_t x, y, z;     // blocks: columns, rows, products
};

inline ShallowPlan shallow_plan(int sm_count, int64_t element_bytes, const ProductShape& s) {
  const int64_t lanes = 16 / element_bytes, most = 65'535;
  const bool wide = s.n % lanes == 0, pairs = !wide && element_bytes == 2 && s.n >= 64;
  ShallowPlan p = {wide ? "wide" : pairs ? "pairs" : "one", 1};
  while (p.k < s.k) p.k *= 2;
  // Accesses of a row, and of a thread. As many threads side by side as leave the fewest without work.
  const int64_t accesses = wide ? s.n / lanes : pairs ? s.n / 2 + 1 : s.n, each = wide ? 1 : shallow_accesses;
  const auto given = [&](int across) { return up(accesses, across * each) * across; };
  p.across = shallow_threads;
  for (int across = p.across; across >= 16; across /= 2)
    if (given(across) < given(p.across)) p.across = across;
  p.x = up(accesses, p.across * each);
  p.z = std::min(s.batch, most);
  const int64_t groups = up(up(s.m, shallow_rows), shallow_threads / p.across);
  p.y = std::clamp<int64_t>(up(int64_t{sm_count} * 4, p.x * p.z), 1, std::min(groups, most));
  return p;
}

}  // namespace opscope::cuda
