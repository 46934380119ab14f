// softmax(q k^T / sqrt(headDim)) v of f16 and bf16 on Hopper's tensor cores (wgmma, sm_90a) for many queries of so few keys that a block holds them and their values in shared memory; rows start on 16 bytes.
// GROUPS warp groups go along the queries of a run, 64 at a time, each at its own pace: while one waits for queries, weighs scores or stores, others multiply.
// attention_held_<t>_<D>_<GROUPS>: head dims of up to D, filled up with zeroes.
#include "common/attention_group.cuh"
#include "scaled_dot_product_attention.h"

namespace {

template <class T, int D, int GROUPS>
__device__ __forceinline__ void attend(const TensorMap& map_q, const TensorMap& map_k, const TensorMap& map_v, T* __restrict__ out, const AttentionSizes& s, int run, int runs, long long apart) {
#ifdef OPSCOPE_WGMMA
  constexpr int BM = 64, BC = attention_held_keys, MOST = attention_held_tiles;
  using Group = GroupSums<T, D, BC>;
  constexpr int Q_BOX = BM * GROUP_ROW, Q_BYTES = Group::QUERIES_BYTES, BYTES = Group::TILE_BYTES;
  extern __shared__ __align__(1024) char memory[];
  const uint32_t base = (shared_address(memory) + 1023) & ~1023u;  // swizzled tiles repeat every 1024 bytes
  const uint32_t own_tiles = base + GROUPS * Q_BYTES;                // keys and values of a tile lie together
  __shared__ __align__(8) uint64_t barriers[GROUPS + 2 * MOST];
  const uint32_t full_all = shared_address(barriers), full_k = full_all + 8 * GROUPS, full_v = full_k + 8 * MOST;

  const long long turn = quotient(blockIdx.x, runs), head = head_of_turn(turn, apart, s.group), source = quotient(head, s.group);
  // The longest first: with `causal` the last queries see most.
  const int begin = static_cast<int>(runs - 1 - (blockIdx.x - turn * runs)) * run, end = min(begin + run, static_cast<int>((s.queries + BM - 1) / BM));
  const int group = threadIdx.x / 128, lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const bool speaks = threadIdx.x % 128 == 0;
  const uint32_t own_q = base + group * Q_BYTES, full_q = full_all + 8 * group;
  const auto load = [&](uint32_t to, const TensorMap& map, uint32_t full, int bytes, int box, int row, long long of) {
    barrier_expect(full, bytes);
    for (int i = 0; i < Group::BOXES; i++) bulk_load(to + i * box, &map, full, i * 64, row, static_cast<int>(of));
  };
  const auto load_queries = [&](int tile) { load(own_q, map_q, full_q, Q_BYTES, Q_BOX, tile * BM, head); };
  start_attention(s);
  if (threadIdx.x == 0) {
    for (int i = 0; i < GROUPS + 2 * MOST; i++) barrier_init(full_all + 8 * i, 1);
    fence_shared_for_async();
    load_queries(begin);
    const int all = tiles_seen<BC>(s, static_cast<long long>(end) * BM);
    for (int t = 0; t < all; t++) {
      const uint32_t to = own_tiles + t * 2 * BYTES;
      load(to, map_k, full_k + 8 * t, BYTES, Group::BOX, t * BC, source);
      load(to + BYTES, map_v, full_v + 8 * t, BYTES, Group::BOX, t * BC, source);
    }
  }
  __syncthreads();
  if (speaks && group > 0 && begin + group < end) load_queries(begin + group);
  const float scale = rsqrtf(static_cast<float>(s.dim)) * LOG2E;
  T* const of_head = out + output_of_head(s, head);
  int phase = 0;
  for (int tile = begin + group; tile < end; tile += GROUPS) {
    const long long lowest = static_cast<long long>(tile) * BM, query = lowest + warp * 16 + lane / 4;
    const int tiles = tiles_seen<BC>(s, lowest + BM);
    Group own;
    own.clear();
    barrier_wait(full_q, phase);
    phase ^= 1;
    for (int t = 0; t < tiles; t++) {
      const uint32_t keys = own_tiles + t * 2 * BYTES;
      barrier_wait(full_k + 8 * t, 0);
      own.meet(own_q, Q_BOX, keys, keys + BYTES, s, scale, static_cast<long long>(t) * BC, query, lowest, lane,
               [&] {
                 // The queries are not read again.
                 if (speaks && t == tiles - 1 && tile + GROUPS < end) load_queries(tile + GROUPS);
               },
               [&] { barrier_wait(full_v + 8 * t, 0); });
    }
    own.store(of_head, s, query, lane);
  }
#endif
}

}  // namespace

#define HELD(T, D, GROUPS, BLOCKS)                                                                                                                                                                                \
  extern "C" __global__ void __launch_bounds__(128 * GROUPS, BLOCKS)                                                                                                                                              \
      attention_held_##T##_##D##_##GROUPS(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v, T* out, const AttentionSizes s, int run, int runs, long long apart) { \
    attend<T, D, GROUPS>(q, k, v, out, s, run, runs, apart);                                                                                                                                                             \
  }
#define SMALL(T, D) HELD(T, D, 2, 2) HELD(T, D, 4, 1)
#define HELDS(T) SMALL(T, 32) SMALL(T, 48) SMALL(T, 64) SMALL(T, 80) SMALL(T, 96) SMALL(T, 128) HELD(T, 160, 3, 1) HELD(T, 192, 3, 1) HELD(T, 256, 2, 1)
HELDS(f16)
HELDS(bf16)
