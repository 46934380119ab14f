// The heads of a warp that takes several, one after the other: their queries and keys are consecutive rows, each query sees the keys of its head. What AttentionBlock says of one.
#pragma once
#include "attention_output.cuh"

template <int BC>
struct PackedHeads {
  static constexpr long long first = 0;
  static constexpr int begin = 0, split = 0;
  long long head, keys_at, seen;  // the first head, where its keys and values start, and the keys of all
  int all_queries, tiles;

  __device__ __forceinline__ PackedHeads(const AttentionSizes& s, long long number) {
    head = number * s.together;
    const int heads = static_cast<int>(min(static_cast<long long>(s.together), s.batch_heads - head));
    keys_at = head * s.keys * s.dim;
    all_queries = heads * static_cast<int>(s.queries);
    seen = heads * static_cast<int>(s.keys);
    tiles = (static_cast<int>(seen) + BC - 1) / BC;
  }
  __device__ __forceinline__ long long queries(const AttentionSizes&) const { return all_queries; }
};

// As of AttentionBlock: scores of keys that rows `query` and that + 8 do not see become -infinity.
template <int BC>
__device__ __forceinline__ void hide_unseen(float (&score)[BC / 8][4], const AttentionSizes& s, const PackedHeads<BC>&, long long key, long long query, int column) {
  const unsigned queries = static_cast<unsigned>(s.queries), keys = static_cast<unsigned>(s.keys);
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const unsigned row = static_cast<unsigned>(query) + h * 8, head = row / queries, place = row - head * queries;
    const unsigned sees = s.causal ? min(keys, place % static_cast<unsigned>(s.period) + 1) : keys, from = head * keys - static_cast<unsigned>(key);
#pragma unroll
    for (int n = 0; n < BC / 8; n++)
#pragma unroll
      for (int i = 0; i < 2; i++)
        if (column + n * 8 + i - from >= sees) score[n][h * 2 + i] = -INFINITY;
  }
}
