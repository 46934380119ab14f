// Tiles of a 16-bit product whose sides fit the result (sm_90a): one to three warp groups have 64 or 128 rows of X each, by BN rows of Y, any multiple of eight. Blocks of a cluster have neighbouring tiles along one side or both; what
// several of them need is brought once for all, a part of it by each. TURNED: rows of the result are those of Y, and the copy engine stores them from shared memory. Rows of all three start on 16 bytes.
#pragma once
#include "fit.h"
#include "../common/wgmma_columns.cuh"
#include "wgmma_pairs.cuh"

#ifdef OPSCOPE_WGMMA

// The blocks of a cluster are there, and their barriers made; later, none of them reads or writes what is another's.
__device__ __forceinline__ void cluster_meet() { asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_leave() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
// The same barrier in the shared memory of block `rank`, and an arrival there. With release at the scope of the cluster each would wait for all memory.
__device__ __forceinline__ uint32_t barrier_there(uint32_t barrier, unsigned rank) {
  uint32_t there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(barrier), "r"(rank));
  return there;
}
__device__ __forceinline__ void arrive_there(uint32_t barrier) { asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory"); }
__device__ __forceinline__ void bulk_store(const void* map, uint32_t from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map), "r"(from), "r"(x), "r"(y), "r"(z) : "memory");
}
// Boxes of this thread go together; they have been read from shared memory, and written.
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ __forceinline__ void bulk_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
// Blocks of 8 x 8 results, turned; each lane has the address of a row of one of them.
__device__ __forceinline__ void put_turned(uint32_t to, uint32_t a, uint32_t b) { asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(a), "r"(b) : "memory"); }
__device__ __forceinline__ void put_turned(uint32_t to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
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

// 64 rows of X from x on by BN of Y from y on, stored by the copy engine as rows of Y. `staging` and the named barrier are the warp group's; a call waits until what one before left there was read, where there was one (`again`).
template <int BN, class T>
__device__ __forceinline__ void store_by_engine(const TensorMap& map_c, uint32_t staging, const float (&acc)[BN / 2], int barrier, int x, int end_x, int y, int end_y, int batch, int warp, int lane, T type, bool again) {
  const bool first = threadIdx.x % 128 == 0;
  if (again) {
    if (first) bulk_read();
    turn_wait(barrier, 128);
  }
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

// SEVERAL: blocks of a cluster. Each brings a part of its rows of X for the blocks along Y, and of Y for those along X: lines of k of every box, or rows. Every block brings every part, also of what lies outside of the
// operands: none gets ahead of another by more than the ring.
template <class T, int ROWS, int BN, int TX, int TY, bool TURNED, bool SEVERAL>
__device__ __forceinline__ void matmul_fit(const TensorMap& map_x, const TensorMap& map_y, const TensorMap& map_c, T* c, const WgmmaTask& s, const opscope::cuda::FitTask& f) {
#ifdef OPSCOPE_WGMMA
  using Product = WarpGroupProduct<BN / 2>;
  constexpr int GROUPS = opscope::cuda::fit_groups(ROWS), UNITS = opscope::cuda::fit_units(ROWS), S = opscope::cuda::fit_stages(ROWS, BN, TY, TURNED), BK = ROW / sizeof(T), X_BYTES = ROWS * ROW,
                ROWS_Y = opscope::cuda::fit_rows_y(BN, TY), BYTES = X_BYTES + ROWS_Y * ROW, PRODUCER = GROUPS * 4;
  constexpr bool GIVES = opscope::cuda::fit_gives(ROWS, BN);
  extern __shared__ __align__(1024) char shared[];
  const uint32_t base = shared_address(shared), staging = base + S * BYTES, full = staging + opscope::cuda::fit_staging(ROWS, BN, TURNED), empty = full + 8 * S;
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
  const int log_x = SEVERAL ? f.log_x : 0, log_y = SEVERAL ? f.log_y : 0, log = log_x + log_y, count_x = 1 << log_x, count_y = 1 << log_y, rank = SEVERAL ? static_cast<int>(cluster_rank()) : 0, rank_x = rank & (count_x - 1),
            rank_y = rank >> log_x, first = static_cast<int>(blockIdx.x) >> log, clusters = static_cast<int>(gridDim.x) >> log;
  if (elect_one()) {
    if (warp == PRODUCER) {
      prefetch_map(&map_x);
      prefetch_map(&map_y);
      if (TURNED) prefetch_map(&map_c);
    }
    // All warps make barriers, of which each takes about 40 clocks.
    for (int i = warp; i < S; i += opscope::cuda::fit_threads(ROWS, BN) / 32) {
      barrier_init(full + 8 * i, 1);
      barrier_init(empty + 8 * i, GROUPS * (count_x + count_y - 1));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncwarp();
  // Its place is known before the barriers are.
  const Place begin = tile_at(s, first);
  if constexpr (SEVERAL) cluster_meet();
  else __syncthreads();
  next_may_start();
  int stage = 0, phase = 0, number = 0;  // the last counts the stages of this block
  const auto advance = [&] {
    number++;
    if (++stage == S) stage = 0, phase ^= 1;
  };
  if (warp >= PRODUCER) {
    if constexpr (GIVES) give_registers<GROUPS == 2 ? 40 : 32>();
    if (warp == PRODUCER && elect_one()) {
      wait_for_last();
      unsigned along_y = 0;
      for (int j = 0; j < count_y; j++) along_y |= 1u << (rank_x + (j << log_x));
      const auto mask_x = static_cast<uint16_t>(along_y), mask_y = static_cast<uint16_t>(((1u << count_x) - 1) << (rank_y << log_x));
      const int part_x = TX ? rank_y << (6 - log_y) : rank_y * (ROWS >> log_y), part_y = TY ? rank_x << (6 - log_x) : rank_x * (ROWS_Y >> log_x);
      for (int t = first; t < s.work; t += clusters) {
        const Place at = t == first ? begin : tile_at(s, t);
        const int x0 = (at.x * count_x + rank_x) * ROWS, y0 = (at.y * count_y + rank_y) * BN;
        const int batch_x = at.batch - quotient(at.batch, s.batches_x) * static_cast<int>(s.batches_x.by), batch_y = at.batch - quotient(at.batch, s.batches_y) * static_cast<int>(s.batches_y.by);
        for (int step = 0; step < s.steps; step++, advance()) {
          const uint32_t bar = full + 8 * stage, x = base + stage * BYTES + part_x * ROW, y = base + stage * BYTES + X_BYTES + part_y * ROW;
          if (number >= S) barrier_wait(empty + 8 * stage, phase ^ 1);
          barrier_expect(bar, BYTES);
          const auto bring = [&](uint32_t to, const TensorMap& map, int column, int row, int batch, uint16_t mask) {
            if constexpr (SEVERAL) bulk_load_each(to, &map, bar, column, row, batch, mask);
            else bulk_load(to, &map, bar, column, row, batch);
          };
          if constexpr (TX) {
#pragma unroll
            for (int i = 0; i < ROWS; i += 64) bring(x + i * ROW, map_x, x0 + i, step * BK + part_x, batch_x, mask_x);
          } else {
            bring(x, map_x, step * BK, x0 + part_x, batch_x, mask_x);
          }
          if constexpr (TY) {
#pragma unroll
            for (int i = 0; i < ROWS_Y; i += 64) bring(y + i * ROW, map_y, y0 + i, step * BK + part_y, batch_y, mask_y);
          } else {
            bring(y, map_y, step * BK, y0 + part_y, batch_y, mask_y);
          }
        }
      }
    }
    __syncwarp();
    if constexpr (SEVERAL) cluster_leave();
  } else {
    if constexpr (GIVES) take_registers<GROUPS == 2 ? 232 : 160>();
    const int consumer = warp / 4, thread = threadIdx.x % 128, all = (f.each + (first < f.more)) * s.steps;
    const uint32_t low_x = descriptor_low(base + consumer * UNITS * 64 * ROW, TX ? BOX : 16), low_y = descriptor_low(base + X_BYTES, TY ? BOX : 16), own = staging + consumer * 64 * BN * sizeof(T);
    // The blocks that bring something to this one.
    const bool along = thread < count_x, across = !along && thread < count_x + count_y && thread - count_x != rank_y;
    const uint32_t there = SEVERAL ? barrier_there(empty, along ? (rank_y << log_x) + thread : across ? ((thread - count_x) << log_x) + rank_x : rank) : empty;
    // Stages that are filled no more are not freed.
    const auto free = [&](int read) {
      if (read < 0 || number - 1 + S >= all) return;
      if constexpr (SEVERAL) {
        if (along || across) arrive_there(there + 8 * read);
      } else {
        if (thread == 0) barrier_arrive(empty + 8 * read);
      }
    };
    for (int t = first; t < s.work; t += clusters) {
      const Place at = t == first ? begin : tile_at(s, t);
      float acc[UNITS][BN / 2];
#pragma unroll
      for (int u = 0; u < UNITS; u++)
#pragma unroll
        for (int i = 0; i < BN / 2; i++) acc[u][i] = 0;
      const auto multiply = [&] {
        const uint32_t x = low_x + stage * (BYTES >> 4), y = low_y + stage * (BYTES >> 4);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
          for (int u = 0; u < UNITS; u++) Product::template shared<TY, TX>(acc[u], descriptor_of(x + u * (64 * ROW >> 4) + i * (TX ? ROW : 2), 1024), descriptor_of(y + i * (TY ? ROW : 2), 1024), 1, T());
      };
      multiply_stages(s.steps, full, stage, phase, advance, multiply, free);
#pragma unroll
      for (int u = 0; u < UNITS; u++) settle(acc[u]);
      if (SEVERAL && number == all) cluster_leave();
      const int x0 = (at.x * count_x + rank_x) * ROWS + consumer * UNITS * 64, y0 = (at.y * count_y + rank_y) * BN;
#pragma unroll
      for (int u = 0; u < UNITS; u++) {
        if constexpr (TURNED) {
          store_by_engine<BN>(map_c, own, acc[u], 4 + consumer, x0 + u * 64, s.x, y0, s.y, at.batch, warp % 4, lane, T(), u > 0 || number > s.steps);
        } else {
          store_straight<BN>(c + at.batch * (static_cast<long long>(s.x) * s.y), acc[u], x0 + u * 64 + FromShared::row(warp % 4, lane), s.x, y0, s.y, lane);
        }
      }
    }
    if constexpr (TURNED) {
      if (thread == 0) bulk_read();
    }
  }
  // What this block brings for others has arrived before it ends.
  if constexpr (SEVERAL) cluster_wait();
#endif
}

// The layouts of a type in files of their own, as in wgmma_16bit.cuh.
//   matmul_fit_<t>_<rows>_<columns>_<layout>[_turned][_several]   rows and columns of a tile: of X and Y
#define FIT(T, ROWS, BN, NAME, TX, TY, TURNED, SEVERAL)                                                                                                                                                             \
  extern "C" __global__ void __launch_bounds__(opscope::cuda::fit_threads(ROWS, BN), 1) matmul_fit_##T##_##ROWS##_##BN##_##NAME(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap y,                    \
                                                                                                       const __grid_constant__ TensorMap map_c, T* c, const __grid_constant__ WgmmaTask task, const __grid_constant__ opscope::cuda::FitTask fit) { \
    matmul_fit<T, ROWS, BN, TX, TY, TURNED, SEVERAL>(x, y, map_c, c, task, fit);                                                                                                                                    \
  }
#define FIT_BOTH(T, ROWS, BN, NAME, TX, TY, TURNED) FIT(T, ROWS, BN, NAME, TX, TY, TURNED, false) FIT(T, ROWS, BN, NAME##_several, TX, TY, TURNED, true)
// A tile in the layouts in which Y has k contiguous; rows of X are lines of k where TX says so.
#define FIT_LAYOUTS(T, ROWS, BN) FIT_BOTH(T, ROWS, BN, nn_turned, 1, 0, true) FIT_BOTH(T, ROWS, BN, nt, 0, 0, false) FIT_BOTH(T, ROWS, BN, nt_turned, 0, 0, true) FIT_BOTH(T, ROWS, BN, tt, 1, 0, false)
// Those of which Y has lines of k too, and those of which Y alone has.
#define FIT_LINES(T, ROWS, BN) FIT_BOTH(T, ROWS, BN, tn, 1, 1, false) FIT_BOTH(T, ROWS, BN, tn_turned, 1, 1, true)
#define FIT_LINES_OF_Y(T, ROWS, BN) FIT_BOTH(T, ROWS, BN, nn, 0, 1, false) FIT_BOTH(T, ROWS, BN, tt_turned, 0, 1, true)
#define FIT_64(T) \
  FIT_LAYOUTS(T, 64, 64) FIT_LAYOUTS(T, 64, 96) FIT_LAYOUTS(T, 64, 128) FIT_LAYOUTS(T, 64, 152) FIT_LAYOUTS(T, 64, 192) FIT_LINES(T, 64, 64) FIT_LINES(T, 64, 128) FIT_LINES(T, 64, 192)
#define FIT_128(T) \
  FIT_LAYOUTS(T, 128, 64) FIT_LAYOUTS(T, 128, 96) FIT_LAYOUTS(T, 128, 128) FIT_LAYOUTS(T, 128, 136) FIT_LAYOUTS(T, 128, 152) FIT_LAYOUTS(T, 128, 192) FIT_LINES(T, 128, 64) FIT_LINES(T, 128, 128) FIT_LINES(T, 128, 192)
#define FIT_192(T) FIT_LAYOUTS(T, 192, 96) FIT_LAYOUTS(T, 192, 128) FIT_LINES(T, 192, 96) FIT_LINES(T, 192, 128)
#define FIT_256(T)                                                                                                                                                                            \
  FIT_LAYOUTS(T, 256, 96) FIT_LAYOUTS(T, 256, 112) FIT_LAYOUTS(T, 256, 128) FIT_LAYOUTS(T, 256, 136) FIT_LAYOUTS(T, 256, 152) FIT_LAYOUTS(T, 256, 176) FIT_LAYOUTS(T, 256, 192) FIT_LINES(T, 256, 96) \
  FIT_LINES(T, 256, 128) FIT_LINES(T, 256, 136) FIT_LINES(T, 256, 192) FIT_LINES_OF_Y(T, 256, 96) FIT_LINES_OF_Y(T, 256, 136) FIT_LINES_OF_Y(T, 256, 192)
