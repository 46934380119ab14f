// Products on tensor cores with a short k, whatever the alignment of rows (panels.cuh). Pure; see products_panels_test.cc.
#pragma once
#include <algorithm>

#include "panels_task.h"
#include "shape.h"
#include "shifted.h"
#include "short.h"
#include "small.h"

namespace opscope::cuda {

// Of k in 16 bits, up to which a block has all of it at once.
constexpr int panels_at_once = 64;

struct PanelsPlan {
  PanelsTask task;
  int rows, columns;  // of a tile, as kernels are built
  int words;          // of 4 bytes of k in a panel, as kernels are built
  int64_t blocks;
  int64_t cost;       // of a panel of each block, in units of the tiles' costs
};

// The tile whose blocks cost the least, of which fewer than fill the GPU take as long as those. Costs are fitted to times of each tile (NOTES.md).
inline PanelsPlan panels_plan(int64_t element_bytes, const ProductShape& s) {
  struct Tile {
    int rows, columns;
    int cost, cost_tf32;
  };
  constexpr Tile built[] = {{64, 64, 4792, 4096}, {128, 80, 8806, 9216}, {80, 128, 7680, 9216}, {128, 48, 6390, 6144}, {48, 128, 4608, 6144}};
  constexpr int64_t least_blocks = 200;
  PanelsPlan p = {};
  PanelsTask& t = p.task;
  t.m = s.m, t.n = s.n, t.k = s.k, t.batches_a = static_cast<int>(s.batch_a);
  int64_t least = 0;
  for (const Tile& tile : built) {
    const int64_t tiles_m = up(s.m, tile.rows), tiles_n = up(s.n, tile.columns), blocks = s.batch * tiles_m * tiles_n, cost = std::max(blocks, least_blocks) * (element_bytes == 4 ? tile.cost_tf32 : tile.cost);
    if (least != 0 && cost >= least) continue;
    least = cost;
    p.rows = tile.rows, p.columns = tile.columns, p.blocks = blocks, p.cost = cost;
    t.tiles_m = static_cast<int>(tiles_m), t.tiles_n = static_cast<int>(tiles_n);
  }
  t.by_tiles_m = divide_by(t.tiles_m), t.by_tiles_n = divide_by(t.tiles_n);
  p.words = s.k * element_bytes <= 64 ? 16 : 32;
  return p;
}

// Of 16 bits: a short k beside kernels for few vectors, for short sums and for tiles, where it was faster on an H200 (NOTES.md).
inline bool is_panels_16(const ProductShape& s) {
  constexpr int most_vectors_side = 17, least_side = 13, least_side_k = 24, least_k = 5, most_k = 160, most_few = 96, middle_few = 128, short_k = 32;
  constexpr int64_t few_results = 650'000, many_results = 1'500'000, most_results = int64_t{1} << 25, most_blocks = int64_t{1} << 24;
  constexpr double most_products = 1.6e8;
  const int few = std::min(s.m, s.n);
  const int64_t results = s.batch * s.m * s.n;
  // More of k in the place of matmul_narrow and matmul_small, where no copies or large operands are at hand.
  constexpr int longer_k = 320, most_longer = 33, least_length = 129;
  if (s.k > most_k && s.k <= longer_k) return few >= least_side && few <= most_longer && std::max(s.m, s.n) >= least_length && !(rows_aligned_a(s, 2) && rows_aligned_b(s, 2)) && !shifted_pays(s, 2);
  if (s.k < least_k || s.k > most_k || few < (s.k < least_side_k ? most_vectors_side : least_side) || s.batch * up(s.m, 48) * up(s.n, 48) > most_blocks) return false;
  const bool vectors = s.n % 8 == 0, by_short = is_short(2, s);
  // matmul_short reads k in whole words where it is contiguous in both, and is as fast for many results.
  if (by_short && !s.trans_a && ((s.trans_b && s.k % (vectors ? 2 : 4) == 0) || results >= (few > middle_few ? many_results : 5'000'000))) return false;
  if (s.k <= 8) return s.n <= middle_few || results <= few_results || (!by_short && results <= 5'000'000);
  // wgmma reads whole vectors as they lie: of half a tile of columns and more down many rows it is faster.
  constexpr int wgmma_columns = 32, wgmma_k = 64, wgmma_rows = 50'000;
  if (vectors && rows_aligned_a(s, 2) && rows_aligned_b(s, 2) && s.n >= wgmma_columns && s.k >= wgmma_k && s.m >= wgmma_rows) return false;
  if (vectors && rows_aligned_a(s, 2) && rows_aligned_b(s, 2)) return few < 64 || (s.k <= short_k && results <= 2'000'000);
  if (few <= most_few) return true;
  return s.k <= short_k ? results <= most_results : static_cast<double>(results) * s.k <= most_products && (s.k <= panels_at_once || results <= 1'200'000);
}

// Beside kernels for few vectors, for short sums and for tiles. matmul_small takes few tiles.
inline bool takes_panels_16(int sm_count, const ProductShape& s) { return is_panels_16(s) && !(s.batch * up(s.m, small_tile) * up(s.n, small_tile) <= sm_count && is_small(sm_count, s)); }

// Of tf32: with more vectors than other kernels have in two groups.
inline bool is_panels_tf32(const ProductShape& s) {
  constexpr int least_side = 17, most_side = 32, least_k = 17, least_contiguous_k = 25, most_k = 128;
  const int few = std::min(s.m, s.n);
  return few >= least_side && few <= most_side && s.k >= ((s.n < s.m ? !s.trans_a : s.trans_b) ? least_contiguous_k : least_k) && s.k <= most_k && !is_short(4, s);
}

// Of tf32 in the place of tiles of mma.sync.
inline bool is_panels_of_few_tiles(const ProductShape& s) { return s.k <= 128 && s.batch * s.m * s.n <= 1'500'000; }

}  // namespace opscope::cuda
