// Products so small, or so narrow, that no block needs to share what it reads (matmul_each.cu). Pure; see plan_test.cc.
#pragma once
#include <algorithm>

#include "shape.h"
#include "sizes.h"

namespace opscope::cuda {

constexpr int each_warp_k = 512, each_block_k = 4096;  // k at most: with a warp for each result, with a block
constexpr int each_narrow = 32;  // results of narrower rows take threads, however many

// Whether operands and result are counted with 32 bits.
inline bool each_counts(const ProductShape& s) {
  constexpr int64_t most = int64_t{1} << 31;
  return s.batch * s.m * s.n < most && s.batch_a * s.m * s.k < most && s.batch * s.n * s.k < most;
}

// Narrow rows, or few of them in f32, of a short k, where no kernel for a narrow side serves them.
inline bool is_each_narrow(const ProductShape& s, int64_t element_bytes) { return (s.n < each_narrow || (s.m < 16 && element_bytes == 4)) && s.k < each_k && each_counts(s); }

enum class Each { none, thread, rows, warp, block };

// By the lines of the first cache that loads touch: lanes have neighbouring results, or neighbouring k of one result.
inline Each each_plan(int sm_count, int64_t element_bytes, const ProductShape& s) {
  const int64_t results = s.batch * s.m * s.n, most_touched = int64_t{sm_count} * 1500;
  if (!each_counts(s)) return Each::none;
  const auto lines = [&](int64_t apart) { return std::clamp<int64_t>(apart * element_bytes / 4, 1, 32); };  // of a load of a warp
  if (s.k <= each_k) {
    const int64_t touched = up(results, 32) * s.k * (1 + lines(s.trans_b ? s.k : 1));
    return results < 96 << 10 && touched <= most_touched ? Each::thread : Each::none;
  }
  const int64_t touched = results * up(s.k, 32) * (lines(s.trans_a ? s.m : 1) + lines(s.trans_b ? 1 : s.n));
  if (touched > most_touched * 2) return Each::none;
  // A block has a longer k on its way at once.
  if (s.k > 256 && s.k <= each_block_k && results <= int64_t{sm_count} * 4) return Each::block;
  return s.k <= each_warp_k && results * (2 + up(s.k, 32)) <= int64_t{sm_count} * 128 ? Each::warp : Each::none;
}

}  // namespace opscope::cuda
