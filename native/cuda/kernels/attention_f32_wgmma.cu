// softmax(q k^T / sqrt(headDim)) v of f32 on Hopper's tensor cores (wgmma, sm_90a), as three products of tf32 numbers and what is left of them (attention_f32.cu), for rows that start on 16 bytes.
// A block on each multiprocessor goes on from one piece of work to the next. One warp group reads keys and values, splits each number and fills a ring of slots in shared memory, which hold 32 keys by W columns
// of the head twice, rounded and rest; values lie turned, because wgmma reads tf32 along k alone. Two warp groups take 64 queries each, which they split on the way from shared memory to registers.
// attention_f32_wgmma_<D>_<slots of keys in a tile>: head dims of up to D, filled up with zeroes. Sizes: attention_f32_wgmma.h.
#include "common/arithmetic.cuh"
#include "common/attention_block.cuh"
#include "common/attention_f32.cuh"
#include "common/attention_group.cuh"
#include "common/attention_shares.cuh"
#include "attention_f32_wgmma.h"

namespace {

#ifdef OPSCOPE_WGMMA

constexpr int GROUPS = 2, BM = GROUPS * 64, BC = attention_f32_wgmma_keys, ROW = 128, TILE = BC * ROW;  // TILE: bytes of 32 columns of a slot's keys
// Registers of the group that loads and of those that multiply: GIVEN + 2 TAKEN are at most 504, three times what a thread is launched with.
constexpr int GIVEN = 88, TAKEN = 208;

// The same number, opaque to the compiler: addresses made from it are computed where they are used instead of kept in registers.
__device__ __forceinline__ uint32_t anew(uint32_t x) {
  asm volatile("" : "+r"(x));
  return x;
}

// What the warp group that loads has of a slot: up to 32 numbers of a thread.
template <int W>
struct Piece {
  static constexpr int HALF = attention_f32_wgmma_slot(W) / 2, BOXES = (W + 31) / 32, KEYS = BOXES * 2, VALUES = W > 64 ? 2 : 1, PAIRS = W / 8, SIZE = KEYS > VALUES * 4 ? KEYS : VALUES * 4;
  float4 of[SIZE];

  static __device__ __forceinline__ float4 load(const float* from, bool exists) { return exists ? __ldg(reinterpret_cast<const float4*>(from)) : make_float4(0, 0, 0, 0); }
  static __device__ __forceinline__ void store(uint32_t to, float4 x) {
    uint32_t high[4], low[4];
    split(__float_as_uint(x.x), high[0], low[0]);
    split(__float_as_uint(x.y), high[1], low[1]);
    split(__float_as_uint(x.z), high[2], low[2]);
    split(__float_as_uint(x.w), high[3], low[3]);
    asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(to), "r"(high[0]), "r"(high[1]), "r"(high[2]), "r"(high[3]) : "memory");
    asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(to + HALF), "r"(low[0]), "r"(low[1]), "r"(low[2]), "r"(low[3]) : "memory");
  }
  // Keys: eight threads read 128 bytes of a row. `x`: the first key, at the first column of the slot; `left`: keys, `columns`: of the head from there on.
  __device__ __forceinline__ void load_keys(const float* x, int dim, int left, int columns) {
    const int key = threadIdx.x / 8, column = threadIdx.x % 8 * 4;
    const float* from = x + key * dim + column;
    dim = anew(dim);
#pragma unroll
    for (int i = 0; i < KEYS; i++) of[i] = load(from + i % BOXES * 32 + i / BOXES * 16 * dim, key + i / BOXES * 16 < left && column + i % BOXES * 32 < columns);
  }
  __device__ __forceinline__ void store_keys(uint32_t slot) const {
    const int key = threadIdx.x / 8, chunk = threadIdx.x % 8;
    const uint32_t to = slot + key * ROW + ((chunk ^ key) % 8) * 16;
#pragma unroll
    for (int i = 0; i < KEYS; i++) store(to + i % BOXES * TILE + i / BOXES * 16 * ROW, of[i]);
  }
  // Values: four keys by four columns of a thread. Rows of the slot are columns of the head, whose k counts keys 0, 2, 4, 6, 1, 3, 5, 7 of every 8: so weights lie in registers. Columns of this thread by four, and the
  // first chunk of four keys; the second is four chunks on.
  static __device__ __forceinline__ int own_four() { return threadIdx.x / 8 % (W > 64 ? 16 : PAIRS) * 2 + threadIdx.x % 2; }
  static __device__ __forceinline__ int own_chunk() { return threadIdx.x / 2 % 4 + (W > 64 ? 0 : threadIdx.x / 64 * 4); }
  static __device__ __forceinline__ bool has_values() { return W == 64 || PAIRS == 16 || threadIdx.x / 8 < PAIRS; }
  __device__ __forceinline__ void load_values(const float* x, int dim, int left, int columns) {
    const int four = own_four(), chunk = own_chunk(), key = chunk / 2 * 8 + chunk % 2;
    const bool exists = has_values() && four * 4 < columns;
    const float* from = x + key * dim + four * 4;
    dim = anew(dim);
#pragma unroll
    for (int i = 0; i < VALUES; i++)
#pragma unroll
      for (int j = 0; j < 4; j++) of[4 * i + j] = load(from + (i * 16 + j * 2) * dim, exists && key + i * 16 + j * 2 < left);
  }
  __device__ __forceinline__ void store_values(uint32_t slot) const {
    if (!has_values()) return;
    const int four = own_four();
    const uint32_t to = anew(slot + four * 4 * ROW + (own_chunk() ^ four % 2 * 4) * 16);
#pragma unroll
    for (int i = 0; i < VALUES; i++) {
      const float4* x = of + 4 * i;
      store((to ^ i * 64), make_float4(x[0].x, x[1].x, x[2].x, x[3].x));
      store((to ^ (i * 4 + 1) * 16) + ROW, make_float4(x[0].y, x[1].y, x[2].y, x[3].y));
      store((to ^ (i * 4 + 2) * 16) + 2 * ROW, make_float4(x[0].z, x[1].z, x[2].z, x[3].z));
      store((to ^ (i * 4 + 3) * 16) + 3 * ROW, make_float4(x[0].w, x[1].w, x[2].w, x[3].w));
    }
  }
};

// The number of AttentionBlock of a piece of work. With `causal`, `together` heads go from long blocks to short ones.
__device__ __forceinline__ long long number_of(const AttentionSizes& s, unsigned cell, int together) {
  if (together == 1) return cell;
  const unsigned splits = s.splits, at = cell / splits, blocks = static_cast<unsigned>((s.queries + BM - 1) / BM), section = blocks * together, start = at / section * together, rest = at - start * blocks;
  const unsigned heads = min(static_cast<unsigned>(together), static_cast<unsigned>(s.batch_heads) - start), rank = rest / heads;
  return (static_cast<long long>(start + rest - rank * heads) * blocks + rank) * splits + cell % splits;
}

// A slot of the ring, and the phase of its barriers.
template <int STAGES>
struct Slot {
  int at = 0, phase = 0;
  __device__ __forceinline__ void next() {
    if (++at == STAGES) at = 0, phase ^= 1;
  }
};

#endif

// W: columns of a slot; PARTS of them are a head. TILES: slots of keys in a tile. STEPS: products of eight columns that a group of queries starts at once. PN: columns of values that are summed up at a time.
template <int W, int PARTS, int TILES, int STAGES, int STEPS, int PN>
__device__ __forceinline__ void attend(const TensorMap& map_q, const float* __restrict__ k, const float* __restrict__ v, float* __restrict__ out, const AttentionSizes& s, float* __restrict__ shares, unsigned cells, int together) {
#ifdef OPSCOPE_WGMMA
  constexpr int D = W * PARTS, BOXES = (D + 31) / 32, Q_BOX = 64 * ROW, Q_BYTES = BOXES * Q_BOX, SLOT = attention_f32_wgmma_slot(W), HALF = SLOT / 2;
  static_assert(PARTS == 1 || TILES == 1);
  constexpr int KEYS = BC * TILES, SLOTS = PARTS * TILES;  // keys of a tile, and slots that these take
  using Block = AttentionBlock<BM, KEYS>;
  extern __shared__ __align__(1024) char memory[];
  const uint32_t base = (shared_address(memory) + 1023) & ~1023u;  // swizzled tiles repeat every 1024 bytes
  const uint32_t ring = base + GROUPS * Q_BYTES;
  __shared__ __align__(8) uint64_t barriers[GROUPS + 2 * STAGES];
  const uint32_t full_all = shared_address(barriers), full = full_all + 8 * GROUPS, empty = full + 8 * STAGES;
  if (threadIdx.x == 0) {
    for (int i = 0; i < GROUPS; i++) barrier_init(full_all + 8 * i, 1);
    for (int i = 0; i < STAGES; i++) {
      barrier_init(full + 8 * i, 128);
      barrier_init(empty + 8 * i, GROUPS);
    }
    fence_shared_for_async();
  }
  __syncthreads();
  start_attention(s);
  const int group = threadIdx.x / 128;
  Slot<STAGES> slot;

  if (group == 0) {
    give_registers<GIVEN>();
    for (unsigned begun = 0, cell = blockIdx.x; cell < cells; begun += gridDim.x, cell = next_cell(begun, s.causal)) {
      const Block block(s, number_of(s, cell, together));
      if (block.tiles <= 0) continue;
      const float *keys = k + block.keys_at + static_cast<long long>(block.begin) * KEYS * s.dim, *values = v + block.keys_at + static_cast<long long>(block.begin) * KEYS * s.dim;
      Piece<W> piece[2];
      const auto left_of = [&](int t) { return static_cast<int>(min(static_cast<long long>(KEYS), s.keys - static_cast<long long>(block.begin + t) * KEYS)); };
      piece[0].load_keys(keys, s.dim, left_of(0), s.dim);
#pragma unroll 1
      for (int t = 0; t < block.tiles; t++) {
#pragma unroll
        for (int p = 0; p < 2 * SLOTS; p++) {
          // The next piece is on its way while this one is split.
          const int n = (p + 1) % (2 * SLOTS), part = n % PARTS, from = n % SLOTS / PARTS * BC;
          if (n == 0) keys += static_cast<long long>(KEYS) * s.dim;
          if (n == 0 && t + 1 < block.tiles) piece[n % 2].load_keys(keys, s.dim, left_of(t + 1), s.dim);
          else if (n > 0 && n < SLOTS) piece[n % 2].load_keys(keys + part * W + from * s.dim, s.dim, left_of(t) - from, s.dim - part * W);
          else if (n >= SLOTS) piece[n % 2].load_values(values + part * W + from * s.dim, s.dim, left_of(t) - from, s.dim - part * W);
          barrier_wait(empty + 8 * slot.at, slot.phase ^ 1);
          if (p < SLOTS) piece[p % 2].store_keys(ring + slot.at * SLOT);
          else piece[p % 2].store_values(ring + slot.at * SLOT);
          fence_shared_for_async();
          barrier_arrive(full + 8 * slot.at);
          slot.next();
        }
        values += static_cast<long long>(KEYS) * s.dim;
      }
    }
    return;
  }

  take_registers<TAKEN>();
  const int consumer = group - 1, lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32, corner = lane >> 3;
  const bool speaks = threadIdx.x % 128 == 0;
  const uint32_t own_q = base + consumer * Q_BYTES, full_q = full_all + 8 * consumer, own_row = own_q + (warp * 16 + (corner & 1) * 8 + (lane & 7)) * ROW;
  const float scale = rsqrtf(static_cast<float>(s.dim)) * LOG2E;
  const auto load_queries = [&](unsigned cell) {
    const Block block(s, number_of(s, cell, together));
    barrier_expect(full_q, Q_BYTES);
    for (int i = 0; i < BOXES; i++) bulk_load(own_q + i * Q_BOX, &map_q, full_q, i * 32, static_cast<int>(block.first) + consumer * 64, static_cast<int>(block.head));
  };
  // All warps have read the queries of this group.
  const auto fetch_queries = [&](unsigned begun) {
    turn_wait(1 + consumer, 128);
    if (!speaks) return;
    if (const unsigned cell = next_cell(begun, s.causal); cell < cells) load_queries(cell);
  };
  if (speaks && blockIdx.x < cells) load_queries(blockIdx.x);
  int phase_q = 0;
  for (unsigned begun = 0, cell = blockIdx.x; cell < cells; begun += gridDim.x, cell = next_cell(begun, s.causal)) {
    const Block block(s, number_of(s, cell, together));
    const int lowest = static_cast<int>(block.first) + consumer * 64, query = lowest + warp * 16 + lane / 4;
    // Tiles that some query of the group sees; the others are left.
    const int tiles = lowest >= s.queries ? 0 : s.causal ? min(block.tiles, (lowest + 64 + KEYS - 1) / KEYS - block.begin) : block.tiles;
    float sums[D / 2], top[2] = {-INFINITY, -INFINITY}, total[2] = {};
#pragma unroll
    for (int i = 0; i < D / 2; i++) sums[i] = 0;
    barrier_wait(full_q, phase_q);
    phase_q ^= 1;
    if (tiles <= 0) fetch_queries(begun + gridDim.x);
#pragma unroll 1
    for (int t = 0; t < tiles; t++) {
      float products[TILES][BC / 2], small[TILES][BC / 2], score[KEYS / 2], keep[2];
      uint32_t place[TILES];  // of slots
      // Numbers of 16 queries by 8 columns, split.
      uint32_t high[2][STEPS][4], low[2][STEPS][4];
      constexpr int ROUNDS = W / 8 / STEPS, ALL = ROUNDS * PARTS;
      static_assert(W % (8 * STEPS) == 0);
      const auto split_queries = [&](int round) {
#pragma unroll
        for (int i = 0; i < STEPS; i++) {
          const int column = (round * STEPS + i) * 8;
          uint32_t x[4];
          ldmatrix(x, own_row + column / 32 * Q_BOX + ((column % 32 / 4 + (corner >> 1)) ^ (lane & 7)) * 16);
#pragma unroll
          for (int j = 0; j < 4; j++) split(x[j], high[round % 2][i][j], low[round % 2][i][j]);
        }
      };
      Slot<STAGES> before = slot;
      split_queries(0);
#pragma unroll
      for (int round = 0; round < ALL; round++) {
        if (round % ROUNDS == 0) {
#pragma unroll
          for (int n = 0; n < TILES; n++) {
            if (round > 0 || n > 0) slot.next();
            barrier_wait(full + 8 * slot.at, slot.phase);
            place[n] = ring + slot.at * SLOT;
          }
        }
        wgmma_fence();
#pragma unroll
        for (int i = 0; i < STEPS; i++) {
          const int step = round % ROUNDS * STEPS + i, go_on = round > 0 || i > 0;
          const uint32_t(&a)[4] = high[round % 2][i], (&b)[4] = low[round % 2][i];
          // Small products in sums of their own: tensor cores cut what they add to off.
          const auto multiply = [&](float(&sum)[BC / 2], const uint32_t(&x)[4], int n, int half, int more) {
            WarpGroupProduct<BC / 2>::registers(sum, x[0], x[1], x[2], x[3], wgmma_descriptor(place[n] + half + step / 4 * TILE + step % 4 * 32, 16, 1024), more, tf32());
          };
#pragma unroll
          for (int n = 0; n < TILES; n++) multiply(small[n], b, n, 0, go_on);
#pragma unroll
          for (int n = 0; n < TILES; n++) multiply(products[n], a, n, 0, go_on);
#pragma unroll
          for (int n = 0; n < TILES; n++) multiply(small[n], a, n, HALF, 1);
        }
        wgmma_commit();
        if (round + 1 == ALL) break;
        if (round > 0) wgmma_wait<1>();
        // All products of the slot before are done.
        if (round > 0 && round % ROUNDS == 0) {
          if (speaks) barrier_arrive(empty + 8 * before.at);
          before = slot;
        }
        split_queries(round + 1);
      }
      wgmma_wait<0>();
#pragma unroll
      for (int n = 0; n < TILES; n++) settle(products[n]), settle(small[n]);
      if (speaks) {
        if (TILES > 1) barrier_arrive(empty + 8 * before.at);
        barrier_arrive(empty + 8 * slot.at);
      }
      slot.next();
      if (t + 1 == tiles) fetch_queries(begun + gridDim.x);
#pragma unroll
      for (int i = 0; i < KEYS / 2; i++) score[i] = products[i / (BC / 2)][i % (BC / 2)] + small[i / (BC / 2)][i % (BC / 2)];
      hide_keys<KEYS>(score, s, static_cast<long long>(block.begin + t) * KEYS, query, lowest, lane);
      weigh_scores<KEYS>(score, scale, top, total, keep);
      uint32_t weight[KEYS / 2], rest[KEYS / 2];
#pragma unroll
      for (int i = 0; i < KEYS / 2; i++) split(__float_as_uint(score[i]), weight[i], rest[i]);
      settle(weight);
      settle(rest);
#pragma unroll
      for (int part = 0; part < PARTS; part++) {
        before = slot;
#pragma unroll
        for (int n = 0; n < TILES; n++) {
          if (n > 0) slot.next();
          barrier_wait(full + 8 * slot.at, slot.phase);
          place[n] = ring + slot.at * SLOT;
        }
#pragma unroll
        for (int from = 0; from < W; from += PN) {
          // Each tile has sums of its own, which are added up in f32.
          float own[PN / 2];
          wgmma_fence();
#pragma unroll
          for (int c = 0; c < KEYS / 8; c++) {
            const uint32_t at = place[c / (BC / 8)] + from * ROW + c % (BC / 8) * 32;
            const uint64_t rounded = wgmma_descriptor(at, 16, 1024), left = wgmma_descriptor(at + HALF, 16, 1024);
            WarpGroupProduct<PN / 2>::registers(own, rest[4 * c], rest[4 * c + 2], rest[4 * c + 1], rest[4 * c + 3], rounded, c > 0, tf32());
            WarpGroupProduct<PN / 2>::registers(own, weight[4 * c], weight[4 * c + 2], weight[4 * c + 1], weight[4 * c + 3], left, 1, tf32());
            WarpGroupProduct<PN / 2>::registers(own, weight[4 * c], weight[4 * c + 2], weight[4 * c + 1], weight[4 * c + 3], rounded, 1, tf32());
          }
          wgmma_commit();
          wgmma_wait<0>();
          settle(own);
          if (from + PN == W && speaks) {
            if (TILES > 1) barrier_arrive(empty + 8 * before.at);
            barrier_arrive(empty + 8 * slot.at);
          }
#pragma unroll
          for (int i = 0; i < PN / 2; i++) {
            float& sum = sums[part * (W / 2) + from / 2 + i];
            sum = fmaf(sum, keep[i / 2 % 2], own[i]);
          }
        }
        slot.next();
      }
    }
    // Warp 0 releases the slots that this group skips. The other warps wait for it, because the parity of a barrier tells two phases apart only.
    if (const int left = max(0, block.tiles - max(tiles, 0)) * 2 * SLOTS; left > 0) {
      for (int i = 0; i < left; i++) {
        if (warp == 0) barrier_wait(full + 8 * slot.at, slot.phase);
        if (speaks) barrier_arrive(empty + 8 * slot.at);
        slot.next();
      }
      turn_wait(1 + consumer, 128);
    }
    float* const of_query = out + output_of_head(s, block.head) + query * s.of_query;
#pragma unroll
    for (int h = 0; h < 2; h++) {
      total[h] += __shfl_xor_sync(0xffffffffu, total[h], 1);
      total[h] += __shfl_xor_sync(0xffffffffu, total[h], 2);
      const int row = query + h * 8;
      if (row >= s.queries) continue;
      const Shares share(shares, s, block.head * s.queries + row, block.split);
      if (s.splits > 1 && lane % 4 == 0) share.put(top[h], total[h]);
      const float factor = s.splits > 1 ? 1.0f : 1.0f / total[h];
      float* const to = s.splits > 1 ? share.sums : of_query + h * 8 * s.of_query;
#pragma unroll
      for (int j = 0; j < D / 8; j++) {
        const int column = j * 8 + lane % 4 * 2;
        if (column < s.dim) *reinterpret_cast<float2*>(to + column) = make_float2(sums[j * 4 + h * 2] * factor, sums[j * 4 + h * 2 + 1] * factor);
      }
    }
  }
#endif
}

}  // namespace

#define ATTENTION(D, W, TILES, STEPS, PN)                                                                                                                                                      \
  extern "C" __global__ void __launch_bounds__(384, 1) attention_f32_wgmma_##D##_##TILES(const __grid_constant__ TensorMap q, const float* k, const float* v, float* out, const AttentionSizes s, \
                                                                                         float* shares, unsigned cells, int together) {                                                        \
    attend<W, D / W, TILES, attention_f32_wgmma_stages(D), STEPS, PN>(q, k, v, out, s, shares, cells, together);                                                                               \
  }
ATTENTION(64, 64, 2, 2, 64)
ATTENTION(96, 96, 1, 2, 96) ATTENTION(96, 96, 2, 2, 48)
ATTENTION(128, 128, 1, 2, 128) ATTENTION(128, 128, 2, 2, 64)
ATTENTION(160, 80, 1, 2, 80)
ATTENTION(192, 96, 1, 2, 48)
ATTENTION(256, 128, 1, 1, 64)
