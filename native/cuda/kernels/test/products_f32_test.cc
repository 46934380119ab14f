// f32 products whose blocks hold a short k in shared memory, of which a multiprocessor has several, that have equal runs of stages, or that share tiles evenly, tf32 products of a long k off 16 bytes, and products of bytes with a few rows: part of opscope_cuda_plan_test.
#include <algorithm>

#include "kernels/matmul/scaled_few.h"
#include "kernels/matmul/runs.h"
#include "kernels/matmul/several.h"
#include "kernels/matmul/slab.h"
#include "kernels/matmul/unaligned.h"
#include "kernels/test/expect.h"

using namespace opscope::cuda;

namespace {

constexpr int64_t shared_bytes = 227 << 10;  // of a block, on Hopper

// Tiles of f32 with a short k cover the result once, and shared memory holds both operands or the results.
bool slab() {
  bool right = true;
  for (const int m : {33, 64, 65, 129, 4097, 65'537})
    for (const int n : {33, 49, 64, 65, 128, 129, 258, 4100})
      for (const int k : {9, 17, 32, 33, 64, 65, 95, 96})
        for (const int64_t batch : {1, 7}) {
          const SlabPlan p = slab_plan({batch, m, n, k, false, false});
          const SlabTask& t = p.task;
          right = right && p.rows * p.columns == 64 * 128 && p.rows % slab_warp_rows == 0 && p.columns % slab_warp_columns == 0 && p.rows / slab_warp_rows * (p.columns / slab_warp_columns) * 32 == slab_threads;
          right = right && t.tiles_m * p.rows >= m && (t.tiles_m - 1) * p.rows < m && t.tiles_n * p.columns >= n && (t.tiles_n - 1) * p.columns < n && p.blocks == batch * t.tiles_m * t.tiles_n;
          right = right && p.shared >= k * (slab_pitch(p.rows) + slab_pitch(p.columns)) * 4 && (n % 4 == 0 || p.shared >= p.rows * slab_pitch(p.columns) * 4) && p.shared <= 99 << 10 && (k > 64 || p.shared <= 55 << 10);
        }
  return right;
}

// Tiles of f32 of which a multiprocessor has several cover the result once, shares have as much of k as each other but for the last, and shared memory holds as many blocks as the costs say.
bool several() {
  bool right = true;
  for (const SeveralTile& t : several_tiles)
    for (const int layout : {0, 1, 2, 3})
      for (const int k : {96, 97}) {
        const int64_t bytes = several_shared_bytes(t, {1, 73, 73, k, (layout & 1) != 0, (layout & 2) != 0});
        right = right && t.resident * (bytes + 1024) <= 228 << 10 && t.resident * t.threads <= 2048 && bytes <= shared_bytes && bytes >= int64_t{t.rows} * (t.columns + 4) * 4;
      }
  for (const int m : {73, 128, 129, 585, 4097})
    for (const int n : {73, 128, 131, 8192})
      for (const int k : {17, 96, 209, 1600})
        for (const int64_t batch : {1, 7}) {
          const SeveralPlan p = several_plan(132, {batch, m, n, k, false, false});
          const int64_t steps = up(k, p.tile->step);
          right = right && p.blocks == batch * up(m, p.tile->rows) * up(n, p.tile->columns) && p.splits >= 1 && up(steps, p.splits) * (p.splits - 1) < steps && (p.splits == 1 || p.splits * batch * m * n <= 1 << 24);
        }
  return right;
}

// Blocks have a tile each, or runs of all of them and the whole tiles beside them cover all stages once, each tile by a few runs, and shared memory holds the blocks of a multiprocessor.
bool runs() {
  bool right = true;
  int whole = 0, shared = 0;
  for (const int m : {73, 585, 2100, 4097, 30'001})
    for (const int n : {73, 131, 1024, 8192})
      for (const int k : {40, 96, 209, 1600})
        for (const int64_t batch : {1, 7, 33})
          for (const int layout : {0, 1, 2, 3}) {
            const ProductShape s = {batch, m, n, k, (layout & 1) != 0, (layout & 2) != 0};
            const RunsPlan p = runs_plan(132, s);
            if (p.tile == nullptr) continue;
            const int64_t steps = up(k, runs_step), bytes = runs_shared_bytes(*p.tile), resident = p.tile->resident;
            right = right && resident * (bytes + 1024) <= 228 << 10 && resident * runs_threads <= 2048 && p.tiles == batch * up(m, p.tile->rows) * up(n, p.tile->columns);
            right = right && p.runs.rounds >= 0 && p.runs.longer >= 0 && p.runs.longer < p.blocks && p.runs.stages * p.blocks + p.runs.longer == (p.tiles - p.runs.rounds * p.blocks) * steps;
            const bool alone = p.blocks == p.tiles && p.runs.longer == 0;
            right = right && (alone || (p.blocks == 132 * resident && p.runs.stages * 8 >= steps - 7));
            (alone ? whole : shared)++;
          }
  return right && whole > 0 && shared > 0;
}

// Blocks of products whose operands are read as they lie cover the result once, whichever side is long, each block has a stage of k, and shared memory holds the rings of all blocks of a multiprocessor.
bool unaligned() {
  bool right = true;
  for (const int m : {1, 33, 128, 129, 1001})
    for (const int n : {5, 35, 123, 255})
      for (const int k : {1, 33, 9001, 524'289})
        for (const int64_t bytes : {2, 4})
          for (const int64_t batch : {1, 7})
            for (const int layout : {0, 1, 2, 3}) {
              const UnalignedPlan p = unaligned_plan(132, bytes, {batch, m, n, k, (layout & 1) != 0, (layout & 2) != 0, 1});
              const UnalignedTask& t = p.task;
              const int64_t steps = up(k * bytes, p.tile.step);
              right = right && t.m == (p.turned ? n : m) && t.n == (p.turned ? m : n) && t.batches_a == (p.turned ? batch : 1) && t.batches_b == (p.turned ? 1 : batch) && int64_t{t.m - 1} * t.row + int64_t{t.n - 1} * t.column + 1 == int64_t{m} * n;
              right = right && t.tiles_m * p.tile.rows >= t.m && (t.tiles_m - 1) * p.tile.rows < t.m && t.tiles_n * p.tile.columns >= t.n && (t.tiles_n - 1) * p.tile.columns < t.n;
              right = right && t.splits >= 1 && t.splits <= steps && p.blocks == batch * t.tiles_m * t.tiles_n * t.splits && (p.shared + 1024) * p.tile.blocks <= 228 << 10;
            }
  return right;
}

// Tiles that blocks share evenly: the others fill whole rounds, and every block has a stage at least.
bool even() {
  bool right = true;
  int found = 0;
  for (const int m : {129, 515, 1025, 1536, 4097})
    for (const int n : {129, 320, 1025, 2300})
      for (const int k : {65, 257, 1536, 12'037})
        for (const int64_t batch : {1, 7})
          for (const int layout : {0, 1, 2, 3}) {
            const F32Plan p = f32_plan(132, {batch, m, n, k, (layout & 1) != 0, (layout & 2) != 0});
            if (!p.even) continue;
            const int64_t tiles = batch * up(m, p.rows) * up(n, p.columns);
            found++;
            right = right && p.copied && p.splits == 1 && p.shared <= tiles && (tiles - p.shared) % 132 == 0 && p.shared % 132 != 0 && p.shared * up(k, 32) >= 132 && f32_shared_bytes(p) <= 227 << 10;
          }
  return right && found > 0;
}

// Products of bytes with a few rows: blocks and their parts of k cover the product once.
bool scaled_few() {
  bool right = true;
  for (const int64_t few : {1, 8, 9, 32})
    for (const int64_t length : {500, 3008, 65'536, 1'048'577})
      for (const int64_t k : {16, 144, 4096, 65'536})
        for (const bool turned : {false, true}) {
          const ScaledFewPlan p = turned ? scaled_few_plan(132, length, few, k, true) : scaled_few_plan(132, few, length, k, false);
          if (p.vectors == 0) continue;
          const int64_t tiles = scaled_few_warps / p.parts;
          right = right && p.rows_few == !turned && p.few == few && p.length == length && p.vectors >= few && scaled_few_warps % p.parts == 0 && p.share % scaled_few_step == 0 && int64_t{p.share} * p.parts >= k;
          right = right && p.blocks * tiles * scaled_few_rows >= length && (p.blocks - 1) * tiles * scaled_few_rows < length;
        }
  return right;
}

}  // namespace

void f32_products() {
  expect(slab(), "tiles of f32 with a short k cover the result once, in shared memory that leaves room for two or four blocks");
  const auto by_slab = [](int m, int n, int k) { return is_slab(shared_bytes, {1, m, n, k, false, true}); };
  expect(by_slab(4097, 846, 23) && by_slab(12'809, 258, 29) && by_slab(64, 262'144, 33) && by_slab(12'765, 129, 64) && slab_plan({1, 262'145, 49, 48, true, true}).rows == 128 && slab_plan({1, 64, 262'144, 33, true, false}).rows == 64 && by_slab(4097, 846, 9) && !by_slab(4097, 846, 8) &&
             !by_slab(4097, 846, 97) && !by_slab(37'136, 32, 23) && !by_slab(300, 300, 64) && !by_slab(4000, 64, 64),
         "f32 with a short k and both sides longer than a few rows takes tiles that have all of k");
  expect(several(), "tiles of which a multiprocessor has several cover the result once, and fit shared memory");
  const auto tile = [](const ProductShape& s) { return several_plan(132, s); };
  expect(tile({1, 257, 276, 513, false, true}).tile->rows == 32 && tile({1, 257, 276, 513, false, true}).splits > 1 && tile({1, 864, 744, 132, true, false}).tile->threads == 256 && tile({1, 31'616, 92, 165, true, false}).tile->rows == 128 && tile({1, 31'616, 92, 165, true, false}).splits == 1,
         "few results take small tiles and shares of k, one round of blocks more threads, and many blocks large tiles");
  expect(runs(), "runs of stages and whole tiles cover the product once");
  const auto by_runs = [](const ProductShape& s) { return is_runs(132, shared_bytes, s); };
  expect(by_runs({1, 977, 3276, 2048, true, false}) && by_runs({1, 920, 16'784, 365, true, true}) && by_runs({1, 837, 2896, 1005, true, true}) && by_runs({1, 1174, 3641, 719, false, true}) && by_runs({1, 1025, 1025, 280, false, false}) && by_runs({1, 288, 2933, 1788, false, true}) && !by_runs({1, 4096, 4096, 4096, false, false}) && !by_runs({1, 72, 40'000, 300, false, false}) &&
             !by_runs({1, 12'765, 129, 128, false, false}),
         "products of a few rounds of large tiles take them, and fewer tiles of a long k, but for large products and slim sides");
  expect(runs_plan(132, {1, 288, 2933, 1788, false, true}).tile->rows == 96, "by the tile that computes the least");
  const auto by_several = [](const ProductShape& s, bool only_tiles = false) { return is_several(132, shared_bytes, s, only_tiles); };
  expect(by_several({1, 585, 8192, 209, false, true}) && by_several({1, 7443, 1025, 144, false, true}) && by_several({1, 257, 276, 513, false, true}) && by_several({1, 384, 1572, 72, true, false}) && !by_several({1, 4096, 4096, 512, false, true}) &&
             !by_several({1, 2049, 35'069, 409, false, false}) && !by_several({1, 4097, 846, 16, false, false}) && !by_several({1, 72, 4096, 144, false, true}) && by_several({1, 72, 4096, 144, false, true}, true) && by_several({1, 129, 443, 19, true, true}, true) && !by_several({1, 4096, 4096, 4096, false, false}),
         "17 to 9000 of k in f32 takes them, but for slim sides and large products");
  expect(unaligned(), "tiles and shares of operands that are read as they lie cover the product once");
  const auto pays = [](const ProductShape& s) { return unaligned_pays(132, shared_bytes, s); };
  expect(pays({1, 128, 123, 524'289, false, true}) && pays({1, 33, 35, 1'544'317, false, true}) && pays({1, 90, 87, 131'072, true, false}) && pays({1, 199, 65, 4139, true, false}) && pays({1, 61, 113, 120'227, false, false}) && !pays({1, 128, 124, 524'288, false, true}) &&
             !pays({1, 128, 123, 1001, false, true}) && !pays({1, 61, 113, 90'001, false, false}) && !pays({1, 76, 128, 432'159, false, true}) && !pays({1, 4095, 4097, 9001, false, true}) && !unaligned_pays(132, 64 << 10, {1, 128, 123, 524'289, false, true}),
         "tf32 of few tiles and a long k is read as it lies");
  const auto of_few = [](int64_t bytes, const ProductShape& s) { return unaligned_pays_few(132, shared_bytes, bytes, s); };
  expect(of_few(4, {1, 512, 4, 119'633, true, false}) && of_few(4, {1, 8, 30'000, 1024, false, true}) && of_few(4, {1, 13, 32'769, 593, true, false}) && of_few(2, {1, 89, 5, 1'048'577, false, true}) && !of_few(4, {1, 1691, 4, 7823, false, true}) && !of_few(4, {1, 10, 20'000, 1024, false, true}) &&
             !of_few(2, {1, 688, 8, 26'207, false, true}) && !of_few(4, {1, 14, 3257, 239, true, true}),
         "so is a large matrix times a few vectors");
  expect(unaligned_plan(132, 4, {1, 33, 35, 1'544'317, false, true}).tile.rows == 64 && unaligned_plan(132, 4, {1, 90, 87, 131'072, true, false}).tile.rows == 96 && unaligned_plan(132, 4, {1, 106, 85, 4209, true, false}).tile.rows == 64 && unaligned_plan(132, 4, {1, 8, 30'000, 1024, false, true}).tile.columns == 16,
         "by the tile that computes the least, and by small ones where k is shorter");
  expect(even(), "tiles that blocks share evenly are less than one for each, beside whole rounds");
  expect(f32_plan(132, {1, 1536, 1536, 1536, false, false}).even && f32_plan(132, {1, 1025, 181, 12'037, false, false}).even && !f32_plan(132, {1, 9697, 513, 7685, false, true}).even && !f32_plan(132, {1, 4096, 4096, 4096, false, false}).even,
         "tiles that do not fill the GPU are shared evenly where operands fit L2");
  expect(f32_plan(132, {1, 128, 16'384, 4096, true, true}).rows == 128 && f32_plan(132, {1, 128, 16'384, 4096, true, true}).columns == 128, "tiles of 128 x 128 that give every multiprocessor one are taken");
  expect(f32_plan(132, {1, 8329, 256, 8193, true, true}).copied && !f32_plan(132, {1, 4096, 4096, 4096, false, true}).copied, "threads copy operands off 16 bytes where a copy before would take longer");
  expect(scaled_few(), "tiles of a long matrix and a few rows of bytes cover it once, and parts cover k");
  const auto by_few = [](int64_t m, int64_t n, int64_t k) { return scaled_few_plan(132, m, n, k, true).vectors; };
  expect(by_few(5, 1 << 20, 128) == 8 && by_few(65'536, 16, 256) == 16 && by_few(24, 65'536, 256) == 32 && by_few(24, 65'536, 512) == 0 && by_few(33, 65'536, 256) == 0 && by_few(5, 1 << 20, 120) == 0 && by_few(4, 1024, 512) == 0, "a long matrix of bytes and a few rows on 16 bytes stream it");
}
