// What a product by warp groups takes besides its operands (matmul/wgmma.cuh), the same for host and device. X is the operand whose rows are those of a tile,
// Y the one whose rows are its columns.
#pragma once

// Division of numbers below 2^31 by multiplication: a call of a few microseconds starts sooner without divisions.
struct Divisor {
  unsigned by, multiplier, shift;
};
inline Divisor divisor_of(unsigned by) {
  unsigned bits = 0;
  while (bits < 31 && 1u << bits < by) bits++;
  // Numbers that are divided by 1 are left alone.
  return {by, static_cast<unsigned>(((1ull << (31 + bits)) + by - 1) / by), bits == 0 ? 0 : bits - 1};
}

struct WgmmaTask {
  int x, y, k;         // rows of X and of Y
  int batches;         // products
  int steps, each;     // stages of K, and those of a share
  int whole, parts;    // tiles whose k is not split, before those of which it is; how many these are
  int work;            // tiles of all products and shares
  int tiles_x;         // tiles along X
  int tail;            // quarters of the last stage of K that are not empty
  int joined;          // 1: the blocks of a tile's shares are a cluster, and add them up; 0: they go to `shares`, for matmul_join
  Divisor splits;      // shares of k
  Divisor tiles;       // of one product
  Divisor group, last; // tiles of `wgmma_group` along X and all along Y, which blocks that run together take; tiles along X of the last group
  Divisor batches_x, batches_y;  // operands repeat after so many
};

// Tiles along X that blocks that run together take, so that they share operands in L2.
constexpr int wgmma_group = 16;

// Bytes of shared memory for each row of a tile, through which results go to rows of memory that do not start on 16 bytes (wgmma_store.cuh): 64 columns of 16 bits and a word between rows; of wider tiles
// eight columns more.
constexpr int wgmma_store_row(int columns) { return columns > 64 ? 148 : 132; }
