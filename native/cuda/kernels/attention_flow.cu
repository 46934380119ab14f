// softmax(q k^T / sqrt(headDim)) v of f16 and bf16 on Hopper's tensor cores (wgmma, sm_90a), as attention_wgmma.cu does, for heads of few tiles of keys: a group starts the products of the first keys of its next piece of work together
// with those of the last values of the one before, and stores the results of that one while the other group multiplies. Each group has its queries of the next piece brought as soon as there is a place for them, so that groups need not
// begin a piece together; the warp that loads works out the pieces for all. Long heads leave room for one place of queries: there, the products of the last values come first, and results are stored while the next keys are multiplied.
// attention_flow_<t>_<D>_<queries of a block>_<keys of a tile>: head dims of up to D, filled up with zeroes.
#include "common/attention_work.cuh"
#include "scaled_dot_product_attention.h"

namespace {

template <class T, int D, int BC>
__device__ __forceinline__ void attend(const TensorMap& map_q, const TensorMap& map_k, const TensorMap& map_v, T* __restrict__ out, const AttentionSizes& s, int together, long long cells) {
#ifdef OPSCOPE_WGMMA
  constexpr int GROUPS = 2, STAGES = attention_wgmma_stages, PLACES = attention_flow_places(D), BM = GROUPS * 64, BOXES = (D + 63) / 64, Q_BOX = 64 * ROW, BOX = BC * ROW;
  constexpr int Q_BYTES = BOXES * Q_BOX, BYTES = BOXES * BOX;  // queries of a group, keys of a tile
  extern __shared__ __align__(1024) char memory[];
  const uint32_t base = (shared_address(memory) + 1023) & ~1023u;  // swizzled tiles repeat every 1024 bytes
  const uint32_t own_q = base, own_k = base + PLACES * GROUPS * Q_BYTES, own_v = own_k + STAGES * BYTES;
  __shared__ __align__(8) uint64_t barriers[2 * PLACES * GROUPS + 4 * STAGES];
  __shared__ int3 pieces[PLACES * GROUPS];  // of each place: tiles of keys, the first query of the group, the head
  const uint32_t full_q = shared_address(barriers), empty_q = full_q + 8 * PLACES * GROUPS, full_k = empty_q + 8 * PLACES * GROUPS, empty_k = full_k + 8 * STAGES, full_v = empty_k + 8 * STAGES, empty_v = full_v + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int i = 0; i < PLACES * GROUPS; i++) barrier_init(full_q + 8 * i, 1), barrier_init(empty_q + 8 * i, 1);
    init_ring<STAGES>(full_k, full_v, empty_k, empty_v, GROUPS);
    fence_shared_for_async();
  }
  __syncthreads();
  start_attention(s);
  const int group = threadIdx.x / 128;

  if (group == 0) {
    give_registers<24>();
    if (threadIdx.x != 0) return;
    int stage = 0, phase = 0, stage_v = 0, phase_v = 0, place_q = 0, phase_q = 0, key_v = 0, source_v = -1;
    // Of the tile whose keys came last but one.
    const auto load_values = [&] {
      if (source_v < 0) return;
      barrier_wait(empty_v + 8 * stage_v, phase_v ^ 1);
      barrier_expect(full_v + 8 * stage_v, BYTES);
      for (int i = 0; i < BOXES; i++) bulk_load(own_v + stage_v * BYTES + i * BOX, &map_v, full_v + 8 * stage_v, i * 64, key_v, source_v);
      if (++stage_v == STAGES) stage_v = 0, phase_v ^= 1;
    };
    for (long long begun = 0, cell = blockIdx.x; cell < cells; begun += gridDim.x, cell = next_cell(begun, s.causal)) {
      const Work<BM, BC> work(s, cell, together);
      const int head = static_cast<int>(work.head), source = static_cast<int>(work.source);
      const auto load_queries = [&](int g) {
        const int at = place_q * GROUPS + g, first = static_cast<int>(work.first) + g * 64;
        barrier_wait(empty_q + 8 * at, phase_q ^ 1);
        pieces[at] = make_int3(work.tiles, first, head);
        barrier_expect(full_q + 8 * at, Q_BYTES);
        for (int i = 0; i < BOXES; i++) bulk_load(own_q + at * Q_BYTES + i * Q_BOX, &map_q, full_q + 8 * at, i * 64, first, head);
      };
      // With one place, groups give it up when they have met the last keys: those values are on their way before.
      if (PLACES == 1) load_values(), source_v = -1;
      for (int t = 0; t < work.tiles; t++) {
        if (t == 0) load_queries(0);
        barrier_wait(empty_k + 8 * stage, phase ^ 1);
        barrier_expect(full_k + 8 * stage, BYTES);
        for (int i = 0; i < BOXES; i++) bulk_load(own_k + stage * BYTES + i * BOX, &map_k, full_k + 8 * stage, i * 64, t * BC, source);
        if (++stage == STAGES) stage = 0, phase ^= 1;
        if (t == 0) {
          load_queries(1);
          if (++place_q == PLACES) place_q = 0, phase_q ^= 1;
        }
        load_values();
        key_v = t * BC, source_v = source;
      }
    }
    load_values();
    return;
  }

  take_registers<240>();
  const int consumer = group - 1, lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const bool speaks = threadIdx.x % 128 == 0;
  const int turn = 1 + consumer, next_turn = 1 + (consumer + 1) % GROUPS;
  constexpr int TURN_THREADS = 256;
  if (consumer == 0) turn_arrive(turn, TURN_THREADS);
  using Scores = WarpGroupProduct<BC / 2>;
  using Sums = WarpGroupProduct<D / 2>;
  const float scale = rsqrtf(static_cast<float>(s.dim)) * LOG2E;
  int stage = 0, phase = 0, place_q = 0, phase_q = 0;
  float sums[D / 2], top[2] = {-INFINITY, -INFINITY}, total[2] = {};
#pragma unroll
  for (int i = 0; i < D / 2; i++) sums[i] = 0;
  float score[BC / 2], keep[2];
  uint32_t weights[BC / 4];
  const auto multiply_keys = [&](int q, int at) {
#pragma unroll
    for (int d = 0; d < (D + 15) / 16; d++) {
      const uint32_t a = own_q + (q * GROUPS + consumer) * Q_BYTES + d / 4 * Q_BOX + d % 4 * 32, b = own_k + at * BYTES + d / 4 * BOX + d % 4 * 32;
      Scores::template shared<0>(score, wgmma_descriptor(a, 16, 1024), wgmma_descriptor(b, 16, 1024), d > 0, T());
    }
  };
  const auto multiply_values = [&](int at) {
#pragma unroll
    for (int c = 0; c < BC / 16; c++)
      Sums::template registers<1>(sums, weights[4 * c], weights[4 * c + 1], weights[4 * c + 2], weights[4 * c + 3], wgmma_descriptor(own_v + at * BYTES + c * 16 * ROW, BOX, 1024), T());
  };
  const auto pack_weights = [&] {
#pragma unroll
    for (int i = 0; i < BC / 4; i++) weights[i] = pack_pair(score[2 * i], score[2 * i + 1], T());
    settle(weights);
  };
  // The piece of work whose keys are met: its tiles, the first query of the group, where results of this thread go.
  long long begun = 0, first;
  int tiles;
  T* target;
  const auto take = [&] {
    const int at = place_q * GROUPS + consumer;
    barrier_wait(full_q + 8 * at, phase_q);
    const int3 piece = pieces[at];
    tiles = piece.x, first = piece.y;
    target = out + output_of_head(s, piece.z) + (first + warp * 16 + lane / 4) * s.of_query;
  };
  const auto store = [&](T* to, long long query, const float (&of)[2]) {
#pragma unroll
    for (int h = 0; h < 2; h++) store_row<D>(to + h * 8 * s.of_query, sums, h, 1.0f / total_of_row(of[h]), lane, s.dim, query + h * 8 < s.queries);
  };
  take();
  barrier_wait(full_k, 0);
  wgmma_fence();
  multiply_keys(0, 0);
  wgmma_commit();
  wgmma_wait<0>();
  settle(score);
  if (speaks) barrier_arrive(empty_k);
  const auto weigh = [&](int t) {
    hide_keys<BC>(score, s, static_cast<long long>(t) * BC, first + warp * 16 + lane / 4, first, lane);
    weigh_scores<BC>(score, scale, top, total, keep);
  };
  weigh(0);
  pack_weights();
  for (int t = 0;;) {
    // Whether the weights are those of the last tile, so that the keys met next are the first of the next piece.
    const bool last = t + 1 == tiles;
    T* const done = target;
    const long long done_query = first + warp * 16 + lane / 4;
    if (last) {
      if (speaks) barrier_arrive(empty_q + 8 * (place_q * GROUPS + consumer));
      begun += gridDim.x;
      if (next_cell(begun, s.causal) >= cells) break;
      if (++place_q == PLACES) place_q = 0, phase_q ^= 1;
      t = 0;
      if (PLACES == 2) take();
    } else {
      t++;
    }
    const int previous = stage, previous_phase = phase;
    if (++stage == STAGES) stage = 0, phase ^= 1;
    if (PLACES == 1 && last) {
      barrier_wait(full_v + 8 * previous, previous_phase);
      turn_wait(turn, TURN_THREADS);
      settle(sums);
      wgmma_fence();
      multiply_values(previous);
      wgmma_commit();
      take();
      barrier_wait(full_k + 8 * stage, phase);
      wgmma_fence();
      multiply_keys(place_q, stage);
      wgmma_commit();
      turn_arrive(next_turn, TURN_THREADS);
      wgmma_wait<1>();
      settle(sums);
      if (speaks) barrier_arrive(empty_v + 8 * previous);
      store(done, done_query, total);
#pragma unroll
      for (int i = 0; i < D / 2; i++) sums[i] = 0;
      top[0] = top[1] = -INFINITY, total[0] = total[1] = 0;
      wgmma_wait<0>();
      settle(score);
      if (speaks) barrier_arrive(empty_k + 8 * stage);
      weigh(0);
      pack_weights();
      continue;
    }
    barrier_wait(full_k + 8 * stage, phase);
    turn_wait(turn, TURN_THREADS);
    settle(sums);
    wgmma_fence();
    multiply_keys(place_q, stage);
    wgmma_commit();
    barrier_wait(full_v + 8 * previous, previous_phase);
    wgmma_fence();
    multiply_values(previous);
    wgmma_commit();
    turn_arrive(next_turn, TURN_THREADS);
    wgmma_wait<1>();
    settle(score);
    if (speaks) barrier_arrive(empty_k + 8 * stage);
    const float done_total[2] = {total[0], total[1]};
    if (last) top[0] = top[1] = -INFINITY, total[0] = total[1] = 0;
    weigh(t);
    wgmma_wait<0>();
    settle(sums);
    if (speaks) barrier_arrive(empty_v + 8 * previous);
    pack_weights();
    if (last) {
      store(done, done_query, done_total);
#pragma unroll
      for (int i = 0; i < D / 2; i++) sums[i] = 0;
    } else {
#pragma unroll
      for (int i = 0; i < D / 2; i++) sums[i] *= keep[i / 2 % 2];
    }
  }
  barrier_wait(full_v + 8 * stage, phase);
  settle(sums);
  wgmma_fence();
  multiply_values(stage);
  wgmma_commit();
  wgmma_wait<0>();
  settle(sums);
  store(target, first + warp * 16 + lane / 4, total);
#endif
}

}  // namespace

#define FLOW(T, D, BC)                                                                                                                                                                          \
  extern "C" __global__ void __launch_bounds__(384, 1) attention_flow_##T##_##D##_128_##BC(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v, T* out, const AttentionSizes s, int together, \
                                                                                     long long cells) {                                                                                          \
    attend<T, D, BC>(q, k, v, out, s, together, cells);                                                                                                                                          \
  }
#define FLOWS(T) FLOW(T, 80, 96) FLOW(T, 80, 128) FLOW(T, 96, 96) FLOW(T, 96, 128) FLOW(T, 128, 96) FLOW(T, 128, 128) FLOW(T, 160, 96) FLOW(T, 256, 64)
FLOWS(f16)
FLOWS(bf16)
