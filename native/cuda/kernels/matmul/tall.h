// Products of a long operand with a short k and a few dozen of the other side (matmul/tall.cuh). Pure; see products_panels_test.cc.
#pragma once
#include <algorithm>

#include "shape.h"
#include "tall_task.h"

namespace opscope::cuda {

struct TallPlan {
  TallTask task = {};
  int chunks = 0;             // of 64 bytes of k in a round, as kernels are built; 0 where the kernels do not take the product
  int pairs = 0;              // of eight of the other side, as kernels of several rounds are built; 0: one round
  bool columns = false;       // b is long
  bool k_contiguous = false;  // in the long operand
  int64_t blocks = 0;
  int shared = 0;
};

// Blocks of a multiprocessor by their registers, as kernels are built.
inline int tall_blocks(int64_t element_bytes, int chunks, int pairs) {
  constexpr int of_16[] = {5, 4, 3, 2}, of_tf32[] = {8, 6, 5, 4, 3, 3, 2, 2};
  if (pairs > 0) return element_bytes == 2 ? 2 : 3;
  return element_bytes == 2 ? of_16[chunks - 1] : of_tf32[chunks - 1];
}

// Where all rows start on 16 bytes and it was faster than other kernels on an H200 (NOTES.md).
inline TallPlan tall_plan(int sm_count, int64_t shared_bytes, int64_t element_bytes, const ProductShape& s) {
  constexpr int chunk_bytes = 64, shared_of_block = 1024, least_length = 25'000, least_rows = 9, least_rows_tf32 = 9, least_columns = 8, most_few = 60, least_k = 16;
  TallPlan p = {};
  TallTask& t = p.task;
  const bool half = element_bytes == 2, columns = s.m < s.n;
  const int lanes = static_cast<int>(16 / element_bytes);
  p.columns = columns;
  p.k_contiguous = columns ? s.trans_b : !s.trans_a;
  t.length = columns ? s.n : s.m, t.few = columns ? s.m : s.n, t.k = s.k;
  const int64_t chunks = up(s.k * element_bytes, chunk_bytes);
  if (s.batch != 1 || t.length < least_length || t.few < (!columns ? least_columns : half ? least_rows : least_rows_tf32) || t.few > most_few || s.k < least_k) return p;
  if ((p.k_contiguous ? s.k : t.length) % lanes != 0 || (columns ? t.length % lanes : t.few % 8) != 0) return p;
  const bool rounds = chunks > (half ? 4 : 8);
  if (rounds) {
    constexpr int most_of_rounds = 40, most_k = 384, most_k_tf32 = 176;
    constexpr double least_bytes = 5e7, least_bytes_tf32 = 1e8;
    // wgmma is as fast where it reads both operands in rows of k that start on 32 bytes.
    const bool whole_sectors = !s.trans_a && s.trans_b && s.k % 16 == 0;
    if (t.few > most_of_rounds || columns == half || s.k > (half ? most_k : most_k_tf32) || (half && whole_sectors) || static_cast<double>(t.length) * s.k * static_cast<double>(element_bytes) < (half ? least_bytes : least_bytes_tf32)) return p;
    p.chunks = half ? 2 : 3;
    p.pairs = t.few <= 32 ? 2 : 3;
  } else {
    // Half of the lanes would have no piece of a shorter k. A stage of wgmma is full with 64 of k.
    constexpr int many_columns = 48, least_stage = 48, stage = 64;
    if ((p.k_contiguous && chunks == 1) || (half && !columns && t.few > many_columns && s.k > least_stage && s.k <= stage)) return p;
    p.chunks = static_cast<int>(chunks == 5 || chunks == 7 ? chunks + 1 : chunks);
  }
  t.rounds = static_cast<int>(up(chunks, p.chunks));
  t.few_tiles = rounds ? p.pairs * 2 : static_cast<int>(up(t.few, 16) * 2);
  t.tiles = static_cast<int>(up(t.length, 8 * lanes));
  t.table = t.few_tiles * t.rounds * p.chunks * 512;
  t.staged = columns ? 0 : t.few * 128;
  t.by_few = divide_by(t.few);
  t.few_line = columns ? (s.trans_a ? 1 : s.k) : s.trans_b ? s.k : 1, t.few_k = columns ? (s.trans_a ? s.m : 1) : s.trans_b ? 1 : s.n;
  p.shared = t.table + static_cast<int>(std::max<int64_t>(tall_threads / 32 * t.staged, up(int64_t{t.few} * t.k * element_bytes, 16) * 16));
  const int64_t resident = std::min<int64_t>(tall_blocks(element_bytes, p.chunks, p.pairs), shared_bytes / (p.shared + shared_of_block));
  if (resident < 1) p.chunks = 0;
  p.blocks = std::min<int64_t>(sm_count * resident, up(t.tiles, tall_threads / 32));
  return p;
}

}  // namespace opscope::cuda
