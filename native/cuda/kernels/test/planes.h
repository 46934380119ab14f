// What holds for the launches of planes over their whole range: poolings and group_norm. `expect` takes what is right and its name.
#pragma once
#include <set>

#include "kernels/group_norm/shape.h"
#include "kernels/pooling/shape.h"

namespace opscope::cuda {

// Tiles hold their windows' rows and outputs, meet each output once, and start where the kernels expect them.
template <class Expect>
void pool_tilings(Expect expect) {
  bool whole = true, room = true, pieces = true, kept = true, pairs = true;
  std::set<std::string> kernels;
  for (const int64_t size : {2, 4})
    for (const int height : {1, 2, 7, 56, 113, 5001})
      for (const int width : {1, 2, 9, 41, 112, 1301, 20'011, 1 << 30})
        for (const int64_t planes : {1, 3, 300, 1 << 20})
          for (const int kernel : {1, 2, 3, 5, 7, 60})
            for (const int stride : {1, 2, 3, 5, 7, 60})
              for (const auto& [signals, means] : {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
                const int padding = kernel / 2;
                if (int64_t{height} * width * planes > int64_t{1} << 34 || (signals && height > 1)) continue;
                PoolTile t = {planes, height, width, 0, 0, signals ? 1 : kernel, signals ? 1 : stride, signals ? 0 : padding, kernel, stride, padding, 0, 0, 0, 0, 0, 0, 0};
                t.out_height = (height + 2 * t.padding_down - t.kernel_down) / t.stride_down + 1;
                t.out_width = (width + 2 * padding - kernel) / stride + 1;
                if (height + 2 * t.padding_down < t.kernel_down || width + 2 * padding < kernel) continue;
                const PoolTiling s = pool_tiling(size, t, means);
                if (s.blocks == 0) {
                  kept = kept && (pool_tile_kernel(t).empty() || (height > 1 && int64_t{std::min(kernel, height)} * width * size > most_of_pool_tile));
                  continue;
                }
                const PoolTile& q = s.tile;
                const auto covers = [](int64_t all, int64_t parts, int64_t part) { return part >= 1 && part * parts >= all && part * (parts - 1) < all; };
                const int64_t groups = s.blocks / (int64_t{q.bands} * q.splits);
                whole = whole && covers(planes, groups, q.together) && covers(q.out_height, q.bands, q.rows) && covers(q.out_width, q.splits, q.cols) && q.chunk >= 1 && q.chunk <= q.rows && s.blocks == groups * q.bands * q.splits;
                // One piece of memory on either side.
                pieces = pieces && (q.splits == 1 || (height == 1 && q.rows == 1 && q.together == 1)) && (q.bands == 1 || q.together == 1);
                const int64_t lanes = 16 / size, lines = q.together > 1 ? int64_t{q.together} * height : std::min<int64_t>(height, int64_t{q.rows - 1} * q.stride_down + q.kernel_down);
                const int64_t across = q.splits > 1 ? int64_t{q.cols - 1} * stride + kernel : width;
                room = room && q.out_at % lanes == 0 && q.out_at >= (lines - 1) * width + across + 2 * lanes && s.shared % 16 == 0 && s.shared <= 48 << 10 &&
                       s.shared / size >= q.out_at + 2 * lanes + int64_t{q.together} * q.rows * q.cols;
                // Pairs lie side by side, and start on words.
                pairs = pairs && (!pool_pairs(size, q) || (q.splits == 1 && q.cols % 2 == 0 && q.out_width % 2 == 0 && q.out_at % 2 == 0));
                kernels.insert(pool_pairs(size, q) ? "_tile_pairs" : pool_tile_kernel(q));
              }
  expect(whole, "tiles of windows meet each output once");
  expect(pieces, "tiles of windows are one piece of memory, and so are their outputs");
  expect(room, "a tile and its outputs fit into shared memory that needs no asking");
  expect(kept, "common windows take tiles wherever their rows fit");
  expect(pairs, "two outputs side by side start on words");
  expect(kernels.size() == 23, "each kernel for tiles is met");
  const PoolTile narrow = {36'597, 256, 2, 128, 1, 3, 2, 1, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0};
  const PoolTile usual = plane_tiling(2, narrow, most_of_pool_tile).tile, chosen = pool_tiling(2, narrow, false).tile;
  expect(pool_conflicts(2, usual, usual.chunk) == 32 && pool_conflicts(2, chosen, chosen.chunk) <= 4, "threads have more outputs where lanes would meet in one bank");
  const PoolTile wide = {12, 1080, 1920, 1080, 1920, 3, 1, 1, 3, 1, 1, 0, 0, 0, 0, 0, 0, 0};
  const PoolTiling of_wide = pool_tiling(4, wide, false, 226 << 10);
  expect(of_wide.blocks > 0 && of_wide.shared <= 226 << 10 && pool_tiling(4, wide, false, 16 << 10).blocks == 0, "wide rows of many elements have larger tiles where a block may ask for them");
  const PoolTile halves = {312'849, 128, 5, 127, 4, 2, 1, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0};
  const PoolTile large = {4096, 112, 114, 56, 57, 3, 2, 1, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0}, even = {4096, 112, 112, 56, 56, 3, 2, 1, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0};
  expect(pool_tiling(2, large, true).tile.bands == 1 && pool_tiling(2, large, false).tile.bands == 2 && pool_tiling(4, large, true).tile.bands > 1, "means of 16 bits have larger tiles of planes that the usual tile does not hold");
  expect(pool_pairs(2, even) && !pool_pairs(2, large) && !pool_pairs(4, even) && pool_tiling(2, even, true).tile.bands == 2 && pool_tiling(2, even, false).tile.chunk == 7, "outputs lie side by side where rows are whole fours");
  expect(pool_tiling(2, halves, true).tile.chunk == 64, "two threads of an odd number of rows have their halves");
}

// The same of adaptive windows.
template <class Expect>
void adaptive_tilings(Expect expect) {
  bool whole = true, room = true, pieces = true;
  for (const int64_t size : {2, 4})
    for (const int height : {1, 2, 7, 56, 113, 5001})
      for (const int width : {1, 2, 9, 41, 181, 1301, 20'011})
        for (const int64_t planes : {1, 3, 300, 1 << 20})
          for (const int out_height : {1, 2, 7, 40, 113, 9000})
            for (const int out_width : {1, 3, 40, 93, 1301, 50'000}) {
              const PoolTiling s = adaptive_tiling(size, {planes, height, width, out_height, out_width, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, most_of_pool_tile);
              if (s.blocks == 0) continue;
              const PoolTile& q = s.tile;
              const auto covers = [](int64_t all, int64_t parts, int64_t part) { return part >= 1 && part * parts >= all && part * (parts - 1) < all; };
              const int64_t groups = s.blocks / (int64_t{q.bands} * q.splits), lanes = 16 / size;
              whole = whole && covers(planes, groups, q.together) && covers(out_height, q.bands, q.rows) && covers(out_width, q.splits, q.cols) && q.chunk >= 1 && q.chunk <= q.rows && s.blocks == groups * q.bands * q.splits;
              pieces = pieces && (q.splits == 1 || (height == 1 && q.rows == 1 && q.together == 1)) && (q.bands == 1 || q.together == 1);
              // Elements of an axis that a tile reads, at most.
              const auto reach = [](int64_t input, int64_t output, int64_t parts, int64_t part) {
                int64_t most = 0;
                for (int64_t k = 0; k < std::min<int64_t>(parts, 200); k++) most = std::max(most, (std::min((k + 1) * part, output) * input + output - 1) / output - k * part * input / output);
                return most;
              };
              const int64_t lines = q.together > 1 ? int64_t{q.together} * height : reach(height, out_height, q.bands, q.rows), across = q.splits > 1 ? reach(width, out_width, q.splits, q.cols) : width;
              room = room && q.out_at % lanes == 0 && q.out_at >= (lines - 1) * width + across + 2 * lanes && s.shared % 16 == 0 && s.shared <= 48 << 10 && s.shared / size >= q.out_at + 2 * lanes + int64_t{q.together} * q.rows * q.cols;
            }
  expect(whole, "tiles of adaptive windows meet each output once");
  expect(pieces, "tiles of adaptive windows are one piece of memory, and so are their outputs");
  expect(room, "a tile of adaptive windows and its outputs fit into shared memory that needs no asking");
}

// Many short groups are held by lanes of a warp.
template <class Expect>
void short_groups(Expect expect) {
  bool held = true;
  for (const int64_t lanes : {4, 8})
    for (const int64_t channels : {1, 2, 7, 32})
      for (int64_t plane = 1; plane <= 1000; plane++) {
        const int64_t cols = channels * plane;
        const ShortGroupShape s = short_group_shape(132, lanes, 100'000, channels, plane);
        if (s.vectors == 0) continue;
        held = held && cols % lanes == 0 && plane >= lanes && s.log2 <= 5 && int64_t{s.vectors} << s.log2 >= cols / lanes && s.blocks * group_short_threads >= int64_t{100'000} << s.log2;
      }
  expect(held, "lanes of a warp hold short groups");
  expect(short_group_shape(132, 4, 109'460, 1, 256).vectors > 0 && short_group_shape(132, 4, 20, 1, 256).vectors == 0 && short_group_shape(132, 4, 109'460, 1, 255).vectors == 0, "many short groups of whole vectors");
}

// Blocks hold their groups, none is empty, and a division by the plane is exact.
template <class Expect>
void group_shapes(Expect expect) {
  bool held = true, filled = true, exact = true;
  for (const int64_t lanes : {4, 8})
    for (const int64_t channels : {1, 2, 7, 32, 1024, 1025})
      for (int64_t plane = 1; plane <= 400'000; plane = plane * 5 / 4 + 1)
        for (const int64_t groups : {1, 3, 66, 1000, 1'000'000})
          for (const bool clusters : {false, true}) {
            const GroupShape s = group_shape(132, lanes, groups, channels, plane, clusters);
            const int64_t cols = channels * plane;
            if (s.vectors == 0) {
              filled = filled && (cols < group_least * lanes || cols + lanes > (clusters ? 8 : 1) * lanes * group_threads * group_vectors || plane < lanes || channels > group_channels);
              continue;
            }
            const int64_t least = cols / lanes, most = (cols + (s.ragged ? 2 * lanes - 2 : 0)) / lanes;  // vectors, whatever the group's alignment
            held = held && (s.vectors == 4 || s.vectors == 8) && s.threads % 32 == 0 && s.threads >= 64 && s.threads <= group_threads && s.part <= int64_t{s.threads} * s.vectors && s.part * s.parts >= most &&
                   s.part * (s.parts - 1) < least && (s.parts & (s.parts - 1)) == 0 && (s.parts == 1 || (clusters && s.parts <= 8)) && s.blocks == groups * s.parts && s.ragged == (cols % lanes != 0);
          }
  for (const int64_t divisor : {2, 3, 4, 7, 49, 1000, 1024, 12'544, 1'000'003, (1 << 30) + 1}) {
    const Division d = division_by(divisor);
    for (int64_t i = 0; i < int64_t{1} << 31; i = i * 9 / 8 + 1)
      for (const int64_t at : {i, i / divisor * divisor, i / divisor * divisor + divisor - 1})
        if (at < int64_t{1} << 31) exact = exact && at / divisor == static_cast<int64_t>((static_cast<uint64_t>(at) * d.factor) >> 32 >> d.shift);
  }
  expect(held, "blocks of group_norm hold their groups, and none is empty");
  expect(filled, "group_norm reads x once wherever registers and clusters hold a group");
  expect(exact, "division by a product and a shift is exact below 2^31");
  expect(group_shape(132, 8, 1024, 8, 3136, true).parts == 1 && group_shape(132, 4, 1024, 8, 3136, true).parts == 2 && group_shape(132, 8, 8, 8, 3136, true).parts == 2 && group_shape(132, 8, 1024, 8, 3136, true).three && !group_shape(132, 8, 1024, 8, 4096, true).three, "as few blocks for a group as hold it, more where groups are few");
}

template <class Expect>
void planes(Expect expect) {
  pool_tilings(expect);
  adaptive_tilings(expect);
  short_groups(expect);
  group_shapes(expect);
}

}  // namespace opscope::cuda
