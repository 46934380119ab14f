// Which kernel of transpose.cu takes a shape, and its grid. Pure; see planes.h of the tests for what holds over the range.
#pragma once
#include <algorithm>
#include <cstdint>

namespace opscope::cuda {

enum class Transposition { copy, each, narrow, between, vectors, small, pairs, tiles };

struct TransposePlan {
  Transposition kind;
  bool tall = false;                 // narrow, between: the long side is that of the rows
  int64_t part = 0, blocks = 0;      // narrow, between: of the long side, and blocks of it; each: blocks
  int pitch = 0;                     // between: elements of shared memory for each place of the long side
  unsigned places = 0;               // between: 2^22 / narrow, rounded up
  int64_t side = 0, down = 0, across = 0;  // of a tile; tiles of a column, and of a row
};

// Rows or columns of which a block moves a part as it lies, and those for which the parts of rows lie apart in shared memory: more of them fill the tiles of the other kernels.
constexpr int64_t most_narrow = 12;
inline int64_t most_between(int64_t bytes) { return bytes == 4 ? 80 : 32; }
// Bytes of a block's part in shared memory, and how much of the long side it is at least.
constexpr int64_t narrow_bytes = 16 << 10, least_narrow_part = 256, between_bytes = 24 << 10, broad_bytes = 40 << 10, least_between_part = 64;
// Rows or columns, and elements up to which each has a thread, twice as many where these are few, and four times where they are no more than most_line (H200: f32 8x50000 8.3 to 5.8 us, 4x65537 6.2 to 5.0, 100003x5 6.1 and 6.1), those of 2 bytes up to which tiles are small, and those from which on parts of the long side fill the GPU.
constexpr int64_t most_broad = 128, most_broad_rows = 80, most_line = 8, most_slim = 64, most_each = 1 << 17, most_small = 1 << 20, least_between = 1 << 20, least_broad = 4'000'000;

inline TransposePlan transpose_plan(int64_t sm_count, int64_t bytes, int64_t rows, int64_t cols) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  if (rows == 1 || cols == 1) return {Transposition::copy};
  const bool tall = cols < rows;
  const int64_t narrow = std::min(rows, cols), length = std::max(rows, cols);
  if (rows * cols <= (narrow <= most_line ? 4 * most_each : narrow <= most_slim ? 2 * most_each : most_each)) {
    TransposePlan plan = {Transposition::each};
    plan.blocks = over(rows * cols, 256);
    return plan;
  }
  if (narrow <= most_narrow) {
    TransposePlan plan = {Transposition::narrow, tall};
    plan.part = std::clamp(over(length, sm_count * 4), least_narrow_part, narrow_bytes / bytes / narrow) / 8 * 8;
    plan.blocks = over(length, plan.part);
    return plan;
  }
  const auto tiles = [&](Transposition kind, int64_t side) {
    TransposePlan plan = {kind};
    plan.side = side, plan.down = over(rows, side), plan.across = over(cols, side);
    return plan;
  };
  // Whole vectors both ways, and a tile for each multiprocessor.
  const int64_t vector = 16 / bytes;
  const TransposePlan vectors = tiles(Transposition::vectors, vector * 16);
  const bool whole = rows % vector == 0 && cols % vector == 0;
  // Tiles of which a narrow matrix fills a quarter at least.
  if (whole && vectors.down * vectors.across >= sm_count && narrow * 4 >= vectors.side) return vectors;
  // Odd numbers of rows or columns lie in shared memory as they do in memory: up to twice as many of them pay where there are many elements (H200: f16 87359x105 20.9 to 19.0 us, bf16 65x129055 25.1
  // to 19.5, f32 95x306607 105 to 83; even ones, fewer elements and many rows of 2 bytes are slower so: bf16 128x262145 60 to 73, f32 101x15386 10.8 to 16.7, f16 119x140985 41 to 51).
  const bool slim = narrow <= most_between(bytes) && rows * cols >= least_between, broad = narrow % 2 != 0 && narrow <= (bytes == 2 && !tall ? most_broad_rows : most_broad) && rows * cols >= least_broad;
  if (slim || broad) {
    TransposePlan plan = {Transposition::between, tall};
    plan.pitch = static_cast<int>(narrow | 1);
    plan.part = least_between_part;
    while (plan.part * 2 <= std::min((slim ? between_bytes : broad_bytes) / bytes / plan.pitch, over(length, sm_count * 4))) plan.part *= 2;
    plan.blocks = over(length, plan.part);
    plan.places = static_cast<unsigned>(((int64_t{1} << 22) + narrow - 1) / narrow);
    return plan;
  }
  // Where larger tiles would leave most of the GPU idle, four times as many blocks with a quarter of the work.
  if (bytes == 2 && rows * cols <= most_small) return tiles(Transposition::small, 32);
  return tiles(bytes == 2 && rows % 2 == 0 && cols % 2 == 0 ? Transposition::pairs : Transposition::tiles, 64);
}

}  // namespace opscope::cuda
