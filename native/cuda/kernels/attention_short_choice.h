// Which 16-bit heads take blocks of which a multiprocessor of Hopper has several (attention_short.cu), or blocks that hold all keys of their head (attention_held.cu), and how large these are. Pure; see test/attention_test.cc.
#pragma once
#include <initializer_list>

#include "attention_flow_choice.h"

// Head dims that these kernels are built for: the least that holds `dim`; 0 where none does.
inline int attention_group_dim(int dim) {
  for (const int most : {32, 48, 64, 80, 96, 128, 160, 192, 256})
    if (dim <= most) return most;
  return 0;
}
// Heads with blocks of their own, numbers that the copy engine takes.
inline bool attention_takes_groups(const AttentionSizes& s) {
  constexpr long long most = 1ll << 31;
  return s.period == s.queries && s.queries < most && s.keys < most && s.batch_heads < most && attention_group_dim(s.dim) > 0 && attention_takes_copy_engine(s);
}
inline long long attention_groups(const AttentionSizes& s) { return (s.queries + attention_group_queries - 1) / attention_group_queries; }

// What it takes groups of 64 queries to meet their keys by tiles of so many, in keys: each tile costs `start` more.
inline long long attention_group_time(const AttentionSizes& s, long long keys) {
  constexpr long long start = 24;
  const long long groups = attention_groups(s), whole = (attention_keys_seen(s) + keys - 1) / keys;
  long long tiles = groups * whole;
  // The first groups of a causal head see less.
  for (long long g = 1; s.causal && g < groups && g * attention_group_queries < s.keys; g++) tiles -= whole - (g * attention_group_queries + keys - 1) / keys;
  return tiles * (keys + start);
}

// Queries times keys that blocks of 64 queries and `keys` multiply, those of empty tiles too, of what blocks of attention_wgmma.cu do; 0 where these do not take the case.
inline double attention_of_wgmma(int sm_count, const AttentionSizes& s, long long keys) {
  const AttentionTile tile = attention_wgmma_tile(sm_count, s);
  const auto padded = [](long long n, long long by) { return (n + by - 1) / by * by; };
  const long long seen = attention_keys_seen(s);
  return tile.dim == 0 ? 0 : static_cast<double>(padded(s.queries, attention_group_queries) * padded(seen, keys)) / static_cast<double>(padded(s.queries, tile.queries) * padded(seen, tile.keys));
}

// Of so many queries, nearly all see all keys of a causal head that has a quarter as many.
constexpr long long attention_many_queries = 4096;

// Whether several blocks of a multiprocessor are faster than one that multiplies the next tile while it weighs another (H200, NOTES.md).
inline bool attention_takes_short(int sm_count, const AttentionSizes& s, const AttentionTile& tile, bool ragged) {
  const long long seen = attention_keys_seen(s), blocks = s.batch_heads * attention_groups(s), few = sm_count * 3ll;
  // Blocks of half as many multiprocessors or fewer: twice as many of 64 queries as of 128 are sooner done.
  constexpr long long most_keys_of_few = 640;
  const bool sparse = !s.causal && s.queries > 64 && tile.dim <= 128 && blocks * 2 <= sm_count && seen <= most_keys_of_few;
  // Blocks of one head would all read the same keys.
  if (s.queries > attention_many_queries && (!s.causal || s.queries > seen * 4)) return false;
  const AttentionTile flow = attention_flow_tile(sm_count, s);
  // Queries times keys that blocks of 64 queries multiply, of what those of attention_flow.cu do.
  const auto padded = [](long long n, long long by) { return (n + by - 1) / by * by; };
  constexpr long long few_keys = 320;
  if ((flow.dim == 48 || flow.dim == 64) && (seen > few_keys || padded(s.queries, attention_group_queries) * padded(seen, tile.keys) * 5 > padded(s.queries, flow.queries) * padded(seen, flow.keys) * 4)) return false;
  if (tile.dim <= 64) {
    // Fewer queries share their keys over warps, unless keys are many and heads enough.
    if (s.queries <= 32) return seen >= 200 && seen <= 1536 && s.batch_heads * 2 >= sm_count;
    if (s.queries <= 64 && tile.dim <= 32 && seen <= 32) return false;
    return seen <= (s.causal || ragged ? 1536 : 640) && (blocks >= few || seen <= 320 || (sparse && !attention_few_tiles(sm_count, s)));
  }
  // Few queries of long heads: with many keys, where the blocks fill half of the GPU.
  constexpr long long many_keys = 256;
  const bool fills = s.batch_heads * 2 >= sm_count;
  if (s.queries <= 16) return tile.dim > 128 && s.queries > 1 && seen > many_keys && fills;
  if (s.queries <= 32) return tile.dim > 128 && (seen <= many_keys || (seen <= 4 * many_keys && fills));
  if (sparse) return true;
  // Long heads: causal blocks of 64 queries meet fewer keys that they do not see.
  if (s.causal && tile.dim >= 160 && s.queries > 64 && seen > 128 && seen <= 704 && blocks >= (seen <= 448 ? few : sm_count * 8ll)) return true;
  // Many heads that fill the tiles of attention_flow.cu, whose next keys arrive while some are met.
  if (s.causal && flow.dim == 128) return false;
  if (tile.dim == 256) return (seen <= 256 && (s.queries <= 64 || blocks <= sm_count)) || (seen <= 64 && !attention_fills_blocks(s) && s.queries > 128 && s.queries < 320);
  if (s.queries <= 64) return seen <= (blocks >= sm_count ? 1024 : 320);
  // Blocks of 128 queries of which a few multiprocessors would have two (H200: bf16 3x17, 367, 128 21.4 to 16.6 us, 80 19.1 to 14.2; 40 of 500, 128 17.7 to 20.0).
  constexpr long long some_keys = 384;
  if (s.causal) return seen <= (tile.dim == 128 ? 1024 : 448) && (blocks >= few || seen <= 320 || (seen <= some_keys && attention_wide_blocks(s) > sm_count));
  const double multiplied = attention_of_wgmma(sm_count, s, tile.keys);
  // Longer ones where many blocks leave much less empty.
  constexpr double much_less = 0.83, least = 0.71;
  if (tile.dim <= 128 && seen > 320) return multiplied > 0 && ((seen <= 448 && blocks >= sm_count * 16ll && multiplied <= much_less) || (seen <= 640 && blocks >= few && multiplied <= least));
  // attention_flow.cu multiplies about a third faster, and long heads a half, where each multiprocessor has several pieces.
  const double most = flow.dim == 0 || attention_wide_blocks(s) < sm_count * 2ll ? 1 : tile.dim == 160 ? 0.66 : 0.71;
  return seen <= 320 && (multiplied < most || (tile.dim <= 128 && seen <= 64));
}

inline AttentionTile attention_short_tile(int sm_count, const AttentionSizes& s) {
  const int dim = attention_group_dim(s.dim);
  if (!attention_takes_groups(s) || s.queries <= (dim > 128 ? 1 : 16)) return {};
  // Rows that end within a sector of memory are slow to load: two groups share theirs.
  const bool ragged = attention_pitch(s) % 16 != 0 && dim <= 128 && s.queries > (dim <= 64 ? 128 : 64) && s.batch_heads * attention_groups(s) > sm_count * 8ll;
  AttentionTile tile = {dim, ragged ? 128 : 64, 64};
  // Of 128 keys, registers are short at a head dim of 64.
  const auto time = [&](int keys) { return attention_group_time(s, keys) * (keys == 128 && dim == 64 ? 106 : 100); };
  for (const int keys : {96, 128})
    if ((keys == 96 ? !ragged && dim <= 128 : dim <= 64) && time(keys) < time(tile.keys)) tile.keys = keys;
  return attention_takes_short(sm_count, s, tile, ragged) ? tile : AttentionTile{};
}
// Tiles of keys, and as many of values, that a block has on their way.
constexpr int attention_short_stages(const AttentionTile& t) { return t.queries == 128 || (t.dim <= 64 && t.keys == 64) ? 2 : 1; }
constexpr long long attention_short_bytes(const AttentionTile& t) { return (t.dim + 63) / 64 * 128ll * (t.queries + 2 * attention_short_stages(t) * t.keys) + 1024; }

// Warp groups of a block, its shared memory, the tiles of 64 queries that it goes along, and such runs of a head. No dim: others take the case.
struct AttentionHeld {
  int dim = 0, groups = 0;
  long long bytes = 0, run = 0, runs = 0;
};
inline AttentionHeld attention_held(int sm_count, const AttentionSizes& s) {
  constexpr long long block_bytes = 225 << 10, half_bytes = 112 << 10;
  if (!attention_takes_groups(s) || s.queries <= 128) return {};
  AttentionHeld held = {attention_group_dim(s.dim)};
  const long long seen = attention_keys_seen(s), tiles = (seen + attention_held_keys - 1) / attention_held_keys, box = (held.dim + 63) / 64 * 128 * 64, of_head = attention_groups(s);
  // Of fewer, attention_flow.cu is faster.
  constexpr long long most_queries_of_flow = 8192;
  if (held.dim > 32 && held.dim <= 128 && !s.causal && s.queries <= most_queries_of_flow && attention_flow_tile(sm_count, s).dim > 0) return {};
  // Of many queries; with one tile of keys, of three groups.
  if (s.queries < 512 && !(held.dim <= 128 && s.queries > 128 && seen <= attention_held_keys)) return {};
  // More keys of short heads for many queries.
  constexpr long long most_keys = 256, most_short_keys = 384;
  if (seen > (held.dim <= 64 && s.queries >= attention_many_queries ? most_short_keys : most_keys) || s.batch_heads * of_head < sm_count * 2ll) return {};
  const auto bytes = [&](int groups) { return (groups + 2 * tiles) * box + 1024; };
  held.groups = held.dim <= 128 ? (bytes(2) <= half_bytes ? 2 : 4) : held.dim <= 192 ? 3 : 2;
  held.bytes = bytes(held.groups);
  if (tiles > attention_held_tiles || held.bytes > block_bytes) return {};
  // As long runs as leave all multiprocessors busy; what a block does before its first tile, in tiles of keys.
  constexpr long long start = 3, most_runs = 4096;
  const long long slots = sm_count * (held.groups == 2 && held.dim <= 128 ? 2 : 1);
  long long best = 0;
  for (long long runs = 1; runs <= of_head && runs <= most_runs; runs++) {
    const long long run = (of_head + runs - 1) / runs;
    if ((of_head + run - 1) / run != runs) continue;
    const long long time = (s.batch_heads * runs + slots - 1) / slots * ((run + held.groups - 1) / held.groups * tiles + start);
    if (best == 0 || time < best) best = time, held.run = run, held.runs = runs;
  }
  return held;
}

// Heads of keys that blocks go through before the next of those that share one, so that not all read the same: where the keys of all stay in L2. 0: one after the other.
inline long long attention_apart(const AttentionSizes& s) {
  constexpr long long half_of_l2 = 24 << 20;
  const long long kv_heads = s.batch_heads / s.heads * s.kv_heads;
  return s.group > 1 && kv_heads * s.keys * s.dim * 4 <= half_of_l2 ? kv_heads : 0;
}
