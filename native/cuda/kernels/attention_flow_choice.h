// Which 16-bit heads take blocks that meet the first keys of the next piece of work with the last values of one (attention_flow.cu), and their tiles. Pure; see test/attention_test.cc.
#pragma once
#include "attention_choice.h"

// Beside what attention_wgmma.cu has: the queries of the next piece, and results on their way to memory.
inline long long attention_flow_bytes(const AttentionTile& t) {
  return attention_wgmma_bytes(t) + (attention_flow_places(t.dim, t.keys) - 1 + attention_flow_bulk(t.dim, t.keys)) * ((t.dim + 63) / 64 * 128ll * t.queries);
}

// Whether blocks of 128 queries have as few empty rows as blocks of 64.
inline bool attention_fills_blocks(const AttentionSizes& s) { return (s.queries - 1) % 128 >= 64; }

// Of more pieces than run at a time; no dim: others take the case (H200, NOTES.md).
inline AttentionTile attention_flow_tile(int sm_count, const AttentionSizes& s) {
  constexpr long long queries = 128, many_keys = 1024, some_keys = 512;
  AttentionTile t = attention_wgmma_tile(sm_count, s);
  const long long seen = attention_keys_seen(s), cells = s.batch_heads * ((s.queries + queries - 1) / queries);
  const auto padded = [&](int keys) { return (seen + keys - 1) / keys * keys; };
  if (t.dim == 0 || cells <= sm_count) return {};
  if (s.causal) {
    // One block of a head that fills it, and many of these; or many blocks, which differ, so that those of a multiprocessor have about as many tiles as those of others, and whose keys stay in L2. Blocks of 64 queries (attention_short.cu) meet fewer keys that they do not see.
    constexpr long long filled = 97, rounds_of_one = 2, rounds = 12;
    constexpr int least_dim = 113;
    const bool one = s.queries <= queries;
    constexpr long long half_of_l2 = 24 << 20;
    const long long read = (s.batch_heads < sm_count ? s.batch_heads : sm_count) * seen * s.dim * 4 / s.group;
    if (one ? s.queries < filled || s.batch_heads < sm_count * rounds_of_one : cells < sm_count * rounds || (seen <= many_keys ? !attention_fills_blocks(s) : read > half_of_l2)) return {};
    t.queries = queries;
    if (t.dim == 48) return !one && seen > 64 && seen <= many_keys ? t : AttentionTile{};
    if (t.dim != 128 || s.dim < least_dim || t.keys < 96) return {};
    t.keys = t.keys == 128 && seen <= 112 ? 112 : seen > many_keys ? 160 : t.keys;
    return t;
  }
  switch (t.dim) {
    // Of few blocks several of a multiprocessor are sooner done (attention_short.cu).
    case 48: return seen > 64 && cells >= sm_count * (seen <= queries ? 4 : 2) ? t : AttentionTile{};
    case 64: return seen > 64 && seen <= 256 && cells >= sm_count * 6 ? t : AttentionTile{};
    case 80:
    case 96: return t.keys >= 96 && seen > 64 ? t : AttentionTile{};
    case 128:
      if (t.keys < 96) return {};
      if (t.keys == 128 && seen <= 112) t.keys = 112;
      // Larger tiles, of which each takes less for a key.
      if (seen > some_keys) t.keys = padded(176) * 189 < padded(160) * 192 ? 176 : padded(160) * 96 < padded(t.keys) * 100 ? 160 : t.keys;
      return t;
    case 160:
      if (t.keys != 96 || seen > 640) return {};
      if (padded(64) * 100 < padded(96) * 95) t.keys = 64;
      return t;
    // Three tiles are slower.
    case 256: return t.keys == 64 && seen <= some_keys && (seen <= 128 || seen > 192) ? t : AttentionTile{};
    default: return {};
  }
}
