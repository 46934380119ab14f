// Which queries and keys a block of attention has: BR queries of one head, and its share of the keys that these see, in tiles of BC.
#pragma once
#include "attention_output.cuh"

// SHARES: whether blocks may share keys.
template <int BR, int BC, bool SHARES = true>
struct AttentionBlock {
  long long head, first;   // of its queries: the head among those of all batches, and the first of the head's queries
  long long keys_at;       // where the keys and values of that head start, in elements
  long long lowest, seen;  // among the head's places, which `causal` compares with those of keys: the lowest of its queries, and the keys that some of them see
  int split, begin, tiles; // the number of its share, the first tile of it, and how many

  __device__ __forceinline__ explicit AttentionBlock(const AttentionSizes& s, long long number = blockIdx.x) : lowest(0), seen(s.keys) {
    const long long blocks = (s.queries + BR - 1) / BR, cell = SHARES ? quotient(number, s.splits) : number;
    head = quotient(cell, blocks);
    split = SHARES ? static_cast<int>(number - cell * s.splits) : 0;
    // The longest first: with `causal` the last queries see most.
    first = (blocks - 1 - (cell - head * blocks)) * BR;
    const long long last = min(first + BR, s.queries) - 1;
    keys_at = quotient(head, s.group) * s.keys * s.dim;
    if (s.causal) {
      const bool one_head = quotient(first, s.period) == quotient(last, s.period);
      lowest = one_head ? remainder_of(first, s.period) : 0;
      seen = min(s.keys, one_head ? remainder_of(last, s.period) + 1 : s.period);
    }
    const int all = static_cast<int>((seen + BC - 1) / BC), each = SHARES ? (all + s.splits - 1) / s.splits : all;
    begin = split * each;
    tiles = min(each, all - begin);
  }
  __device__ __forceinline__ long long queries(const AttentionSizes& s) const { return s.queries; }
};

// Scores of rows `query` and that + 8 (registers of m16n8 tiles, `column` the first of a thread) with the tile of keys from `key` on become -infinity for keys that a row does not see.
template <int BR, int BC, bool SHARES>
__device__ __forceinline__ void hide_unseen(float (&score)[BC / 8][4], const AttentionSizes& s, const AttentionBlock<BR, BC, SHARES>& block, long long key, long long query, int column) {
  if (key + BC <= s.keys && !(s.causal && key + BC > block.lowest)) return;
#pragma unroll
  for (int h = 0; h < 2; h++) {
    // Keys of this tile that the row sees.
    const int sees = static_cast<int>(min(static_cast<long long>(BC), min(s.keys, s.causal ? remainder_of(query + h * 8, s.period) + 1 : s.keys) - key));
#pragma unroll
    for (int n = 0; n < BC / 8; n++)
#pragma unroll
      for (int i = 0; i < 2; i++)
        if (column + n * 8 + i >= sees) score[n][h * 2 + i] = -INFINITY;
  }
}
