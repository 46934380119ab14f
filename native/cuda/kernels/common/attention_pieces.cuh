// The pieces of work that a block of attention_flow.cu goes through, one after the other: BM queries of a head, and tiles of BC keys. The warp that loads and the groups that multiply each follow them by themselves.
#pragma once
#include "arithmetic.cuh"
#include "attention_output.cuh"

// Blocks at work together take neighbouring pieces, so that they read the same keys. With `causal` pieces of a head differ: those of a block lie side by side, from the last queries of a head to its first, and have about as many tiles as those of others.
template <int BM, int BC>
struct Pieces {
  int head, rank, blocks;     // the head among those of all batches; which BM queries, from the last ones on, of how many
  int tiles;                  // of keys that these queries see
  int left;                   // pieces after this one; below 0: not even this
  int step_heads, step_rank;  // to the next one

  __device__ __forceinline__ explicit Pieces(const AttentionSizes& s) : blocks(static_cast<int>((s.queries + BM - 1) / BM)) {
    if (s.causal && blocks > 1) {
      int end_head, end_rank;
      begin_of(s, blockIdx.x, head, rank);
      begin_of(s, blockIdx.x + 1, end_head, end_rank);
      left = static_cast<int>(static_cast<long long>(end_head - head) * blocks + end_rank - rank) - 1;
      step_heads = 0, step_rank = 1;
    } else {
      const auto split = [&](unsigned n, int& heads, int& rest) { heads = static_cast<int>(n / static_cast<unsigned>(blocks)), rest = static_cast<int>(n) - heads * blocks; };
      split(blockIdx.x, head, rank);
      split(gridDim.x, step_heads, step_rank);
      left = static_cast<int>(quotient(s.batch_heads * blocks - 1 - blockIdx.x, gridDim.x));
    }
    tiles = tiles_of(s, rank);
  }
  __device__ __forceinline__ bool next(const AttentionSizes& s) {
    if (left == 0) return false;
    left--, head += step_heads, rank += step_rank;
    if (rank >= blocks) rank -= blocks, head++;
    if (s.causal) tiles = tiles_of(s, rank);
    return true;
  }
  __device__ __forceinline__ int first() const { return (blocks - 1 - rank) * BM; }

 private:
  __device__ __forceinline__ int tiles_of(const AttentionSizes& s, int of) const {
    return static_cast<int>(static_cast<unsigned>((s.causal ? min(s.keys, min(static_cast<long long>(blocks - of) * BM, s.queries)) : s.keys) + BC - 1) / BC);
  }
  // Where the pieces of a block begin that lie side by side. A piece takes as long as its tiles and `start` more.
  __device__ __forceinline__ void begin_of(const AttentionSizes& s, unsigned block, int& at_head, int& at_rank) const {
    constexpr int start = 1;
    // Those that see all keys, and what all of a head take.
    const int whole = blocks + 1 - static_cast<int>((min(s.keys, s.queries) + BM - 1) / BM), most = tiles_of(s, 0) + start;
    long long of_head = static_cast<long long>(whole) * most;
    for (int i = whole; i < blocks; i++) of_head += tiles_of(s, i) + start;
    const long long at = quotient(s.batch_heads * of_head * block, gridDim.x);
    at_head = static_cast<int>(quotient(at, of_head));
    long long rest = at - at_head * of_head;
    at_rank = static_cast<int>(quotient(rest, most));
    if (at_rank < whole) return;
    at_rank = whole, rest -= static_cast<long long>(whole) * most;
    while ((rest -= tiles_of(s, at_rank) + start) >= 0) at_rank++;
  }
};
