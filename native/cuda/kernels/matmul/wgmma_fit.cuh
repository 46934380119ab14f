// Tiles of a 16-bit product whose sides fit the result (sm_90a): GROUPS warp groups have UNITS x 64 rows of X each, by BN rows of Y, any multiple of eight. Blocks of a cluster have neighbouring tiles along one side; the
// operand that they share is brought once for all, a part of it by each block. TURNED: rows of the result are those of Y, and the copy engine stores them from shared memory. Rows of all three start on 16 bytes.
#pragma once
#include "fit.h"
#include "../common/wgmma_columns.cuh"
#include "wgmma_pairs.cuh"

#ifdef OPSCOPE_WGMMA

// Blocks of this block's cluster.
__device__ __forceinline__ unsigned cluster_blocks() {
  unsigned blocks;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  return blocks;
}
__device__ __forceinline__ void bulk_store(const void* map, uint32_t from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map), "r"(from), "r"(x), "r"(y), "r"(z) : "memory");
}
// Boxes of this thread go together; they have been read from shared memory, and written.
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ __forceinline__ void bulk_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ __forceinline__ void bulk_written() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
// Blocks of 8 x 8 results, turned; each lane has the address of a row of one of them.
__device__ __forceinline__ void put_turned(uint32_t to, uint32_t a, uint32_t b) { asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(a), "r"(b) : "memory"); }
__device__ __forceinline__ void put_turned(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

// One operand of a tile: what its block brings of it.
struct FitSide {
  int row, batch;    // its first row in the tensor
  int rows;          // that the tile has, in whole boxes
  int blocks;        // that bring a part of it each; 1 where the block brings its own
  int first, mine;   // rows of this block's part
  bool whole;        // which has as many rows as its boxes
  uint16_t mask;     // of the blocks that it is for
};
// Of an operand that has `left` rows of a tile of up to ROWS from `row` on; this is block `rank` of one, two or four.
template <class T, int ROWS, bool K_IS_ROW>
__device__ __forceinline__ FitSide side_of(int row, int batch, int left, int blocks, int rank) {
  const int rows = rows_brought<T, K_IS_ROW>(left), part = ROWS >> (blocks >> 1), first = rank * part, mine = min(rows - first, part);
  return {row, batch, rows, blocks, first, mine, mine == part, static_cast<uint16_t>((1 << blocks) - 1)};
}
// `map`, or `last` where fewer rows are left than its boxes have.
template <class T, bool K_IS_ROW>
__device__ __forceinline__ void load_side(uint32_t to, const TensorMap& map, const TensorMap& last, uint32_t barrier, int k, const FitSide& s) {
  constexpr int LINE = ROW / sizeof(T);
  if (s.mine <= 0) return;
  if constexpr (K_IS_ROW) {
    for (int i = s.first; i < s.first + s.mine; i += LINE) {
      if (s.blocks == 1) bulk_load(to + i * ROW, &map, barrier, s.row + i, k, s.batch);
      else bulk_load_each(to + i * ROW, &map, barrier, s.row + i, k, s.batch, s.mask);
    }
  } else {
    const TensorMap& box = s.whole ? map : last;
    if (s.blocks == 1) bulk_load(to, &box, barrier, k, s.row, s.batch);
    else bulk_load_each(to + s.first * ROW, &box, barrier, k, s.row + s.first, s.batch, s.mask);
  }
}

// 64 rows of X by BN of Y, as rows of Y, through `staging` (64 x BN elements in the order of the copy engine) of a warp group.
template <int BN, class T>
__device__ __forceinline__ void stage_turned(uint32_t staging, const float (&acc)[BN / 2], int warp, int lane, T type) {
  // Blocks of 8 x 8 results: rows of Y, of 16 bytes of X.
  const int piece = warp * 2 + (lane >> 3 & 1), row = lane & 7;
  const uint32_t at = staging + row * ROW + (piece ^ row) * 16;
#pragma unroll
  for (int j = 0; j + 1 < BN / 8; j += 2) {
    const float* f = acc + j * 4;
    put_turned(at + (j + (lane >> 4)) * 8 * ROW, pack_pair(f[0], f[1], type), pack_pair(f[2], f[3], type), pack_pair(f[4], f[5], type), pack_pair(f[6], f[7], type));
  }
  if constexpr (BN / 8 % 2 == 1) {
    const float* f = acc + (BN / 8 - 1) * 4;
    put_turned(at + (BN / 8 - 1) * 8 * ROW, pack_pair(f[0], f[1], type), pack_pair(f[2], f[3], type));
  }
}

// The products of a stage: UNITS x 64 rows of X, both operands in shared memory.
template <class T, class Product, int UNITS, int TX, int TY, int N>
__device__ __forceinline__ void multiply_units(float (&acc)[UNITS][N], uint32_t x, uint32_t y) {
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const uint64_t dy = wgmma_descriptor(y + i * (TY ? 16 * ROW : 32), TY ? BOX : 16, 1024);
#pragma unroll
    for (int u = 0; u < UNITS; u++) Product::template shared<TY, TX>(acc[u], wgmma_descriptor(x + u * 64 * ROW + i * (TX ? 16 * ROW : 32), TX ? BOX : 16, 1024), dy, 1, T());
  }
}

// 64 rows of X from x on by BN of Y from y on, stored by the copy engine as rows of Y. `staging` and the named barrier are the warp group's; the next call waits until that was read.
template <int BN, class T>
__device__ __forceinline__ void store_by_engine(const TensorMap& map_c, uint32_t staging, const float (&acc)[BN / 2], int barrier, int x, int end_x, int y, int end_y, int batch, int warp, int lane, T type) {
  const bool first = threadIdx.x % 128 == 0;
  if (first) bulk_read();
  turn_wait(barrier, 128);
  stage_turned<BN>(staging, acc, warp, lane, type);
  fence_shared_for_async();
  turn_wait(barrier, 128);
  if (first && x < end_x && y < end_y) {
    bulk_store(&map_c, staging, x, y, batch);
    bulk_commit();
  }
}

// Rows of X, straight from registers.
template <int BN, class T>
__device__ __forceinline__ void store_straight(T* c, const float (&acc)[BN / 2], int x, int end, int y0, int columns, int lane) {
#pragma unroll
  for (int p = 0; p < BN / 32; p++)
    if (y0 + p * 32 < columns) store_columns<FromShared, false>(c, acc + p * 16, x, end, end, y0 + p * 32, columns, lane);
#pragma unroll
  for (int p = BN / 32 * 4; p < BN / 8; p++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int r = x + half * FromShared::step, column = y0 + p * 8 + lane % 4 * 2;
      if (r < end && column < columns) *reinterpret_cast<uint32_t*>(c + static_cast<long long>(r) * columns + column) = pack_pair(acc[p * 4 + half * 2], acc[p * 4 + half * 2 + 1], T());
    }
}

#endif

template <class T, int GROUPS, int UNITS, int BN, int TX, int TY, bool TURNED>
__device__ __forceinline__ void matmul_fit(const TensorMap& map_x, const TensorMap& map_y, const TensorMap& last_x, const TensorMap& last_y, const TensorMap& map_c, T* c, const WgmmaTask& s, int along_x) {
#ifdef OPSCOPE_WGMMA
  using Product = WarpGroupProduct<BN / 2>;
  constexpr int BM = GROUPS * UNITS * 64, S = opscope::cuda::fit_stages(BM, BN, GROUPS, TY, TURNED), BK = ROW / sizeof(T), X_BYTES = BM * ROW, ROWS_Y = opscope::cuda::fit_rows_y(BN, TY), BYTES = X_BYTES + ROWS_Y * ROW;
  extern __shared__ __align__(1024) char shared[];
  const uint32_t base = shared_address(shared), staging = base + S * BYTES, full = staging + opscope::cuda::fit_staging(BN, GROUPS, TURNED), empty = full + 8 * S;
  const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0), blocks = static_cast<int>(cluster_blocks()), rank = static_cast<int>(cluster_rank()), first = static_cast<int>(blockIdx.x) / blocks, clusters = static_cast<int>(gridDim.x) / blocks;
  start_ring<S>(map_x, map_y, full, empty, GROUPS * blocks);
  if (blocks > 1) {
    cluster_arrive();
    cluster_wait();
  }
  // The tile of this block in that of its cluster, which has `blocks` along one side.
  const int count_x = along_x ? blocks : 1, count_y = along_x ? 1 : blocks, rank_x = along_x ? rank : 0, rank_y = along_x ? 0 : rank;
  int stage = 0, phase = 0;
  const auto advance = [&] {
    if (++stage == S) stage = 0, phase ^= 1;
  };
  if (group == 0) {
    if constexpr (GROUPS == 2) give_registers<40>();
    if (threadIdx.x < 32 && elect_one()) {
      wait_for_last();
      for (int t = first; t < s.work; t += clusters) {
        const Place at = place_of(s, t);
        const int x0 = (at.x * count_x + rank_x) * BM, y0 = (at.y * count_y + rank_y) * BN;
        const int batch_x = at.batch - quotient(at.batch, s.batches_x) * static_cast<int>(s.batches_x.by), batch_y = at.batch - quotient(at.batch, s.batches_y) * static_cast<int>(s.batches_y.by);
        // Blocks along X share Y.
        const FitSide x = side_of<T, BM, TX>(x0, batch_x, max(0, min(BM, s.x - x0)), count_y, rank_y), y = side_of<T, ROWS_Y, TY>(y0, batch_y, max(0, min(BN, s.y - y0)), count_x, rank_x);
        for (int step = 0; step < s.steps; step++, advance()) {
          const uint32_t bar = full + 8 * stage, to = base + stage * BYTES;
          barrier_wait(empty + 8 * stage, phase ^ 1);
          barrier_expect(bar, (x.rows + y.rows) * ROW);
          load_side<T, TX>(to, map_x, last_x, bar, step * BK, x);
          load_side<T, TY>(to + X_BYTES, map_y, last_y, bar, step * BK, y);
        }
      }
    }
  } else {
    if constexpr (GROUPS == 2) take_registers<232>();
    const int consumer = group - 1, lane = threadIdx.x % 32, warp = static_cast<int>(threadIdx.x) / 32 % 4, thread = threadIdx.x % 128;
    const uint32_t own = staging + consumer * 64 * BN * sizeof(T);
    for (int t = first; t < s.work; t += clusters) {
      const Place at = place_of(s, t);
      float acc[UNITS][BN / 2];
#pragma unroll
      for (int u = 0; u < UNITS; u++)
#pragma unroll
        for (int i = 0; i < BN / 2; i++) acc[u][i] = 0;
      const auto free = [&](int read) {
        if (blocks == 1 && thread == 0 && read >= 0) barrier_arrive(empty + 8 * read);
        if (blocks > 1 && thread < blocks && read >= 0) barrier_arrive_at(empty + 8 * read, thread);
      };
      const auto multiply = [&] {
        const uint32_t x = base + stage * BYTES + consumer * UNITS * 64 * ROW, y = base + stage * BYTES + X_BYTES;
        multiply_units<T, Product, UNITS, TX, TY>(acc, x, y);
      };
      multiply_stages(s.steps, full, stage, phase, advance, multiply, free);
#pragma unroll
      for (int u = 0; u < UNITS; u++) settle(acc[u]);
      const int x0 = (at.x * count_x + rank_x) * BM + consumer * UNITS * 64, y0 = (at.y * count_y + rank_y) * BN;
#pragma unroll
      for (int u = 0; u < UNITS; u++) {
        if constexpr (TURNED) {
          store_by_engine<BN>(map_c, own, acc[u], 4 + consumer, x0 + u * 64, s.x, y0, s.y, at.batch, warp, lane, T());
        } else {
          store_straight<BN>(c + at.batch * (static_cast<long long>(s.x) * s.y), acc[u], x0 + u * 64 + FromShared::row(warp, lane), s.x, y0, s.y, lane);
        }
      }
    }
    if constexpr (TURNED) {
      if (thread == 0) bulk_written();
    }
  }
  // No block ends before the others have freed its stages and have what it brings.
  if (blocks > 1) {
    __syncwarp();
    cluster_arrive();
    cluster_wait();
  }
#endif
}

// The layouts of a type in a file of its own, as in wgmma_16bit.cuh.
//   matmul_fit_<t>_<rows>_<columns>_<layout>[_turned]   rows and columns of a tile: of X and Y
#define FIT(T, GROUPS, UNITS, ROWS, BN, NAME, TX, TY, TURNED)                                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(128 + GROUPS * 128, 1) matmul_fit_##T##_##ROWS##_##BN##_##NAME(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap y, const __grid_constant__ TensorMap last_x, \
                                                                                                        const __grid_constant__ TensorMap last_y, const __grid_constant__ TensorMap map_c, T* c, const __grid_constant__ WgmmaTask task, int along_x) { \
    matmul_fit<T, GROUPS, UNITS, BN, TX, TY, TURNED>(x, y, last_x, last_y, map_c, c, task, along_x);                                                                                                            \
  }
// A tile in every layout of the operands; rows of X are lines of k where TA, or TB of B, say so.
#define FIT_LAYOUTS(T, GROUPS, UNITS, ROWS, BN)      \
  FIT(T, GROUPS, UNITS, ROWS, BN, nn, 0, 1, false)   \
  FIT(T, GROUPS, UNITS, ROWS, BN, nt, 0, 0, false)   \
  FIT(T, GROUPS, UNITS, ROWS, BN, tn, 1, 1, false)   \
  FIT(T, GROUPS, UNITS, ROWS, BN, tt, 1, 0, false)   \
  FIT(T, GROUPS, UNITS, ROWS, BN, nn_turned, 1, 0, true) \
  FIT(T, GROUPS, UNITS, ROWS, BN, nt_turned, 0, 0, true) \
  FIT(T, GROUPS, UNITS, ROWS, BN, tn_turned, 1, 1, true) \
  FIT(T, GROUPS, UNITS, ROWS, BN, tt_turned, 0, 1, true)
#define FIT_WIDE(T) FIT_LAYOUTS(T, 2, 2, 256, 96) FIT_LAYOUTS(T, 2, 2, 256, 112) FIT_LAYOUTS(T, 2, 2, 256, 136) FIT_LAYOUTS(T, 2, 2, 256, 152) FIT_LAYOUTS(T, 2, 2, 256, 176) FIT_LAYOUTS(T, 2, 2, 256, 192)
