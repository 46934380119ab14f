// Many rows of a few elements that are no whole vectors (rows_narrow.cu): which, and how they are spread. Pure; rows_test.cc has what holds over the whole range.
#pragma once
#include <cstdint>
#include <numeric>

#include "narrow_sizes.h"

namespace opscope::cuda {

struct NarrowShape {
  int64_t rows = 0;  // of a lane: as few as are whole vectors; 0: other kernels take the case
  int64_t blocks = 0;
};

// Elements of a row at most. Two rows in registers, as softmax_backward has them, leave a multiprocessor fewer warps, and f32 gains least of a lane's order (112 cases on an H100, NOTES.md).
inline int narrow_most(int64_t lanes, bool two_rows) { return !two_rows ? narrow_columns : lanes == 4 ? 3 : 14; }

// `lanes`: elements of 16 bytes.
inline NarrowShape narrow_shape(int sm_count, int64_t lanes, int64_t rows, int64_t cols, bool two_rows) {
  // Lanes for each multiprocessor, of which fewer are left to kernels with more threads for a row, and elements in all that these have sooner done.
  constexpr int64_t least_lanes = 256, least_elements = int64_t{1} << 18;
  if (cols < 1 || cols > narrow_most(lanes, two_rows) || cols % lanes == 0 || rows * cols <= least_elements) return {};
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t each = lanes / std::gcd(lanes, cols), in_all = over(rows, each);
  return in_all >= sm_count * least_lanes ? NarrowShape{each, over(in_all, narrow_row_threads)} : NarrowShape{};
}

}  // namespace opscope::cuda
