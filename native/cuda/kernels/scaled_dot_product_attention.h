// What the kernels of attention take, the same for host and device, and over how many blocks the keys of a query are split.
#pragma once

struct AttentionSizes {
  long long batch_heads;                     // heads of all batches
  long long heads, kv_heads, queries, keys;  // of a batch; queries and keys of a head
  long long period;                          // queries after which the places that `causal` compares start again
  int dim, causal;
  int splits;                                // of the keys
};

// Keys that some query sees.
inline long long attention_keys_seen(const AttentionSizes& s) { return s.causal && s.period < s.keys ? s.period : s.keys; }

// Pure; see plan_test.cc. `blocks`: of queries; where they leave half of the GPU idle, keys are split, at least two `tiles` of them in a share,
// from `least` tiles on: to join shares takes as long as some tiles.
inline int attention_splits(int sm_count, long long blocks, long long tiles, long long least = 4) {
  constexpr long long most = 128;
  if (blocks * 2 > sm_count || tiles < least) return 1;
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

// Keys of each group of eight threads on their way at a time, where a thread has `vectors` of them.
constexpr int attention_few_together(int vectors) { return vectors <= 1 ? 4 : vectors == 2 ? 2 : 1; }
// Queries of a block whose warps have one each.
constexpr int attention_few_rows = 4;
// Warps for a query and a share of its keys: one where keys are few and queries enough for all multiprocessors, 16 where queries are few, so that fewer shares are joined.
inline int attention_few_warps(int sm_count, const AttentionSizes& s, int vectors) {
  const long long rows = s.batch_heads * s.queries, seen = attention_keys_seen(s);
  if ((rows >= sm_count * 8ll && seen <= 128) || (rows >= sm_count * 2ll && seen <= 16)) return 1;
  return rows * 2 <= sm_count && seen > 16 * attention_few_together(vectors) ? 16 : 4;
}

// Blocks of `cells` pieces of work: with `causal` each is a block, so that the GPU hands out long and short ones; else, and where all are short, a block goes on from one to
// the next, whose keys and values are on their way before.
inline long long attention_wgmma_blocks(int sm_count, const AttentionSizes& s, long long cells) {
  constexpr long long most = (1ll << 31) - 1, short_keys = 512;
  const long long wanted = s.causal && attention_keys_seen(s) > short_keys ? most : sm_count;
  return cells < wanted ? cells : wanted;
}

// Heads whose blocks run together (attention_wgmma.cu): with `causal` as many as leave their keys and values in half of L2, so that blocks
// go from long to short; without, one after the other.
inline int attention_heads_together(const AttentionSizes& s) {
  constexpr long long half_of_l2 = 24 << 20;
  if (!s.causal) return 1;
  const long long bytes = s.keys * s.dim * 4 * s.kv_heads / s.heads, fit = bytes > 0 ? half_of_l2 / bytes : 1;
  return static_cast<int>(fit < 1 ? 1 : fit < s.batch_heads ? fit : s.batch_heads);
}

// What a block of a kernel takes at a time: head dims of up to `dim`, `queries` of a head, `keys`. No dim: the kernel does not take the case.
struct AttentionTile {
  int dim, queries, keys;
};

// On Hopper's tensor cores (attention_wgmma.cu): heads whose rows start on 16 bytes, each with blocks of its own.
inline AttentionTile attention_wgmma_tile(int sm_count, const AttentionSizes& s) {
  constexpr long long least_queries = 64, most = 1ll << 31;
  if (s.queries < least_queries || s.period != s.queries || s.dim % 8 != 0 || s.queries >= most || s.keys >= most || s.batch_heads >= most) return {};
  constexpr AttentionTile tiles[] = {{32, 192, 128}, {64, 192, 128}, {96, 128, 128}, {128, 128, 128}, {192, 128, 96}, {256, 128, 80}};
  for (AttentionTile tile : tiles) {
    if (s.dim > tile.dim) continue;
    // Few keys leave most of a tile empty: tiles of attention_mma.cu are smaller, and twice as many, which pays for small heads, and where the GPU is done with them at once.
    constexpr long long few_keys = 64, small_dim = 16;
    if (attention_keys_seen(s) <= few_keys && (s.dim <= small_dim || s.batch_heads * ((s.queries + 127) / 128) <= sm_count * 2ll)) return {};
    // Tiles of fewer queries, where the GPU is done with them sooner; a query costs a sixth more there.
    const auto time = [&](int queries) { return (s.batch_heads * ((s.queries + queries - 1) / queries) + sm_count - 1) / sm_count * queries; };
    if (tile.queries == 192 && time(128) * 7 < time(192) * 6) tile.queries = 128;
    return tile;
  }
  return {};
}
constexpr int attention_wgmma_stages = 2, attention_wgmma_least_split = 12;
inline long long attention_wgmma_bytes(const AttentionTile& t) { return (t.dim + 63) / 64 * 128ll * (t.queries + 2 * attention_wgmma_stages * t.keys) + 1024; }

// f32 on tensor cores (attention_f32.cu; head dims above 128 attention_f32_wide.cu, two warps for 16 queries).
constexpr int attention_f32_wide_from = 129, attention_f32_wide_queries = 64, attention_f32_wide_keys = 64, attention_f32_wide_pitch = attention_f32_wide_keys + 8;
inline AttentionTile attention_f32_tile(int sm_count, const AttentionSizes& s) {
  constexpr AttentionTile tiles[] = {{32, 64, 32}, {64, 64, 64}, {96, 64, 32}, {128, 64, 32}, {160, attention_f32_wide_queries, attention_f32_wide_keys}, {192, attention_f32_wide_queries, attention_f32_wide_keys},
                                     {256, attention_f32_wide_queries, attention_f32_wide_keys}},
                          wide = {64, 128, 32};
  for (const AttentionTile& tile : tiles) {
    if (s.dim > tile.dim) continue;
    // Twice as many queries share what is split of keys and values, where they give every multiprocessor a block.
    return tile.dim == wide.dim && s.batch_heads * ((s.queries + wide.queries - 1) / wide.queries) > sm_count ? wide : tile;
  }
  return {};
}
inline bool attention_f32_is_wide(const AttentionTile& t) { return t.dim >= attention_f32_wide_from; }
// Two tiles of keys and values each, or one with the weights and two numbers of each query.
inline long long attention_f32_bytes(const AttentionTile& t) {
  if (!attention_f32_is_wide(t)) return (t.queries + 4ll * t.keys) * (t.dim + 4) * 4;
  return ((t.queries + 2ll * t.keys) * (t.dim + 4) + t.queries * (attention_f32_wide_pitch + 2ll)) * 4;
}
