// Shapes of scatter_add, and what follows from a row of them alone. Pure.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../scatter_range.h"

namespace opscope::cuda {

struct ScatterShape {
  int64_t rows, dim, indices, bytes;  // bytes of an element
};

// Lanes of a row of few elements: a power of two.
inline int lanes_of_row(int64_t dim) {
  int lanes = 1;
  while (lanes < dim) lanes *= 2;
  return lanes;
}

// Bytes of the vectors that rows are whole numbers of; 0: none.
inline int64_t scatter_vector(const ScatterShape& s) { return s.dim * s.bytes % 16 == 0 ? 16 : s.dim * s.bytes % 8 == 0 ? 8 : 0; }
inline bool scatter_vectors(const ScatterShape& s) { return scatter_vector(s) == 16; }
// Rows of pairs of 16 bits, which are moved as such where there are kernels for them.
inline bool scatter_pairs(const ScatterShape& s) { return s.bytes == 2 && s.dim % 2 == 0 && scatter_vector(s) == 0; }
// Elements of a row that a thread has: a vector, or four.
inline int64_t scatter_cells(const ScatterShape& s) { return scatter_vector(s) > 0 ? scatter_vector(s) / s.bytes : 4; }
// Threads of a row that is not left to a block.
inline int scatter_lanes(const ScatterShape& s) { return lanes_of_row(std::min<int64_t>(32, (s.dim + scatter_cells(s) - 1) / scatter_cells(s))); }
// Bins at most: those that the blocks which fill them have shared memory for.
inline int64_t scatter_most_bins(int64_t shared_bytes) { return bin_shared_of(most_bins) + 256 <= shared_bytes ? most_bins : few_bins; }
// Indices of `rows` of all rows that have room, where they are drawn alike for all: one range of many millions has more.
inline int64_t scatter_room_of(const ScatterShape& s, int64_t rows) {
  const double mean = static_cast<double>(s.indices) * static_cast<double>(rows) / static_cast<double>(s.rows);
  return (std::min(s.indices, static_cast<int64_t>(mean + 8 * std::sqrt(mean)) + 64) + 7) / 8 * 8;
}

}  // namespace opscope::cuda
