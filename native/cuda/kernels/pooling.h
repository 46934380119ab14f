// The extents of a pooling, for host and device. A kernel of 0 along an axis: adaptive windows, or those of signals.
#pragma once
#include "common/divide.h"

// Threads of a block, of one that has a tile, and outputs of a thread that has several: of windows alike, and of adaptive ones.
constexpr int pool_threads = 256, pool_tile_threads = 128, pool_outputs = 4, pool_rows = 4;

struct PoolSizes {
  long long outputs, height, width, out_height, out_width;
  long long kernel_down, stride_down, padding_down, kernel, stride, padding;
  // From an output to the one that lies a block's threads behind it, before carries; of adaptive windows, rows of the input from an output to the next, and what is left of them.
  int next_planes, next_down, next_across;
  float counted;  // what a mean is over; 0: as many as an adaptive window has
};

// A tile of windows that are not adaptive (pooling/tile.cuh).
struct PoolTile {
  long long planes;
  int height, width, out_height, out_width;
  int kernel_down, stride_down, padding_down, kernel, stride, padding;
  int together;       // planes of a tile
  int bands, rows;    // bands of a plane, and rows of outputs of each
  int splits, cols;   // splits of the row of a signal, and outputs of each
  int chunk;          // outputs of a thread, one below the other
  int out_at;         // element of shared memory where outputs lie
  float counted = 1;  // what a mean is over
};

// The same of adaptive windows, of which the tile has no kernel, stride or padding: next_down, next_across as of PoolSizes, and divisions by extents of the outputs, columns of a tile and threads of a column.
struct AdaptiveTile {
  PoolTile tile;
  int next_down, next_across;
  Divide by_out_height, by_out_width, by_cols, by_chunks;
};

// Square windows that threads walk down without a tile (pooling_walk.cu): threads, rows of outputs of each, threads of a column.
struct PoolWalk {
  int items, height, width, out_height, out_width, padding, rows, chunks;
  Divide by_out_width, by_chunks;
  float counted;  // what a mean is over
};
