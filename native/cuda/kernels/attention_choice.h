// Which kernel of attention takes a case, how large its tiles are, and over how many blocks the keys of a query are split. Pure; see test/plan_test.cc.
#pragma once
#include <initializer_list>

#include "scaled_dot_product_attention.h"

// Keys that some query sees.
inline long long attention_keys_seen(const AttentionSizes& s) { return s.causal && s.period < s.keys ? s.period : s.keys; }

// Pure; see plan_test.cc. `blocks`: of queries; where they leave half of the GPU idle, keys are split, at least two `tiles` of them in a share,
// from `least` tiles on: to join shares takes as long as some tiles. `resident`: blocks of a multiprocessor at a time.
inline int attention_splits(int sm_count, long long blocks, long long tiles, long long least = 4, long long resident = 2) {
  constexpr long long most = 128;
  if (blocks * 2 > sm_count || tiles < least) return 1;
  const long long wanted = sm_count * resident / blocks < tiles / 2 ? sm_count * resident / blocks : tiles / 2;
  return static_cast<int>(wanted < most ? wanted : most);
}

// Whether a block joins the shares of a query, rather than a warp: where blocks for all queries fit on the GPU at a time.
inline bool attention_joins_wide(int sm_count, long long queries) { return queries <= sm_count * 4LL; }

// For a few queries of a head: vectors of `lanes` elements of a key that each of its eight threads has (attention_few.cu); 0 where others do it.
inline int attention_few_vectors(int lanes, const AttentionSizes& s) {
  constexpr int sharers = 8, most_dim = 256;
  if (s.dim > most_dim || s.dim % lanes != 0) return 0;
  int vectors = lanes == 4 ? 2 : 1;
  while (vectors * sharers * lanes < s.dim) vectors *= 2;
  return vectors;
}

// Warps for a query and a share of its keys: one where keys are few and queries enough for all multiprocessors, 16 where queries are few, so that fewer shares are joined.
inline int attention_few_warps(int sm_count, const AttentionSizes& s, int vectors) {
  const long long rows = s.batch_heads * s.queries, seen = attention_keys_seen(s);
  if ((rows >= sm_count * 8ll && seen <= 128) || (rows >= sm_count * 2ll && seen <= 16)) return 1;
  return rows <= sm_count && seen > 32 * attention_few_together(vectors) ? 16 : 4;
}

// Warps for a query all of whose keys arrive at once (attention_small.cu), and keys of each group of eight threads; no warps: others take the case. Several warps share keys where a key takes one vector of a thread, or four
// of 16 bits (H200: f16 4x8 heads, 30 keys, 128 7.1 to 7.4 us by four warps; f32 2x4, 30, 128 7.6 and 7.6).
struct AttentionSmallShape {
  int warps = 0, together = 0;
};
inline AttentionSmallShape attention_small_shape(int sm_count, const AttentionSizes& s, int element_bytes, int vectors) {
  constexpr long long most_warps = 16;  // of a multiprocessor
  if (s.tokens_first || (s.causal && s.period != 1)) return {};
  const long long rows = s.batch_heads * s.queries, seen = attention_keys_seen(s);
  const int together = attention_few_together(vectors);
  for (const AttentionSmallShape& shape : {AttentionSmallShape{1, together}, {4, together}, {1, together * 2}, {16, together}}) {
    // Twice as many vectors of f32 above a head dim of 128 are more than a thread has registers for (H200: 6 keys, 256 7.3 to 11.7 us).
    if (seen > shape.warps * 4ll * shape.together || rows * shape.warps > sm_count * most_warps || (shape.together > together && vectors == 8)) continue;
    if (shape.warps == 1 || (element_bytes == 2 && vectors != 2)) return shape;
  }
  return {};
}

// Bytes of shared memory that the kernels have of their own, at most, and that they are launched with: of the sums of all warps that share keys, or of each thread that joins shares.
constexpr int attention_warp_own = 2 << 10, attention_join_bytes = 24;
inline unsigned attention_warp_bytes(const AttentionSizes& s, int sharing) {
  if (sharing == 1) return 0;
  const long long rows = s.queries < attention_warp_queries ? s.queries : attention_warp_queries, sums = sharing / attention_warp_parts(s.dim) * rows * attention_warp_pitch(s.dim) * 4, threads = sharing * 32 * attention_join_bytes;
  return static_cast<unsigned>(sums > threads ? sums : threads);
}

// Kernels are built for head dims of up to so many. f32, whose products take three times as long, has two more, which gain where tiles of queries fill the GPU and lose where they wait for keys (42 cases on an H100, NOTES.md).
inline int attention_warp_dim(int sm_count, const AttentionSizes& s, int element_bytes) {
  const long long halves = s.batch_heads * ((s.queries + attention_warp_queries - 1) / attention_warp_queries) * 2;
  if (element_bytes == 4 && s.dim > 64 && s.dim <= 96 && halves >= sm_count * 6ll) return 96;
  if (element_bytes == 4 && s.dim > 128 && s.dim <= 160 && halves >= sm_count * 3ll) return 160;
  return s.dim <= 32 ? 32 : s.dim <= 64 ? 64 : s.dim <= 128 ? 128 : 256;
}

// Blocks of 128 threads that a multiprocessor holds; of the kernels that share keys an even number.
constexpr int attention_warp_resident(int element_bytes, int dim) { return element_bytes == 4 && (dim == 64 || dim == 96) ? 3 : dim > 64 ? 2 : 4; }

// What shares of the keys cost, in tiles: in 16 bits a tile is soon met, and blocks that wait for no others are sooner done (H200: bf16 83 heads, 32 queries, 513 keys, headDim 40 18.3 to 13.7 us, f16 33x8, 4 queries, 550 keys, 40
// 14.8 to 12.6; f32 9x20, 2 queries, 421 keys, 128 22.6 and 26.9, f16 33x2, 2 queries, 408 keys, 160 19.1 and 21.5).
constexpr double attention_warp_join(int element_bytes, int dim) { return element_bytes == 4 || dim > 128 ? 1.5 : dim > 64 ? 2 : 3; }

// Warps of a block that share the keys of its queries, shares of the keys over blocks, and about how long that takes, in tiles of 16 keys.
struct AttentionWarps {
  int sharing, splits;
  double time;
};
inline AttentionWarps attention_warps(int sm_count, long long shared_bytes, const AttentionSizes& s, int element_bytes) {
  constexpr int most_splits = 128;
  const int dim = attention_warp_dim(sm_count, s, element_bytes), parts = attention_warp_parts(dim), resident = attention_warp_resident(element_bytes, dim);
  const long long seen = attention_keys_seen(s), tiles = s.batch_heads * ((s.queries + attention_warp_queries - 1) / attention_warp_queries);
  AttentionWarps best = {};
  for (int sharing = 1; sharing <= 8; sharing *= sharing == 1 ? 4 : 2) {
    if (attention_warp_bytes(s, sharing) + attention_warp_own > shared_bytes) continue;
    const int keys = attention_warp_keys(element_bytes, dim, sharing), round = (sharing == 1 ? 1 : sharing / parts) * keys;
    const long long rounds = (seen + round - 1) / round, slots = static_cast<long long>(sm_count) * (sharing == 1 ? resident * attention_warp_tiles(dim) : resident / 2 * 8 / sharing);
    // A tile of 8 keys takes more than half as long as one of 16. A block starts and ends, and joins its warps; the last block to end adds up the shares.
    const double tile = keys == 8 ? 0.6 : 1, ends = sharing == 1 ? 1 : 2;
    for (int splits = 1; splits <= (sharing == 1 ? 1 : most_splits) && splits <= rounds; splits++) {
      const double time = static_cast<double>((tiles * splits + slots - 1) / slots) * (static_cast<double>((rounds + splits - 1) / splits) * tile + ends) + (splits == 1 ? 0 : attention_warp_join(element_bytes, dim) + splits / 64.0);
      if (best.sharing == 0 || time < best.time * (splits > 1 && best.splits == 1 ? 0.9 : 1)) best = {sharing, splits, time};
    }
  }
  return best;
}

// Blocks whose warps share keys and that go on from one set of queries to the next (attention_warp.cu), where there are more sets than run at a time; 0: each set has a block. `sizes` have the splits of `chosen`.
inline long long attention_warp_staying(int sm_count, const AttentionSizes& sizes, int element_bytes, const AttentionWarps& chosen) {
  constexpr int dim = 128;
  if (element_bytes != 2 || attention_warp_dim(sm_count, sizes, element_bytes) != dim || chosen.sharing == 1 || chosen.splits > 1) return 0;
  // With `causal` sets of a head see more and fewer keys.
  if (sizes.causal && sizes.queries > attention_warp_queries) return 0;
  const long long slots = sm_count * (attention_warp_resident(element_bytes, dim) / 2 * 8ll / chosen.sharing), sets = sizes.batch_heads * ((sizes.queries + attention_warp_queries - 1) / attention_warp_queries);
  return sets > slots ? slots : 0;
}

// Many heads with few queries and keys: heads of a warp (attention_packed.cu), so that their queries fill its tile and their keys two; 1: others take them.
inline int attention_together(int sm_count, const AttentionSizes& s, int element_bytes) {
  constexpr long long most_keys = 32, least_heads = 32;  // of a warp; for each multiprocessor
  if (s.tokens_first || s.heads != s.kv_heads || s.dim * element_bytes % 16 != 0 || s.dim > (element_bytes == 4 ? 128 : 256) || s.batch_heads < sm_count * least_heads) return 1;
  const long long by_queries = attention_warp_queries / s.queries, by_keys = most_keys / s.keys;
  return static_cast<int>(by_queries < 2 || by_keys < 2 ? 1 : by_queries < by_keys ? by_queries : by_keys);
}
inline int attention_packed_dim(int dim) { return dim <= 32 ? 32 : dim <= 64 ? 64 : dim <= 128 ? 128 : 256; }

// Many queries of so few keys that a warp keeps them (attention_stream.cu): blocks of a multiprocessor, and the tiles of queries that a warp goes along; 0: others take the case.
constexpr int attention_stream_resident(int dim) { return dim <= 64 ? 4 : 2; }
inline long long attention_stream_run(int sm_count, const AttentionSizes& s, int element_bytes) {
  constexpr long long limit = 1ll << 30, start = 2;  // what a warp does before its first tile, in tiles
  const long long of_head = (s.queries + attention_warp_queries - 1) / attention_warp_queries, wide_blocks = (s.queries + 127) / 128;
  if (s.dim * element_bytes % 16 != 0 || s.dim > (element_bytes == 4 ? 32 : 128) || attention_keys_seen(s) > attention_warp_keys(element_bytes, s.dim, 1) || s.queries > limit || s.batch_heads * of_head > limit) return 0;
  // Above a head dim of 64 wgmma is faster (attention_wgmma_tile) where its blocks are many and full.
  if (s.dim > 64 && s.period == s.queries && s.batch_heads * wide_blocks > sm_count * 5ll && s.queries * 4 >= wide_blocks * 128 * 3) return 0;
  const long long slots = sm_count * attention_stream_resident(s.dim) * 4ll, all = s.batch_heads * of_head;
  long long best = 1, best_time = 0;
  for (long long waves = 1; waves <= 16; waves++) {
    const long long even = (all + slots * waves - 1) / (slots * waves), run = even < of_head ? even : of_head;
    const long long time = (s.batch_heads * ((of_head + run - 1) / run) + slots - 1) / slots * (run + start);
    if (best_time == 0 || time < best_time) best = run, best_time = time;
  }
  return best;
}

// Blocks of 128 queries.
inline long long attention_wide_blocks(const AttentionSizes& s) { return s.batch_heads * ((s.queries + 127) / 128); }

// Many queries of up to four keys whose products are too few for tensor cores (attention_line.cu): keys of the kernel, vectors of a row that its lanes hold, and queries that they go along. No keys: others take the case.
struct AttentionLine {
  int keys = 0, vectors = 0;
  long long run = 0;
};
inline AttentionLine attention_line(int sm_count, const AttentionSizes& s, int element_bytes) {
  constexpr long long most_keys = 4, least_queries = 16, least_each = 64, warps_each = 64, most_run = 512, limit = 1ll << 30;  // each: of a multiprocessor
  const auto over = [](long long a, long long b) { return (a + b - 1) / b; };
  const long long seen = attention_keys_seen(s), all = s.batch_heads * s.queries;
  // Shorter heads are streamed (attention_stream_run).
  const int lanes = 16 / element_bytes, vectors = s.dim / lanes, least = lanes == 4 ? 8 : 11, most = lanes == 4 ? 64 : 32;
  // Of three or four keys in 16 bits, blocks of wgmma are faster where these are many (attention_takes_warps).
  if (lanes == 8 && seen > 2 && s.dim > 128 && attention_wide_blocks(s) > sm_count * 2ll) return {};
  if (seen > most_keys || s.dim % lanes != 0 || vectors <= least || vectors > most || s.queries < least_queries || s.queries > limit || all > limit || all < sm_count * least_each) return {};
  // Queries that a warp has on their way at a time.
  const long long round = vectors <= 16 ? 8 : 4, wanted = over(all, sm_count * warps_each), run = over(wanted < most_run ? wanted : most_run, round) * round, runs = over(s.queries, run);
  return {seen <= 2 ? 2 : 4, vectors <= 16 ? 16 : vectors <= 32 ? 32 : 64, over(over(s.queries, runs), round) * round};
}

// Few queries of which each reads its keys anew (attention_few.cu): a single one, and more where that is little to read.
inline bool attention_takes_few(int sm_count, const AttentionSizes& s, int element_bytes) {
  constexpr long long little = 32 << 20, few_keys = 512, few_rows = 1024, shared_keys = 256, most_queries = 200;
  const long long rows = s.batch_heads * s.queries, seen = attention_keys_seen(s);
  if (s.queries == 1) return element_bytes == 4 || seen <= few_keys || rows >= sm_count * 4ll;
  if (s.queries >= (element_bytes == 4 ? most_queries : 64) || (s.queries >= 16 && seen <= 16)) return false;
  if (element_bytes == 2 && s.queries > 1 && rows > sm_count && seen > shared_keys) return false;
  // Long heads fill enough of a block of 64 (attention_short.cu).
  if (element_bytes == 2 && s.queries > 16 && s.dim > 128) return false;
  if (seen <= few_keys && rows <= few_rows && rows * seen * s.dim * element_bytes * 2 <= little) return true;
  // f32, whose products take three times as long on tensor cores.
  return element_bytes == 4 && s.queries <= 4 && rows > sm_count && (s.queries == 2 || s.dim > 128 || seen <= few_keys);
}

// Whether tiles of 16 queries are no more than half of the multiprocessors, so that warps of a block share the keys of each.
inline bool attention_few_tiles(int sm_count, const AttentionSizes& s) { return s.batch_heads * ((s.queries + attention_warp_queries - 1) / attention_warp_queries) * 2 <= sm_count; }

// Whether warps of 16 queries are faster than blocks of 64 or 128 (attention_warp.cu; measured, see NOTES.md).
inline bool attention_takes_warps(int sm_count, long long shared_bytes, const AttentionSizes& s, int element_bytes) {
  const int lanes = 16 / element_bytes;
  if (s.dim % lanes != 0 || s.dim > 256) return false;
  const long long seen = attention_keys_seen(s), step = element_bytes == 4 ? 8 : 16;
  if (s.queries <= attention_warp_queries) return true;
  constexpr long long shared_keys = 512;
  // Few tiles of queries in f32: each is shared by the warps of a block of its own.
  if (element_bytes == 4 && seen <= shared_keys && s.batch_heads * ((s.queries + attention_warp_queries - 1) / attention_warp_queries) <= sm_count) return true;
  // Heads of up to 128 are streamed (attention_stream_run); above, wgmma is faster where its blocks are many. Queries that leave much of a tile of 128 empty in heads of up to 32.
  constexpr long long few_keys = 16, short_queries = 96, short_dim = 32;
  // Few tiles of short heads that meet some hundred keys.
  constexpr long long least_keys_of_few = 321, most_keys_of_few = 2048;
  constexpr int most_dim_of_few = 64;
  if (element_bytes == 2 && s.queries > 64 && !s.causal && s.dim <= most_dim_of_few && seen >= least_keys_of_few && seen <= most_keys_of_few && attention_few_tiles(sm_count, s)) return true;
  if (element_bytes == 2 && s.queries > 64)
    return (seen <= few_keys && s.dim > 128 && attention_wide_blocks(s) <= sm_count * 2ll) || (s.dim <= short_dim && s.queries <= short_queries && seen <= short_queries);
  // Tiles of keys that warps meet in the place of 64 queries: above so many, blocks are faster, which share keys.
  const long long rows = (s.queries + 15) / 16, blocks = (s.queries + 63) / 64, tiles = (seen + step - 1) / step;
  const long long most = element_bytes == 4 ? (s.dim > 128 ? 16 : 28) : s.dim <= 64 ? 24 : s.dim <= 128 ? 6 : 13;
  // Long heads in f32 where blocks of 64 queries and 32 keys are full.
  const bool full = element_bytes == 4 && s.dim > 64 && s.queries > 64 && rows * 16 * tiles * step * 5 > blocks * 64 * ((seen + 31) / 32 * 32) * 4;
  if (rows * tiles / blocks <= most && !full) return true;
  return s.queries <= 32 && s.dim <= (element_bytes == 2 ? 64 : 128) && attention_warps(sm_count, shared_bytes, s, element_bytes).sharing > 1;
}

// Blocks of `cells` pieces of work: with `causal` and many keys each is a block, so that the GPU hands out long and short ones; else a block goes on from one to the next, whose keys and values are
// on their way before, with `causal` to and fro through pieces from long to short.
inline long long attention_blocks(int sm_count, const AttentionSizes& s, long long cells, long long short_keys) {
  return cells < sm_count || (s.causal && attention_keys_seen(s) > short_keys) ? cells : sm_count;
}
inline long long attention_wgmma_blocks(int sm_count, const AttentionSizes& s, long long cells) { return attention_blocks(sm_count, s, cells, s.dim <= 64 ? 4096 : s.dim <= 128 ? 1024 : 512); }

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
// Tiles of keys from which on these are split over blocks. `halves`: into no more than two shares, which of long heads take long to join (bf16 7168 queries, 1024 keys, 256: in halves 34.3 us, whole 31).
constexpr int attention_wgmma_least_split(int dim, int causal, bool halves = false) { return dim > 192 && halves ? 18 : dim <= 128 && !causal ? 8 : 12; }

// Elements from one row of a head to the next where Hopper's copy engine reads it, in 16 bits: rows start on 16 bytes, those of other heads in copies (attention_rows.cu).
inline long long attention_pitch(const AttentionSizes& s) { return (s.dim + 7) / 8 * 8; }
// Whether the copy engine reads heads of 16 bits: as they are, or copies where these take less time than other kernels need more of (times in ns, H200: NOTES.md).
inline bool attention_takes_copy_engine(const AttentionSizes& s) {
  constexpr long long start = 3000, bytes_of_ns = 3000, products_of_ns = 40'000;
  const long long rows = s.batch_heads * s.queries + 2 * (s.batch_heads / s.heads * s.kv_heads) * s.keys, products = 2 * s.batch_heads * s.queries * attention_keys_seen(s) / (s.causal ? 2 : 1) * s.dim;
  return s.dim % 8 == 0 || products / products_of_ns > start + rows * attention_pitch(s) * 4 / bytes_of_ns;
}

// On Hopper's tensor cores (attention_wgmma.cu): heads whose rows start on 16 bytes, each with blocks of its own.
inline AttentionTile attention_wgmma_tile(int sm_count, const AttentionSizes& s) {
  constexpr long long most = 1ll << 31;
  if (s.queries < (s.dim <= 64 ? 64 : 17) || s.period != s.queries || !attention_takes_copy_engine(s) || s.queries >= most || s.keys >= most || s.batch_heads >= most) return {};
  constexpr AttentionTile tiles[] = {{32, 192, 128}, {48, 192, 128}, {64, 192, 128}, {80, 128, 128}, {96, 128, 128}, {128, 128, 128}, {160, 128, 96}, {192, 128, 96}, {256, 128, 80}};
  for (AttentionTile tile : tiles) {
    if (s.dim > tile.dim) continue;
    // Few keys leave most of a tile empty: tiles of attention_mma.cu are smaller, and twice as many, which pays for small heads, and where the GPU is done with them at once.
    constexpr long long few_keys = 64, small_dim = 32;
    if (attention_keys_seen(s) <= few_keys && (s.dim <= small_dim || s.batch_heads * ((s.queries + 127) / 128) <= sm_count * 2ll)) return {};
    // Tiles of fewer queries, where the GPU is done with them sooner; a query costs a sixth more there.
    const auto time = [&](int queries) { return (s.batch_heads * ((s.queries + queries - 1) / queries) + sm_count - 1) / sm_count * queries; };
    if (tile.queries == 192 && time(128) * 7 < time(192) * 6) tile.queries = 128;
    // Tiles of fewer keys, where these leave less of them empty: a tile of 64 keys takes an eighth longer than so many of a larger one.
    const long long seen = attention_keys_seen(s);
    const auto padded = [&](long long keys) { return (seen + keys - 1) / keys * keys; };
    if (seen <= 64 && tile.dim != 32 && tile.dim != 96 && tile.dim != 80) tile.queries = 128, tile.keys = 64;
    else if ((tile.dim == 80 || tile.dim == 96 || tile.dim == 128) && padded(96) * 8 <= padded(tile.keys) * 7) tile.keys = 96;
    else if (tile.dim == 256 && padded(64) * 9 < padded(tile.keys) * 8) tile.keys = 64;
    return tile;
  }
  return {};
}
inline long long attention_wgmma_bytes(const AttentionTile& t) { return (t.dim + 63) / 64 * 128ll * (t.queries + 2 * attention_wgmma_stages * t.keys) + 1024; }
// Other tensor cores for 16-bit types (attention_mma.cu): head dims of up to 256, the largest with fewer keys, as all are where shared memory is short.
inline long long attention_mma_bytes(const AttentionTile& t) { return (t.queries + 4ll * t.keys) * (t.dim * 2 + 16); }
inline AttentionTile attention_mma_tile(long long shared_bytes, const AttentionSizes& s) {
  constexpr AttentionTile tiles[] = {{16, 64, 64}, {32, 64, 64}, {64, 64, 64}, {96, 64, 64}, {128, 64, 64}, {160, 64, 64}, {256, 64, 32}};
  for (const AttentionTile& tile : tiles)
    if (s.dim <= tile.dim && attention_mma_bytes(tile) <= shared_bytes) return tile;
  return {};
}

inline bool attention_f32_is_wide(const AttentionTile& t) { return t.dim >= attention_f32_wide_from; }
// Two tiles of keys and values each, or one with the weights and two numbers of each query.
inline long long attention_f32_bytes(const AttentionTile& t) {
  if (!attention_f32_is_wide(t)) return (t.queries + 4ll * t.keys) * (t.dim + 4) * 4;
  return ((t.queries + 2ll * t.keys) * (t.dim + 4) + t.queries * (attention_f32_wide_pitch + 2ll)) * 4;
}

// f32 on tensor cores (attention_f32.cu; head dims above 128 attention_f32_wide.cu, two warps for 16 queries).
inline AttentionTile attention_f32_tile(int sm_count, long long shared_bytes, const AttentionSizes& s) {
  constexpr AttentionTile tiles[] = {{32, 64, 32}, {64, 64, 64}, {96, 64, 32}, {128, 64, 32}, {160, attention_f32_wide_queries, attention_f32_wide_keys}, {192, attention_f32_wide_queries, attention_f32_wide_keys},
                                     {256, attention_f32_wide_queries, attention_f32_wide_keys}},
                          wide = {64, 128, 32};
  for (const AttentionTile& tile : tiles) {
    if (s.dim > tile.dim || attention_f32_bytes(tile) > shared_bytes) continue;
    // Twice as many queries share what is split of keys and values, where they give every multiprocessor a block, and few of them are none.
    const long long blocks = (s.queries + tile.queries - 1) / tile.queries, wide_blocks = (s.queries + wide.queries - 1) / wide.queries;
    return tile.dim == wide.dim && s.batch_heads * wide_blocks > sm_count && wide_blocks * wide.queries * 12 <= blocks * tile.queries * 13 ? wide : tile;
  }
  return {};
}

// f32 on Hopper's tensor cores (attention_f32_wgmma.cu), where queries and keys fill enough of its tiles (measured, see NOTES.md).
inline bool attention_takes_f32_wgmma(int sm_count, const AttentionSizes& s) {
  constexpr long long most = 1ll << 31, few_keys = 512, of_block = attention_group_queries * 2;
  if (s.dim % 4 != 0 || s.dim <= 32 || s.dim > 256 || s.period != s.queries || s.queries <= attention_warp_queries || s.queries >= most || s.keys >= most || s.batch_heads * ((s.queries + of_block - 1) / of_block) >= most / 256) return false;
  const auto over = [](long long x, long long by) { return (x + by - 1) / by; };
  const long long seen = attention_keys_seen(s), rows = over(s.queries, attention_warp_queries), groups = over(s.queries, attention_group_queries), blocks = s.batch_heads * over(s.queries, of_block);
  // Few tiles of 16 queries are sooner done by warps that share keys.
  if (seen <= few_keys && s.batch_heads * rows <= sm_count) return false;
  // Blocks of 64 queries, of which half as many are empty, where each multiprocessor has one of either.
  if (s.dim > 192 && blocks * 2 > sm_count && s.batch_heads * groups <= sm_count) return false;
  // Tiles of 16 queries and 8 keys in the place of 64 queries: fewer are left to warps.
  const bool full = rows * 16 * 4 >= groups * attention_group_queries * 3;
  const long long least = s.queries > 64 ? (s.dim > 64 ? 12 : full ? 20 : 30) : s.dim > 192 ? 36 : s.dim > 64 ? 16 : s.queries <= 32 ? 40 : s.causal ? 36 : 22;
  return rows * over(seen, 8) >= least * groups;
}
// Slots of 32 keys in a tile: two, where registers have room and both groups have queries.
inline int attention_f32_wgmma_tiles(const AttentionSizes& s) { return s.dim <= 64 || (s.dim <= 128 && s.queries > attention_group_queries) ? 2 : 1; }
// Shares of the keys: with `causal` and many keys more than multiprocessors take at a time, because they differ in length.
inline int attention_f32_wgmma_splits(int sm_count, const AttentionSizes& s, long long blocks, long long keys) {
  constexpr long long least = 8, short_keys = 384;
  constexpr int most = 8;
  const long long seen = attention_keys_seen(s);
  const bool uneven = s.causal && seen > short_keys;
  const int splits = attention_splits(sm_count, blocks, (seen + keys - 1) / keys, least, uneven ? 2 : 1);
  return uneven && splits > most ? most : splits;
}
inline long long attention_f32_wgmma_blocks(int sm_count, const AttentionSizes& s, long long cells) { return attention_blocks(sm_count, s, cells, 512); }

// Any head dim (scaled_dot_product_attention.cu): keys of a block at a time, fewer where the head is long; 0 where shared memory has no room for it. Bytes that a launch asks for, and that the kernel has of its own.
constexpr int attention_any_queries = 32, attention_any_few_keys = 8;
inline long long attention_any_bytes(int keys, int dim) { return 2ll * (attention_any_queries + keys) * (dim + 1) * 4; }
inline long long attention_any_own(int keys) { return attention_any_queries * (keys + 1) * 4ll; }
inline int attention_any_keys(long long shared_bytes, int dim) {
  constexpr int some[] = {32, attention_any_few_keys};
  for (const int keys : some)
    if (attention_any_bytes(keys, dim) + attention_any_own(keys) <= shared_bytes) return keys;
  return 0;
}
inline long long attention_any_most_dim(long long shared_bytes) { return (shared_bytes - attention_any_own(attention_any_few_keys)) / attention_any_bytes(attention_any_few_keys, 0) - 1; }
