// What blocks that share the keys of a query leave for attention_join: for each query and share the sum of weighted values, relative to the
// largest score of the share, that score (in units of log2), and the sum of weights.
#pragma once
#include "../scaled_dot_product_attention.h"

struct Shares {
  float *sums, *stats;

  __device__ __forceinline__ Shares(float* shares, const AttentionSizes& s, long long row, int split) {
    const long long share = row * s.splits + split, rows = s.batch_heads * s.queries;
    sums = shares + share * s.dim;
    stats = shares + rows * s.splits * s.dim + share * 2;
  }
  __device__ __forceinline__ void put(float top, float total) const { stats[0] = top, stats[1] = total; }
};
