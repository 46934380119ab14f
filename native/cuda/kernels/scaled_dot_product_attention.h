// What the kernels of attention take, the same for host and device. Which of them takes a case: attention_choice.h.
#pragma once
#include "common/divide.h"

struct AttentionSizes {
  long long batch_heads;                     // heads of all batches
  long long heads, kv_heads, queries, keys;  // of a batch; queries and keys of a head
  long long period;                          // queries after which the places that `causal` compares start again
  int dim, causal;
  int splits;                                // of the keys
  int tokens_first;                          // 1: the output is [batch, queries, heads, dim], of fewer than 2^31 rows; 0: [batch, heads, queries, dim]
  Divide by_heads, by_queries;
};

#ifdef __CUDACC__
// The row of the output that has the results of a query of a head of all batches. Short: the code that is skipped must be fetched, too.
__device__ __forceinline__ long long output_row(const AttentionSizes& s, long long head, long long query) {
  if (s.tokens_first == 0) return head * s.queries + query;
  const int batch = divided(static_cast<int>(head), s.by_heads);
  return (batch * s.queries + query) * s.heads + (head - batch * s.heads);
}
// The same of row `row` of [batch, heads, queries].
__device__ __forceinline__ long long output_row(const AttentionSizes& s, long long row) {
  if (s.tokens_first == 0) return row;
  const int head = divided(static_cast<int>(row), s.by_queries);
  return output_row(s, head, row - head * s.queries);
}
#endif

// Keys of each group of eight threads on their way at a time, where a thread has `vectors` of them.
constexpr int attention_few_together(int vectors) { return vectors <= 1 ? 4 : vectors == 2 ? 2 : 1; }
// Queries of a block whose warps have one each.
constexpr int attention_few_rows = 4;

// A warp for 16 queries (attention_warp.cu). Above a head dim of 128 two warps have the same queries.
constexpr int attention_warp_queries = 16;
constexpr int attention_warp_parts(int dim) { return dim > 128 ? 2 : 1; }
// Keys of a tile, where `sharing` warps share the keys of their queries.
constexpr int attention_warp_keys(int element_bytes, int dim, int sharing) { return element_bytes == 4 && (sharing == 1 || dim > 64) ? 8 : 16; }
// Tiles of queries of a block whose warps share none.
constexpr int attention_warp_tiles(int dim) { return 4 / attention_warp_parts(dim); }
// Elements of a row of sums in shared memory.
constexpr int attention_warp_pitch(int dim) { return dim + 4; }

// Tiles of keys, and as many of values, that attention_wgmma.cu has on their way.
constexpr int attention_wgmma_stages = 2;

// Sizes of attention_f32_wide.cu.
constexpr int attention_f32_wide_from = 129, attention_f32_wide_queries = 64, attention_f32_wide_keys = 64, attention_f32_wide_pitch = attention_f32_wide_keys + 8;
