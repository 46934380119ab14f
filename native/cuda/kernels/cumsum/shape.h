// Which cases of cumsum take whole rows in shared memory. Pure; see test/order_test.cc.
#pragma once
#include <algorithm>
#include <cstdint>

namespace opscope::cuda {

constexpr int64_t cumsum_tile = 4096, cumsum_tile_columns = 512;  // elements of a tile, and of a row at most

// rows: of a tile, whole vectors of 16 bytes; 0: other kernels take the case. group: lanes of a row. each: neighbouring elements of a lane, an odd number, so that
// lanes meet different banks.
struct CumsumTile {
  int64_t rows = 0, blocks = 0;
  int group = 1, each = 1;
  int64_t shared = 0;
};

// `lanes`: elements of 16 bytes. Fewer elements than a tile for each multiprocessor take the other kernels.
inline CumsumTile cumsum_tiles(int sm_count, int64_t lanes, int64_t rows, int64_t cols) {
  if (cols > cumsum_tile_columns || rows * cols < cumsum_tile * sm_count) return {};
  const int64_t part = std::max(lanes, cumsum_tile / cols / lanes * lanes);
  int group = 1;
  while (group < 32 && group * 8 < cols) group *= 2;
  const int64_t each = (cols + group - 1) / group | 1;
  return {part, (rows + part - 1) / part, group, static_cast<int>(each), part * cols * 4};
}

// Elements up to which all rows are read at once (cumsum_few.cu), as they are where elements are few: as many as tiles leave. A warp that takes a row step by step waits for memory in each.
inline int64_t cumsum_few_most(int sm_count, int64_t cols) {
  constexpr int64_t least_of_slots = 1024;
  return cols <= least_of_slots ? cumsum_tile * sm_count - 1 : 0;
}

}  // namespace opscope::cuda
