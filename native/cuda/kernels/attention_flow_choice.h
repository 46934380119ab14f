// Which 16-bit heads take blocks that meet the first keys of the next piece of work with the last values of one (attention_flow.cu), and their tiles. Pure; see test/attention_test.cc.
#pragma once
#include "attention_choice.h"

// Beside what attention_wgmma.cu has: the queries of the next piece, and results on their way to memory.
inline long long attention_flow_bytes(const AttentionTile& t) { return attention_wgmma_bytes(t) + (attention_flow_places(t.dim) - 1) * 2 * ((t.dim + 63) / 64 * 128ll * t.queries); }

// Of more pieces than run at a time, whose tiles of keys are few; no dim: others take the case (H200, NOTES.md).
inline AttentionTile attention_flow_tile(int sm_count, const AttentionSizes& s) {
  constexpr int queries = 128, least_cells = 2;
  constexpr long long small_tile = 64, short_tile = 96, middle_tile = 112;
  AttentionTile t = attention_wgmma_tile(sm_count, s);
  const long long seen = attention_keys_seen(s), cells = s.batch_heads * ((s.queries + queries - 1) / queries);
  if (t.dim == 0 || cells < sm_count * least_cells) return {};
  t.queries = queries;
  if (t.keys == 128 && t.dim == 128 && seen <= middle_tile) t.keys = static_cast<int>(middle_tile);
  // Blocks have about as many tiles as others where they have many pieces, which differ.
  constexpr int many_cells = 12, whole_dim = 113;
  if (s.causal) {
    const bool one = s.queries <= queries, even = one || cells >= sm_count * many_cells;
    if (t.dim == 48) return !one && even && seen > queries && seen <= 640 ? t : AttentionTile{};
    return t.dim == 128 && t.keys >= short_tile && (one || s.dim >= whole_dim) && even ? t : AttentionTile{};
  }
  switch (t.dim) {
    case 48: return seen > queries && seen <= 640 ? t : AttentionTile{};
    case 80:
    case 96: return t.keys >= short_tile && seen <= 512 ? t : AttentionTile{};
    case 128: return t.keys >= short_tile && seen <= 640 ? t : AttentionTile{};
    case 160: return t.keys == short_tile && seen <= 640 ? t : AttentionTile{};
    case 256: return t.keys == small_tile && (seen <= 128 || (seen > 192 && seen <= 256)) ? t : AttentionTile{};
    default: return {};
  }
}
