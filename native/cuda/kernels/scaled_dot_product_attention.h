// What the kernels of attention take, the same for host and device, and over how many blocks the keys of a query are split.
#pragma once

struct AttentionSizes {
  long long batch_heads;                     // heads of all batches
  long long heads, kv_heads, queries, keys;  // of a batch; queries and keys of a head
  long long period;                          // queries after which the places that `causal` compares start again
  int dim, causal;
  int splits;                                // of the keys
};

// Pure; see plan_test.cc. `blocks`: of queries; where they leave half of the GPU idle, keys are split, at least two `tiles` of them in a share.
inline int attention_splits(int sm_count, long long blocks, long long tiles) {
  constexpr long long most = 128;
  if (blocks * 2 > sm_count || tiles < 4) return 1;
  const long long wanted = sm_count * 2 / blocks < tiles / 2 ? sm_count * 2 / blocks : tiles / 2;
  return static_cast<int>(wanted < most ? wanted : most);
}

// Whether a block joins the shares of a query, rather than a warp: where blocks for all queries fit on the GPU at a time.
inline bool attention_joins_wide(int sm_count, long long queries) { return queries <= sm_count * 4LL; }

// For a few queries of a head: vectors of `lanes` elements of a key that each of its eight threads has (attention_few.cu); 0 where others do it.
inline int attention_few_vectors(int lanes, const AttentionSizes& s) {
  constexpr int sharers = 8, most_queries = 4, most_dim = 256;
  if (s.queries > most_queries || s.dim > most_dim || s.dim % lanes != 0) return 0;
  int vectors = lanes == 4 ? 2 : 1;
  while (vectors * sharers * lanes < s.dim) vectors *= 2;
  return vectors;
}
