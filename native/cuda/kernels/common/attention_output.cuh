// Where the results of a query go, and how a kernel of attention starts.
#pragma once
#include "../scaled_dot_product_attention.h"
#include "start_early.cuh"

// A call by itself is never early, and waiting takes up to 7 % of the time of kernels with many short blocks.
__device__ __forceinline__ void start_attention(const AttentionSizes& s) {
  if (s.tokens_first) start_early();
}

// The element at which the results of `head`, one of all batches, begin. Short: the code that is skipped must be fetched, too.
__device__ __forceinline__ long long output_of_head(const AttentionSizes& s, long long head) {
  long long at = head * s.of_head;
  if (s.tokens_first) at += divided(static_cast<int>(head), s.by_heads) * s.of_batch;
  return at;
}
// The same of row `row` of [batch, heads, queries].
__device__ __forceinline__ long long output_of_row(const AttentionSizes& s, long long row) {
  if (!s.tokens_first) return row * s.dim;
  const long long head = divided(static_cast<int>(row), s.by_queries);
  return output_of_head(s, head) + (row - head * s.queries) * s.of_query;
}
