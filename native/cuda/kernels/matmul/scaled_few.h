// scaled_matmul of a long matrix and a few rows of the other (scaled_matmul_few.cu). Pure; see products_test.cc.
#pragma once
#include <algorithm>

#include "shape.h"

namespace opscope::cuda {

struct ScaledFewPlan {
  bool rows_few = false;     // m is the short side
  int64_t length = 0, few = 0;
  int vectors = 0;           // of the short side, as kernels are built: 8, 16 or 32; 0 where tiles are faster
  int parts = 1, share = 0;  // warps of a block that share k, and what each has of it
  int64_t blocks = 0;
};

constexpr int scaled_few_warps = 8, scaled_few_rows = 16, scaled_few_step = 64;  // of a block; of the long matrix, of a warp; bytes of k that four lanes read at once

// Bounds are where it was faster than tiles on an H200 (NOTES.md).
inline ScaledFewPlan scaled_few_plan(int sm_count, int64_t m, int64_t n, int64_t k, bool fp8) {
  constexpr int most_few = 32, row_bytes = 16, warps_of_sm = 24, least_warps_of_sm = 4, least_share = 256, tiles_few = 17, most_k = 2048;
  constexpr double least_bytes = 2.5e6;
  ScaledFewPlan p;
  p.rows_few = m <= n, p.length = std::max(m, n), p.few = std::min(m, n);
  const int64_t tiles = up(p.length, scaled_few_rows);
  // Of more rows than two groups of tensor cores tiles are faster, but for a short k.
  if (k > (p.few < tiles_few ? most_k : fp8 ? 256 : 128)) return p;
  if (p.few > most_few || k % row_bytes != 0 || p.length >= int64_t{1} << 31 || static_cast<double>(p.length) * static_cast<double>(k) < least_bytes) return p;
  while (p.parts < scaled_few_warps && tiles * p.parts < int64_t{sm_count} * warps_of_sm && k >= least_share * 2 * p.parts) p.parts *= 2;
  if (tiles * p.parts < int64_t{sm_count} * least_warps_of_sm) return p;
  p.share = static_cast<int>(up(up(k, p.parts), scaled_few_step) * scaled_few_step);
  p.blocks = up(tiles, scaled_few_warps / p.parts);
  p.vectors = p.few <= 8 ? 8 : p.few <= 16 ? 16 : 32;
  return p;
}

}  // namespace opscope::cuda
