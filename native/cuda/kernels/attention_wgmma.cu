// softmax(q k^T / sqrt(headDim)) v of f16 and bf16 on Hopper's tensor cores (wgmma, sm_90a), for heads whose rows start on 16 bytes.
// A block on each multiprocessor: one warp keeps the copy engine filling a ring of tiles of keys and values, GROUPS warp groups take
// 64 queries each. A group starts the products of a tile's keys and of the values before it, and weighs the scores of one tile while the
// tensor cores sum up the last (Shah et al. 2024); groups take turns, so that one multiplies while another weighs.
// attention_wgmma_<t>_<D>_<queries of a block>_<keys of a tile>: head dims of up to D, filled up with zeroes. Sizes of tiles: scaled_dot_product_attention.h.
#include "common/attention_shares.cuh"
#include "common/attention_work.cuh"
#include "scaled_dot_product_attention.h"

namespace {

template <class T, int D, int BC, int GROUPS, int STAGES, bool TURNS, bool LAZY = attention_is_lazy(D, BC)>
__device__ __forceinline__ void attend(const TensorMap& map_q, const TensorMap& map_k, const TensorMap& map_v, T* __restrict__ out, const AttentionSizes& s, float* __restrict__ shares, int together, long long cells) {
#ifdef OPSCOPE_WGMMA
  constexpr int BM = GROUPS * 64, BOXES = (D + 63) / 64, Q_BOX = BM * ROW, BOX = BC * ROW, Q_BYTES = BOXES * Q_BOX, BYTES = BOXES * BOX;
  extern __shared__ __align__(1024) char memory[];
  const uint32_t base = (shared_address(memory) + 1023) & ~1023u;  // swizzled tiles repeat every 1024 bytes
  const uint32_t own_q = base, own_k = base + Q_BYTES, own_v = own_k + STAGES * BYTES;
  __shared__ __align__(8) uint64_t barriers[2 + 4 * STAGES];
  const uint32_t full_q = shared_address(barriers), empty_q = full_q + 8, full_k = empty_q + 8, empty_k = full_k + 8 * STAGES, full_v = empty_k + 8 * STAGES, empty_v = full_v + 8 * STAGES;
  if (threadIdx.x == 0) {
    prefetch_map(&map_q), prefetch_map(&map_k), prefetch_map(&map_v);
    barrier_init(full_q, 1);
    barrier_init(empty_q, GROUPS);
    init_ring<STAGES>(full_k, full_v, empty_k, empty_v, GROUPS);
    fence_shared_for_async();
  }
  __syncthreads();
  start_attention(s);
  const int group = threadIdx.x / 128;

  if (group == 0) {
    give_registers<GROUPS == 3 ? 32 : 24>();
    if (threadIdx.x != 0) return;
    int stage = 0, phase = 0, phase_q = 0;
    for (long long begun = 0, cell = blockIdx.x; cell < cells; begun += gridDim.x, cell = next_cell(begun, s.causal)) {
      const Work<BM, BC> work(s, cell, together);
      if (work.tiles == 0) continue;
      const int head = static_cast<int>(work.head), source = static_cast<int>(work.source);
      barrier_wait(empty_q, phase_q ^ 1);
      barrier_expect(full_q, Q_BYTES);
      for (int i = 0; i < BOXES; i++) bulk_load(own_q + i * Q_BOX, &map_q, full_q, i * 64, static_cast<int>(work.first), head);
      phase_q ^= 1;
      // Keys a tile ahead of values: a group frees them earlier.
      int stage_v = stage, phase_v = phase;
      for (int t = 0; t <= work.tiles; t++) {
        const int key = (work.begin + t) * BC;
        if (t < work.tiles) {
          barrier_wait(empty_k + 8 * stage, phase ^ 1);
          barrier_expect(full_k + 8 * stage, BYTES);
          for (int i = 0; i < BOXES; i++) bulk_load(own_k + stage * BYTES + i * BOX, &map_k, full_k + 8 * stage, i * 64, key, source);
          if (++stage == STAGES) stage = 0, phase ^= 1;
        }
        if (t > 0) {
          barrier_wait(empty_v + 8 * stage_v, phase_v ^ 1);
          barrier_expect(full_v + 8 * stage_v, BYTES);
          for (int i = 0; i < BOXES; i++) bulk_load(own_v + stage_v * BYTES + i * BOX, &map_v, full_v + 8 * stage_v, i * 64, key - BC, source);
          if (++stage_v == STAGES) stage_v = 0, phase_v ^= 1;
        }
      }
    }
    return;
  }

  take_registers<GROUPS == 3 ? 160 : 240>();
  const int consumer = group - 1, lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  const bool speaks = threadIdx.x % 128 == 0;
  const int turn = 1 + consumer, next_turn = 1 + (consumer + 1) % GROUPS;
  constexpr int TURN_THREADS = 256;
  if (TURNS && consumer == 0) turn_arrive(turn, TURN_THREADS);
  using Scores = WarpGroupProduct<BC / 2>;
  using Sums = WarpGroupProduct<D / 2>;
  const float scale = rsqrtf(static_cast<float>(s.dim)) * LOG2E;
  int stage = 0, phase = 0, phase_q = 0;
  for (long long begun = 0, cell = blockIdx.x; cell < cells; begun += gridDim.x, cell = next_cell(begun, s.causal)) {
    const Work<BM, BC> work(s, cell, together);
    // Of this thread: rows lane / 4 and that + 8 of the warp's 16, columns lane % 4 * 2 and the next of every 8.
    const long long query = work.first + consumer * 64 + warp * 16 + lane / 4;
    float sums[D / 2], top[2] = {-INFINITY, -INFINITY}, total[2] = {};
#pragma unroll
    for (int i = 0; i < D / 2; i++) sums[i] = 0;
    if (work.tiles > 0) {
      float score[BC / 2], keep[2];
      bool grew;
      uint32_t weights[BC / 4];
      // score = q k^T of the tile in `stage`.
      const auto multiply_keys = [&](int at) {
#pragma unroll
        for (int d = 0; d < (D + 15) / 16; d++) {
          const uint32_t a = own_q + d / 4 * Q_BOX + consumer * 64 * ROW + d % 4 * 32, b = own_k + at * BYTES + d / 4 * BOX + d % 4 * 32;
          Scores::template shared<0>(score, wgmma_descriptor(a, 16, 1024), wgmma_descriptor(b, 16, 1024), d > 0, T());
        }
      };
      const auto multiply_values = [&](int at) {
#pragma unroll
        for (int c = 0; c < BC / 16; c++)
          Sums::template registers<1>(sums, weights[4 * c], weights[4 * c + 1], weights[4 * c + 2], weights[4 * c + 3], wgmma_descriptor(own_v + at * BYTES + c * 16 * ROW, BOX, 1024), T());
      };
      // Scores to weights, with the maximum and sum of each row; `keep`: what the sums before are multiplied by.
      const auto weigh = [&](int t) {
        hide_keys<BC>(score, s, static_cast<long long>(work.begin + t) * BC, query, work.first + consumer * 64, lane);
        grew = weigh_scores<BC, LAZY>(score, scale, top, total, keep);
      };
      // Results of one product lie as the left operand of the next.
      const auto pack_weights = [&] {
#pragma unroll
        for (int i = 0; i < BC / 4; i++) weights[i] = pack_pair(score[2 * i], score[2 * i + 1], T());
        settle(weights);
      };

      barrier_wait(full_q, phase_q);
      phase_q ^= 1;
      barrier_wait(full_k + 8 * stage, phase);
      wgmma_fence();
      multiply_keys(stage);
      wgmma_commit();
      wgmma_wait<0>();
      settle(score);
      if (speaks) barrier_arrive(empty_k + 8 * stage);
      weigh(0);
      pack_weights();
      for (int t = 1; t < work.tiles; t++) {
        const int previous = stage, previous_phase = phase;
        if (++stage == STAGES) stage = 0, phase ^= 1;
        barrier_wait(full_k + 8 * stage, phase);
        if (TURNS) turn_wait(turn, TURN_THREADS);
        settle(sums);
        wgmma_fence();
        multiply_keys(stage);
        wgmma_commit();
        barrier_wait(full_v + 8 * previous, previous_phase);
        wgmma_fence();
        multiply_values(previous);
        wgmma_commit();
        if (TURNS) turn_arrive(next_turn, TURN_THREADS);
        wgmma_wait<1>();
        settle(score);
        if (speaks) barrier_arrive(empty_k + 8 * stage);
        weigh(t);
        wgmma_wait<0>();
        settle(sums);
        if (speaks) barrier_arrive(empty_v + 8 * previous);
        pack_weights();
        if (grew) {
#pragma unroll
          for (int i = 0; i < D / 2; i++) sums[i] *= keep[i / 2 % 2];
        }
      }
      if (speaks) barrier_arrive(empty_q);
      barrier_wait(full_v + 8 * stage, phase);
      settle(sums);
      wgmma_fence();
      multiply_values(stage);
      wgmma_commit();
      wgmma_wait<0>();
      settle(sums);
      if (speaks) barrier_arrive(empty_v + 8 * stage);
      if (++stage == STAGES) stage = 0, phase ^= 1;
    }
    T* const of_query = out + output_of_head(s, work.head) + query * s.of_query;
#pragma unroll
    for (int h = 0; h < 2; h++) {
      total[h] = total_of_row(total[h]);
      const long long row = query + h * 8;
      if (s.splits > 1) {
        if (row >= s.queries) continue;
        const Shares share(shares, s, work.head * s.queries + row, work.split);
        if (lane % 4 == 0) share.put(top[h], total[h]);
#pragma unroll
        for (int j = 0; j < D / 8; j++) {
          const int column = j * 8 + lane % 4 * 2;
          if (column >= s.dim) continue;
          if (s.dim % 2 == 0) {
            *reinterpret_cast<float2*>(share.sums + column) = make_float2(sums[j * 4 + h * 2], sums[j * 4 + h * 2 + 1]);
          } else {
            share.sums[column] = sums[j * 4 + h * 2];
            if (column + 1 < s.dim) share.sums[column + 1] = sums[j * 4 + h * 2 + 1];
          }
        }
        continue;
      }
      store_row<D>(of_query + h * 8 * s.of_query, sums, h, 1.0f / total[h], lane, s.dim, row < s.queries);
    }
  }
#endif
}

}  // namespace

#define ATTENTION_AS(NAME, T, D, BC, GROUPS, STAGES, TURNS, ...)                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(128 * (GROUPS + 1), 1)                                                                                                    \
      NAME(const __grid_constant__ TensorMap q, const __grid_constant__ TensorMap k, const __grid_constant__ TensorMap v, T* out, const AttentionSizes s, float* shares, int together, long long cells) { \
    attend<T, D, BC, GROUPS, STAGES, TURNS>(q, k, v, out, s, shares, together, cells);                                                                                     \
  }
#ifndef OPSCOPE_ATTENTION_TRY
#define ATTENTION(T, D, BC, GROUPS, QUERIES) ATTENTION_AS(attention_wgmma_##T##_##D##_##QUERIES##_##BC, T, D, BC, GROUPS, attention_wgmma_stages, true)
#define ATTENTIONS(T)                                                                                                                                                                        \
  ATTENTION(T, 32, 128, 2, 128) ATTENTION(T, 32, 128, 3, 192) ATTENTION(T, 48, 64, 2, 128) ATTENTION(T, 48, 128, 2, 128) ATTENTION(T, 48, 128, 3, 192) ATTENTION(T, 80, 96, 2, 128) ATTENTION(T, 80, 128, 2, 128) ATTENTION(T, 160, 64, 2, 128) ATTENTION(T, 160, 96, 2, 128) ATTENTION(T, 64, 64, 2, 128) ATTENTION(T, 64, 128, 2, 128) ATTENTION(T, 64, 128, 3, 192) ATTENTION(T, 96, 96, 2, 128) ATTENTION(T, 96, 128, 2, 128)\
  ATTENTION(T, 128, 64, 2, 128) ATTENTION(T, 128, 96, 2, 128) ATTENTION(T, 128, 128, 2, 128) ATTENTION(T, 192, 64, 2, 128) ATTENTION(T, 192, 96, 2, 128) ATTENTION(T, 256, 64, 2, 128) ATTENTION(T, 256, 80, 2, 128)
ATTENTIONS(f16)
ATTENTIONS(bf16)
#endif
