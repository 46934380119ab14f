// What the kernels of attention take, the same for host and device. Which of them takes a case: attention_choice.h.
#pragma once
#include "common/divide.h"

struct AttentionSizes {
  long long batch_heads;                     // heads of all batches
  long long heads, kv_heads, queries, keys;  // of a batch; queries and keys of a head
  long long period;                          // queries after which the places that `causal` compares start again
  int dim, causal;
  int splits;                                // of the keys
  int tokens_first = 0;                      // 1: a part of a composite, whose output is [batch, queries, heads, dim] and whose launch may be early; 0: a call by itself, [batch, heads, queries, dim]
  long long of_head = 0, of_query = 0;       // elements of the output between two heads and two queries of a head
  long long of_batch = 0;                    // with tokens first, what a batch adds to that
  Divide by_heads = {}, by_queries = {};     // with tokens first, which have fewer than 2^31 rows
  int together = 1;                          // heads of a warp (attention_packed.cu)
  int group = 1;                             // heads that share their keys
};

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
// Queries of each group of attention_flow.cu that are there at a time, one piece of work after the other, and whether there is room for results, too.
constexpr int attention_flow_places(int dim, int keys) { return dim <= 128 && keys <= 128 ? 2 : 1; }
constexpr bool attention_flow_bulk(int dim, int keys) { return dim <= 128 && keys <= 128; }

// Queries of a warp group of Hopper's.
constexpr int attention_group_queries = 64;
// Keys of a tile that attention_held.cu has, and most tiles.
constexpr int attention_held_keys = 64, attention_held_tiles = 8;

// Sizes of attention_f32_wide.cu.
constexpr int attention_f32_wide_from = 129, attention_f32_wide_queries = 64, attention_f32_wide_keys = 64, attention_f32_wide_pitch = attention_f32_wide_keys + 8;
