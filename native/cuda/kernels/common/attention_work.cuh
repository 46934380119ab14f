// Pieces of work of kernels of attention whose blocks go from one to the next (attention_wgmma.cu, attention_flow.cu).
#pragma once
#include "attention_group.cuh"

#ifdef OPSCOPE_WGMMA

constexpr int ROW = 128;  // bytes of a row in one box of the copy engine

// The queries that a block takes next, and the keys that they see.
template <int BM, int BC>
struct Work {
  long long head, source, first;  // head of all; its keys' head; first query
  int split, begin, tiles;        // of the keys

  __device__ __forceinline__ Work(const AttentionSizes& s, long long cell, int together) {
    const long long blocks = (s.queries + BM - 1) / BM, section = blocks * together * s.splits, part = quotient(cell, section), start = part * together;
    const long long rest = cell - part * section, heads = min(static_cast<long long>(together), s.batch_heads - start), shares = heads * s.splits;
    // The longest first: with `causal` the last queries see most.
    const long long rank = quotient(rest, shares), at = rest - rank * shares;
    head = start + quotient(at, s.splits);
    split = static_cast<int>(at - (head - start) * s.splits);
    first = (blocks - 1 - rank) * BM;
    source = quotient(head, s.group);
    const long long seen = s.causal ? min(s.keys, min(first + BM, s.queries)) : s.keys;
    const int all = static_cast<int>((seen + BC - 1) / BC), each = (all + s.splits - 1) / s.splits;
    begin = split * each;
    tiles = max(0, min(each, all - begin));
  }
};

#endif
