// How windows that are not adaptive are spread over tiles (pooling/tile.cuh); see plan_test.cc for what holds over the whole range. Pure.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include "../pooling.h"

namespace opscope::cuda {

struct PoolTiling {
  PoolTile tile;
  int64_t blocks = 0;  // 0: other kernels take the case
  int64_t shared = 0;  // bytes
};

// The kernel for such windows (pooling.cu), behind the name of kind and dtype; empty where there is none.
inline std::string pool_tile_kernel(const PoolTile& t) {
  const bool signals = t.kernel_down == 1 && t.height == 1, square = t.kernel_down == t.kernel && t.stride_down == t.stride;
  const bool own = (signals || square) && (t.kernel == 2 || t.kernel == 3 || t.kernel == 5 || t.kernel == 7) && (t.stride == 1 || t.stride == 2 || t.stride == t.kernel);
  return own ? "_tile_" + std::to_string(t.kernel_down) + "_" + std::to_string(t.kernel) + "_" + std::to_string(t.stride) : "";
}

// Whether a thread has two outputs side by side (pooling/pairs.cuh). `size`: bytes of an element.
inline bool pool_pairs(int64_t size, const PoolTile& t) {
  return size == 2 && t.height > 1 && t.kernel_down == 3 && t.kernel == 3 && t.stride_down == 2 && t.stride == 2 && t.padding_down == 1 && t.padding == 1 && t.width % 4 == 0;
}

// Input of a tile in bytes: about a dozen blocks on a multiprocessor at most, and enough of them for small inputs (H200, bf16: 256 planes of 56x56 5.3 us by tiles
// of 4 KiB, 5.8 by 16; 8192 planes of 112x112 77 us by 8, 69 by 16). Signals have smaller ones, which take less time to walk (max_pool1d f16 135201 of 9, 3, stride 2 7.9 to 7.0 us).
constexpr int64_t most_of_pool_tile = 16 << 10;
inline int64_t pool_tile_bytes(int64_t bytes, bool signals = false) { return bytes < int64_t{4} << 20 ? (signals ? 2 : 4) << 10 : bytes < int64_t{32} << 20 ? 8 << 10 : most_of_pool_tile; }

// Outputs up to which a thread, or several, for each take no longer than tiles: a copy to shared memory would wait for memory once more.
constexpr int64_t pool_few_outputs = 16 << 10;

// Threads of an output where neither tiles nor threads of several outputs take the case, and whether its places have 31 bits.
struct PoolThreads {
  int group;
  bool small;
};
// `elements` of the input, `down` and `across`: what adaptive windows divide at most; `window`: its elements, about.
inline PoolThreads pool_threads_of(int64_t sm_count, int64_t elements, int64_t down, int64_t across, int64_t outputs, int64_t window) {
  constexpr int64_t most = (int64_t{1} << 31) - 4 * pool_threads, least_shared = 8, large = 64, largest_shared = 256, many = int64_t{1} << 15;
  const auto small = [&](int64_t group) { return elements <= most && down <= most && across <= most && outputs <= most / group; };
  if (window >= large && window < largest_shared && outputs >= many && small(8)) return {8, true};
  if (window >= large) return {32, small(32)};
  // One after the other, the elements of a window would each wait for memory; many outputs hide that.
  if (window >= least_shared && outputs * 8 <= sm_count * 2048 && small(8)) return {8, true};
  return {1, small(1)};
}

// Whether threads have several outputs of adaptive windows: of small ones, where there are enough of such threads (H200: bf16 65x128x64x64 to 17x17, about 15 elements of a window, 80 us, by a thread for each
// output 62; f32 64x64x112x112 to 37x41, 8 elements, 87 and 113).
inline bool pool_adaptive(int64_t planes, int64_t height, int64_t width, int64_t out_height, int64_t out_width) {
  constexpr int64_t least_threads = int64_t{1} << 17, most_of_window = 10, most_rows = 4;
  return planes * ((out_height + pool_rows - 1) / pool_rows) * out_width >= least_threads && height * width <= out_height * out_width * most_of_window && height <= out_height * most_rows;
}

// Whether adaptive windows are spread over tiles (pool_adaptive_tile): small ones of many outputs (H200: bf16 300x9x33x65 to 3x65, eleven rows of a window, 13.7 to 19.2 us; 4x16x2049x3 to 700x3, 2^17 outputs, 6.8 to 8.6).
inline bool adaptive_tiles(int64_t outputs, int64_t height, int64_t width, int64_t out_height, int64_t out_width) {
  constexpr int64_t least_outputs = int64_t{1} << 18, most_of_window = 16, most_rows = 4;
  return outputs >= least_outputs && (height + 1) * (out_height + 1) < int64_t{1} << 31 && height * width <= out_height * out_width * most_of_window && height <= out_height * most_rows;
}

// The tile has planes and extents of both sides. blocks 0: rows do not fit, or few do (H200: f32 9x12x700x900 to 300x410 by three rows of outputs 152 to 202 us, bf16 3x8x1081x1921 to 540x960 142 to 164).
inline PoolTiling adaptive_tiling(int64_t size, PoolTile t, int64_t tile_bytes) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t lanes = 16 / size, plane = int64_t{t.height} * t.width, out_plane = int64_t{t.out_height} * t.out_width, room = tile_bytes / size;
  t.together = t.bands = t.splits = 1;
  t.rows = t.out_height;
  t.cols = t.out_width;
  int64_t elements = plane;
  if (std::max(plane, out_plane) * 2 <= room) {
    t.together = static_cast<int>(std::min<int64_t>(t.planes, room / std::max(plane, out_plane)));
    elements = t.together * plane;
  } else if (t.height > 1 || t.out_height > 1) {
    // Rows of outputs whose windows, which begin or end in a row that they share, fit, and which fit themselves.
    constexpr int64_t least_rows = 4;
    const int64_t rows = std::min<int64_t>((room / t.width - 2) * t.out_height / t.height, room / t.out_width);
    if (rows < std::min<int64_t>(t.out_height, least_rows)) return {};
    t.bands = static_cast<int>(over(t.out_height, rows));
    t.rows = static_cast<int>(over(t.out_height, t.bands));
    t.bands = static_cast<int>(over(t.out_height, t.rows));
    elements = std::min<int64_t>(t.height, over(int64_t{t.rows} * t.height, t.out_height) + 1) * t.width;
  } else {
    const int64_t cols = std::min<int64_t>((room - 2) * t.out_width / t.width, room);
    if (cols < 1) return {};
    t.splits = static_cast<int>(over(t.out_width, cols));
    t.cols = static_cast<int>(over(t.out_width, t.splits));
    t.splits = static_cast<int>(over(t.out_width, t.cols));
    elements = std::min<int64_t>(t.width, over(int64_t{t.cols} * t.width, t.out_width) + 1);
  }
  // Places across have 31 bits.
  if ((int64_t{t.cols} + 1) * t.width + 2 * int64_t{t.out_width} >= int64_t{1} << 31) return {};
  const int64_t columns = std::max<int64_t>(1, pool_tile_threads / (int64_t{t.together} * t.cols));
  t.chunk = static_cast<int>(over(t.rows, columns));
  t.out_at = static_cast<int>((over(elements, lanes) + 2) * lanes);
  const int64_t outputs = int64_t{t.together} * t.rows * t.cols;
  return {t, over(t.planes, t.together) * t.bands * t.splits, (t.out_at + lanes + over(outputs + lanes, lanes) * lanes) * size};
}

// `size`: bytes of an element. The tile has planes, extents and windows; its input should have `tile_bytes`, and has up to `most_bytes` where the rows of a window need as many.
inline PoolTiling plane_tiling(int64_t size, PoolTile t, int64_t tile_bytes, int64_t most_bytes = most_of_pool_tile) {
  const auto over = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t lanes = 16 / size, plane = int64_t{t.height} * t.width, out_plane = int64_t{t.out_height} * t.out_width;
  int64_t room = tile_bytes / size;
  // Rows of a window that lie in the plane.
  const int64_t least = std::min<int64_t>(t.kernel_down, t.height) * t.width;
  while (t.height > 1 && least > room && room * size < most_bytes) room *= 2;
  // Rows that do not fit.
  if (t.height > 1 && least > room) return {};
  t.together = t.bands = t.splits = 1;
  t.rows = t.out_height;
  t.cols = t.out_width;
  int64_t elements = plane;
  if (plane * 2 <= room) {
    t.together = static_cast<int>(std::min<int64_t>(t.planes, room / std::max(plane, out_plane)));
    elements = t.together * plane;
  } else if (t.height > 1) {
    const int64_t rows = std::max<int64_t>(1, (room / t.width - t.kernel_down) / t.stride_down + 1);
    t.bands = static_cast<int>(over(t.out_height, rows));
    t.rows = static_cast<int>(over(t.out_height, t.bands));
    t.bands = static_cast<int>(over(t.out_height, t.rows));
    elements = std::min<int64_t>(t.height, int64_t{t.rows - 1} * t.stride_down + t.kernel_down) * t.width;
  } else {
    t.bands = t.out_height;
    t.rows = 1;
    const int64_t cols = std::max<int64_t>(1, (room - t.kernel) / t.stride + 1);
    t.splits = static_cast<int>(over(t.out_width, cols));
    t.cols = static_cast<int>(over(t.out_width, t.splits));
    t.splits = static_cast<int>(over(t.out_width, t.cols));
    elements = int64_t{t.cols - 1} * t.stride + t.kernel;
  }
  // A column of windows for each thread, where there are so many.
  const int64_t columns = std::max<int64_t>(1, pool_tile_threads / (int64_t{t.together} * t.cols));
  t.chunk = static_cast<int>(over(t.rows, columns));
  // The first and the last vector begin and end elsewhere than the tile, and a vector before and behind it is read.
  t.out_at = static_cast<int>((over(elements, lanes) + 2) * lanes);
  const int64_t outputs = int64_t{t.together} * t.rows * t.cols;
  return {t, over(t.planes, t.together) * t.bands * t.splits, (t.out_at + lanes + over(outputs + lanes, lanes) * lanes) * size};
}

// Words of one bank of shared memory that a warp's lanes read at a time, on average over the warps of a tile, where a thread has `chunk` outputs below each other.
inline double pool_conflicts(int64_t size, const PoolTile& t, int chunk) {
  constexpr int lanes = 32, banks = 32, word = 4;
  const int chunks = (t.rows + chunk - 1) / chunk, items = std::min(t.together * chunks * t.cols, pool_tile_threads);
  int most_of_all = 0, warps = 0;
  for (int first = 0; first < items; first += lanes, warps++) {
    int64_t seen[lanes];
    int most = 0, of_bank[banks] = {};
    for (int i = first; i < std::min(first + lanes, items); i++) {
      const int column = i % t.cols, rest = i / t.cols;
      const int64_t line = int64_t{rest / chunks} * t.height + int64_t{rest % chunks} * chunk * t.stride_down, at = (line * t.width + column * t.stride) * size / word;
      seen[i - first] = at;
      if (std::find(seen, seen + (i - first), at) == seen + (i - first)) most = std::max(most, ++of_bank[at % banks]);
    }
    most_of_all += most;
  }
  return static_cast<double>(most_of_all) / warps;
}

// Outputs of a thread: some more than needed where lanes would meet in few banks (H200: avg_pool2d bf16 36597 planes of 256x2, 3x3, stride 2, with 16 outputs, of which all lanes meet in one bank, 128 us).
// Two threads that share an odd number of rows keep their halves: 65 and 62 rows took longer than 64 and 63 in all nine cases measured (bf16 312849 planes of 128x5, 2x2, 393 and 246 us; two of 65 and 63, or three of 44, gain).
inline int pool_chunk(int64_t size, const PoolTile& t) {
  constexpr int more = 3;
  constexpr double hidden = 1.25;  // accesses of a bank that other instructions hide
  const auto time = [&](int chunk) {
    const int items = t.together * ((t.rows + chunk - 1) / chunk) * t.cols;
    return (items + pool_tile_threads - 1) / pool_tile_threads * chunk * std::max(hidden, pool_conflicts(size, t, chunk));
  };
  int best = t.chunk;
  const double usual = time(best);
  double least = usual * 0.8;
  const bool odd_halves = t.rows % 2 == 1 && t.chunk * 2 == t.rows + 1;
  for (int chunk = t.chunk + 1; chunk <= std::min(t.chunk + more, t.rows) && !odd_halves; chunk++)
    if (const double own = time(chunk); own < least) best = chunk, least = own;
  return best;
}

constexpr int64_t pool_own_shared = 1 << 10;  // bytes of shared memory that kernels have beside a tile, at most
// Wide rows: bytes of those of a window, at most, and of the tile that holds them (H200: avg_pool2d bf16 3x3x1300x2049, 5x5 279 to 84.8 us, max_pool2d f32 4x3x1080x1920, 3x3 104 to 75.0, f16 2x3x2000x4001, 5x5, stride 5
// 44.5 to 31.3; f32 2x2x4000x5001, 3x3 401 to 667, where a tile has one block on a multiprocessor, 3x800x3001, 2x2 13.8 to 14.9, which is small, and 4x2000x3001, 2x2 31.9 to 33.7).
constexpr int64_t most_wide_rows = 40 << 10, most_of_wide_tile = 64 << 10;
// Tiles of means of 16 bits of planes that the usual tile has not room for, by windows apart: fewer rows are met twice (H200: avg_pool2d bf16 64x128x112x112, 3x3, stride 2 70.0 to 65.7 us, 32x64x112x112 22.9 to 21.9, 50x64x130x130,
// 5x5, stride 2 55.8 to 53.3, f16 64x64x112x112 39.5 to 36.6; f32 and maxima within 2 %, several planes of a tile bf16 64x256x56x56, 3x3, stride 1 72.1 to 82.8).
constexpr int64_t large_pool_tile = 28 << 10;
// And of two outputs side by side (H200, by a harness, by 16, 20 and 28 KiB: avg_pool2d bf16 64 planes of 1024x1000 47.6, 43.7, 46.1 us, 15 of 4000x4000 173, 162, 173, 8192 of 112x112 62.1, 62.4, 62.6; max_pool2d 47.1, 43.2, 45.8, 163, 159,
// 163 and 61.7, 61.7, 62.1).
constexpr int64_t pool_pairs_tile = 20 << 10;
// `most_shared`: bytes that a block may ask for.
inline PoolTiling pool_tiling(int64_t size, const PoolTile& t, bool means, int64_t most_shared = 48 << 10) {
  if (pool_tile_kernel(t).empty()) return {};
  int64_t usual = pool_tile_bytes(t.planes * t.height * t.width * size, t.height == 1);
  const int64_t window_rows = std::min<int64_t>(t.kernel_down, t.height) * t.width * size;
  const bool most = usual == most_of_pool_tile;
  if (most && pool_pairs(size, t) && int64_t{t.height} * t.width * size > usual) usual = pool_pairs_tile;
  else if (means && size == 2 && t.stride_down > 1 && most && int64_t{t.height} * t.width * size > usual && window_rows <= usual) usual = large_pool_tile;
  PoolTiling tiling = plane_tiling(size, t, usual);
  if (tiling.blocks == 0 && most && window_rows <= most_wide_rows && (t.kernel > 2 || size == 2)) {
    tiling = plane_tiling(size, t, usual, most_of_wide_tile);
    if (tiling.shared > most_shared) return {};
  }
  if (tiling.blocks > 0 && t.height > 1) {
    PoolTile& own = tiling.tile;
    // A column of pairs for each thread, where there are so many.
    const int columns = std::max(1, 2 * pool_tile_threads / (own.together * own.cols));
    own.chunk = pool_pairs(size, t) ? (own.rows + columns - 1) / columns : pool_chunk(size, own);
  }
  return tiling;
}

}  // namespace opscope::cuda
