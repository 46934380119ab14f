// What scatter_packed.cu takes, the same for host and device: bytes of a row at most, threads of a block that has a tile, bins of the smallest and the next of the blocks that fill them, and bytes of the word in which an index goes
// to its bin.
#pragma once
#include "scatter_range.h"

constexpr int packed_row_bytes = 6, packed_threads = 512, middle_bins = 2048;
constexpr int packed_word(long long row_bytes) { return row_bytes == 2 ? 4 : 8; }

// A block that fills bins: those that it has counters for, its threads, the indices of each, and bytes of its shared memory: words in the order of bins, the bin of each, and counters and places of bins.
struct PackBlock {
  int bins, threads, each, shared;
};
constexpr PackBlock pack_block(long long bins, long long row_bytes) {
  const int own = bins > middle_bins ? most_bins : bins > few_bins ? middle_bins : few_bins, threads = own == most_bins ? 1024 : 512, each = own == most_bins && row_bytes == 2 ? 16 : 8;
  return {own, threads, each, own * 8 + threads * each * (packed_word(row_bytes) + 2)};
}
