// Which kernels order rows. Pure; see plan_test.cc for what holds over the range.
#pragma once
#include <algorithm>
#include <cstdint>

namespace opscope::cuda {

constexpr int64_t few_columns = 32;    // a lane for each element
constexpr int64_t largest_tile = 8192; // keys that a block sorts
constexpr int64_t most_selected = 1024;
constexpr int64_t keys_of_thread = 8;
constexpr int64_t radix_tile = 4096;  // keys of a block of a radix sort (order/radix.cuh)
constexpr int64_t radix_digits = 256;

// Lanes of a row of few elements: a power of two.
inline int lanes_of_row(int64_t cols) {
  int group = 1;
  while (group < cols) group *= 2;
  return group;
}

// Keys of a tile: a power of two, of a warp's keys at least.
inline int64_t tile_of_row(int64_t cols) {
  int64_t size = 32 * keys_of_thread;
  while (size < largest_tile && size < cols) size *= 2;
  return size;
}

// Passes of a radix sort of numbers up to `largest`.
inline int radix_passes(uint64_t largest) {
  int passes = 1;
  while (largest >>= 8) passes++;
  return passes;
}

// Parts of a row of which the best `keep` are found one by one: enough to fill the GPU, each of many times what it leaves.
struct SelectSplit {
  int64_t part, parts;
};
inline SelectSplit select_split(int sm_count, int64_t rows, int64_t cols, int64_t keep) {
  constexpr int64_t batch = 2048;
  const int64_t wanted = (int64_t{sm_count} * 4 + rows - 1) / rows, most = std::max<int64_t>(1, cols / std::max(largest_tile, 8 * keep));
  const int64_t parts = std::min(wanted, most), part = ((cols + parts - 1) / parts + batch - 1) / batch * batch;
  return {part, (cols + part - 1) / part};
}

}  // namespace opscope::cuda
