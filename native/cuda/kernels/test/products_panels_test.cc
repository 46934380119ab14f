// Products with a short k on tensor cores by panels: part of opscope_cuda_plan_test.
#include <algorithm>
#include <utility>

#include "kernels/matmul/panels.h"
#include "kernels/matmul/resident.h"
#include "kernels/matmul/tall.h"
#include "kernels/test/expect.h"

using namespace opscope::cuda;

namespace {

// Tiles cover the result once, as kernels divide by their numbers.
bool panels() {
  bool right = true;
  for (const int m : {1, 33, 48, 64, 65, 80, 129, 1001, 30'001})
    for (const int n : {1, 34, 48, 64, 72, 80, 128, 257, 4097})
      for (const int k : {3, 16, 32, 33, 64, 130})
        for (const int64_t bytes : {2, 4})
          for (const int64_t batch : {1, 7}) {
            const PanelsPlan p = panels_plan(bytes, {batch, m, n, k, false, true});
            const PanelsTask& t = p.task;
            right = right && t.tiles_m * p.rows >= m && (t.tiles_m - 1) * p.rows < m && t.tiles_n * p.columns >= n && (t.tiles_n - 1) * p.columns < n && p.blocks == batch * t.tiles_m * t.tiles_n;
            right = right && (p.words == 16 ? k * bytes <= 64 : p.words == 32) && t.batches_a == batch;
          }
  return right;
}

// Warps cover the long side once, by kernels that are built, and blocks of a multiprocessor have shared memory for their results.
bool tall() {
  bool right = true;
  int taken = 0;
  for (const int length : {1000, 25'000, 585'376, 1'000'001})
    for (const int few : {15, 17, 24, 33, 40, 48, 56, 64})
      for (const int k : {3, 16, 40, 88, 128, 136, 168, 248})
        for (const int64_t bytes : {2, 4})
          for (const bool columns : {false, true})
            for (const int layout : {0, 1, 2, 3}) {
              const ProductShape s = {1, columns ? few : length, columns ? length : few, k, (layout & 1) != 0, (layout & 2) != 0};
              const TallPlan p = tall_plan(132, 227 << 10, bytes, s);
              if (p.chunks == 0) continue;
              taken++;
              const TallTask& t = p.task;
              const int64_t rows = 8 * (16 / bytes), resident = tall_blocks(bytes, p.chunks, p.pairs);
              right = right && p.columns == columns && t.length == length && t.few == few && t.tiles * rows >= length && (t.tiles - 1) * rows < length && t.few_tiles % 2 == 0 && t.few_tiles * 8 >= few && t.rounds * p.chunks * 64 >= k * bytes && (p.chunks <= 4 || bytes == 4) && (p.pairs > 0 ? p.pairs <= 3 : t.rounds == 1);
              right = right && p.blocks >= 1 && p.blocks <= 132 * resident && (p.k_contiguous ? k : length) * bytes % 16 == 0 && (columns ? length * bytes % 16 == 0 : few % 8 == 0) && p.shared <= 227 << 10;
            }
  return right && taken > 100;
}

// Tiles cover the long side once, and each warp group has slots of its own in a ring that fits beside the short operand and the results.
bool resident() {
  bool right = true;
  int taken = 0;
  for (const int length : {2000, 25'000, 286'664, 485'192, 1'000'001})
    for (const int few : {16, 41, 56, 64, 72, 97, 104, 112, 128, 136})
      for (const int k : {3, 16, 33, 40, 64, 104, 128, 136, 200})
        for (const int64_t bytes : {2, 4})
          for (const bool columns : {false, true})
            for (const int layout : {0, 1, 2, 3}) {
              const ProductShape s = {1, columns ? few : length, columns ? length : few, k, (layout & 1) != 0, (layout & 2) != 0};
              const ResidentPlan p = resident_plan(132, 227 << 10, bytes, s);
              if (p.lines == 0) continue;
              taken++;
              const ResidentTask& t = p.task;
              right = right && p.columns == columns && t.length == length && t.few == few && few <= p.lines && t.tiles * resident_tile >= length && (t.tiles - 1) * resident_tile < length && t.chunks * 128 >= k * bytes && (t.chunks - 1) * 128 < k * bytes;
              right = right && t.slots >= resident_groups && t.slots % resident_groups == 0 && t.slot % 1024 == 0 && t.bytes <= t.slot && (columns || t.staged == resident_tile * few * bytes) && resident_groups * t.staged >= few * k * bytes && t.staged % 16 == 0;
              right = right && p.shared == t.chunks * p.lines * 128 + t.slots * (t.slot + 16) + resident_groups * t.staged + 16 && p.shared <= 227 << 10 && p.blocks <= 132 && p.box_rows <= 256 && (p.k_contiguous ? k : length) * bytes % 16 == 0 && (!columns || length * bytes % 16 == 0);
            }
  return right && taken > 100;
}

}  // namespace

void panel_products() {
  expect(resident(), "tiles cover the long side of a product whose short operand stays in shared memory once");
  expect(tall(), "warps cover the long side of a product with a short k once, in whole vectors");
  expect(panels(), "tiles of products by panels cover the result once");
  const auto tile = [](const ProductShape& s) { return std::make_pair(panels_plan(2, s).rows, panels_plan(2, s).columns); };
  expect(tile({1, 198'801, 78, 50, false, false}) == std::make_pair(128, 80) && tile({1, 33, 60'000, 20, false, true}) == std::make_pair(48, 128) && tile({1, 79, 240'832, 16, false, true}) == std::make_pair(80, 128) && tile({1, 32'769, 17, 100, true, false}) == std::make_pair(128, 48),
         "tiles are as narrow as the result");
  expect(is_panels_16({1, 20'000, 77, 40, false, true}) && is_panels_16({7, 1511, 181, 31, false, true}) && is_panels_16({1, 32'769, 17, 100, true, false}) && is_panels_16({1, 14'563, 67, 5, true, true}) && is_panels_16({1, 182, 385, 32, false, true}) && is_panels_16({1, 65'537, 15, 31, true, false}),
         "16 bits with a short k take panels, whatever the alignment of rows");
  expect(!is_panels_16({1, 59, 232'224, 24, false, true}) && !is_panels_16({1, 1785, 12'434, 32, false, false}) && !is_panels_16({1, 1024, 8192, 23, true, false}) && !is_panels_16({1, 1500, 2501, 100, true, true}) && !is_panels_16({7, 513, 4096, 61, false, false}) && !is_panels_16({1, 58'573, 11, 22, false, true}) &&
             !is_panels_16({1, 1906, 551, 4, false, false}),
         "but for whole words of k, many results, whole vectors and few vectors");
  expect(is_panels_tf32({8, 18, 2048, 121, true, true}) && is_panels_tf32({1, 29'336, 20, 17, true, false}) && !is_panels_tf32({1, 33'434, 29, 17, false, true}) && !is_panels_tf32({1, 32'769, 129, 83, true, false}), "in tf32 they are for 17 to 32 vectors, and in the place of tiles of mma.sync");
}
