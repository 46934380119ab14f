// Which kernels order rows and sum along them.
#include <set>

#include "kernels/cumsum/shape.h"
#include "kernels/cumsum/slots.h"
#include "kernels/order/shape.h"
#include "kernels/test/expect.h"

using namespace opscope::cuda;

namespace {

constexpr int64_t shared_bytes = 227 << 10;  // of a block, on Hopper

// On every GPU.
void rooms() {
  bool held = true;
  for (const int64_t shared : {99 << 10, 163 << 10, 227 << 10})
    for (int64_t cols = 1; cols <= 1 << 22; cols = cols * 4 / 3 + 1)
      for (const int64_t rows : {1, 300, 100'000})
        for (const int64_t keep : {int64_t{1}, int64_t{200}, int64_t{1000}, cols})
          for (const int64_t bytes : {2, 4}) {
            if (keep > cols) continue;
            const OrderShape s = order_shape(132, shared, rows, cols, keep, bytes);
            if (s.kind == OrderKind::block) held = held && block_shared(s, bytes) <= shared && int64_t{s.each} * s.threads >= s.part;
            if (s.kind == OrderKind::choose) held = held && choose_shared(cols, bytes) + choose_own_shared <= shared;
          }
  expect(held, "rows that blocks sort fit into shared memory");
}

// Every shape holds the row, or parts that cover it once, and fits a block.
void orders() {
  bool tiles = true, parts = true, holds = true, fits = true, joins = true;
  for (int64_t cols = 1; cols <= int64_t{1} << 31; cols = cols * 3 / 2 + 1)
    for (const int64_t rows : {1, 3, 100, 100'000})
      for (const int64_t keep : {int64_t{1}, int64_t{5}, int64_t{24}, int64_t{125}, int64_t{1024}, int64_t{3000}, int64_t{5000}, cols})
        for (const int64_t bytes : {2, 4}) {
          if (keep > cols) continue;
          const OrderShape s = order_shape(132, shared_bytes, rows, cols, keep, bytes);
          const auto power = [](int64_t n) { return (n & (n - 1)) == 0; };
          switch (s.kind) {
            case OrderKind::rank: holds = holds && s.threads >= cols; fits = fits && s.threads <= 256 && s.threads % 32 == 0; break;
            case OrderKind::threads: holds = holds && s.threads >= cols; fits = fits && s.threads <= 1024 && s.threads >= 32 && power(s.threads); break;
            case OrderKind::network: holds = holds && int64_t{s.each} * s.threads >= cols; fits = fits && s.threads <= 32 && power(s.threads) && s.each <= (bytes == 2 ? 32 : 16); break;
            case OrderKind::best_warp: holds = holds && best_capacity(32, s.each, bytes) >= cols; fits = fits && keep <= 32 && s.each <= 32; break;
            case OrderKind::block:
              holds = holds && int64_t{s.each} * s.threads >= s.part && s.part <= block_columns(shared_bytes, bytes);
              parts = parts && s.part == cols && s.parts == 1;
              fits = fits && s.threads <= 1024 && block_shared(s, bytes) <= 227 << 10;
              break;
            case OrderKind::best:
            case OrderKind::best_tile:
              holds = holds && best_capacity(best_threads, s.each, bytes) >= s.part;
              parts = parts && s.part * s.parts >= cols && s.part * (s.parts - 1) < cols;
              joins = joins && (s.parts == 1 || s.parts * keep <= (s.kind == OrderKind::best ? best_joined : largest_tile));
              break;
            case OrderKind::select: {
              const SelectSplit split = select_split(132, rows, cols, keep);
              parts = parts && split.part * split.parts >= cols && split.part * (split.parts - 1) < cols && (split.parts == 1 || split.parts * keep * 4 <= cols);
              fits = fits && keep <= most_selected;
              break;
            }
            case OrderKind::choose:
              holds = holds && choose_shared(cols, bytes) >= cols * bytes + 14;
              fits = fits && keep <= most_chosen && choose_shared(cols, bytes) + most_chosen * 9 + (11 << 10) <= 227 << 10;
              break;
            case OrderKind::choose_far: fits = fits && keep <= most_chosen_far && most_chosen_far <= choose_threads * keys_of_thread && cols <= int64_t{1} << 30; break;
            case OrderKind::filter:
              parts = parts && s.parts <= most_filter_parts && (s.parts == 1 || s.parts * filter_slots * choose_threads * 16 <= cols * bytes);
              fits = fits && keep <= most_selected && most_chosen_far <= choose_threads * keys_of_thread && cols <= int64_t{1} << 30 && filter_slots * choose_threads >= 2 * keep && filter_slots * choose_threads * 16 <= cols * bytes;
              break;
            case OrderKind::filter_more: {
              const int64_t words = s.parts * filter_more_least(static_cast<int>(s.parts));
              parts = parts && s.parts >= filter_more_parts && s.parts <= most_filter_parts && s.parts * filter_slots * choose_threads * 16 <= cols * bytes;
              fits = fits && keep <= most_chosen_far && cols <= int64_t{1} << 30 && words >= 2 * most_chosen_far && words >= filter_more_own * choose_threads && filter_more_shared <= shared_bytes &&
                     filter_more_keys <= filter_more_threads * keys_of_thread && filter_more_keys >= 2 * most_chosen_far;
              break;
            }
            case OrderKind::radix: fits = fits && keep > most_selected; break;
          }
          const int64_t tile = tile_of_row(cols);
          tiles = tiles && power(tile) && tile / keys_of_thread >= 32 && tile / keys_of_thread <= 1024 && (tile >= cols || tile == largest_tile);
        }
  expect(tiles, "tiles of keys are powers of two that a block sorts");
  expect(holds, "the threads of a row hold it");
  expect(fits, "blocks that order rows fit a multiprocessor");
  expect(parts, "parts of a row cover it once and leave a quarter of it at most");
  expect(joins, "what the parts of a row leave is joined at once");
  const auto kind = [](int64_t rows, int64_t cols, int64_t keep, int64_t bytes) { return order_shape(132, shared_bytes, rows, cols, keep, bytes).kind; };
  expect(kind(3, 89, 89, 2) == OrderKind::rank && kind(3, 500, 500, 4) == OrderKind::threads && kind(3, 953, 953, 2) == OrderKind::block, "few rows take a thread for each element");
  expect(kind(3, 1, 1, 4) == OrderKind::single && kind(2'027'875, 1, 1, 2) == OrderKind::single, "rows of one element are copied");
  expect(kind(100'000, 27, 27, 4) == OrderKind::network && kind(100'000, 1024, 1024, 2) == OrderKind::network && kind(100'000, 512, 171, 2) == OrderKind::network, "many short rows are sorted in registers");
  expect(kind(100'000, 1024, 1024, 4) == OrderKind::block && kind(52, 4273, 4273, 2) == OrderKind::block && kind(13'943, 9979, 9979, 4) == OrderKind::block, "rows of up to 16384 are sorted by a block");
  expect(kind(15'181, 165, 17, 2) == OrderKind::best_warp && kind(1301, 1488, 5, 2) == OrderKind::best, "a few of a row come out of registers");
  expect(order_shape(132, shared_bytes, 1, 131'072, 1, 4).parts > 30 && order_shape(132, shared_bytes, 29, 86'907, 10, 2).parts > 10, "few long rows take the whole GPU");
  expect(kind(3, 1'000'003, 20, 4) == OrderKind::best_tile, "where parts leave many, another launch joins them");
  expect(kind(3733, 19'277, 413, 4) == OrderKind::choose && kind(257, 16'385, 278, 2) == OrderKind::choose && kind(4096, 8192, 512, 2) == OrderKind::block && kind(2048, 32'000, 50, 4) != OrderKind::choose,
         "many of a long row are chosen by its digits");
  expect(kind(4, 67'108'864, 3699, 2) == OrderKind::filter_more && kind(256, 262'144, 3835, 2) == OrderKind::filter_more && kind(3, 262'144, 3835, 2) == OrderKind::radix && kind(1, 131'075, 1100, 4) == OrderKind::filter_more && kind(600, 140'001, 2000, 4) == OrderKind::choose_far && kind(4, 67'108'864, 4097, 2) == OrderKind::radix,
         "more of longer rows are filtered by several blocks");
  expect(kind(5019, 16'385, 2212, 4) == OrderKind::choose_far, "in f32 of any rows that no block sorts");
  expect(kind(500, 20'001, 4000, 2) == OrderKind::choose_far && kind(70, 30'001, 4000, 2) == OrderKind::radix, "in 16 bits of many");
  expect(kind(1025, 150'907, 740, 2) == OrderKind::filter && kind(5, 1'705'721, 181, 2) == OrderKind::filter && kind(300, 50'000, 1000, 4) == OrderKind::filter && kind(3, 4'194'305, 125, 4) == OrderKind::filter &&
             kind(1, int64_t{1} << 31, 1000, 2) == OrderKind::select && kind(4096, 40'000, 50, 4) != OrderKind::filter,
         "many of longer rows, and some of rows whose parts would leave too much, are filtered");
  expect(filter_parts(132, 1025, 150'907, 2) == 1 && filter_parts(132, 5, 1'705'721, 2) == 53 && filter_parts(132, 1, 1 << 30, 4) == most_filter_parts && filter_parts(132, 1, 16'400, 2) == 1, "few rows are filtered by several blocks each");
  bool leaves = true;
  for (int parts = 1; parts <= most_filter_parts; parts++) leaves = leaves && parts * filter_least(parts) >= 2 * most_selected && parts * filter_least(parts) <= 16384 && filter_least(parts) % (choose_threads / 32) == 0;
  expect(leaves, "blocks leave enough least words for a bound, and few enough to read");
  expect(kind(65, 71'043, 71'043, 4) == OrderKind::radix, "long rows are sorted by digits in memory");
  expect(radix_passes(1) == 1 && radix_passes(255) == 1 && radix_passes(256) == 2 && radix_passes(0xffffffffu) == 4, "a radix sort takes a pass for each eight bits");
  expect(select_split(132, 3, 4'194'305, 125).parts > 100, "few long rows take the whole GPU");
}

// Tiles of whole rows start on 16 bytes, fit and hold every element.
void running_sums() {
  bool starts = true, fits = true, holds = true;
  for (int64_t cols = 1; cols <= 600; cols++)
    for (const int64_t lanes : {4, 8}) {
      const CumsumTile t = cumsum_tiles(132, lanes, 10'000'000, cols);
      if (cols > cumsum_tile_columns) {
        starts = starts && t.rows == 0;
        continue;
      }
      starts = starts && t.rows > 0 && t.rows % lanes == 0 && t.rows * t.blocks >= 10'000'000;
      fits = fits && t.shared <= 48 << 10 && t.group <= 32 && (t.group & (t.group - 1)) == 0;
      holds = holds && int64_t{t.group} * t.each >= cols && t.each % 2 == 1;
    }
  expect(starts, "tiles of running sums are whole rows that start on 16 bytes");
  expect(fits, "tiles of running sums fit a block");
  expect(holds, "the lanes of a row hold its running sums");
  expect(cumsum_tiles(132, 4, 3, 128).rows == 0, "few rows of running sums take a warp each");
  expect(cumsum_few_most(132, 23) == 540'671 && cumsum_few_most(132, 1024) == 540'671 && cumsum_few_most(132, 1025) == 0 && cumsum_tiles(132, 4, 540'672, 1).rows > 0 && cumsum_tiles(132, 4, 540'671, 1).rows == 0,
         "all rows of running sums are read at once up to where tiles begin");
}

// Blocks that share a running sum hold their row from any place in a vector on.
void shared_sums() {
  bool holds = true, bounded = true;
  std::set<int> rounds;
  for (const int64_t rows : {1, 2, 3, 17, 133, 700, 100'000})
    for (int64_t cols = 1; cols <= 50'000'000; cols += 1 + cols / 9) {
      const CumsumSlots s = cumsum_slots(132, rows, cols);
      rounds.insert(s.rounds);
      if (s.rounds == 0) continue;
      const int64_t part = int64_t{cumsum_slot_threads} * cumsum_slot_each * s.rounds;
      holds = holds && s.blocks == rows * s.parts && s.parts * part >= cols + (rows > 1 && cols % cumsum_slot_each != 0 ? cumsum_slot_each - 1 : 0) && (s.parts - 1) * part < cols + cumsum_slot_each;
      bounded = bounded && s.parts <= cumsum_slot_parts && (s.rounds == cumsum_slot_rounds || s.parts == 1 || s.blocks <= 132 * cumsum_slot_blocks);
    }
  expect(holds && bounded && rounds == std::set<int>{0, 1, 2, 4, 8}, "parts of a running sum hold their row, in as few rounds as that takes");
}

}  // namespace

void order_shapes() {
  orders();
  rooms();
  running_sums();
  shared_sums();
}
