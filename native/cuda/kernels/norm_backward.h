// Gradients of norms with each tensor read once (norm_backward.cu), the same for host and device: rows on their way, threads of a block at most, bytes of
// shared memory for the sums of its warps, and groups of a block at most.
#pragma once

constexpr int norm_stages = 3, norm_threads = 512, norm_scratch_bytes = 512, norm_groups = 8;

// Elements up to which one block does all, in shared memory, and its threads.
constexpr int norm_small = 2048, norm_small_threads = 256;

// One launch for columns and rows (norm_backward_few.cu): threads of a block, and elements of a row for each thread.
constexpr int norm_few_threads = 256, norm_few_elements = 16;

struct NormFewArguments {
  unsigned long long grad, x, weight, mean, rstd, out, weight_out, bias_out;  // addresses; what an op has not is 0
  unsigned long long parts, counters;  // [splits][2][dim] and one for each tile, where there are several splits
  int tokens, dim;
  int tiles, splits, rows_per_split;  // of 32 columns; shares of the tokens
  int group;                          // threads of a row: a power of two up to 256
};
