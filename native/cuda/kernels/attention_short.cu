// softmax(q k^T / sqrt(headDim)) v of f16 and bf16 on Hopper's tensor cores (wgmma, sm_90a) for heads of few queries and keys, whose rows start on 16 bytes. A block takes GROUPS times 64 queries of one head
// and ends; a multiprocessor has several, so that one waits for memory or weighs scores while others multiply. Its loads are started by single threads, the first STAGES tiles of keys and values at once.
// attention_short_<t>_<D>_<queries of a block>_<keys of a tile>: head dims of up to D, filled up with zeroes.
#include "common/attention_group.cuh"
#include "scaled_dot_product_attention.h"

namespace {

template <class T, int D, int BC, int GROUPS, int STAGES>
__device__ __forceinline__ void attend(const TensorMap& map_q, const TensorMap& map_k, const TensorMap& map_v, const TensorMap& map_out, T* __restrict__ out, const AttentionSizes& s, long long apart) {
#ifdef OPSCOPE_WGMMA
  using Group = GroupSums<T, D, BC>;
  constexpr int BM = GROUPS * 64, Q_BOX = BM * GROUP_ROW, Q_BYTES = GROUPS * Group::QUERIES_BYTES, BYTES = Group::TILE_BYTES;
  // With `causal` a group may see fewer tiles than its block: not so many that a load waits for it.
  static_assert((GROUPS - 1) * 64 <= BC * STAGES);
  extern __shared__ __align__(1024) char memory[];
  const uint32_t base = (shared_address(memory) + 1023) & ~1023u;  // swizzled tiles repeat every 1024 bytes
  const uint32_t own_k = base + Q_BYTES, own_v = own_k + STAGES * BYTES;
  __shared__ __align__(8) uint64_t barriers[1 + 4 * STAGES];
  const uint32_t full_q = shared_address(barriers), full_k = full_q + 8, full_v = full_k + 8 * STAGES, empty_k = full_v + 8 * STAGES, empty_v = empty_k + 8 * STAGES;

  const long long blocks = (s.queries + BM - 1) / BM, turn = quotient(blockIdx.x, blocks), head = head_of_turn(turn, apart, s.group);
  // The longest first: with `causal` the last queries see most.
  const long long first = (blocks - 1 - (blockIdx.x - turn * blocks)) * BM, source = quotient(head, s.group);
  const int groups = static_cast<int>(min(static_cast<long long>(GROUPS), (s.queries - first + 63) / 64));  // that have queries
  const int all = tiles_seen<BC>(s, first + BM);
  const auto load = [&](uint32_t to, const TensorMap& map, uint32_t full, int bytes, int box, long long row, long long of) {
    barrier_expect(full, bytes);
    for (int i = 0; i < Group::BOXES; i++) bulk_load(to + i * box, &map, full, i * 64, static_cast<int>(row), static_cast<int>(of));
  };
  const auto load_keys = [&](int t, int stage) { load(own_k + stage * BYTES, map_k, full_k + 8 * stage, BYTES / BC * static_cast<int>(min(static_cast<long long>(BC), s.keys)), Group::BOX, t * BC, source); };
  const auto load_values = [&](int t, int stage) { load(own_v + stage * BYTES, map_v, full_v + 8 * stage, BYTES, Group::BOX, t * BC, source); };
  start_attention(s);
  if (threadIdx.x == 0) {
    prefetch_map(&map_q), prefetch_map(&map_k), prefetch_map(&map_v);
    barrier_init(full_q, 1);
    // Freed by the groups that load nothing.
    init_ring<STAGES>(full_k, full_v, empty_k, empty_v, max(groups - 1, 1));
    fence_shared_for_async();
    load(base, map_q, full_q, Q_BYTES / BM * static_cast<int>(min(static_cast<long long>(BM), s.queries)), Q_BOX, first, head);
    for (int t = 0; t < STAGES && t < all; t++) load_keys(t, t), load_values(t, t);
  }
  __syncthreads();
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  if (group >= groups) return;
  const bool speaks = threadIdx.x % 128 == 0, loads = group == groups - 1;  // the group that sees most loads what comes next
  const long long lowest = first + group * 64, query = lowest + warp * 16 + lane / 4;
  const int tiles = tiles_seen<BC>(s, lowest + 64);
  const float scale = rsqrtf(static_cast<float>(s.dim)) * LOG2E;
  Group own;
  own.clear();
  int stage = 0, phase = 0;
  barrier_wait(full_q, 0);
  for (int t = 0; t < tiles; t++) {
    // Whether the place of this tile is taken by that STAGES later, which `next` loads when all groups have met this one.
    const bool follows = speaks && t + STAGES < all;
    const auto free = [&](uint32_t empty, const auto& next) {
      if (!follows) return;
      if (!loads) return barrier_arrive(empty + 8 * stage);
      if (groups > 1) barrier_wait(empty + 8 * stage, phase);
      next(t + STAGES, stage);
    };
    barrier_wait(full_k + 8 * stage, phase);
    own.meet(base + group * 64 * GROUP_ROW, Q_BOX, own_k + stage * BYTES, own_v + stage * BYTES, s, scale, static_cast<long long>(t) * BC, query, lowest, lane, [&] { free(empty_k, load_keys); },
             [&] { barrier_wait(full_v + 8 * stage, phase); });
    free(empty_v, load_values);
    if (++stage == STAGES) stage = 0, phase ^= 1;
  }
  // Five blocks of a multiprocessor gain nothing by the copy engine.
  constexpr bool BULK = D > 64 || (D == 64 && BC > 64);
  if (!BULK || s.dim % 8 != 0 || s.tokens_first) return own.store(out + output_of_head(s, head), s, query, lane);
  // The copy engine writes results from where the queries of the group were.
  store_group<T, D>(map_out, base + group * 64 * GROUP_ROW, Q_BOX, own.sums, own.total, static_cast<int>(head), static_cast<int>(lowest), 1 + group);
  if (speaks) bulk_stores_read();
#endif
}

}  // namespace

#define SHORT(T, D, BC, GROUPS, QUERIES, STAGES, BLOCKS)                                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(128 * GROUPS, BLOCKS)                                                                                                                                 \
      attention_short_##T##_##D##_##QUERIES##_##BC(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v, const __grid_constant__ TensorMap results, T* out, const AttentionSizes s, long long apart) { \
    attend<T, D, BC, GROUPS, STAGES>(q, k, v, results, out, s, apart);                                                                                                                                                \
  }
#define SMALL(T, D) SHORT(T, D, 64, 1, 64, 2, 5) SHORT(T, D, 96, 1, 64, 1, 4) SHORT(T, D, 128, 1, 64, 1, 4) SHORT(T, D, 64, 2, 128, 2, 2) SHORT(T, D, 128, 2, 128, 2, 2)
#define MIDDLE(T, D) SHORT(T, D, 64, 1, 64, 1, 4) SHORT(T, D, 96, 1, 64, 1, 3) SHORT(T, D, 64, 2, 128, 2, 2)
#define LARGE(T, D, BLOCKS) SHORT(T, D, 64, 1, 64, 1, BLOCKS)
#define SHORTS(T) SMALL(T, 32) SMALL(T, 48) SMALL(T, 64) MIDDLE(T, 80) MIDDLE(T, 96) MIDDLE(T, 128) LARGE(T, 160, 3) LARGE(T, 192, 3) LARGE(T, 256, 2)
SHORTS(f16)
SHORTS(bf16)
