// Products with a short k on tensor cores by panels: part of opscope_cuda_plan_test.
#include <algorithm>
#include <utility>

#include "kernels/matmul/panels.h"
#include "kernels/matmul/resident.h"
#include "kernels/matmul/small.h"
#include "kernels/matmul/small_tf32.h"
#include "kernels/matmul/tall.h"
#include "kernels/matmul/vectors.h"
#include "kernels/matmul/wide.h"
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

// Tiles and shares of a matrix times a few vectors cover the long side and k once, in whole pieces of 16 bytes, and blocks share k where there are clusters.
bool vectors() {
  bool right = true;
  int taken = 0, shared_k = 0;
  for (const int few : {1, 2, 3, 4, 5, 8, 9})
    for (const int length : {33, 631, 1024, 4097, 40'000, 1'000'003})
      for (const int k : {16, 65, 257, 512, 1637, 8192, 65'537})
        for (const int64_t batch : {1, 8})
          for (const int layout : {0, 1, 2, 3})
            for (const int64_t bytes : {2, 4})
              for (const bool clusters : {false, true})
                for (const bool columns : {false, true}) {
                  const ProductShape s = {batch, columns ? length : few, columns ? few : length, k, (layout & 1) != 0, (layout & 2) != 0};
                  const VectorsPlan p = vectors_plan(132, clusters, bytes, s);
                  if (p.vectors == 0) continue;
                  taken++, shared_k += p.blocks > 1;
                  const int lanes = static_cast<int>(16 / bytes);
                  right = right && few <= p.vectors && p.vectors <= 8 && p.width * p.tiles >= length && p.width * (p.tiles - 1) < length && p.share % lanes == 0 && int64_t{p.share} * p.blocks >= k && int64_t{p.share} * (p.blocks - 1) < k;
                  right = right && (clusters || p.blocks == 1) && p.blocks <= 8 && p.rows == (columns ? !s.trans_a : s.trans_b) && p.columns_are_few == columns && p.shared <= 96 << 10;
                  right = right && (p.rows ? p.width == p.each * vectors_threads / 32 && p.chunk % (32 * lanes) == 0 : p.width == (length % lanes == 0 ? p.each : p.each - 1) * lanes && p.chunk % (vectors_threads / p.each) == 0);
                }
  return right && taken > 100 && shared_k > 10;
}

// Blocks of small products have all of their share of k in shared memory, and those of a cluster all of k.
bool small_products() {
  bool right = true;
  int taken = 0, shared_k = 0;
  for (const int m : {5, 17, 63, 269, 395, 1669, 9067})
    for (const int n : {5, 17, 64, 121, 257})
      for (const int k : {16, 33, 87, 169, 376, 816, 2049})
        for (const int64_t batch : {1, 25})
          for (const int layout : {0, 1, 2, 3})
            for (const bool clusters : {false, true}) {
              const ProductShape s = {batch, m, n, k, (layout & 1) != 0, (layout & 2) != 0};
              const int joined = small_joined(132, clusters, s);
              right = right && joined >= 1 && joined <= 8 && (joined & (joined - 1)) == 0 && (joined == 1 || (clusters && up(up(k, 16), joined) * (joined - 1) < up(k, 16)));
              const SmallPlanTf32 p = small_plan_tf32(132, clusters, 227 << 10, s);
              if (p.rows == 0) continue;
              taken++, shared_k += p.task.blocks > 1;
              const SmallTaskTf32& t = p.task;
              right = right && t.share % 8 == 0 && t.share * t.blocks >= k && t.share * (t.blocks - 1) < k && (clusters || t.blocks == 1) && p.shared <= 227 << 10 && p.blocks == up(m, p.rows) * up(n, p.columns) * t.blocks && t.tiles_n == up(n, p.columns);
            }
  return right && taken > 100 && shared_k > 10;
}

// Tiles of long rows overlap by what a row can lie behind a sector, and blocks cover all rows.
bool wide() {
  bool right = true;
  int taken = 0;
  for (const int m : {16, 90, 573, 4097, 16'384})
    for (const int n : {400, 1210, 4097, 8192, 204'902})
      for (const int k : {1, 8, 31, 33, 64, 65})
        for (const int64_t batch : {1, 5})
          for (const int layout : {0, 1, 2, 3})
            for (const int64_t bytes : {2, 4}) {
              const ProductShape s = {batch, m, n, k, (layout & 1) != 0, (layout & 2) != 0};
              const WidePlan p = wide_plan(132, bytes, s);
              if (p.words == 0) continue;
              taken++;
              const WideTask& t = p.task;
              const int64_t space = 32 / bytes, width = wide_panel / bytes - space;
              right = right && t.tiles * width >= n + space - 1 && (t.tiles - 1) * width < n + space - 1 && p.blocks == t.tiles * up(up(m, wide_rows), t.each) && p.words * 4 >= k * bytes && p.shared <= 64 << 10;
            }
  return right && taken > 50;
}

}  // namespace

void panel_products() {
  expect(vectors(), "tiles and shares of a matrix times a few vectors cover it once");
  expect(small_products(), "blocks of small products cover k once");
  expect(wide(), "tiles of long rows of results cover them wherever rows start");
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
