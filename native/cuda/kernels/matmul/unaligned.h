// Products on tensor cores of few tiles and a long k, both operands as they lie (unaligned.cuh). Pure; see products_test.cc.
#pragma once
#include "shape.h"
#include "unaligned_task.h"

namespace opscope::cuda {

struct UnalignedPlan {
  UnalignedTask task;
  UnalignedTile tile;
  bool turned;  // rows of tiles are those of B's columns
  int64_t blocks;
  int shared;
};

// The tile that computes the least, and a share of k for every block that the GPU has at a time, each long enough for its ring.
inline UnalignedPlan unaligned_plan(int sm_count, int64_t element_bytes, const ProductShape& s) {
  constexpr int64_t least_stages = 3, long_share = 1024;  // bytes of k of a block
  const int few = std::min(s.m, s.n), length = std::max(s.m, s.n);
  int64_t least = 0;
  UnalignedPlan p = {};
  UnalignedTask& t = p.task;
  for (const UnalignedTile& tile : unaligned_tiles) {
    const bool square = tile.rows == tile.columns;
    // Of a shorter k, more blocks than parts of it that are long enough.
    if (square ? tile.rows > unaligned_tiles[0].rows && s.k * element_bytes < long_share * sm_count : few > tile.columns) continue;
    const int64_t cost = (square ? up(s.m, tile.rows) * up(s.n, tile.columns) : up(length, tile.rows)) * (tile.rows + 16) * (tile.columns + 16);
    if (least == 0 || cost < least) least = cost, p.tile = tile;
  }
  p.turned = p.tile.rows != p.tile.columns && s.m < s.n;
  t.m = p.turned ? s.n : s.m, t.n = p.turned ? s.m : s.n, t.k = s.k;
  t.batches_a = static_cast<int>(p.turned ? s.batch : s.batch_a), t.batches_b = static_cast<int>(p.turned ? s.batch_a : s.batch);
  t.row = p.turned ? 1 : s.n, t.column = p.turned ? s.n : 1;
  t.tiles_m = static_cast<int>(up(t.m, p.tile.rows)), t.tiles_n = static_cast<int>(up(t.n, p.tile.columns));
  const int64_t tiles = s.batch * t.tiles_m * t.tiles_n;
  t.splits = static_cast<int>(std::clamp<int64_t>(std::min(sm_count * p.tile.blocks / tiles, up(s.k * element_bytes, p.tile.step) / least_stages), 1, 512));
  p.blocks = tiles * t.splits;
  const int bytes = static_cast<int>(element_bytes);
  p.shared = p.tile.stages * (unaligned_bytes(p.tile.rows, bytes, p.turned ? s.trans_b : !s.trans_a, p.tile.step) + unaligned_bytes(p.tile.columns, bytes, p.turned ? !s.trans_a : s.trans_b, p.tile.step));
  return p;
}

// In tf32, where copies of operands would take longer than the product, and other kernels read rows of them a few bytes at a time (NOTES.md).
inline bool unaligned_pays(int sm_count, int64_t shared_bytes, const ProductShape& s) {
  constexpr int small = 64, middle = 96, large = 128;  // sides of tiles
  constexpr int least_few = 17, small_k = 1 << 14, turned_k = 1 << 12, turned_aligned_k = 1 << 15, long_k = 64'000, longest_k = 120'000;
  const int few = std::min(s.m, s.n), length = std::max(s.m, s.n);
  if (few < least_few || s.batch * 8 > sm_count || unaligned_plan(sm_count, 4, s).shared > shared_bytes) return false;
  // wgmma would have one operand turned first.
  const bool turned = s.trans_a && !s.trans_b;
  if (rows_aligned_a(s, 4) && rows_aligned_b(s, 4)) return turned && length <= large && s.k >= turned_aligned_k;
  if (length <= small) return s.k >= small_k;
  if (turned && s.batch * up(s.m, small) * up(s.n, small) <= 8 && s.k < long_k) return s.k >= turned_k;
  if (few <= small) return few > small / 2 && length <= large && s.k >= longest_k;
  return (length <= middle || (length <= large && few > middle)) && s.k >= long_k;
}

// A large matrix times a few vectors, whatever the alignment of its rows, by the tile that has few columns: where it was faster than kernels that stream the matrix (NOTES.md).
inline bool unaligned_pays_few(int sm_count, int64_t shared_bytes, int64_t element_bytes, const ProductShape& s) {
  constexpr int least_few = 3, least_few_rows = 5, least_many = 9, most_few = 16, least_length = 64;
  const int few = std::min(s.m, s.n), length = std::max(s.m, s.n);
  const bool rows = s.n < s.m ? !s.trans_a : s.trans_b, aligned = s.n < s.m ? rows_aligned_a(s, element_bytes) : rows_aligned_b(s, element_bytes);
  if (few < (rows ? least_few_rows : least_few) || few > most_few || length <= least_length || unaligned_plan(sm_count, element_bytes, s).shared > shared_bytes) return false;
  const double bytes = static_cast<double>(s.batch) * length * s.k * static_cast<double>(element_bytes);
  if (element_bytes == 2) return rows && !aligned && few < least_many && s.k >= 1 << 18 && bytes >= 5e7;
  if (!rows) return s.k >= 400 && bytes >= 4e7;
  if (few < least_many) return s.k > 160 && length >= 1024 && bytes >= 3e7;
  // wgmma reads aligned rows as they lie, matmul_shifted those of large matrices.
  constexpr int least_short_k = 80, most_short_k = 128;  // which matmul_shifted leaves
  if (!aligned && s.k >= least_short_k && s.k <= most_short_k) return bytes >= 8e6;
  return (aligned ? s.k <= most_short_k : length >= 256) && bytes >= 8e6 && bytes <= 3e7;
}

}  // namespace opscope::cuda
