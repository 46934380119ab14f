// softmax(q k^T / sqrt(headDim)) v of f16 and bf16 on Hopper's tensor cores (wgmma, sm_90a), as attention_wgmma.cu does, for heads of few tiles of keys: a group starts the products of the first keys of its next piece of work together
// with those of the last values of the one before, and hands the results of that one to the copy engine while the other group multiplies. Each group has its queries of the next piece brought as soon as there is a place for them, so that
// groups need not begin a piece together. Long heads and large tiles leave room for one place of queries and none for results: there, the products of the last values come first, and results are stored while the next keys are multiplied.
// attention_flow_<t>_<D>_<queries of a block>_<keys of a tile>: head dims of up to D, filled up with zeroes.
#include "common/attention_pieces.cuh"
#include "common/attention_work.cuh"
#include "common/wgmma_columns.cuh"
#include "scaled_dot_product_attention.h"

namespace {

template <class T, int D, int BC, int GROUPS>
__device__ __forceinline__ void attend(const TensorMap& map_q, const TensorMap& map_k, const TensorMap& map_v, const TensorMap& map_out, T* __restrict__ out, const AttentionSizes& s) {
#ifdef OPSCOPE_WGMMA
  constexpr bool BULK = attention_flow_bulk(D, BC), LAZY = attention_is_lazy(D, BC);
  constexpr int STAGES = attention_wgmma_stages, PLACES = attention_flow_places(D, BC), BM = GROUPS * 64, BOXES = (D + 63) / 64, Q_BOX = 64 * ROW, BOX = BC * ROW, WARPS = 4;
  constexpr int Q_BYTES = BOXES * Q_BOX, BYTES = BOXES * BOX;  // queries of a group, keys of a tile
  extern __shared__ __align__(1024) char memory[];
  const uint32_t base = (shared_address(memory) + 1023) & ~1023u;  // swizzled tiles repeat every 1024 bytes
  const uint32_t own_q = base, own_k = base + PLACES * GROUPS * Q_BYTES, own_v = own_k + STAGES * BYTES, own_out = own_v + STAGES * BYTES;
  __shared__ __align__(8) uint64_t barriers[2 * PLACES * GROUPS + 4 * STAGES];
  const uint32_t full_q = shared_address(barriers), empty_q = full_q + 8 * PLACES * GROUPS, full_k = empty_q + 8 * PLACES * GROUPS, empty_k = full_k + 8 * STAGES, full_v = empty_k + 8 * STAGES, empty_v = full_v + 8 * STAGES;
  if (threadIdx.x == 0) {
    prefetch_map(&map_q), prefetch_map(&map_k), prefetch_map(&map_v);
    for (int i = 0; i < PLACES * GROUPS; i++) barrier_init(full_q + 8 * i, 1), barrier_init(empty_q + 8 * i, WARPS);
    init_ring<STAGES>(full_k, full_v, empty_k, empty_v, GROUPS * WARPS);
    fence_shared_for_async();
  }
  __syncthreads();
  start_attention(s);
  const int group = threadIdx.x / 128;
  Pieces<BM, BC> pieces(s);
  if (pieces.left < 0) return;
  const auto stage_of = [](unsigned number) { return 8 * (number % STAGES); };  // of the barriers of a tile
  const auto phase_of = [](unsigned number) { return static_cast<int>(number / STAGES & 1); };
  int place_q = 0, phase_q = 0;

  if (group == 0) {
    give_registers<GROUPS == 3 ? 32 : 24>();
    if (threadIdx.x != 0) return;
    // The values of a tile come after the keys of the next.
    bool waits = false;
    unsigned number = 0;  // of tiles
    int key_v = 0, source_v = 0;
    const auto load = [&](uint32_t to, const TensorMap& map, uint32_t full, uint32_t empty, unsigned of, int key, int source) {
      barrier_wait(empty + stage_of(of), phase_of(of) ^ 1);
      barrier_expect(full + stage_of(of), BYTES);
      for (int i = 0; i < BOXES; i++) bulk_load(to + of % STAGES * BYTES + i * BOX, &map, full + stage_of(of), i * 64, key, source);
    };
    const auto load_values = [&](unsigned of) {
      if (waits) load(own_v, map_v, full_v, empty_v, of, key_v, source_v);
      waits = false;
    };
    do {
      const auto load_queries = [&](int g) {
        const int at = place_q * GROUPS + g, first = pieces.first() + g * 64;
        barrier_wait(empty_q + 8 * at, phase_q ^ 1);
        barrier_expect(full_q + 8 * at, Q_BYTES);
        for (int i = 0; i < BOXES; i++) bulk_load(own_q + at * Q_BYTES + i * Q_BOX, &map_q, full_q + 8 * at, i * 64, first, pieces.head);
      };
      // With one place, groups give it up when they have met the last keys: those values are on their way before.
      if (PLACES == 1) load_values(number - 1);
      load_queries(0);
      const int source = static_cast<int>(quotient(pieces.head, s.group));
      for (int t = 0; t < pieces.tiles; t++) {
        load(own_k, map_k, full_k, empty_k, number, t * BC, source);
        for (int g = 1; t == 0 && g < GROUPS; g++) load_queries(g);
        load_values(number - 1);
        waits = true, key_v = t * BC, source_v = source, number++;
      }
      if (++place_q == PLACES) place_q = 0, phase_q ^= 1;
    } while (pieces.next(s));
    load_values(number - 1);
    return;
  }

  take_registers<GROUPS == 3 ? 160 : 240>();
  const int consumer = group - 1, lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const int turn = 1 + consumer, next_turn = 1 + (consumer + 1) % GROUPS;
  constexpr int TURN_THREADS = 256;
  if (consumer == 0) turn_arrive(turn, TURN_THREADS);
  const auto free = [&](uint32_t empty) {
    if (lane == 0) barrier_arrive(empty);
  };
  const bool whole = s.dim % 8 == 0 && !s.tokens_first;  // heads that the copy engine writes
  using Scores = WarpGroupProduct<BC / 2>;
  using Sums = WarpGroupProduct<D / 2>;
  const float scale = rsqrtf(static_cast<float>(s.dim)) * LOG2E;
  float sums[D / 2], top[2] = {-INFINITY, -INFINITY}, total[2] = {};
#pragma unroll
  for (int i = 0; i < D / 2; i++) sums[i] = 0;
  float score[BC / 2], keep[2];
  uint32_t weights[BC / 4];
  const auto multiply_keys = [&](unsigned number) {
#pragma unroll
    for (int d = 0; d < (D + 15) / 16; d++) {
      const uint32_t a = own_q + (place_q * GROUPS + consumer) * Q_BYTES + d / 4 * Q_BOX + d % 4 * 32, b = own_k + number % STAGES * BYTES + d / 4 * BOX + d % 4 * 32;
      Scores::template shared<0>(score, wgmma_descriptor(a, 16, 1024), wgmma_descriptor(b, 16, 1024), d > 0, T());
    }
  };
  const auto multiply_values = [&](unsigned number) {
#pragma unroll
    for (int c = 0; c < BC / 16; c++)
      Sums::template registers<1>(sums, weights[4 * c], weights[4 * c + 1], weights[4 * c + 2], weights[4 * c + 3], wgmma_descriptor(own_v + number % STAGES * BYTES + c * 16 * ROW, BOX, 1024), T());
  };
  const auto pack_weights = [&] {
#pragma unroll
    for (int i = 0; i < BC / 4; i++) weights[i] = pack_pair(score[2 * i], score[2 * i + 1], T());
    settle(weights);
  };
  const auto take = [&] { barrier_wait(full_q + 8 * (place_q * GROUPS + consumer), phase_q); };
  const int row = consumer * 64 + warp * 16 + lane / 4;
  const auto store = [&](int head, int first, const float (&of)[2]) {
    if (BULK && whole) return store_group<T, D>(map_out, own_out + consumer * Q_BYTES, Q_BOX, sums, of, head, first + consumer * 64, 1 + GROUPS + consumer);
    const long long query = first + row;
    T* const to = out + output_of_head(s, head) + query * s.of_query;
#pragma unroll
    for (int h = 0; h < 2; h++) store_row<D>(to + h * 8 * s.of_query, sums, h, 1.0f / total_of_row(of[h]), lane, s.dim, query + h * 8 < s.queries);
  };
  bool grew;
  const auto weigh = [&](int t) {
    hide_keys<BC>(score, s, static_cast<long long>(t) * BC, pieces.first() + row, pieces.first() + consumer * 64, lane);
    grew = weigh_scores<BC, LAZY>(score, scale, top, total, keep);
  };
  const auto clear = [&] {
#pragma unroll
    for (int i = 0; i < D / 2; i++) sums[i] = 0;
  };
  unsigned number = 0;  // of the tile whose keys are met
  const auto wait_keys = [&] { barrier_wait(full_k + stage_of(number), phase_of(number)); };
  const auto start_keys = [&] {
    wgmma_fence();
    multiply_keys(number);
    wgmma_commit();
  };
  const auto start_values = [&](unsigned of) {
    barrier_wait(full_v + stage_of(of), phase_of(of));
    wgmma_fence();
    multiply_values(of);
    wgmma_commit();
  };
  // The scores of a tile, while the values of the one before it are still multiplied.
  const auto meet_keys = [&](unsigned previous) {
    wait_keys();
    turn_wait(turn, TURN_THREADS);
    settle(sums);
    start_keys();
    start_values(previous);
    turn_arrive(next_turn, TURN_THREADS);
    wgmma_wait<1>();
    settle(score);
    free(empty_k + stage_of(number));
  };
  take();
  wait_keys();
  start_keys();
  wgmma_wait<0>();
  settle(score);
  free(empty_k);
  weigh(0);
  pack_weights();
  for (;;) {
    for (int t = 1; t < pieces.tiles; t++) {
      const unsigned previous = number++;
      meet_keys(previous);
      weigh(t);
      wgmma_wait<0>();
      settle(sums);
      free(empty_v + stage_of(previous));
      pack_weights();
      if (grew) {
#pragma unroll
        for (int i = 0; i < D / 2; i++) sums[i] *= keep[i / 2 % 2];
      }
    }
    // The keys met next are the first of the next piece.
    free(empty_q + 8 * (place_q * GROUPS + consumer));
    const int done = pieces.head, done_first = pieces.first();
    if (!pieces.next(s)) break;
    if (++place_q == PLACES) place_q = 0, phase_q ^= 1;
    const unsigned previous = number++;
    if (PLACES == 1) {
      barrier_wait(full_v + stage_of(previous), phase_of(previous));
      turn_wait(turn, TURN_THREADS);
      settle(sums);
      start_values(previous);
      take();
      wait_keys();
      start_keys();
      turn_arrive(next_turn, TURN_THREADS);
      wgmma_wait<1>();
      settle(sums);
      free(empty_v + stage_of(previous));
      store(done, done_first, total);
      clear();
      top[0] = top[1] = -INFINITY, total[0] = total[1] = 0;
      wgmma_wait<0>();
      settle(score);
      free(empty_k + stage_of(number));
      weigh(0);
      pack_weights();
      continue;
    }
    take();
    meet_keys(previous);
    const float done_total[2] = {total[0], total[1]};
    top[0] = top[1] = -INFINITY, total[0] = total[1] = 0;
    weigh(0);
    wgmma_wait<0>();
    settle(sums);
    free(empty_v + stage_of(previous));
    pack_weights();
    store(done, done_first, done_total);
    clear();
  }
  settle(sums);
  start_values(number);
  wgmma_wait<0>();
  settle(sums);
  store(pieces.head, pieces.first(), total);
  if (BULK && threadIdx.x % 128 == 0) bulk_stores_read();
#endif
}

}  // namespace

#define FLOW(T, D, BC, GROUPS, QUERIES)                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(128 * (GROUPS + 1), 1)                                                                                                                           \
      attention_flow_##T##_##D##_##QUERIES##_##BC(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v, const __grid_constant__ TensorMap results, T* out, const AttentionSizes s) { \
    attend<T, D, BC, GROUPS>(q, k, v, results, out, s);                                                                                                                                         \
  }
#define TWO(T, D, BC) FLOW(T, D, BC, 2, 128)
#define FLOWS(T)                                                                                                                                             \
  TWO(T, 48, 128) FLOW(T, 48, 128, 3, 192) TWO(T, 64, 128) FLOW(T, 64, 128, 3, 192) TWO(T, 80, 96) TWO(T, 80, 128) TWO(T, 96, 96) TWO(T, 96, 128) TWO(T, 128, 96) \
  TWO(T, 128, 112) TWO(T, 128, 128) TWO(T, 128, 160) TWO(T, 128, 176) TWO(T, 160, 64) TWO(T, 160, 96) TWO(T, 256, 64)
FLOWS(f16)
FLOWS(bf16)
