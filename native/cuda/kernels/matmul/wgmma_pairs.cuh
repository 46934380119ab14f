// Tiles of a 16-bit product by pairs of blocks (sm_90a): a cluster has 256 x BN results, each of its two blocks 128 rows of them. Both need the same rows of Y: each brings half of these for both, so that L2 is read less. Stages
// and stores are those of wgmma.cuh; k is not shared.
#pragma once
#include "wgmma.cuh"

#ifdef OPSCOPE_WGMMA

// A box for the blocks of a cluster that `mask` names, at the same place of the shared memory of each.
__device__ __forceinline__ void bulk_load_each(uint32_t to, const void* map, uint32_t barrier, int x, int y, int z, uint16_t mask) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to), "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(mask) : "memory");
}
// Frees a stage of block `rank`.
__device__ __forceinline__ void barrier_arrive_at(uint32_t barrier, unsigned rank) {
  asm volatile("{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\nmbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier), "r"(rank) : "memory");
}

// `rows` rows of Y from `row` on, of up to ROWS, for both blocks: boxes of `map`, or of `last` where the tile has fewer.
template <class T, int ROWS, bool K_IS_ROW>
__device__ __forceinline__ void load_for_both(uint32_t to, const TensorMap& map, const TensorMap& last, uint32_t barrier, int row, int k, int batch, int rows) {
  constexpr int LINE = ROW / sizeof(T);
  constexpr uint16_t BOTH = 3;
  if constexpr (K_IS_ROW) {
#pragma unroll
    for (int i = 0; i < ROWS; i += LINE)
      if (i < rows) bulk_load_each(to + i * ROW, &map, barrier, row + i, k, batch, BOTH);
  } else {
    if (rows > 0) bulk_load_each(to, rows < ROWS ? &last : &map, barrier, k, row, batch, BOTH);
  }
}

#endif

template <class T, int BN, int TX, int TY>
__device__ __forceinline__ void matmul_by_pairs(const TensorMap& map_x, const TensorMap& map_y, const TensorMap& last_x, const TensorMap& last_y, T* c, const WgmmaTask& s) {
#ifdef OPSCOPE_WGMMA
  using Product = WarpGroupProduct<BN / 2>;
  constexpr int GROUPS = 2, S = STAGES<GROUPS, BN>, BM = 128, HALF = BN / 2, BK = ROW / sizeof(T), BYTES = (BM + BN) * ROW;
  extern __shared__ __align__(1024) char shared[];
  const uint32_t base = shared_address(shared), staging = base + S * BYTES, full = staging + BM * wgmma_store_row(BN), empty = full + 8 * S;
  const int group = threadIdx.x / 128, rank = static_cast<int>(cluster_rank()), first = static_cast<int>(blockIdx.x) / 2, pairs = static_cast<int>(gridDim.x) / 2;
  start_ring<S>(map_x, map_y, full, empty, 2 * GROUPS);
  cluster_arrive();
  cluster_wait();
  int stage = 0, phase = 0;
  const auto advance = [&] {
    if (++stage == S) stage = 0, phase ^= 1;
  };
  if (group == 0) {
    give_registers<24>();
    if (threadIdx.x < 32 && elect_one()) {
      wait_for_last();  // operands that were copied first
      for (int t = first; t < s.work; t += pairs) {
        const Place at = place_of(s, t);
        const int x0 = (at.x * 2 + rank) * BM, y0 = at.y * BN;
        const int rows_x = rows_brought<T, TX>(max(0, min(BM, s.x - x0))), rows_y = rows_brought<T, TY>(min(BN, s.y - y0)), own_y = max(0, min(HALF, rows_y - rank * HALF));
        const int batch_x = at.batch - quotient(at.batch, s.batches_x) * static_cast<int>(s.batches_x.by), batch_y = at.batch - quotient(at.batch, s.batches_y) * static_cast<int>(s.batches_y.by);
        for (int step = 0; step < s.steps; step++, advance()) {
          const uint32_t bar = full + 8 * stage, x = base + stage * BYTES, y = x + BM * ROW + rank * HALF * ROW;
          barrier_wait(empty + 8 * stage, phase ^ 1);
          barrier_expect(bar, (rows_x + rows_y) * ROW);
          if (rows_x > 0) load_operand<T, BM, TX>(x, !TX && rows_x < BM ? last_x : map_x, bar, x0, step * BK, batch_x, rows_x);
          load_for_both<T, HALF, TY>(y, map_y, last_y, bar, y0 + rank * HALF, step * BK, batch_y, own_y);
        }
      }
    }
  } else {
    take_registers<240>();
    const int consumer = group - 1;
    for (int t = first; t < s.work; t += pairs) {
      const Place at = place_of(s, t);
      float acc[BN / 2];
#pragma unroll
      for (int i = 0; i < BN / 2; i++) acc[i] = 0;
      const auto free = [&](int read) {
        if (read >= 0 && threadIdx.x % 128 < 2) barrier_arrive_at(empty + 8 * read, threadIdx.x % 128);
      };
      const auto multiply = [&] {
        const uint32_t x = base + stage * BYTES + consumer * 64 * ROW, y = base + stage * BYTES + BM * ROW;
        multiply_stage<T, Product, TX, TY>(acc, x, y);
      };
      multiply_stages(s.steps, full, stage, phase, advance, multiply, free);
      settle(acc);
      store_tile<FromShared, false, BN>(c + at.batch * (static_cast<long long>(s.x) * s.y), acc, staging, (at.x * 2 + rank) * BM, s.x, s.x, at.y * BN, s.y);
    }
  }
  // No block ends before the other has freed its stages and has what both bring.
  __syncwarp();
  cluster_arrive();
  cluster_wait();
#endif
}

// The layouts of a type in a file of its own, as in wgmma_16bit.cuh.
//   matmul_pairs_<t>_<columns>_<layout>
#define PAIRS(T, BN, LAYOUT, TA, TB)                                                                                                                                                     \
  extern "C" __global__ void __launch_bounds__(384, 1) matmul_pairs_##T##_##BN##_##LAYOUT(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap last_a, \
                                                                                   const __grid_constant__ TensorMap last_b, T* c, const __grid_constant__ WgmmaTask task) {         \
    matmul_by_pairs<T, BN, TA, TB>(a, b, last_a, last_b, c, task);                                                                                                                  \
  }
#define PAIRS_LAYOUTS(T, BN) PAIRS(T, BN, nn, 0, 1) PAIRS(T, BN, nt, 0, 0) PAIRS(T, BN, tn, 1, 1) PAIRS(T, BN, tt, 1, 0)
#define PAIRS_16BIT(T) PAIRS_LAYOUTS(T, 256)
