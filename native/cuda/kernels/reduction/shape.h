// How a reduction is spread over the GPU. Pure; no_gpu_test.cc has what holds over the whole range.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "rows.h"

namespace opscope::cuda {

// Rows in one piece. group: that many threads of a warp for each of a few vectors; tile: the same through shared memory, `chunk` rows of a block at
// a time; block: `splits` blocks for each, of `chunk` elements: one, a cluster, or many that leave their shares in slots.
struct RowSplit {
  enum class Kind { group, tile, block } kind;
  unsigned threads;  // per block
  int group;
  int64_t chunk, splits;
  bool cluster = false;
  bool slots = false;
};

// Blocks of a cluster that every GPU with clusters takes.
constexpr int64_t most_of_cluster = 8;

// Vectors of a thread where a row has one block and the kernel little code, and of one that leaves its share in a slot; threads of such a block, and slots in all.
constexpr int64_t short_vectors = 4, slot_vectors = 4, slot_threads = 512, most_slots = 4096;

// `blocks` of 512 threads fit on a multiprocessor. `clusters`: whether the GPU has them.
inline RowSplit row_split(int sm_count, int64_t element_bytes, int64_t rows, int64_t cols, int blocks = 4, bool clusters = false) {
  const auto up = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t width = 16 / element_bytes;
  const int64_t vectors = up(cols, width);
  // Longer ones of several are taken by lanes of a warp (reduction/rows.h).
  if (vectors < reduced_least_placed && rows > 1) {
    int group = 1;
    if (cols % width == 0) {
      while (group * 2 <= vectors) group *= 2;
      return {RowSplit::Kind::group, 256, group, cols, 1};
    }
    // Where rows are few, four elements per thread of a row.
    while (rows < int64_t{sm_count} * 512 && group * 4 < cols) group *= 2;
    constexpr int64_t bytes = 16 << 10;
    const int64_t most = std::max<int64_t>(8, bytes / element_bytes / cols / 8 * 8), wanted = up(up(rows, int64_t{sm_count} * 2), 8) * 8;
    // Threads have equally many rows (H200: min f32 8388608x5 58.4 to 57.0 us, argmin bf16 3000001x9 40.1 to 38.9).
    const int64_t together = 256 / group, whole = most >= together && together % 8 == 0 ? most / together * together : most;
    return {RowSplit::Kind::tile, 256, group, wanted < most ? wanted : whole, 1};
  }
  const auto threads = static_cast<unsigned>(std::clamp<int64_t>(up(vectors, short_vectors * 32) * 32, 32, rows <= sm_count && vectors <= short_vectors * 1024 ? 1024 : 512));
  // No more blocks in all than fit at once, each with at least four vectors per thread.
  const int64_t wanted = std::max<int64_t>(1, sm_count * blocks / rows);
  int64_t splits = std::clamp<int64_t>(std::min(wanted, up(vectors, static_cast<int64_t>(threads) * 4)), 1, 65535);
  // Long rows, of which there are too many for several blocks of each at once, too: in the end blocks of few rows would be left (H200: sum f16 560x300001 88.8 to 81.9 us, argmin f32 300x262144 92.3 to 76.0; sum f32 2000x65537 121 to 127).
  constexpr int64_t long_row = 1 << 15, few_rounds = 5;
  const bool several = splits > 1 || (rows > 1 && vectors >= long_row && rows <= sm_count * few_rounds);
  // Clusters all run at once, and where they fill the GPU, rows are not long (H200: max f32 77x2097153 169 to 146 us, sum f32 66x250000 26.0 to 22.1; 263x40000 16.5 by clusters, 18.1 by slots).
  constexpr int64_t most_of_cluster_row = 12 << 10;
  const bool long_rows = vectors >= most_of_cluster_row && rows * 2 >= sm_count;
  if (clusters && splits > 1 && splits <= most_of_cluster && !long_rows) {
    int64_t size = 2;
    while (size < splits && size < most_of_cluster) size *= 2;
    // Every block of a cluster has a part.
    const int64_t chunk = up(vectors, size) * width;
    if (up(cols, chunk) == size && rows * size <= int64_t{sm_count} * blocks) return {RowSplit::Kind::block, threads, 32, chunk, size, true};
  }
  if (!several) return {RowSplit::Kind::block, threads, 32, vectors * width, 1};
  // Blocks of one round, so that who is done has another: where all are there from the beginning, the slowest multiprocessor is waited for (f32 4096x4096 on an H100: 26.0
  // us, by 528 blocks 28.2).
  const int64_t rounds = up(up(vectors, slot_threads * slot_vectors) * rows, most_slots), chunk = rounds * slot_threads * slot_vectors * width;
  return {RowSplit::Kind::block, static_cast<unsigned>(slot_threads), 32, chunk, up(cols, chunk), false, true};
}

// Few columns.
constexpr int64_t flat_columns = 64, long_flat_columns = 128, longest_flat_columns = 200;

// Columns of [outer, reduce, inner], `width` elements of an access.
//   each    a thread has `width` columns, or where rows are `few` `each_columns` single ones, and meets all rows; `tiles` threads
//   flat    few columns: rows run on behind each other, `step` elements of whole rows at a time, a block's threads keep their columns;
//           `splits` shares of `rows` rows
//   tiled   tiles of 32 threads' columns, and `splits` shares of `rows` rows; `shifted`: tiles of 31, of rows that do not start on 16 bytes
//   strip   128 bytes of columns of a block, with all rows
//   strips  the same, whose rows `cluster` blocks share, of several such where there are `splits`
//   cluster tiles, where the shares of a tile are a cluster of blocks
struct ColumnSplit {
  enum class Kind { each, flat, tiled, strip, strips, cluster } kind;
  int64_t width, tile, tiles, rows, splits, step = 0;
  bool shifted = false;
  bool few = false;  // each: `each_columns` single elements of a thread
  int64_t cluster = 1;  // flat: blocks that join their shares before they write them; splits are a multiple of it
};

// Columns of one thread where they are single elements of up to so many rows (H200: two rows of 692,643 bf16 11.2 to 7.5 us, five of 1,000,001 f32 13.9 to 11.2; eight of
// 300,001 bf16 6.3 to 8.8).
constexpr int64_t each_columns = 4, each_few_rows = 5;
// Rows from which on the shares of a column are few beside them, however many blocks have one.
constexpr int64_t many_rows = int64_t{1} << 17;
// Rows from which vectors pay where rows do not start on 16 bytes (H200: bf16 20x743377 18.8 to 16.3 us, 16x743377 14.6 to 17.7).
constexpr int64_t shifted_rows = 20;

// `blocks` of the kernel for tiles fit on a multiprocessor. `clusters`: whether the GPU and the reduction have them. `shifts`: whether the reduction has shifted tiles.
inline ColumnSplit column_split(int sm_count, int64_t element_bytes, int64_t outer, int64_t reduce, int64_t inner, int blocks = 6, bool clusters = false, bool shifts = false) {
  const auto up = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  const int64_t lanes = 16 / element_bytes, narrower = 31 * lanes;
  const bool aligned = inner % lanes == 0;
  // Fewer of 16 bits, whose single elements are half a line of memory, where rows are many, or so few that no share of a tile waits long (H200: sum bf16 1025x11427 19.7 to 11.9 us, 100x15001 8.5 to 7.2; 300x11427 8.3 to 9.3).
  constexpr int64_t some_shifted = 128, many_shifted = 512;
  const bool fewer = lanes > 4 && (reduce <= some_shifted || reduce >= many_shifted) && up(inner, narrower) * outer * 8 >= sm_count;
  // Many whole tiles: their shares are few, and soon joined (f32 1731x167 on an H100: 12.0 us by shifted tiles, 8.0 by others).
  const bool shifted = shifts && !aligned && reduce >= shifted_rows && inner >= narrower * 4 && (fewer || up(inner, narrower) * outer * 2 >= sm_count);
  const int64_t wide = aligned ? lanes : 1, threads = outer * inner / wide;
  // Some rows are soon met by a thread, whose loads are all on their way (H200: argmax f16 17x1000000 26.3 to 16.3 us, sum bf16 9x524288 10.2 to 8.6, f16 48x524288 19.3 to 16.8, bf16 64x262144 15.8 to 14.0).
  const bool some = aligned && reduce <= 64 && inner >= 32 * lanes && threads >= int64_t{sm_count} * 192;
  constexpr int64_t least_single = 1 << 14;
  // So are those of single elements in long rows (H200: sum_to_shape bf16 17x65537 9.0 to 7.0 us, max f16 16x131073 12.6 to 7.0, mean f32 17x100001 11.0 to 7.6, argmin f32 10x100001 11.7 to 7.4, sum f16 12x40001 7.6 to 6.3).
  if (!shifted && (reduce <= 8 || some || (!aligned && reduce < shifted_rows && inner >= least_single && threads >= int64_t{sm_count} * 256) || threads >= int64_t{sm_count} * 1024)) {
    const bool few = !aligned && reduce <= each_few_rows;
    return {ColumnSplit::Kind::each, wide, wide, few ? up(threads, each_columns) : threads, reduce, 1, 0, false, few};
  }
  // Columns of 16 bits that would leave half of a tile of vectors empty, or that tiles would read one by one (H200: sum bf16 2763663x79 195 to 120 us, mean f16 300000x77 33.4 to 23.9, max f16 400000x128 42.2 to 37.9, argmax bf16
  // 1000000x79 122 to 97; sum f32 100003x150 26.5 to 34.4, argmax f32 100003x129 30.3 to 47.3).
  constexpr int64_t long_flat_bytes = 512 << 10;
  // Columns of f32 and more rows, where tiles of them would be read one by one or be partly empty; 16 bits of somewhat more columns than above. Places take longer so (H200: sum f32 2000001x70 191 to 150 us, 1000000x130 165 to 149,
  // 400001x97 58.5 to 51.6, 200000x200 78.4 to 57.7, min 1048577x131 175 to 155, sum bf16 1000000x129 124 to 95.7; sum f32 700001x255 192 to 194, max bf16 400001x200 53.8 to 57.1, argmax f32 262144x131 62.6 to 86.5).
  constexpr int64_t longest_flat_bytes = 120 << 20, longest_flat_halves = 136;
  const bool partly_empty = up(inner, 32 * lanes) * 32 * lanes * 4 >= inner * 5;
  const bool longest = clusters && shifts && inner <= (lanes == 8 ? longest_flat_halves : longest_flat_columns) && (!aligned || partly_empty) && reduce * inner * element_bytes >= longest_flat_bytes;
  const bool long_flat = longest || (clusters && lanes == 8 && inner <= long_flat_columns && reduce * inner * element_bytes >= long_flat_bytes);
  if (inner <= flat_columns || long_flat) {
    // Threads of a block such that a step is of whole rows.
    const int64_t period = inner / std::gcd(inner, lanes), active = 256 / period * period, step = active * lanes, rows_of_step = step / inner;
    const int64_t steps = up(reduce, rows_of_step), wanted = up(int64_t{sm_count} * 4, outer);
    if (const int64_t size = most_of_cluster, together = std::min(up(int64_t{sm_count} * 4, outer), steps / 4) / size * size; clusters && size > 1 && together >= size * 2) {
      const int64_t each = up(steps, together);
      return {ColumnSplit::Kind::flat, lanes, inner, 1, each * rows_of_step, up(up(steps, each), size) * size, step, false, false, size};
    }
    if (inner <= flat_columns) {
      // 256 threads add up the shares of all columns, so many columns have fewer, unless each is of many rows.
      const int64_t shares = std::max(32 * (256 / inner), steps / 64);
      const int64_t each = up(steps, std::clamp<int64_t>(std::min({wanted, up(steps, 4), shares}), 1, 1024));
      return {ColumnSplit::Kind::flat, lanes, inner, 1, each * rows_of_step, up(steps, each), step};
    }
  }
  const int64_t tile = shifted ? narrower : 32 * wide, tiles = up(inner, tile);
  // A block for each multiprocessor, or nearly, none of which waits for shares of others (H200: argmax f32 4096x4096 24.0 to 21.2 us, bf16 1030x8192 12.8 to 11.5; two rounds of them of 16 bits, bf16 3000x16384 33.0 to 32.1;
  // sum f32 3000x8192 28.4 and 29.6, 20000x4096 79.0 and 81.1).
  const int64_t strip = 8 * lanes, strips = up(inner, strip), rounds = up(strips * outer, sm_count);
  constexpr int64_t strip_rows = 1024, most_strip_rows = 8192;
  if (aligned && reduce >= strip_rows && reduce <= most_strip_rows && rounds <= (lanes > 4 ? 2 : 1) && strips * outer * 10 >= rounds * sm_count * 9) return {ColumnSplit::Kind::strip, lanes, strip, strips, reduce, 1};
  // Two blocks on a multiprocessor, or nearly one, each with at least eight rows for each of its eight groups (bf16 4096x4096 on an H200: 12.6 us, by 48 shares and a
  // counter 14.8).
  for (const int64_t size : {8, 4})
    if (clusters && shifts && aligned && tiles * outer * size <= sm_count * 2 && tiles * outer * size * 10 >= sm_count * 9 && reduce >= size * 64) {
      const int64_t rows = up(reduce, size);
      if (up(reduce, rows) == size) return {ColumnSplit::Kind::cluster, lanes, tile, tiles, rows, size};
    }
  // A block for most multiprocessors, of which several, mostly a cluster, share a strip: what blocks leave for the last of them is little then (H200: sum f32 2048x512 12.8 to 7.3 us, 8192x1024 22.7 to 16.5, 100000x128 42.6 to 19.4, bf16
  // 20000x768 20.1 to 14.7, max bf16 8192x1024 16.2 to 11.1).
  constexpr int64_t least_of_strip = 128, least_strips_bytes = 3 << 19;
  if (const int64_t wide_strip = aligned ? strip : strip - lanes, all = up(inner, wide_strip) * outer; clusters && shifts && all * 2 <= sm_count && reduce * inner * outer * element_bytes >= least_strips_bytes) {
    // Parts of a strip that are clusters of their own are joined by the last of them, which takes a tenth of the time or so.
    constexpr double of_parts = 0.1;
    int64_t size = 0, parts = 1;
    double most_busy = 0.5;
    for (int64_t blocks = most_of_cluster; blocks >= 2; blocks--)
      for (const int64_t split : {int64_t{1}, sm_count / (all * blocks)}) {
        if (split < 1 || all * blocks * split > sm_count || up(reduce, blocks * split) < least_of_strip * (split > 1 ? 4 : 1)) continue;
        const double busy = static_cast<double>(all * blocks * split) / sm_count - (split > 1 ? of_parts : 0);
        if (busy > most_busy) size = blocks, parts = split, most_busy = busy;
      }
    if (const int64_t rows = size > 0 ? up(reduce, size * parts) : 0; rows > 0 && rows * (size * (parts - 1)) < reduce) return {ColumnSplit::Kind::strips, lanes, wide_strip, up(inner, wide_strip), rows, size * parts, 0, !aligned, false, size};
  }
  // A block for each strip off 16 bytes, where multiprocessors have one or two: single elements of a row are half a line of memory, and shares of tiles of vectors are joined at last.
  if (const int64_t wide_strip = strip - lanes, all = up(inner, wide_strip) * outer, of_all = up(all, sm_count) * sm_count; clusters && shifts && !aligned && reduce >= least_of_strip && all <= sm_count * 2 && all * 4 >= of_all * 3)
    return {ColumnSplit::Kind::strips, lanes, wide_strip, up(inner, wide_strip), reduce, 1, 0, true, false, 1};
  // As few splits as leave no large part of the GPU idle: blocks are as many as fit at once, or many times as many. A split has at least four rows for each of
  // its eight groups.
  const int64_t fit = int64_t{sm_count} * blocks, most = std::clamp<int64_t>(reduce / 32, 1, reduce >= many_rows ? 512 : 256);
  const auto busy = [&](int64_t splits) { return static_cast<double>(tiles * outer * splits) / static_cast<double>(up(tiles * outer * splits, fit) * fit); };
  int64_t best = 1;
  for (int64_t splits = 1; splits <= most && busy(best) < 0.95; splits++)
    if (busy(splits) > busy(best)) best = splits;
  const int64_t rows = up(reduce, best);
  return {ColumnSplit::Kind::tiled, shifted ? lanes : wide, tile, tiles, rows, up(reduce, rows), 0, shifted};
}

}  // namespace opscope::cuda
