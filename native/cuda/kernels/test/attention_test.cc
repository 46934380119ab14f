// Attention by warp groups (attention_short_choice.h, attention_f32_wgmma.cu): part of opscope_cuda_plan_test.
#include "kernels/attention_f32_wgmma.h"
#include "kernels/attention_short_choice.h"

#include "kernels/test/expect.h"

namespace {

constexpr int sm_count = 132;
constexpr long long block_bytes = 227 << 10, kept = 2048;  // of shared memory on an H200, less what barriers and the driver take

AttentionSizes sizes(long long heads, long long queries, long long keys, int dim, bool causal = false) { return {heads, heads, heads, queries, keys, queries, dim, causal, 1}; }

}  // namespace

void attention_groups_of_blocks() {
  const auto is_short = [](const AttentionSizes& s, int queries, int keys) {
    const AttentionTile tile = attention_short_tile(sm_count, s);
    return tile.queries == queries && tile.keys == keys;
  };
  expect(is_short(sizes(1105, 72, 72, 64, true), 64, 96) && is_short(sizes(800, 129, 129, 64), 64, 96) && is_short(sizes(1165, 513, 513, 32, true), 64, 128) && is_short(sizes(2661, 512, 512, 24), 128, 128) &&
             is_short(sizes(16'109, 90, 90, 40, true), 64, 96) && is_short(sizes(256, 1024, 1024, 64, true), 64, 96) && is_short(sizes(1600, 90, 90, 72, true), 128, 64) && is_short(sizes(200, 20, 300, 64), 64, 64),
         "tiles of keys by what is empty of them; two groups share rows that end within a sector");
  const auto left = [](const AttentionSizes& s) { return attention_short_tile(sm_count, s).dim == 0; };
  expect(left(sizes(64, 2048, 2048, 64)) && left(sizes(64, 512, 512, 128)) && left(sizes(100, 150, 700, 24)) && left(sizes(16, 20, 511, 64)) && left(sizes(400, 32, 300, 128)) && left(sizes(400, 70, 70, 60)) &&
             left(sizes(4, 16'448, 257, 16)) && left(sizes(1025, 34, 17, 16)),
         "many keys, few blocks of several tiles, few queries and odd rows are left to others");
  expect(left(sizes(1200, 250, 120, 128)) && left(sizes(1269, 175, 175, 128)) && left(sizes(1200, 65, 65, 160)) && !left(sizes(600, 100, 100, 160, true)) && left(sizes(800, 65, 65, 256, true)) && !left(sizes(144, 49, 49, 256)),
         "and long heads whose keys and queries fill the tiles of others");
  const auto held = [](const AttentionSizes& s) { return attention_held(sm_count, s); };
  expect(held(sizes(13, 224'396, 256, 80)).groups == 4 && held(sizes(105, 4096, 42, 128)).groups == 2 && held(sizes(16'384, 251, 17, 40, true)).groups == 2 && held(sizes(22, 4339, 128, 160)).groups == 3,
         "blocks hold few keys of many queries");
  expect(left(sizes(16'705, 110, 110, 128, true)), "very many causal heads that fill the tiles of others are left to them");
  expect(held(sizes(23, 98'187, 337, 32, true)).dim == 32 && held(sizes(23, 98'187, 400, 32, true)).dim == 0 && held(sizes(300, 2000, 300, 40)).dim == 0 && left(sizes(32, 20'000, 500, 64, true)), "many queries of short heads meet more keys that are held");
  expect(is_short(sizes(600, 390, 390, 128), 64, 96) && left(sizes(165, 372, 372, 128)) && left(sizes(480, 450, 450, 112)), "keys of many heads that leave much of larger tiles empty");
  expect(held(sizes(800, 129, 129, 64)).dim == 0 && held(sizes(800, 80, 40, 64)).dim == 0 && held(sizes(4, 4096, 400, 160)).dim == 0 && held(sizes(2, 1000, 190, 128)).dim == 0 && held(sizes(800, 65, 65, 256)).dim == 0, "and leave others");
  expect(is_short(sizes(3, 503, 513, 128), 64, 96) && is_short(sizes(4, 378, 513, 64), 64, 96) && left(sizes(3, 503, 700, 128)) && left(sizes(1, 414, 759, 40)) && left(sizes(40, 503, 513, 128)), "twice as many blocks where these are few");
  expect(is_short(sizes(51, 367, 15'139, 128, true), 64, 64) && !left(sizes(60, 350, 9000, 112, true)) && left(sizes(40, 500, 500, 128, true)) && left(sizes(40, 367, 367, 128, true)), "causal blocks of which a few multiprocessors would have two larger ones");
  const auto flow = [](const AttentionSizes& s, int queries, int keys) {
    const AttentionTile tile = attention_flow_tile(sm_count, s);
    return tile.queries == queries && tile.keys == keys;
  };
  const auto flows = [](const AttentionSizes& s) { return attention_flow_tile(sm_count, s).dim > 0; };
  expect(flow(sizes(3683, 256, 256, 128), 128, 128) && flow(sizes(1600, 100, 80, 104), 128, 96) && flow(sizes(1600, 100, 100, 128), 128, 112) && flow(sizes(900, 640, 640, 128), 128, 160) && flow(sizes(64, 2048, 2048, 128), 128, 176) && flow(sizes(160, 128, 512, 128), 128, 128),
         "many heads go on from one to the next, by larger tiles where keys are many");
  expect(flow(sizes(1250, 128, 128, 160), 128, 64) && flow(sizes(640, 333, 333, 160), 128, 96) && flow(sizes(248, 1024, 256, 256), 128, 64) && flow(sizes(500, 512, 512, 80), 128, 128) && flow(sizes(3683, 256, 256, 96), 128, 128) && flow(sizes(896, 1024, 256, 64), 192, 128) &&
             flow(sizes(1600, 256, 256, 64), 128, 128) && flow(sizes(2661, 512, 512, 40), 192, 128) && flow(sizes(832, 109, 109, 40), 128, 128),
         "of other head dims too");
  expect(!flows(sizes(100, 128, 256, 128)) && !flows(sizes(3683, 256, 40, 128)) && !flows(sizes(3683, 333, 333, 192)) && !flows(sizes(800, 192, 192, 256)) && !flows(sizes(1000, 700, 700, 256)) && !flows(sizes(64, 2048, 2048, 160)) && !flows(sizes(64, 2048, 2048, 64)) &&
             !flows(sizes(300, 128, 128, 64)) && !flows(sizes(300, 100, 100, 40)),
         "and leave few, short and very long ones");
  const auto of_group = [](AttentionSizes s, int group) {
    s.group = group, s.kv_heads = s.heads / group;
    return s;
  };
  expect(flow(sizes(1032, 123, 123, 128, true), 128, 128) && flow(sizes(16'705, 110, 110, 128, true), 128, 112) && flow(sizes(1576, 227, 338, 128, true), 128, 128) && flow(sizes(1005, 345, 345, 40, true), 128, 128) && flow(of_group(sizes(132, 2311, 2311, 128, true), 11), 128, 160),
         "causal heads whose blocks are full");
  expect(!flows(sizes(250, 123, 123, 128, true)) && !flows(sizes(2000, 60, 60, 128, true)) && !flows(sizes(600, 300, 300, 128, true)) && !flows(sizes(100, 227, 227, 128, true)) && !flows(sizes(132, 2311, 2311, 128, true)) && !flows(sizes(3683, 256, 256, 96, true)) && !flows(sizes(2304, 128, 128, 64, true)),
         "but not few, nor such whose keys do not stay in L2");
  expect(left(sizes(1347, 250, 250, 96)) && left(sizes(1250, 120, 120, 160)) && !left(sizes(853, 300, 300, 96)) && left(sizes(54, 376, 107, 128)) && is_short(sizes(160, 131, 433, 128), 64, 96) && left(sizes(96, 260, 379, 128)) && !left(sizes(600, 700, 700, 128, true)),
         "blocks of 64 queries are left what these leave empty");
  expect(held(sizes(96, 1024, 128, 128)).dim == 0 && held(sizes(200, 1024, 256, 80)).dim == 0 && held(sizes(50, 4096, 128, 128)).dim == 0 && held(sizes(896, 1024, 256, 64)).dim == 0 && held(sizes(96, 1024, 128, 64)).dim > 0 && held(sizes(13, 224'396, 256, 80)).dim > 0 && held(sizes(22, 4339, 128, 160)).dim > 0,
         "and blocks that hold keys, very many queries");
  expect(is_short(sizes(93, 2, 499, 256), 64, 64) && is_short(sizes(22, 32, 33, 160), 64, 64) && left(sizes(20, 4, 1800, 256)) && left(sizes(93, 2, 200, 256)) && left(sizes(93, 1, 499, 256)) && left(sizes(20, 32, 500, 256)) && left(sizes(93, 4, 499, 128)) && is_short(sizes(5199, 129, 5, 256), 64, 64),
         "few queries of long heads take a block of 64");
  expect(left(sizes(1032, 123, 123, 128, true)) && !left(sizes(20'454, 67, 67, 128, true)) && !left(sizes(250, 123, 123, 128, true)), "and are left to that where they fill its tiles");
  expect(attention_takes_warps(sm_count, block_bytes, sizes(1, 414, 759, 40), 2) && attention_takes_warps(sm_count, block_bytes, sizes(1, 165, 513, 40), 2) && !attention_takes_warps(sm_count, block_bytes, sizes(1, 414, 4096, 40), 2) && !attention_takes_warps(sm_count, block_bytes, sizes(4, 414, 759, 40), 2),
         "few tiles of queries of short heads share keys over warps");
  bool fits = true, covers = true, times = true;
  for (const bool causal : {false, true})
    for (int dim = 8; dim <= 256; dim += 8)
      for (long long queries = 17; queries < 5000; queries = queries * 4 / 3 + 1)
        for (long long keys = 1; keys < 2000; keys = keys * 3 / 2 + 7) {
          const AttentionSizes s = sizes(300, queries, keys, dim, causal);
          if (const AttentionTile tile = attention_short_tile(sm_count, s); tile.dim > 0) fits = fits && tile.dim >= dim && attention_short_bytes(tile) <= block_bytes - kept;
          const AttentionHeld h = held(s);
          if (h.dim == 0) continue;
          fits = fits && h.dim >= dim && h.bytes <= block_bytes - kept;
          const long long tiles = attention_groups(s);
          covers = covers && h.run * h.runs >= tiles && h.run * (h.runs - 1) < tiles;
        }
  for (long long queries = 1; queries < 700; queries += 13)
    for (long long keys = 1; keys < 900; keys += 17) {
      long long tiles = 0;
      for (long long first = 0; first < queries; first += 64) {
        const long long end = first + 64 < queries ? first + 64 : queries;
        tiles += ((end < keys ? end : keys) + 63) / 64;
      }
      times = times && attention_group_time(sizes(1, queries, keys, 64, true), 64) == tiles * 88;
    }
  expect(fits, "blocks fit into shared memory");
  expect(covers, "runs of queries cover a head, and none is empty");
  expect(times, "causal groups meet the tiles that they see");
  const AttentionSizes shared = {8194, 4097, 17, 109, 109, 109, 40, 1, 1}, own = sizes(8194, 109, 109, 40, true);
  AttentionSizes grouped = shared;
  grouped.group = 241;
  expect(attention_apart(grouped) == 34 && attention_apart(own) == 0, "blocks at work together read several heads of keys");
  expect(!left(sizes(300, 500, 500, 192, true)) && !left(sizes(300, 700, 700, 160, true)) && !left(sizes(100, 300, 300, 256, true)) && left(sizes(200, 1024, 1024, 192, true)) && left(sizes(20, 700, 700, 160, true)) && left(sizes(100, 400, 400, 256)),
         "causal heads of 160 and more of up to 704 keys have blocks of 64 queries where these are many");
  expect(left(sizes(3000, 121, 121, 128, true)) && !left(sizes(250, 121, 121, 128, true)) && !left(sizes(3000, 121, 121, 80, true)), "many causal heads that fill a block of 128 queries take it");

  const auto f32 = [](const AttentionSizes& s) { return attention_takes_f32_wgmma(sm_count, s); };
  expect(f32(sizes(8, 4097, 4097, 128, true)) && f32(sizes(64, 512, 512, 64)) && f32(sizes(600, 67, 67, 256)) && f32(sizes(600, 128, 20, 128)) && f32(sizes(600, 33, 64, 128)) && f32(sizes(600, 17, 1000, 64)) && f32(sizes(6, 500, 300, 128)) &&
             f32(sizes(2, 64, 600, 64)),
         "f32 on Hopper's tensor cores where queries and keys fill its tiles");
  expect(!f32(sizes(600, 9, 1000, 160)) && !f32(sizes(600, 24, 100, 64)) && !f32(sizes(1000, 33, 33, 64, true)) && !f32(sizes(600, 64, 64, 256)) && !f32(sizes(600, 67, 67, 64)) && !f32(sizes(600, 64, 64, 64, true)) && !f32(sizes(16, 128, 128, 128)) && !f32(sizes(64, 1024, 1024, 32)) && !f32(sizes(64, 512, 512, 126)) &&
             !f32(sizes(40, 129, 2048, 256)) && !f32({2, 2, 2, 480, 1000, 60, 64, 1, 1}),
         "and not where warps share few tiles of queries, heads are short, or rows start off 16 bytes");
  const auto shares = [](const AttentionSizes& s) { return attention_f32_wgmma_splits(sm_count, s, s.batch_heads * ((s.queries + 127) / 128), attention_f32_wgmma_keys); };
  expect(shares(sizes(6, 1000, 1000, 128, true)) == 5 && shares(sizes(2, 1000, 1000, 128, true)) == 8 && shares(sizes(16, 64, 600, 128)) == 8 && shares(sizes(16, 257, 257, 64, true)) == 2 && shares(sizes(100, 300, 300, 64)) == 1,
         "blocks share keys where they leave half of the GPU idle");
  const auto blocks = [](long long keys, bool causal) { return attention_f32_wgmma_blocks(sm_count, sizes(64, keys, keys, 128, causal), 1024); };
  expect(blocks(2048, true) == 1024 && blocks(512, true) == sm_count && blocks(2048, false) == sm_count && attention_f32_wgmma_blocks(sm_count, sizes(4, 512, 512, 128), 16) == 16, "long causal blocks are handed out one by one");
  expect(attention_f32_wgmma_tiles(sizes(8, 20, 999, 64)) == 2 && attention_f32_wgmma_tiles(sizes(8, 64, 999, 128)) == 1 && attention_f32_wgmma_tiles(sizes(8, 65, 999, 128)) == 2 && attention_f32_wgmma_tiles(sizes(8, 512, 512, 160)) == 1, "two slots of keys in a tile where registers have room");
  bool rings = true;
  for (int dim = 36; dim <= 256; dim += 4) {
    const int built = attention_f32_wgmma_dim(dim), tiles = attention_f32_wgmma_tiles(sizes(8, 512, 512, dim));
    rings = rings && built >= dim && attention_f32_wgmma_bytes(built) <= block_bytes - 1024 && attention_f32_wgmma_stages(built) > tiles * (built > 128 ? 2 : 1);
  }
  expect(rings, "the ring of f32 slots fits into shared memory and holds more than the keys of a tile");
}
