// Products whose k is so short that the bytes of the result bound them (matmul_short.cu on tensor cores, matmul_short_f32.cu). Pure; see products_test.cc.
#pragma once
#include <algorithm>

#include "short_task.h"
#include "shape.h"

namespace opscope::cuda {

// ---- tensor cores ----

struct ShortPlan {
  ShortTask task;
  int blocks, steps;  // of 8 columns, and of 32 bytes of k, as kernels are built
  bool run;           // the rows of a warp are stored as a run
  bool columns;       // of a transposed a, read in vectors
  int64_t launched;   // blocks of threads
};

// Elements that rows are apart which lie equally far behind `align` elements.
inline int short_period(int n, int align) {
  int period = 1;
  while (int64_t{n} * period % align != 0) period *= 2;
  return period;
}

// Where it was faster than other kernels on an H200 (NOTES.md). A warp's rows are to be worth its columns of b, which 16 bits read an element at a time. `rest`: where matmul_narrow and matmul_stream do not
// take the product.
inline bool is_short(int64_t element_bytes, const ProductShape& s, bool rest = false) {
  const int64_t results = s.batch * s.m * s.n;
  if (s.batch * up(s.n, 32) >= int64_t{1} << 26 || results * element_bytes >= int64_t{1} << 40) return false;
  if (element_bytes == 4) {
    // Of rows that start apart few are alike, and a tensor core takes sixteen.
    if (s.k <= 4) return s.m >= (s.n % 8 == 0 ? 16 : 128) && s.n >= 16 && results >= 3 << 19;
    if (s.k <= 16) return s.m >= 16 && s.n >= 16 && results >= 1 << 17;
    // Of fewer results with more of k, tiles are faster; more columns than tensor cores have in two groups and rows without end are not left to matmul_narrow.
    constexpr int long_k = 25, most_k = 40;
    constexpr int64_t most_of_tiles = 700'000, many = 4'000'000;
    return s.k <= most_k && s.m >= 32 && s.n >= (results >= many ? 17 : 32) && results >= (s.k < long_k ? 1 << 18 : most_of_tiles);
  }
  const bool vectors = s.n % 8 == 0;  // in rows of results
  // matmul_small takes fewer results of both sides in blocks that wait once.
  if (s.k > 8 && std::min(s.m, s.n) > 128 && results < 400 << 10) return false;
  // matmul_shallow reads the columns of a transposed b an element at a time, too, and has them for few rows.
  if (s.k <= 8) return s.m >= (s.k < 6 ? 256 : 128) && s.n >= 9 && results >= (s.m < 256 ? 1 << 23 : s.trans_b && !s.trans_a && s.n <= 128 ? 1 << 18 : 1 << 19) && !(vectors && s.n >= 64 && (!s.trans_b || s.k < 4));
  // Both operands by whole words of k, and results by whole vectors.
  constexpr int most_words_k = 48, least_rows_of_words = 48, most_of_words = 128;  // of one side at most
  constexpr int64_t least_of_words = 650'000;
  if (vectors && !s.trans_a && s.trans_b && s.k % 2 == 0 && s.k <= most_words_k && s.m >= least_rows_of_words && s.n > 32 && std::min(s.m, s.n) <= most_of_words && results >= least_of_words) return true;
  // Of rows on 16 bytes, wgmma takes 64 of k at a time: a short k is faster here, of a wide result up to 16 of it.
  if (vectors && rows_aligned_a(s, 2) && rows_aligned_b(s, 2)) return !s.trans_a && s.k <= (s.trans_b && s.n <= 1024 ? 32 : 16) && s.m >= 512 && s.n > 32 && results >= 300 << 10;
  if (s.k <= 16) return s.m >= 24 && s.n >= (rest ? 3 : 16) && results >= (rest ? 160 : 300) << 10;
  // Wide results off 16 bytes, whose rows wgmma would store a part at a time.
  if (!vectors && s.n > 256 && s.m >= 256 && !s.trans_a && s.k <= (s.trans_b ? 40 : 32)) return results >= 1 << 18;
  // A little more of k by so many rows, whose copies for wgmma take longer.
  constexpr int few_more_k = 40, many_rows = 13'000, most_odd_rows = 1 << 14;  // of rows of a that start on odd elements
  constexpr int64_t many_results = 7'500'000, most_results = 1 << 24;
  if (!vectors && s.n > 256 && s.m >= many_rows && !s.trans_a && s.k <= few_more_k && (s.k % 2 == 0 || s.m <= most_odd_rows)) return results >= many_results && results <= most_results;
  // More columns where a is too large to be copied for wgmma; a transposed one off 16 bytes is read sooner by matmul_long.
  if (s.trans_a && s.m % 8 != 0 && s.n > 32) return false;
  return s.k <= 48 && s.m >= 256 && s.n >= 9 && (s.n <= 32 ? results >= 150 << 10 : s.n < 64 && !vectors && s.batch * s.m * s.k >= 1 << 20);
}

inline ShortPlan short_plan(int sm_count, int64_t element_bytes, const ProductShape& s) {
  constexpr int sector = 32;
  ShortPlan p = {};
  ShortTask& t = p.task;
  const int lanes = static_cast<int>(16 / element_bytes);
  t.m = s.m, t.n = s.n, t.k = s.k;
  t.a_row = s.trans_a ? 1 : s.k, t.a_k = s.trans_a ? s.m : 1, t.b_column = s.trans_b ? s.k : 1, t.b_k = s.trans_b ? 1 : s.n;
  const auto steps = static_cast<int>(up(s.k * element_bytes, 32));
  p.run = s.n % lanes != 0 && s.n <= (steps <= 3 ? 128 : 64);
  // Of 16 bits, pieces by fewer columns leave room for more warps.
  p.blocks = s.n <= 32 && steps <= 3 ? 4 : (p.run ? s.n <= 64 : steps > 1 || element_bytes == 2) ? 8 : 16;
  p.steps = steps == 4 ? 5 : steps == 2 && (p.blocks != 8 || element_bytes == 2) ? 3 : steps;
  t.period = 1, t.align = lanes;
  if (!p.run) {
    t.align = static_cast<int>(sector / element_bytes);
    t.period = short_period(s.n, t.align);
    if (s.m < 32 * t.period) t.align = lanes, t.period = short_period(s.n, t.align);
  }
  while (1 << t.log2_period < t.period) t.log2_period++;
  constexpr int64_t least_columns = 1 << 14;  // rows, of which a warp takes more at a time
  p.columns = s.trans_a && element_bytes == 2 && s.m % lanes == 0 && t.period == 1 && p.blocks <= 8 && s.batch * s.m >= least_columns;
  const int rows = p.columns ? 8 * lanes : 16;
  t.tiles = static_cast<int>(up(s.m, int64_t{rows} * t.period));
  t.across = p.run ? 1 : static_cast<int>(up(s.n + (t.period > 1 ? t.align - 1 : 0), p.blocks * 8));
  // As many warps as are on the GPU at a time.
  const int size = p.blocks * p.steps;
  const int64_t columns = s.batch * t.across * t.period, warps = int64_t{sm_count} * (size <= 4 ? 32 : size <= 8 ? 24 : size <= 24 ? 16 : 12);
  t.splits = static_cast<int>(std::clamp<int64_t>(warps / columns, 1, t.tiles));
  const int64_t units = columns * t.splits;
  t.units = static_cast<int>(units);
  t.by_across = divide_by(t.across), t.by_splits = divide_by(t.splits);
  t.staged = p.run ? static_cast<int>(up((rows * int64_t{s.n} + lanes) * element_bytes, 16) * 16) : 0;
  p.launched = up(units, short_threads / 32);
  return p;
}

// ---- f32 ----

struct ShortPlanF32 {
  ShortTaskF32 task;
  int k;  // of its kernels: 1, 2, 4, 8 or 16
  int64_t launched;
  int shared;
};

// Also tf32 of up to 4 of k that matmul_short leaves.
inline bool is_short_f32(const ProductShape& s, bool tf32) {
  const int64_t results = s.batch * s.m * s.n;
  if (s.batch * up(s.m, 32) * up(s.n, 16) >= int64_t{1} << 31) return false;
  if (s.k <= (tf32 ? 4 : 8)) return results >= 96 << 10 && (tf32 ? s.n >= 32 && s.m >= 16 : s.n >= 16 && s.m >= 8);
  return !tf32 && s.k <= 16 && s.m >= 64 && s.n >= 128 && results >= 1 << 19;
}

inline ShortPlanF32 short_plan_f32(int sm_count, const ProductShape& s) {
  constexpr int sector = 8;
  ShortPlanF32 p = {};
  ShortTaskF32& t = p.task;
  t.m = s.m, t.n = s.n, t.k = s.k;
  t.a_row = s.trans_a ? 1 : s.k, t.a_k = s.trans_a ? s.m : 1, t.b_column = s.trans_b ? s.k : 1, t.b_k = s.trans_b ? 1 : s.n;
  p.k = 1;
  while (p.k < s.k) p.k *= 2;
  const int64_t columns = s.n + (s.n % sector == 0 ? 0 : sector - 1);
  // Fewer columns of a block where the last one would be empty for a quarter or more.
  const auto given = [&](int pieces) { return up(columns, pieces * 4) * pieces * 4; };
  t.pieces = short_f32_columns / 4;
  for (int pieces = t.pieces / 2; pieces >= 4; pieces /= 2)
    if (given(pieces) * 4 <= given(t.pieces) * 3) t.pieces = pieces;
  t.columns = t.pieces * 4;
  const auto place = [&] {
    t.tiles_m = static_cast<int>(up(s.m, t.rows)), t.tiles_n = static_cast<int>(up(columns, t.columns));
    p.launched = s.batch * t.tiles_m * t.tiles_n;
  };
  // More rows share what is read of b, and leave fewer blocks.
  const int results = p.k > 8 ? 64 << 10 : 16 << 10;
  for (t.rows = 512; t.rows > 64; t.rows /= 2) {
    place();
    if (t.rows * t.columns <= results && p.launched >= 2 * sm_count) break;
  }
  if (s.m <= 32) t.rows = 32;
  place();
  t.by_tiles_m = divide_by(t.tiles_m), t.by_tiles_n = divide_by(t.tiles_n);
  t.b_at = t.rows * (p.k < 4 ? p.k : p.k + 4) * 4;
  const int held = short_f32_columns + sector;
  p.shared = t.b_at + p.k * (held + held / 32 + 1) * 4;
  return p;
}

}  // namespace opscope::cuda
