// A long matrix times one to four vectors in tf32, f16 and bf16 (matmul_vectors.cu). Pure; see products_test.cc.
#pragma once
#include <algorithm>
#include <cmath>

#include "shape.h"
#include "vectors_task.h"

namespace opscope::cuda {

struct VectorsPlan {
  bool columns_are_few = false;  // n is the short side, not m
  bool rows = false;             // k is contiguous in the matrix
  int vectors = 0;               // of the short side, as kernels are built; none where other kernels are faster
  int each = 0;                  // rows of a warp, or lanes of a row, as kernels are built
  int share = 0, blocks = 1;     // of k of a block; blocks that share k
  int width = 0, chunk = 0;      // of a tile; of k whose vectors are in shared memory
  int64_t tiles = 0;
  int shared = 0;
};

// Where it was faster than other kernels on an H200 (NOTES.md).
inline bool vectors_suit(int64_t element_bytes, bool rows, int few, int length, const ProductShape& s) {
  constexpr int64_t most_batch = 65'535, least_columns = 1 << 19, least_rows = 1 << 20;  // multiplications
  constexpr int least_column_k = 65, least_columns_of_matrix = 128, most_k_of_two = 4096, least_row_k = 300, most_row_k = 2200, most_row_k_tf32 = 1000, least_rows_of_matrix = 64;
  constexpr double most_bytes_of_one = 5e7, most_bytes_of_two = 1.4e8, most_row_bytes = 6e7;
  const int64_t products = s.batch * length * s.k;
  const double bytes = static_cast<double>(products * element_bytes);
  if (s.batch > most_batch || int64_t{length} * few > 1 << 30) return false;
  if (!rows) return few <= 2 && length >= least_columns_of_matrix && s.k >= least_column_k && products * few >= least_columns && bytes <= (few == 1 ? most_bytes_of_one : most_bytes_of_two) && (few == 1 || s.batch > 1 || s.k <= most_k_of_two);
  if (length < least_rows_of_matrix || bytes > most_row_bytes) return false;
  if (few == 1) return products >= least_rows && s.k >= least_row_k && (element_bytes == 2 ? s.k <= most_row_k : s.k % 4 != 0 && s.k <= most_row_k_tf32);
  // Rows off 16 bytes, which others read an element at a time.
  constexpr int least_few = 3, most_few = 4, least_few_k = 200, most_few_k = 1024, lanes = 8;
  constexpr double least_bytes = 4e6;
  return element_bytes == 2 && few >= least_few && few <= most_few && s.k % lanes != 0 && s.k >= least_few_k && s.k <= most_few_k && bytes >= least_bytes;
}

inline VectorsPlan vectors_plan(int sm_count, bool clusters, int64_t element_bytes, const ProductShape& s) {
  constexpr int warps = vectors_threads / 32, most_blocks = 8, least_share = 64, chunk_floats = 8192;
  VectorsPlan p = {};
  const int lanes = static_cast<int>(16 / element_bytes), few = std::min(s.m, s.n), length = std::max(s.m, s.n);
  p.columns_are_few = s.n < s.m;
  p.rows = p.columns_are_few ? !s.trans_a : s.trans_b;
  if (!vectors_suit(element_bytes, p.rows, few, length, s)) return p;
  p.vectors = few == 3 ? 4 : few;
  // About as many blocks as were the fastest, rather by narrow tiles of all of k than by clusters.
  struct Tile {
    int each;
    double cost;
  };
  constexpr Tile column_tiles[] = {{8, 0.4}, {16, 0}, {32, 0.2}}, row_tiles[] = {{1, 0.2}, {2, 0}, {4, 0.2}};
  const double wanted = p.rows ? 1.4 * sm_count : 1.75 * sm_count, joined = 0.3, doubled = p.rows ? 0.1 : 0.3;
  const bool aligned = length % lanes == 0;
  // A shorter k is read as soon by one block, unless these are very few.
  constexpr int least_shared = 600, narrow = 8;
  const bool shares = clusters && (p.rows || s.k >= least_shared || 2 * s.batch * up(length, narrow * lanes) < sm_count);
  double least = 0;
  for (const Tile& t : p.rows ? row_tiles : column_tiles) {
    if (p.rows && p.vectors > 1 && t.each < 4) continue;
    const int width = p.rows ? warps * t.each : (aligned ? t.each : t.each - 1) * lanes;
    const int64_t tiles = up(length, width);
    for (int shift = 0; 1 << shift <= (shares ? most_blocks : 1); shift++) {
      if (shift > 0 && s.k < least_share << shift) break;
      const double cost = std::abs(std::log2(static_cast<double>((tiles * s.batch) << shift) / wanted)) + t.cost + shift * doubled + (shift > 0 ? joined : 0);
      if (p.each == 0 || cost < least) least = cost, p.each = t.each, p.width = width, p.tiles = tiles, p.blocks = 1 << shift;
    }
  }
  p.share = static_cast<int>(up(up(s.k, p.blocks), lanes) * lanes);
  const bool one = p.vectors == 1;
  const int pieces = p.rows ? (!one ? vectors_row_pieces<2, 4> : p.each > 2 ? vectors_row_pieces<1, 4> : vectors_row_pieces<1, 2>) : one ? vectors_column_pieces<1> : vectors_column_pieces<2>;
  const int unit = p.rows ? 32 * lanes * pieces : pieces * vectors_threads / p.each;
  p.chunk = static_cast<int>(std::min<int64_t>(up(p.share + (p.rows ? 2 * lanes : 0), unit), std::max(chunk_floats / p.vectors / unit, 1))) * unit;
  if (p.rows) {
    p.shared = (p.vectors * lanes * ((p.chunk / lanes + 3) | 1) + p.blocks * warps * static_cast<int>(up(p.each * p.vectors, p.blocks))) * 4;
  } else {
    const int all = p.each * lanes;
    p.shared = (static_cast<int>(up(p.chunk * p.vectors, 4)) * 4 + vectors_threads / p.each * lanes * (p.each + 1) + vectors_threads / all * all + p.vectors * p.blocks * static_cast<int>(up(p.width, p.blocks))) * 4;
  }
  return p;
}

}  // namespace opscope::cuda
