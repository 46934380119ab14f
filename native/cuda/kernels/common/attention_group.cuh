// What a warp group does with the scores and sums of its 64 queries (attention_wgmma.cu, attention_short.cu, attention_held.cu). Of a thread: rows lane / 4 and that + 8 of its warp's 16, columns lane % 4 * 2 and the next of
// every 8, as the tensor cores leave them.
#pragma once
#include "arithmetic.cuh"
#include "attention_output.cuh"
#include "turn.cuh"
#include "wgmma_pair.cuh"

#ifdef OPSCOPE_WGMMA

// Products of 48 and 160 columns.
#define OPSCOPE_D24(i) OPSCOPE_D8(i), OPSCOPE_D8(i + 8), OPSCOPE_D8(i + 16)
#define OPSCOPE_D80(i) OPSCOPE_D40(i), OPSCOPE_D40(i + 40)
#define OPSCOPE_NAMES24 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23}"
#define OPSCOPE_NAMES80 \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79}"
OPSCOPE_PRODUCTS(24, "48", "%24", "%25", "%26", "%27", "%28", "%29")
OPSCOPE_PRODUCTS(80, "160", "%80", "%81", "%82", "%83", "%84", "%85")

// Barriers of the stages of keys and of values: each is filled by one thread, and freed by so many arrivals.
template <int STAGES>
__device__ __forceinline__ void init_ring(uint32_t full_k, uint32_t full_v, uint32_t empty_k, uint32_t empty_v, int readers) {
  for (int i = 0; i < STAGES; i++) {
    barrier_init(full_k + 8 * i, 1);
    barrier_init(full_v + 8 * i, 1);
    barrier_init(empty_k + 8 * i, readers);
    barrier_init(empty_v + 8 * i, readers);
  }
}

#endif

// The piece of work of this block after `begun` of all. With `causal` these become shorter: odd rounds run in reverse order, so that no block gets the longest piece of every round.
__device__ __forceinline__ unsigned next_cell(unsigned begun, int causal) { return begun + (causal && (begun / gridDim.x & 1) ? gridDim.x - 1 - blockIdx.x : blockIdx.x); }
__device__ __forceinline__ long long next_cell(long long begun, int causal) { return begun + (causal && (quotient(begun, gridDim.x) & 1) ? gridDim.x - 1 - blockIdx.x : blockIdx.x); }

struct alignas(64) TensorMap {
  char opaque[128];
};

constexpr float LOG2E = 1.4426950408889634f;

// Whether sums are multiplied only where weights would become large: the vote costs more where they are fewer than the scores of a tile.
constexpr bool attention_is_lazy(int dim, int keys) { return dim >= keys; }

// Scores of row `query` and that + 8 with BC keys from `key` on become -infinity for keys that a row does not see. `lowest`: the first query of the group.
template <int BC>
__device__ __forceinline__ void hide_keys(float (&score)[BC / 2], const AttentionSizes& s, long long key, long long query, long long lowest, int lane) {
  if (key + BC <= s.keys && !(s.causal && key + BC > lowest)) return;
#pragma unroll
  for (int h = 0; h < 2; h++) {
    // Keys of this tile that the row sees.
    const int sees = static_cast<int>(min(static_cast<long long>(BC), (s.causal ? min(s.keys, query + h * 8 + 1) : s.keys) - key)) - lane % 4 * 2;
#pragma unroll
    for (int j = 0; j < BC / 8; j++)
#pragma unroll
      for (int i = 0; i < 2; i++)
        if (j * 8 + i >= sees) score[j * 4 + h * 2 + i] = -INFINITY;
  }
}

// Scores to weights, with a number near the largest score of each row so far, in units of log2, and the thread's share of the sum of its weights. `keep`: what the sums before are multiplied by. Whether a row of the warp has another number
// than before: with LAZY not for each larger score, but where weights would exceed 2^8.
template <int BC, bool LAZY = false>
__device__ __forceinline__ bool weigh_scores(float (&score)[BC / 2], float scale, float (&top)[2], float (&total)[2], float (&keep)[2]) {
  constexpr float most = LAZY ? 8.0f : 0.0f;
  float shift[2];  // that number; 0 where there is none
#pragma unroll
  for (int h = 0; h < 2; h++) {
    float high = score[h * 2];
#pragma unroll
    for (int j = 0; j < BC / 8; j++) high = fmaxf(high, fmaxf(score[j * 4 + h * 2], score[j * 4 + h * 2 + 1]));
    high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 1));
    high = fmaxf(high, __shfl_xor_sync(0xffffffffu, high, 2)) * scale;
    high = high > top[h] + most ? high : top[h];
    shift[h] = high == -INFINITY ? 0.0f : high;
    keep[h] = exp2_fast(top[h] - shift[h]);
    if (LAZY && top[h] == high) keep[h] = 1.0f;
    top[h] = high;
    total[h] *= keep[h];
  }
#pragma unroll
  for (int i = 0; i < BC / 2; i++) {
    const int h = i / 2 % 2;
    score[i] = exp2_fast(fmaf(score[i], scale, -shift[h]));
    total[h] += score[i];
  }
  return !LAZY || __any_sync(0xffffffffu, keep[0] != 1.0f || keep[1] != 1.0f);
}

// The sum of a row's weights from the shares of its four threads.
__device__ __forceinline__ float total_of_row(float share) {
  share += __shfl_xor_sync(0xffffffffu, share, 1);
  return share + __shfl_xor_sync(0xffffffffu, share, 2);
}

// Row h (0, 1) of a thread to `to`, each sum times `factor`: 16 bytes of each of four neighbouring threads lie side by side, one element after the other where rows do not start on 16 bytes. All threads of a warp call this;
// `exists`: whether there is such a row.
template <int D, class T>
__device__ __forceinline__ void store_row(T* to, const float (&sums)[D / 2], int h, float factor, int lane, int dim, bool exists) {
#pragma unroll
  for (int j = 0; j < D / 8; j += 4) {
    uint32_t w[4];
#pragma unroll
    for (int i = 0; i < 4; i++) w[i] = j + i < D / 8 ? pack_pair(sums[(j + i) * 4 + h * 2] * factor, sums[(j + i) * 4 + h * 2 + 1] * factor, T()) : 0;
    turn_quad(w, lane);
    const int column = (j + lane % 4) * 8;
    if (!exists || column >= dim) continue;
    if (dim % 8 == 0) {
      *reinterpret_cast<uint4*>(to + column) = make_uint4(w[0], w[1], w[2], w[3]);
    } else {
#pragma unroll
      for (int i = 0; i < 8; i++)
        if (column + i < dim) reinterpret_cast<uint16_t*>(to)[column + i] = static_cast<uint16_t>(w[i / 2] >> i % 2 * 16);
    }
  }
}

#ifdef OPSCOPE_WGMMA

constexpr int GROUP_ROW = 128;  // bytes of a row in one box of the copy engine

// A box of shared memory to (x, y, z) of a 3-d tensor, without what lies outside of it; what a thread has started since it committed last is committed together.
__device__ __forceinline__ void bulk_store(const TensorMap* map, uint32_t from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map), "r"(from), "r"(x), "r"(y), "r"(z) : "memory");
}
__device__ __forceinline__ void bulk_stores_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Until the copy engine has read what this thread committed.
__device__ __forceinline__ void bulk_stores_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }

// The results of a group of 64 queries, in f16 or bf16, through shared memory to where they go. `to`: boxes of 64 rows of 128 bytes, `box` bytes apart, that the group has for itself; `barrier`: a named barrier of the group. Rows and columns
// beyond the head are not written.
template <class T, int D>
__device__ __forceinline__ void store_group(const TensorMap& map, uint32_t to, int box, const float (&sums)[D / 2], const float (&total)[2], int head, int first, int barrier) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32, row = warp * 16 + lane % 16;
  const bool speaks = threadIdx.x % 128 == 0;
  const float factor[2] = {1.0f / total_of_row(total[0]), 1.0f / total_of_row(total[1])};
  // What was stored from here before is read.
  if (speaks) bulk_stores_read();
  turn_wait(barrier, 128);
#pragma unroll
  for (int j = 0; j < D / 16; j++) {
    const uint32_t at = to + j / 4 * box + row * GROUP_ROW + ((j % 4 * 2 + lane / 16) ^ (row % 8)) * 16;
    const float* const x = &sums[j * 8];
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(pack_pair(x[0] * factor[0], x[1] * factor[0], T())), "r"(pack_pair(x[2] * factor[1], x[3] * factor[1], T())),
                 "r"(pack_pair(x[4] * factor[0], x[5] * factor[0], T())), "r"(pack_pair(x[6] * factor[1], x[7] * factor[1], T()))
                 : "memory");
  }
  fence_shared_for_async();
  turn_wait(barrier, 128);
  if (!speaks) return;
#pragma unroll
  for (int i = 0; i < (D + 63) / 64; i++) bulk_store(&map, to + i * box, i * 64, first, head);
  bulk_stores_commit();
}

// What a group has of its queries, one tile of BC keys after another: sums of weighted values, the largest score and the share of the sum of weights of each row.
template <class T, int D, int BC, bool LAZY = attention_is_lazy(D, BC)>
struct GroupSums {
  static constexpr int BOXES = (D + 63) / 64, QUERIES_BYTES = BOXES * 64 * GROUP_ROW, BOX = BC * GROUP_ROW, TILE_BYTES = BOXES * BOX;  // of 64 queries, and of the keys or values of a tile
  float sums[D / 2], top[2], total[2];

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < D / 2; i++) sums[i] = 0;
    top[0] = top[1] = -INFINITY, total[0] = total[1] = 0;
  }
  // `q`, `k`, `v`: where these lie in shared memory; boxes of queries are `q_box` bytes apart. `key`: the first of the tile; `query`, `lowest`: of this thread and of the group. Calls `keys_met` when the keys may be
  // overwritten, and `wait_for_values` before values are read.
  template <class Met, class Wait>
  __device__ __forceinline__ void meet(uint32_t q, int q_box, uint32_t k, uint32_t v, const AttentionSizes& s, float scale, long long key, long long query, long long lowest, int lane, const Met& keys_met, const Wait& wait_for_values) {
    float score[BC / 2], keep[2];
    wgmma_fence();
#pragma unroll
    for (int d = 0; d < D / 16; d++)
      WarpGroupProduct<BC / 2>::template shared<0>(score, wgmma_descriptor(q + d / 4 * q_box + d % 4 * 32, 16, 1024), wgmma_descriptor(k + d / 4 * BOX + d % 4 * 32, 16, 1024), d > 0, T());
    wgmma_commit();
    wgmma_wait<0>();
    settle(score);
    keys_met();
    hide_keys<BC>(score, s, key, query, lowest, lane);
    const bool grew = weigh_scores<BC, LAZY>(score, scale, top, total, keep);
    // Results of one product lie as the left operand of the next.
    uint32_t weights[BC / 4];
#pragma unroll
    for (int i = 0; i < BC / 4; i++) weights[i] = pack_pair(score[2 * i], score[2 * i + 1], T());
    settle(weights);
    if (grew) {
#pragma unroll
      for (int i = 0; i < D / 2; i++) sums[i] *= keep[i / 2 % 2];
    }
    wait_for_values();
    settle(sums);
    wgmma_fence();
#pragma unroll
    for (int c = 0; c < BC / 16; c++)
      WarpGroupProduct<D / 2>::template registers<1>(sums, weights[4 * c], weights[4 * c + 1], weights[4 * c + 2], weights[4 * c + 3], wgmma_descriptor(v + c * 16 * GROUP_ROW, BOX, 1024), T());
    wgmma_commit();
    wgmma_wait<0>();
    settle(sums);
  }
  // `of_head`: where the results of the head begin.
  __device__ __forceinline__ void store(T* of_head, const AttentionSizes& s, long long query, int lane) const {
    T* const to = of_head + query * s.of_query;
#pragma unroll
    for (int h = 0; h < 2; h++) store_row<D>(to + h * 8 * s.of_query, sums, h, 1.0f / total_of_row(total[h]), lane, s.dim, query + h * 8 < s.queries);
  }
};

// The head of turn `turn`: those that share their keys one after the other, or, with `apart` heads of keys, as far from each other as there are such heads.
__device__ __forceinline__ long long head_of_turn(long long turn, long long apart, int group) {
  if (apart == 0) return turn;
  const long long of_group = quotient(turn, apart);
  return (turn - of_group * apart) * group + of_group;
}

// Tiles of BC keys that queries before `end` see.
template <int BC>
__device__ __forceinline__ int tiles_seen(const AttentionSizes& s, long long end) { return static_cast<int>(((s.causal ? min(s.keys, min(end, s.queries)) : s.keys) + BC - 1) / BC); }

#endif
