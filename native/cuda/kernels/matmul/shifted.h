// Products of a large operand whose rows do not start on 16 bytes (shifted.cuh). Pure; see products_test.cc.
#pragma once
#include "shape.h"
#include "shifted_task.h"

namespace opscope::cuda {

struct ShiftedPlan {
  int columns;     // of a tile, as kernels are built
  int tile_rows;   // of X, up to shifted_rows
  int64_t splits;  // of k
  double cost;     // ns, without launches
};

// Stages of the ring, what each row takes that a warp stores through shared memory, and what aligns the ring.
constexpr unsigned shifted_shared_bytes(int columns) { return static_cast<unsigned>(shifted_stages(columns) * (shifted_stage + columns * 128) + shifted_rows * wgmma_store_row(columns) + 1024); }

// Whether B is X, the operand that is read as it lies: the larger one of those whose rows do not start on 16 bytes.
inline bool shifted_x_is_b(const ProductShape& s, int64_t element_bytes) {
  return rows_aligned_a(s, element_bytes) || (!rows_aligned_b(s, element_bytes) && s.n * s.batch > s.m * s.batch_a);
}

// Of the other side of the result: fewer take this kernel by bounds of their own, before those of a few vectors (choice.h).
constexpr int few_of_shifted = 33;

// Bounds are where it was faster than copies of X, than matmul_long and than kernels of a few vectors (NOTES.md).
inline bool shifted_pays(const ProductShape& s, int64_t element_bytes) {
  constexpr int most_turned = 65'535, least_k = 33;
  if ((rows_aligned_a(s, element_bytes) && rows_aligned_b(s, element_bytes)) || s.batch > most_turned || up(s.k, 32) > most_turned || s.k < least_k) return false;
  const bool x_is_b = shifted_x_is_b(s, element_bytes);
  const int64_t x = x_is_b ? s.n : s.m, few = x_is_b ? s.m : s.n;
  const double bytes = static_cast<double>(x_is_b ? s.batch : s.batch_a) * static_cast<double>(x) * s.k * static_cast<double>(element_bytes);  // of X
  const bool k_contiguous = x_is_b ? s.trans_b : !s.trans_a;
  // In 16 bits, with a very long k copies and tiles of mma.sync take longer, whatever the sides.
  constexpr int very_long_k = 40'000, least_side = 24, most_few = 320;
  if (element_bytes == 2 && s.k >= very_long_k && std::min(s.m, s.n) >= least_side && few <= most_few) return true;
  if (few < few_of_shifted) return element_bytes == 4 ? few >= (k_contiguous ? 9 : 10) && x >= 2 * few && s.k >= 129 && bytes >= (k_contiguous ? 4e6 : 8e6) : few >= 9 && x >= 3 * few && s.k >= 100 && bytes >= (k_contiguous ? 8.3e6 : 5e6);
  // With a long k copies take longer than the product, whatever the sides.
  constexpr int long_k = 16'000, most_few_of_long_k = 320, least_of_long_k = 65;
  if (element_bytes == 4) return few <= 1024 && (x >= 4 * few ? bytes >= 2e6 : s.k >= long_k && few <= most_few_of_long_k && x >= least_of_long_k && bytes >= 8e6);
  // A copy of X is read and written once more, for all of its uses by one tile of columns or two. One that repeats over the batch is copied once.
  if (few > 128) return few <= 512 && x >= few && bytes >= 7e6 && s.k >= (s.batch_a < s.batch ? 129 : 257);
  return few <= 128 && x >= 4 * few && bytes >= 8e6;
}

// In tf32 with k contiguous in neither operand, in the place of tiles of mma.sync, which read a word at a time (NOTES.md).
inline bool shifted_pays_small(const ProductShape& s) {
  constexpr int least_side = 64, most_side = 1024, least_k = 150, most_k = 256;
  return s.batch == 1 && s.trans_a && !s.trans_b && !(rows_aligned_a(s, 4) && rows_aligned_b(s, 4)) && s.k >= least_k && s.k <= most_k && std::min(s.m, s.n) >= least_side && std::max(s.m, s.n) <= most_side;
}

// Costs in ns.
inline ShiftedPlan shifted_plan(int sm_count, int64_t element_bytes, const ProductShape& s) {
  const bool x_is_b = shifted_x_is_b(s, element_bytes);
  const int x = x_is_b ? s.n : s.m, y = x_is_b ? s.m : s.n;
  const int64_t steps = up(s.k * element_bytes, 128);
  const double results = static_cast<double>(s.batch) * x * y;
  ShiftedPlan best = {};
  double least = 0;
  for (const int columns : {64, 128, 192, 256}) {
    if (columns == 192 && element_bytes == 4) continue;
    for (int rows = shifted_rows; rows >= 48; rows -= 8) {
      const int64_t tiles = s.batch * up(x, rows) * up(y, columns), most = k_splits(sm_count, tiles, steps, 4);
      for (const int64_t splits : {int64_t{1}, most}) {
        const auto waves = static_cast<double>(up(tiles * splits, sm_count)), each = static_cast<double>(up(steps, splits));
        const double stage = std::max(columns * 2.4, (rows * 144 + columns * 128) / 70.0), end = 600 + columns * rows * static_cast<double>(splits > 1 ? 4 : element_bytes) / 20;
        const double cost = waves * (each * stage + end) + (splits > 1 ? 1400 + 8e-4 * static_cast<double>(splits) * results : 0);
        if (least == 0 || cost < least) least = cost, best = {columns, rows, splits, cost};
      }
    }
    if (columns >= y) break;
  }
  return best;
}

}  // namespace opscope::cuda
