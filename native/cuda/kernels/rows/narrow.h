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

// `lanes`: elements of 16 bytes.
inline NarrowShape narrow_shape(int sm_count, int64_t lanes, int64_t rows, int64_t cols) {
  // Lanes for each multiprocessor, of which fewer are left to kernels with more threads for a row, and elements in all that these have sooner done.
  constexpr int64_t least_lanes = 256, least_elements = int64_t{1} << 18;
  if (cols < 1 || cols > narrow_columns || cols % lanes == 0 || rows * cols <= least_elements) return {};
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t each = lanes / std::gcd(lanes, cols), in_all = over(rows, each);
  return in_all >= sm_count * least_lanes ? NarrowShape{each, over(in_all, narrow_row_threads)} : NarrowShape{};
}

}  // namespace opscope::cuda
