// A matrix with a short k times a few vectors (matmul_narrow.cu). Pure; see plan_test.cc.
#pragma once
#include "shape.h"
#include "sizes.h"

namespace opscope::cuda {

constexpr int most_narrow = 32, most_narrow_16 = 32;  // of the short side, in f32 and in 16 bits

struct NarrowPlan {
  SkinnyPlan sides;       // but for tiles and shares
  int parts = 0;          // of k in a block; none where other kernels are faster
  int64_t tiles = 0;      // of the long side
  int tile_at = 0, sums_at = 0, shared = 0;  // bytes of shared memory before the rows, before the sums of parts, and in all
};

// A block for every half of a multiprocessor where that leaves a warp for each part. tf32 has no other kernel for slim sides in f32 arithmetic.
inline NarrowPlan narrow_plan(int sm_count, int64_t shared_bytes, int64_t element_bytes, const ProductShape& s, bool tf32 = false) {
  constexpr int row_k = 160, short_k = 128, column_k = 512;  // k at most; of columns in blocks enough for the whole GPU
  const int few = std::min(s.m, s.n);
  const int64_t length = std::max(s.m, s.n);
  NarrowPlan p = {skinny_plan(sm_count, element_bytes, s)};
  if (s.k < 9 || few > (element_bytes == 4 ? most_narrow : most_narrow_16)) return p;
  const bool rows = p.sides.k_contiguous;
  // More of the short side than matmul_skinny takes: long matrices that tensor cores cannot read as they lie.
  const bool many = few > (element_bytes == 4 ? most_vectors : 4);
  const int64_t least_length = element_bytes == 4 ? 16'384 : 2048;
  if (many && length * s.batch < least_length) return p;
  // Tensor cores take those whose columns lie so that rows start on 16 bytes, but the short side is copied first where its own do not.
  constexpr int copied_k = 32, copied_k_of_few = 96, few_copied = 8;
  const bool long_aligned = s.n < s.m ? rows_aligned_a(s, element_bytes) : rows_aligned_b(s, element_bytes), short_aligned = s.n < s.m ? rows_aligned_b(s, element_bytes) : rows_aligned_a(s, element_bytes);
  if (many && element_bytes == 2 && !rows && long_aligned && (short_aligned || s.k > (few <= few_copied ? copied_k_of_few : copied_k))) return p;
  // So are those with k contiguous whose rows start on 16 bytes, and whose results do where they are long, where a row takes a thread longer than a tile waits (16x234431 of 64: 33 us, 67 on tensor cores, which
  // store results off 16 bytes in words).
  constexpr int few_sums = 8, sum = 32;
  if (element_bytes == 2 && rows && few > few_sums && s.k >= sum && rows_aligned_a(s, 2) && rows_aligned_b(s, 2) && (s.n < s.m || s.n % 8 == 0)) return p;
  if (many && !rows) p.sides.wide = false;  // as kernels are built
  const int threads = rows ? narrow_row_threads : narrow_column_threads, lanes = !rows && p.sides.wide ? static_cast<int>(16 / element_bytes) : 1;
  int parts = 1;
  const auto blocks = [&] { return up(length, threads / parts * lanes) * s.batch; };
  // Blocks of long sums are smaller, so that those of the last round take less time.
  while (threads / parts > 32 && (blocks() < 2 * int64_t{sm_count} || (blocks() < 12 * int64_t{sm_count} && s.k >= 32 * parts))) parts *= 2;
  // Of up to 4 vectors matmul_skinny reads longer rows off 16 bytes of small matrices as fast, of more than 8 tensor cores and, in f32, matmul_slim_f32.
  constexpr int least_long = 5, most_long = 8;
  constexpr double slim_products = 1.2e7, tile_products = 6e7, large = 2e6;
  const bool long_rows = few < least_long ? static_cast<double>(s.batch) * static_cast<double>(length) * s.k * static_cast<double>(element_bytes) >= large
                                          : few <= most_long || (element_bytes == 4 && few <= most_vectors && static_cast<double>(s.batch) * s.m * s.n * s.k < (tf32 ? tile_products : slim_products));
  if (rows && !p.sides.wide && s.k > short_k / 2 && !long_rows) return p;
  if (s.k > (rows ? row_k : blocks() < 2 * int64_t{sm_count} ? short_k : column_k)) return p;
  const int across = threads / parts;
  p.tiles = up(length, across * lanes);
  p.tile_at = p.sums_at = static_cast<int>(up(s.k * p.sides.vectors * 4, 16) * 16);
  // A vector between rows, or in front of the first.
  if (rows) p.sums_at += static_cast<int>(p.sides.wide ? across * (s.k * element_bytes + 16) : up(across * s.k * element_bytes, 16) * 16 + 16);
  // Results of a block may take the place of what is read.
  const int run = lanes * few, results = across * (run + (lanes > 1 ? narrow_space(run, static_cast<int>(element_bytes)) : 0)) * static_cast<int>(element_bytes);
  p.shared = std::max(p.sums_at + (parts - 1) * p.sides.vectors * lanes * across * 4, (rows ? p.tile_at : 0) + results);
  if (p.shared <= shared_bytes) p.parts = parts;
  return p;
}

// Of more vectors than matmul_skinny takes, in tf32: whether tensor cores read the long matrix as it lies.
inline bool narrow_suits_wgmma(const ProductShape& s) { return std::min(s.m, s.n) > most_vectors && wgmma_pays(s, true) && !(s.trans_a && !s.trans_b) && (s.n < s.m ? rows_aligned_a(s, 4) : rows_aligned_b(s, 4)); }

}  // namespace opscope::cuda
