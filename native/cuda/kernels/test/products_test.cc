// Which kernel a product takes, its tiles and its shares of k: part of opscope_cuda_plan_test.
#include <algorithm>
#include <string>

#include "kernels/matmul/deep.h"
#include "kernels/matmul/each.h"
#include "kernels/matmul/f32.h"
#include "kernels/matmul/long.h"
#include "kernels/matmul/narrow.h"
#include "kernels/matmul/shallow.h"
#include "kernels/matmul/short.h"
#include "kernels/matmul/shape.h"
#include "kernels/matmul/shifted.h"
#include "kernels/matmul/slim.h"
#include "kernels/matmul/small.h"
#include "kernels/matmul/stream.h"
#include "kernels/matmul/wgmma.h"
#include "kernels/test/expect.h"

using namespace opscope::cuda;

namespace {

constexpr int64_t shared_bytes = 227 << 10;  // of a block, on Hopper

// As kernels divide by it.
unsigned quotient(unsigned n, const Divisor& d) { return d.by == 1 ? n : static_cast<unsigned>((uint64_t{n} * d.multiplier) >> 32) >> d.shift; }

bool divides() {
  constexpr uint64_t end = uint64_t{1} << 31;
  for (uint64_t by = 1; by < end; by = by * 9 / 8 + 1) {
    const Divisor d = divisor_of(static_cast<unsigned>(by));
    for (uint64_t n = 0; n < end; n = n * 5 / 4 + 1)
      if (quotient(static_cast<unsigned>(n), d) != n / by) return false;
    for (const uint64_t n : {by - 1, by, by + 1, end - 1})
      if (n < end && quotient(static_cast<unsigned>(n), d) != n / by) return false;
  }
  return true;
}

// Blocks of short products with a narrow side cover the long side once, and shared memory holds what they keep there.
bool narrow() {
  bool right = true;
  for (const int few : {1, 3, 4, 5, 16, 17, 32})
    for (const int length : {33, 100, 1024, 4097, 36'682, 1'000'003})
      for (const int k : {9, 12, 17, 39, 64, 128, 129, 512})
        for (const int64_t batch : {1, 9})
          for (const int layout : {0, 1, 2, 3})
            for (const int64_t bytes : {2, 4})
              for (const bool columns : {false, true}) {
                const ProductShape s = {batch, columns ? length : few, columns ? few : length, k, (layout & 1) != 0, (layout & 2) != 0};
                const NarrowPlan p = narrow_plan(132, shared_bytes, bytes, s);
                if (p.parts == 0) continue;
                const SkinnyPlan& sides = p.sides;
                const int64_t lanes = 16 / bytes, longest = std::max(s.m, s.n), threads = (sides.k_contiguous ? narrow_row_threads : narrow_column_threads) / p.parts, across = threads * (!sides.k_contiguous && sides.wide ? lanes : 1);
                right = right && threads >= 32 && across * p.tiles >= longest && across * (p.tiles - 1) < longest && sides.vectors >= std::min(s.m, s.n) && sides.vectors <= (bytes == 4 ? most_narrow : most_narrow_16) && p.shared <= 227 << 10 &&
                        p.tile_at % 16 == 0 && p.sums_at % 16 == 0 && (!sides.wide || (sides.k_contiguous ? k : longest) % lanes == 0) && (sides.vectors <= (bytes == 4 ? most_vectors : 4) || !sides.wide || sides.k_contiguous);
                // Rows from any byte of a vector on, with a vector between them where they are whole vectors.
                if (sides.k_contiguous) right = right && p.sums_at - p.tile_at >= across * (k * bytes + (sides.wide ? 16 : 0)) + (sides.wide ? 0 : 15);
                // Results of neighbouring threads that have several start an odd number of words apart.
                const int run = static_cast<int>(across / threads) * std::min(s.m, s.n), pitch = run + (across > threads ? narrow_space(run, static_cast<int>(bytes)) : 0);
                right = right && (across == threads || pitch * bytes % 8 == 4) && p.shared >= (sides.k_contiguous ? p.tile_at : 0) + threads * pitch * bytes;
              }
  return right;
}

// Tiles of a long side cover it once, parts of shared memory do not overlap, and every block has a tile.
bool long_side() {
  bool right = true;
  for (const int few : {33, 48, 64, 65, 96, 207, 383})
    for (const int length : {8192, 8193, 46'993, 524'289, 1 << 28})
      for (const int k : {9, 17, 32, 33, 128, 283, 384})
        for (const int layout : {0, 1, 2, 3})
          for (const int64_t bytes : {2, 4})
            for (const bool long_m : {false, true}) {
              const ProductShape s = {1, long_m ? length : few, long_m ? few : length, k, (layout & 1) != 0, (layout & 2) != 0};
              const LongPlan p = long_plan(132, shared_bytes, bytes, s);
              if (p.row_groups == 0) continue;
              const LongTask& t = p.task;
              const int64_t lines = p.k_contiguous ? t.tile : t.steps * 32 / bytes, results = long_m ? t.tile * few * bytes + 14 : few * int64_t{t.pitch_out}, raw = p.k_contiguous ? t.tile * k * bytes + 28 : k * int64_t{t.pitch_stage};
              right = right && p.long_m == long_m && int64_t{t.tile} * t.tiles >= length && int64_t{t.tile} * (t.tiles - 1) < length && t.tile % (16 * p.row_groups) == 0 && p.blocks >= 1 && p.blocks <= t.tiles && p.shared <= 227 << 10 &&
                      t.steps * 32 >= k * bytes && t.pitch_w % 32 == 16 && t.x_at >= up(few, 16) * 16 * t.pitch_w && t.out_at >= t.x_at + lines * t.pitch_x && t.stage_at >= t.out_at + results && p.shared >= t.stage_at + raw &&
                      p.shared >= t.x_at + few * k * bytes && t.x_at % 128 == 0 && t.out_at % 128 == 0 && t.stage_at % 128 == 0 && (!p.k_contiguous || t.pitch_x % 32 == 16) && (p.k_contiguous || t.pitch_x >= t.tile * bytes);
            }
  return right;
}

// Tiles of a large operand that is not copied are those of its kernels, and shares of k cover it once. The operand's rows start off 16 bytes.
bool shifted_side() {
  bool right = true;
  for (const int m : {33, 64, 83, 257, 4095, 85'070, 730'969})
    for (const int n : {35, 83, 128, 275, 4097, 52'307})
      for (const int k : {34, 129, 2048, 6169, 30'872})
        for (const int layout : {0, 1, 2, 3})
          for (const int64_t batch : {1, 17})
            for (const int64_t bytes : {2, 4}) {
              const ProductShape s = {batch, m, n, k, (layout & 1) != 0, (layout & 2) != 0};
              if (!shifted_pays(s, bytes)) continue;
              const ShiftedPlan p = shifted_plan(132, bytes, s);
              const int64_t steps = up(k * bytes, 128);
              right = right && (p.columns == 64 || p.columns == 128 || p.columns == 256 || (bytes == 2 && p.columns == 192)) && p.tile_rows % 8 == 0 && p.tile_rows >= 8 && p.tile_rows <= shifted_rows && shifted_shared_bytes(p.columns) <= 227 << 10 &&
                      up(steps, p.splits) * (p.splits - 1) < steps && !(shifted_x_is_b(s, bytes) ? rows_aligned_b(s, bytes) : rows_aligned_a(s, bytes));
            }
  return right;
}

// Shares of a long sum for few results cover k once, in whole 16-byte pieces, threads have all results, and shared memory holds both operands and what threads add up.
bool deep() {
  bool right = true, met = false;
  for (const int few : {1, 2, 3, 4, 7, 16, 32})
    for (const int length : {1, 2, 3, 4, 25, 64, 129, 256, 1000, 4097})
      for (const int k : {129, 1024, 4097, 7951, 131'073, 1 << 24})
        for (const int64_t batch : {1, 37, 2000})
          for (const int layout : {0, 1, 2, 3})
            for (const int64_t bytes : {2, 4})
              for (const bool columns : {false, true}) {
                const ProductShape s = {batch, columns ? length : few, columns ? few : length, k, (layout & 1) != 0, (layout & 2) != 0};
                const DeepPlan p = deep_plan(132, shared_bytes, bytes, bytes == 2 || layout == 3, false, s);
                if (p.x == 0) continue;
                met = true;
                const DeepTask& t = p.task;
                const int shorter = std::min(few, length), longer = std::max(few, length);
                right = right && p.share % t.chunk == 0 && t.chunk * bytes % 16 == 0 && p.share * p.splits >= k && p.share * (p.splits - 1) < k;
                right = right && t.groups <= deep_threads && t.groups_x * p.x >= shorter && t.groups / t.groups_x * p.y >= longer && t.groups % t.groups_x == 0 && p.results >= t.groups * p.x * p.y && p.results % 4 == 0;
                right = right && (!p.wide_x || (shorter % 4 == 0 && !t.x.along_k)) && (!p.wide_y || (longer % 4 == 0 && !t.y.along_k));
                const auto end_of = [&](const DeepOperand& o, int count) { return o.at + (o.along_k ? (count - 1) * o.pitch + (t.chunk * bytes + 16) : (int64_t{t.chunk} * count * bytes + 16)); };
                right = right && t.x.at == 0 && end_of(t.x, shorter) <= t.y.at && end_of(t.y, longer) <= t.stage && t.y.at % 16 == 0 && t.stage % 16 == 0 && t.x.pitch % 16 == 0 && t.y.pitch % 16 == 0;
                right = right && t.x.pitch >= t.chunk * bytes + 16 && t.y.pitch >= t.chunk * bytes + 16 && t.stage * std::min<int64_t>(deep_stages, p.share / t.chunk) <= p.shared && (p.x * p.y + 1) * deep_threads * 4 <= p.shared && p.shared <= 227 << 10;
              }
  return right && met;
}

// Tiles of a slim side have all of it, shares cover k once in whole stages, and vectors are copied where every row starts on one.
bool slim() {
  bool right = true, met = false;
  for (const int few : {1, 5, 16, 17, 23, 32, 33, 40, 48, 53, 61, 64, 65, 73})
    for (const int length : {100, 129, 1980, 101'404})
      for (const int k : {16, 31, 64, 1023, 53'371})
        for (const int64_t batch : {1, 9})
          for (const int layout : {0, 1, 2, 3})
            for (const bool columns : {false, true}) {
              const ProductShape s = {batch, columns ? length : few, columns ? few : length, k, (layout & 1) != 0, (layout & 2) != 0};
              const SlimPlan p = slim_plan(132, shared_bytes, s);
              if (p.few == 0) continue;
              met = true;
              right = right && (p.few == 16 || p.few == 64 || p.few == 72 || (p.few % 8 == 0 && p.few > 16 && p.few <= 56)) && p.few >= few && p.share % slim_step == 0 && p.share * p.splits >= k && p.share * (p.splits - 1) < k && p.splits <= 512;
              right = right && p.sides.tiles * slim_tile >= length && (p.sides.tiles - 1) * slim_tile < length && p.few_k == (columns ? s.trans_b : !s.trans_a);
              right = right && (p.task.wide_few == 0 || (p.few_k ? k : few) % 4 == 0) && (p.task.wide_long == 0 || (p.sides.k_contiguous ? k : length) % 4 == 0);
              // Results lie where stages were.
              const int shared = slim_shared(p.few, p.few_k, p.sides.k_contiguous);
              right = right && shared <= 226 << 10 && shared >= slim_tile * (p.few + 1) * 4;
            }
  return right && met;
}

// Blocks of a long matrix times a short side cover the long side and k once, and each keeps to rows that start equally far behind 16 bytes.
bool stream() {
  bool right = true;
  for (const int few : {1, 2, 5, 9, 16, 17, 32})
    for (const int length : {33, 113, 1025, 16'384, 38'967, 1'000'003})
      for (const int k : {34, 129, 1024, 1637, 17'153, 131'072, 1'000'003})
        for (const int64_t batch : {1, 5})
          for (const int layout : {0, 1, 2, 3})
            for (const int64_t bytes : {2, 4})
              for (const bool tensor_cores : {true, false})
                for (const bool columns : {false, true}) {
                  if (bytes == 2 && !tensor_cores) continue;
                  const ProductShape s = {batch, columns ? length : few, columns ? few : length, k, (layout & 1) != 0, (layout & 2) != 0};
                  const StreamPlan p = stream_plan(132, bytes, tensor_cores, s);
                  if (p.vectors == 0) continue;
                  const int64_t lanes = 16 / bytes;
                  right = right && p.vectors >= few && p.vectors <= 32 && p.splits >= 1 && p.splits <= 65'535 && p.blocks >= 1 && p.blocks <= p.tiles && p.period <= 8;
                  if (p.sides.k_contiguous) {
                    const int64_t alike = up(length, p.period), across = (tensor_cores ? 16 : 32) * p.warp_rows, steps = up(k + (p.period > 1 ? lanes - 1 : 0), 4 * lanes);
                    right = right && int64_t{p.period} * k % lanes == 0 && p.tiles % p.period == 0 && p.blocks % p.period == 0 && across * p.tiles / p.period >= alike && across * (p.tiles / p.period - 1) < alike && p.share * p.splits >= steps &&
                            p.share * (p.splits - 1) < steps && p.warp_rows <= stream_warps && p.results == across * p.vectors;
                  } else {
                    right = right && p.window * p.tiles >= length && p.window * (p.tiles - 1) < length && p.share % stream_warps == 0 && p.share * p.splits >= k && p.share * (p.splits - 1) < k && p.window % lanes == 0;
                  }
                  // The short side is kept only where no other part of it comes.
                  if (p.blocks < p.tiles) right = right && p.splits == 1 && int64_t{k} * p.vectors * (p.scalar ? 4 : bytes) <= stream_few;
                  // A window of one vector is what 32 lanes with four vectors of columns each have.
                  if (few == 1 && p.scalar && !p.sides.k_contiguous) right = right && p.vectors == 1 && p.results == 128 * lanes && p.window >= p.results - lanes;
                }
  return right;
}

// Warps of products with a short k cover rows and columns once, by kernels that are built, rows of a class lie equally far behind what pieces start on, and shared memory holds a run.
bool short_k() {
  bool right = true;
  for (const int m : {1, 17, 100, 1023, 70'000, 1'000'000})
    for (const int n : {9, 32, 33, 66, 128, 129, 1000, 4097, 500'001})
      for (const int k : {1, 3, 8, 16, 17, 24, 33, 40, 48})
        for (const int64_t batch : {1, 5, 1000})
          for (const int layout : {0, 1, 2, 3})
            for (const int64_t bytes : {2, 4}) {
              const ProductShape s = {batch, m, n, k, (layout & 1) != 0, (layout & 2) != 0};
              const ShortPlan p = short_plan(132, bytes, s);
              const ShortTask& t = p.task;
              const int64_t columns = n + (t.period > 1 ? t.align - 1 : 0), width = p.blocks * 8, together = p.columns ? 128 / bytes : 16, rows = together * t.period;
              if (!is_short(bytes, s, true)) continue;
              if (p.columns) right = right && s.trans_a && m * bytes % 16 == 0 && t.period == 1;
              const auto either = [&](int blocks, int steps) { return p.blocks == blocks && p.steps == steps; };
              const bool of_both = either(4, 1) || either(4, 3) || either(8, 1) || either(8, 3) || (p.run && either(16, 1));
              const bool built = of_both || (bytes == 4 && (either(8, 2) || either(8, 5) || either(16, 1) || (p.run && either(16, 3))));
              right = right && built && p.steps * 32 >= k * bytes && t.across * width >= columns && (t.across - 1) * width < columns && t.tiles * rows >= m && (t.tiles - 1) * rows < m && t.splits >= 1 && t.splits <= t.tiles &&
                      t.units == batch * t.across * t.period * t.splits && p.launched * 4 >= t.units && 1 << t.log2_period == t.period;
              if (p.run) right = right && t.period == 1 && t.across == 1 && t.staged % 16 == 0 && t.staged >= (together * n + 16 / bytes - 1) * bytes && t.staged * 4 <= 68 << 10;
              else right = right && int64_t{n} * t.period % t.align == 0 && t.align * bytes >= 16;
            }
  for (const int m : {8, 32, 100, 1023, 70'000, 1'000'000})
    for (const int n : {16, 33, 66, 129, 1000, 4097, 500'001})
      for (const int k : {1, 2, 3, 5, 8, 9, 16})
        for (const int64_t batch : {1, 5, 1000}) {
            const ProductShape s = {batch, m, n, k, false, true};
            const ShortPlanF32 f = short_plan_f32(132, s);
            const ShortTaskF32& u = f.task;
            const int64_t wanted = n + (n % 8 == 0 ? 0 : 7);
            right = right && f.k >= k && (f.k == 1 || f.k < 2 * k) && (u.rows & (u.rows - 1)) == 0 && u.rows >= 32 && int64_t{u.rows} * u.tiles_m >= m && int64_t{u.rows} * (u.tiles_m - 1) < m && u.columns == u.pieces * 4 && u.pieces <= 32 &&
                    int64_t{u.columns} * u.tiles_n >= wanted && int64_t{u.columns} * (u.tiles_n - 1) < wanted && f.launched == batch * u.tiles_m * u.tiles_n && f.shared <= 64 << 10;
          }
  return right;
}

}  // namespace

// Shares cover k once, none is empty, and few tiles of a long k take the whole GPU.
void products() {
  bool shares = true, clusters = true, skinny = true, filled = true, f32 = true;
  for (const int m : {1, 2, 5, 16, 17, 100, 128, 1000, 4096})
    for (const int n : {1, 3, 16, 33, 64, 512, 1001, 8192})
      for (const int k : {1, 7, 64, 1000, 4096, 100'001})
        for (const int64_t batch : {1, 7})
          for (const bool turned : {false, true}) {
            const ProductShape s = {batch, m, n, k, turned, !turned};
            for (const int64_t step : {16, 32, 64}) {
              const int64_t tiles = batch * up(m, 128) * up(n, 64), steps = up(k, step), splits = k_splits(132, tiles, steps, 4), each = up(steps, splits);
              shares = shares && splits >= 1 && each * (splits - 1) < steps && (splits == 1 || tiles * splits <= 132);
              const WgmmaPlan plan = wgmma_plan(132, {batch, m, n, k}, step), narrower = wgmma_plan(132, {batch, m, n, k}, step, 192);
              const bool built = plan.rows == 64 ? plan.columns == 64 : plan.rows == 128 && (plan.columns == 64 || plan.columns == 128 || plan.columns == 192 || plan.columns == 256);
              shares = shares && built && narrower.columns <= 192 && up(steps, plan.splits) * (plan.splits - 1) < steps && wgmma_shared_bytes(plan) <= 227 << 10;
              // Whole waves before tiles in shares, which are not all.
              const int64_t all = batch * up(m, plan.rows) * up(n, plan.columns);
              shares = shares && (plan.whole == 0 || (plan.whole % 132 == 0 && plan.whole < all && plan.splits > 1 && !plan.joined));
              // What blocks of a cluster add up lies where their ring was.
              clusters = clusters && (!plan.joined || ((plan.splits == 2 || plan.splits == 4 || plan.splits == 8) && static_cast<unsigned>(plan.rows * plan.columns * 4) < wgmma_shared_bytes(plan)));
            }
            const F32Plan tiles = f32_plan(132, s);
            const int64_t steps = up(k, 32);
            const auto is = [&](int rows, int columns) { return tiles.rows == rows && tiles.columns == columns; };
            const bool known = is(256, 128) || is(128, 128) || is(128, 64) || is(64, 128) || is(256, 32) || is(32, 256);
            // What is not turned starts on 16 bytes, or is copied to such rows as it lies.
            f32 = f32 && (tiles.rows == 0 || (known && f32_shared_bytes(tiles) <= 227 << 10 && tiles.splits >= 1 && up(steps, tiles.splits) * (tiles.splits - 1) < steps && (tiles.copied ? !tiles.turns_a && !tiles.turns_b : (s.trans_a ? !tiles.turns_a : tiles.turns_a || k % 4 == 0) && (s.trans_b ? tiles.turns_b || k % 4 == 0 : !tiles.turns_b))));
            for (const int64_t bytes : {2, 4}) {
              if (!is_skinny(s, bytes == 4)) continue;
              const SkinnyPlan plan = skinny_plan(132, bytes, s);
              const int64_t length = std::max(m, n), lanes = 16 / bytes;
              skinny = skinny && plan.vectors >= std::min(m, n) && plan.vectors <= most_vectors && plan.tile * plan.tiles >= length && plan.tile * (plan.tiles - 1) < length && plan.share * plan.splits >= k &&
                       plan.share * (plan.splits - 1) < k && plan.splits <= 65535 && (!plan.wide || (plan.k_contiguous ? k : length) % lanes == 0);
              if (length * static_cast<int64_t>(k) >= 64 << 20) filled = filled && plan.tiles * plan.splits * batch >= 132;
            }
          }
  expect(shares, "shares of k cover it once");
  expect(divides(), "divisions by multiplication are exact below 2^31");
  expect(clusters, "clusters share k or an operand, as kernels are built");
  expect(f32, "f32 products are split so that no share is empty, and rows of k that start off 16 bytes are turned or copied by threads");
  expect(f32_plan(132, {1, 4096, 4096, 4096, false, true}).turns_b && f32_plan(132, {1, 1024, 1024, 1024, true, false}).rows == 64 && f32_plan(132, {1, 32, 32, 32, false, false}).rows == 0 && f32_plan(132, {1, 31, 8193, 4096, false, false}).rows == 32,
         "large f32 products have k turned away, middle and narrow ones narrow tiles, tiny ones the tiles of matmul_simt or matmul_f32_small");
  expect(skinny, "tiles and shares of a matrix times few vectors cover it once, in whole vectors where it says so");
  expect(filled, "a large matrix times few vectors takes the whole GPU");
  expect(is_skinny({1, 1, 4096, 4096, false, false}, false) && is_skinny({1, 4096, 16, 4096, false, false}, true) && !is_skinny({1, 16, 4096, 4096, false, false}, false), "short sides that tensor cores serve are theirs");
  expect(wgmma_plan(132, {9, 1801, 400, 2496}, 64).whole == 264, "the last tiles of a wave that is hardly filled share k");
  expect(wgmma_plan(132, {1, 128, 128, 65536}, 64).splits > 30 && wgmma_plan(132, {1, 4096, 4096, 4096}, 64).splits == 1, "k is split where tiles are few");
  expect(scaled_wgmma_pays(1, 1, 128) && scaled_wgmma_pays(257, 257, 257) && !scaled_wgmma_pays(31, 31, 33), "products of bytes take wgmma where rows start on 16 bytes, or where they are worth a copy");
  expect(scaled_wgmma_pays(65, 6355, 5) && scaled_wgmma_pays(65536, 32, 64) && !scaled_wgmma_pays(9, 45309, 17) && !scaled_wgmma_pays(1499, 11, 64), "products of bytes with a short k and a short side take wgmma where they are large and aligned alone");
  expect(shifted_side(), "tiles of an operand with rows off 16 bytes are as kernels are built");
  expect(shifted_pays({1, 8192, 83, 6169, false, false}, 4) && shifted_pays({1, 83, 85'070, 2048, true, false}, 2) && shifted_pays({17, 117, 52'114, 129, false, false}, 2) && !shifted_pays({1, 4095, 4095, 4095, false, false}, 2) &&
             !shifted_pays({1, 88'284, 71, 513, true, false}, 4) && !shifted_pays({1, 4096, 64, 4096, false, false}, 2) && !shifted_pays({1, 513, 33, 65'536, false, false}, 4),
         "a large operand with rows off 16 bytes and few uses of each element is read as it lies");
  expect(shifted_pays({1, 23, 110'917, 1409, false, false}, 2) && shifted_pays({128, 31, 119, 186, false, false, 1}, 2) && shifted_pays({1, 110'917, 23, 1409, true, false}, 2) && shifted_pays({1, 23, 110'917, 1409, false, true}, 2) && shifted_pays({1, 128, 19, 103'633, false, false}, 4) &&
             !shifted_pays({1, 8, 110'917, 1409, false, false}, 2) && !shifted_pays({1, 23, 110'917, 70, false, false}, 2) && !shifted_pays({1, 23, 9001, 186, false, false}, 2) && !shifted_pays({1, 9, 30'001, 500, false, false}, 4),
         "so is one that is multiplied by ten to 32 vectors");
  expect(shifted_pays({1, 129, 386, 262'144, false, false}, 2) && shifted_pays({1, 257, 275, 30'872, false, false}, 2) && shifted_pays({16, 200, 9603, 261, false, false, 1}, 2) && !shifted_pays({7, 257, 32'769, 33, false, false}, 2) &&
             !shifted_pays({1, 715, 16'385, 273, true, false}, 2) && !shifted_pays({1, 201, 700, 1001, false, false}, 2) && shifted_plan(132, 2, {1, 129, 386, 262'144, false, false}).columns == 192,
         "and in 16 bits one with a long k and up to 512 of the other side, by wide tiles");
  expect(long_side(), "tiles of a long side cover it once, and fit shared memory");
  const auto by_long = [](int64_t bytes, const ProductShape& s) { return long_plan(132, shared_bytes, bytes, s).row_groups; };
  expect(by_long(2, {1, 46'993, 379, 21, false, true}) == 2 && by_long(2, {1, 33, 9001, 33, false, false}) == 1 && by_long(4, {1, 80'001, 207, 21, false, true}) == 2 && by_long(2, {1, 80'001, 379, 68, true, true}) == 2,
         "a long side whose rows do not start on 16 bytes takes tiles of it");
  expect(by_long(2, {1, 46'993, 384, 21, false, true}) == 0 && by_long(2, {1, 46'993, 379, 24, false, true}) == 0 && by_long(2, {1, 4096, 379, 21, false, true}) == 0 && by_long(2, {2, 46'993, 379, 21, false, true}) == 0 &&
             by_long(2, {1, 46'993, 379, 210, false, true}) == 0 && by_long(2, {1, 97, 46'993, 21, false, true}) == 0 && by_long(4, {1, 65, 16'747, 64, true, false}) == 0 && by_long(2, {1, 9001, 207, 127, false, true}) == 0 &&
             by_long(4, {1, 80'001, 207, 85, true, false}) == 0 && by_long(2, {1, 31, 80'001, 33, false, false}) == 0 && by_long(2, {1, 46'993, 43, 181, false, false}) == 0,
         "aligned rows, products that are shorter, narrower or batched, and operands that leave no room for tiles take other kernels");
  expect(narrow(), "tiles of a short matrix times few vectors cover it once, and fit shared memory");
  expect(narrow_plan(132, shared_bytes, 4, {1, 300'000, 5, 39, false, true}).parts == 1 && narrow_plan(132, shared_bytes, 4, {1, 300, 5, 39, false, true}).parts == 4 && narrow_plan(132, shared_bytes, 4, {1, 300, 5, 200, false, true}).parts == 0 &&
             narrow_plan(132, shared_bytes, 2, {1, 300, 5, 39, false, true}).parts == 0 && narrow_plan(132, shared_bytes, 2, {1, 9, 171'007, 128, false, false}).parts > 0 && narrow_plan(132, shared_bytes, 2, {1, 9, 171'008, 128, false, false}).parts == 0 && narrow_plan(132, shared_bytes, 4, {1, 31, 109'622, 64, true, false}).sides.vectors == 32,
         "a short k and a narrow side keep whole rows or columns in a block, in parts where they are few");
  expect(narrow_plan(132, shared_bytes, 2, {1, 16'384, 32, 64, false, true}).parts == 0 && narrow_plan(132, shared_bytes, 2, {1, 16'384, 8, 64, false, true}).parts > 0 && narrow_plan(132, shared_bytes, 2, {1, 16'384, 32, 63, false, true}).parts > 0 && narrow_plan(132, shared_bytes, 2, {1, 31, 16'384, 64, true, true}).parts > 0 && narrow_plan(132, shared_bytes, 2, {1, 16, 16'383, 64, false, true}).parts > 0 && narrow_plan(132, shared_bytes, 2, {1, 16, 16'384, 64, false, true}).parts == 0,
         "16-bit products of more than a few vectors whose rows tensor cores read as they lie are left to these");
  expect(!narrow_suits_wgmma({1, 31, 109'622, 64, true, false}) && narrow_suits_wgmma({1, 31, 109'624, 64, false, false}), "tensor cores take narrow products in tf32 whose long matrix lies as they read it");
  expect(is_each({1, 1'000'000, 29, 15, false, true}, 2) && is_each({1, 9, 2'826'415, 3, false, false}, 4) && !is_each({1, 9, 2'826'415, 3, false, false}, 2) && !is_each({1, 1'000'000, 32, 15, false, true}, 4) &&
             !is_each({1 << 21, 64, 31, 2, false, false}, 2),
         "narrow results of a short k take threads that share nothing");
  expect(is_each_row({33, 1, 376'631, 5, false, false}, 4) && !is_each_row({33, 1, 376'631, 5, false, false}, 2) && !is_each_row({1, 2, 1000, 5, false, false}, 4) && !is_each_row({1, 1, 500, 5, false, false}, 4), "one long row in f32 takes threads with columns a block apart");
  expect(short_k(), "warps of products with a short k cover the result once, in whole pieces");
  expect(deep(), "a long sum for few results covers k once, and shared memory holds its operands");
  expect(slim(), "tiles of a slim side have all of it, and shares cover k once");
  expect(stream(), "a long matrix times a short side is covered once, by rows that start alike");
  expect(short_plan(132, 2, {1, 65'536, 47, 16, true, true}).run && !short_plan(132, 2, {1, 65'536, 48, 16, true, true}).run && short_plan(132, 2, {1, 8192, 4097, 4, false, false}).task.period == 16 && short_plan(132, 2, {1, 100, 4097, 4, false, false}).task.period == 8 &&
             short_plan(132, 4, {1, 8192, 4096, 4, false, false}).task.period == 1,
         "narrow rows are stored as runs, others from where memory sectors start, or 16 bytes where rows are few");
  const auto by_short = [](int64_t bytes, int m, int n, int k) { return is_short(bytes, {1, m, n, k, false, true}); };
  expect(by_short(2, 65'536, 47, 16) && by_short(2, 5653, 4097, 5) && by_short(2, 1'251'063, 29, 37) && by_short(4, 32'769, 3157, 3) && by_short(4, 256, 10'317, 8) && by_short(4, 22'675, 2049, 35) && by_short(2, 17'239, 8193, 32) && is_short(2, {1, 1709, 2909, 32, false, false}), "a short k and a large result take warps that keep b");
  expect(!by_short(2, 41, 681'215, 2) && !by_short(2, 25'171, 128, 3) && !by_short(2, 16, 698'597, 17) && !by_short(2, 83, 8193, 33) && !by_short(2, 7589, 4096, 48) && !by_short(2, 7589, 4096, 32) && !by_short(2, 409, 2909, 41) && !is_short(2, {1, 1709, 2909, 33, false, false}) && !is_short(2, {1, 1709, 2909, 32, true, true}) && !by_short(2, 255, 8193, 33) && !by_short(4, 513, 797, 1) && !by_short(4, 11, 217'739, 17) && !by_short(4, 31, 64, 37),
         "few rows for their columns, whole vectors and small results take other kernels");
  expect(is_short(2, {1, 4097, 8192, 8, true, true}) && !is_short(2, {1, 4097, 8192, 8, true, false}) && !is_short(2, {1, 4097, 8192, 3, true, true}), "a transposed b of a few elements of k is read once for many rows");
  expect(by_short(2, 55'009, 256, 16) && by_short(2, 55'009, 256, 32) && is_short(2, {1, 55'009, 256, 16, false, false}) && !is_short(2, {1, 55'009, 256, 32, false, false}) && !is_short(2, {1, 55'008, 256, 16, true, false}), "and so are whole vectors with up to 16 of k, or 32");
  expect(is_short_f32({1, 1000, 1000, 8, false, false}, false) && !is_short_f32({1, 1000, 1000, 8, false, false}, true) && is_short_f32({1, 11'519, 653, 9, false, true}, false) && !is_short_f32({20, 19, 1163, 11, true, true}, false) &&
             !is_short_f32({1, 64, 32, 2, false, false}, false) && is_short_f32({2, 189, 1031, 1, false, true}, true) &&
             !is_short_f32({1, 4097, 846, 17, true, true}, false),
         "f32 with a short k and a large result keeps columns of b in registers");
  expect(shallow_pairs(4096, 5).rows == 0 && shallow_pairs(4096, 1001).rows == 8 && shallow_pairs(3, 100'001).rows == 4, "narrow results are stored one by one, others in pairs of as many rows as they have");
  expect(is_shallow_16({1, 8192, 8192, 8, false, false}) && is_shallow_16({1, 1000, 1000, 3, false, false}) && !is_shallow_16({1, 512, 1024, 8, false, false}) && !is_shallow_16({1, 8192, 8192, 9, false, false}),
         "16 bits of a few elements of k take threads of their own");
  expect(is_middle(132, {1, 16'747, 43, 491, false, false}) && !is_middle(132, {3, 65, 32, 12'413, true, false}) && !is_middle(132, {1, 777, 333, 1001, false, false}) && !is_middle(132, {1, 4096, 4096, 4096, false, false}) && middle_splits(132, {1, 64, 17, 8192, true, true}) > 16, "large operands that are used too seldom to be copied take blocks of 64 x 64");
  expect(is_f32_small(132, false, {1, 256, 256, 256, false, false}) && !is_f32_small(132, true, {1, 64, 64, 100'000, false, false}) && !is_f32_small(132, false, {1, 65, 293, 513, true, true}) && is_f32_small(132, true, {1, 65, 293, 513, true, true}), "f32 products of a few tiles take blocks of 32 x 32 results, those of a long k shares");
  expect(f32_small(132, true, {1, 65, 293, 513, true, true}).splits == 4 && f32_small(132, false, {1, 65, 293, 513, true, true}).splits == 1 && f32_small(132, true, {1, 400, 400, 513, false, false}).splits == 1 && f32_small(132, true, {1, 128, 128, 4096, false, false}).splits == 1 && f32_small(132, true, {1, 300, 150, 300, true, true}).splits == 1, "blocks of a cluster share k where tiles are few and each has two stages");
  expect(is_small(132, {1, 256, 23, 211, false, false}) && !is_small(132, {1, 256, 24, 208, false, false}) && !is_small(132, {1, 256, 23, 321, false, false}) && !is_small(132, {64, 131, 127, 133, false, false}) && is_small(132, {1, 30'000, 20, 1001, false, false}) &&
             !is_small(132, {1, 9, 30'000, 1001, false, false}) && is_small(132, {140, 129, 32, 67, false, false}) && !is_small(132, {140, 129, 32, 67, false, false, 1}),
         "a few tiles of unaligned rows and a short k, and large operands that are used once, are done by small blocks");
  expect(is_small(132, {1, 1025, 26, 257, false, true}) && !is_small(132, {1, 1025, 26, 321, false, true}) && is_middle_at_once(132, {1, 3417, 87, 65, false, false}) && !is_middle_at_once(132, {1, 3417, 87, 129, false, false}) && !is_middle_at_once(132, {1, 1962, 1024, 65, false, false}),
         "small products of unaligned rows are not copied");
  expect(!wgmma_pays({140, 1031, 33, 1025, false, false}, false) && wgmma_pays({140, 1031, 40, 1025, false, false, 1}, false), "a left operand that repeats over the batch is copied once for all of its uses");
  expect(wgmma_pays({1, 777, 333, 1001, false, false}, false) && wgmma_pays({1, 777, 333, 1001, false, false}, true) && !wgmma_pays({1, 300, 700, 3, false, false}, true) && !wgmma_pays({1, 31, 138, 36'563, false, false}, true) &&
             !wgmma_pays({1, 256, 256, 256, true, false}, true) && wgmma_pays({1, 512, 512, 512, true, false}, true),
         "tf32 is copied or turned for wgmma where it pays");
}
