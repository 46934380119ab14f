// Tiles of a 16-bit product by two warp groups that take turns: each has tiles of BM x BN results of its own, and one multiplies while the other stores. The ring of stages is that of wgmma.cuh, and k is not shared.
// `last_x`, `last_y`: of boxes with the lines of the last stage alone where K is not contiguous; products behind them are left out.
#pragma once
#include "wgmma.cuh"

#ifdef OPSCOPE_WGMMA

// Bytes that copies bring for a stage of K of an operand that has `left` rows of a tile: boxes of 128 bytes of its rows by `lines` of K, or as many rows as there are.
template <class T, bool K_IS_ROW>
__device__ __forceinline__ int bytes_brought(int left, int lines) {
  constexpr int LINE = ROW / sizeof(T);
  return (K_IS_ROW ? (left + LINE - 1) / LINE * lines : left) * ROW;
}

// One thread brings the stages of all tiles of a block.
template <class T, int BM, int BN, int S, int TX, int TY>
__device__ __forceinline__ void fill_ring(const TensorMap& map_x, const TensorMap& map_y, const TensorMap& last_x, const TensorMap& last_y, uint32_t base, uint32_t full, uint32_t empty, const WgmmaTask& s) {
  constexpr int BK = ROW / sizeof(T), BYTES = (BM + BN) * ROW;
  int stage = 0, phase = 0;
  for (int t = blockIdx.x; t < s.work; t += gridDim.x) {
    const Place at = place_of(s, t);
    const int x0 = at.x * BM, y0 = at.y * BN, left_x = min(BM, s.x - x0), left_y = min(BN, s.y - y0);
    const int batch_x = at.batch - quotient(at.batch, s.batches_x) * static_cast<int>(s.batches_x.by), batch_y = at.batch - quotient(at.batch, s.batches_y) * static_cast<int>(s.batches_y.by);
    for (int step = 0; step < s.steps; step++) {
      const uint32_t bar = full + 8 * stage, x = base + stage * BYTES;
      const bool end = step + 1 == s.steps;
      const int lines = end ? s.tail * (BK / 4) : BK;
      barrier_wait(empty + 8 * stage, phase ^ 1);
      barrier_expect(bar, bytes_brought<T, TX>(left_x, lines) + bytes_brought<T, TY>(left_y, lines));
      load_operand<T, BM, TX>(x, (TX ? end : left_x < BM) ? last_x : map_x, bar, x0, step * BK, batch_x, left_x);
      load_operand<T, BN, TY>(x + BM * ROW, (TY ? end : left_y < BN) ? last_y : map_y, bar, y0, step * BK, batch_y, left_y);
      if (++stage == S) stage = 0, phase ^= 1;
    }
  }
}

#endif

template <class T, int BM, int BN, int TX, int TY>
__device__ __forceinline__ void matmul_by_turns(const TensorMap& map_x, const TensorMap& map_y, const TensorMap& last_x, const TensorMap& last_y, T* c, const WgmmaTask& s) {
#ifdef OPSCOPE_WGMMA
  using Product = WarpGroupProduct<BN / 2>;
  constexpr int S = BM == 192 ? 5 : STAGES<2, BN>, BYTES = (BM + BN) * ROW, WARP_ROWS = 128;  // the latter: of all warps, through shared memory
  extern __shared__ __align__(1024) char shared[];
  const uint32_t base = shared_address(shared), staging = base + S * BYTES, full = staging + WARP_ROWS * wgmma_store_row(BN), empty = full + 8 * S;
  start_ring<S>(map_x, map_y, full, empty, 1);
  const int group = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  if (group == 0) {
    give_registers<24>();
    if (threadIdx.x != 0) return;
    wait_for_last();  // operands that were copied first
    fill_ring<T, BM, BN, S, TX, TY>(map_x, map_y, last_x, last_y, base, full, empty, s);
    return;
  }

  take_registers<240>();
  const int consumer = group - 1, lane = threadIdx.x % 32, warp = static_cast<int>(threadIdx.x) / 32 % 4;
  const uint32_t own = staging + (consumer * 4 + warp) * 16 * wgmma_store_row(BN);
  int stage = 0, phase = 0;
  const auto advance = [&](int stages) {
    for (int i = 0; i < stages; i++)
      if (++stage == S) stage = 0, phase ^= 1;
  };
  const bool first = threadIdx.x % 128 == 0;
  const int parts = TX || TY ? s.tail : 4, whole = parts < 4 ? s.steps - 1 : s.steps;
  advance(consumer * s.steps);
  for (int t = blockIdx.x + consumer * gridDim.x; t < s.work; t += 2 * gridDim.x) {
    const Place at = place_of(s, t);
    float acc[BM / 64][BN / 2];
#pragma unroll
    for (int h = 0; h < BM / 64; h++)
#pragma unroll
      for (int i = 0; i < BN / 2; i++) acc[h][i] = 0;
    const auto settle_all = [&] {
#pragma unroll
      for (int h = 0; h < BM / 64; h++) settle(acc[h]);
    };
    int previous = -1;
    const auto free_previous = [&] {
      if (previous >= 0 && first) barrier_arrive(empty + 8 * previous);
    };
    const auto multiply = [&](int i) {
      const uint32_t x = base + stage * BYTES, y = x + BM * ROW;
      const uint32_t low_x = descriptor_low(x, TX ? BOX : 16), low_y = descriptor_low(y, TY ? BOX : 16);
      const uint64_t dy = descriptor_of(low_y + i * (TY ? ROW : 2), 1024);
#pragma unroll
      for (int h = 0; h < BM / 64; h++) Product::template shared<TY, TX>(acc[h], descriptor_of(low_x + h * (64 * ROW >> 4) + i * (TX ? ROW : 2), 1024), dy, 1, T());
    };
    // The other group has read the stages before.
    if (t != static_cast<int>(blockIdx.x)) turn_wait(2 + consumer, 256);
    for (int step = 0; step < whole; step++, advance(1)) {
      barrier_wait(full + 8 * stage, phase);
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < 4; i++) multiply(i);
      wgmma_commit();
      wgmma_wait<1>();
      free_previous();
      previous = stage;
    }
    if (parts < 4) {
      wgmma_wait<0>();
      settle_all();
      free_previous();
      barrier_wait(full + 8 * stage, phase);
      for (int i = 0; i < parts; i++) {
        wgmma_fence();
        multiply(i);
        wgmma_commit();
      }
      previous = stage;
      advance(1);
    }
    if (t + static_cast<int>(gridDim.x) < s.work) turn_arrive(3 - consumer, 256);
    wgmma_wait<0>();
    free_previous();
    settle_all();
    advance(s.steps);
    T* out = c + at.batch * (static_cast<long long>(s.x) * s.y);
    const int y0 = at.y * BN;
#pragma unroll
    for (int h = 0; h < BM / 64; h++) {
      const int x0 = at.x * BM + h * 64;
      if (s.y % 8 != 0) {
        store_rows_16<FromShared, BN>(out, acc[h], own, x0, s.x, y0, s.y, warp, lane);
      } else {
#pragma unroll
        for (int p = 0; p < BN / 32 && y0 + p * 32 < s.y; p++) store_columns<FromShared, false>(out, acc[h] + p * 16, x0 + FromShared::row(warp, lane), s.x, s.x, y0 + p * 32, s.y, lane);
      }
    }
  }
#endif
}

// The layouts of a type in a file of its own, as in wgmma_16bit.cuh.
//   matmul_turns_<t>_<rows>_<columns>_<layout>
#define TURNS(T, BM, BN, LAYOUT, TA, TB)                                                                                                                                                 \
  extern "C" __global__ void __launch_bounds__(384, 1) matmul_turns_##T##_##BM##_##BN##_##LAYOUT(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, const __grid_constant__ TensorMap last_a, \
                                                                                          const __grid_constant__ TensorMap last_b, T* c, const __grid_constant__ WgmmaTask task) {         \
    matmul_by_turns<T, BM, BN, TA, TB>(a, b, last_a, last_b, c, task);                                                                                                              \
  }
#define TURNS_LAYOUTS(T, BM, BN) TURNS(T, BM, BN, nn, 0, 1) TURNS(T, BM, BN, nt, 0, 0) TURNS(T, BM, BN, tn, 1, 1) TURNS(T, BM, BN, tt, 1, 0)
#define TURNS_16BIT(T) TURNS_LAYOUTS(T, 128, 192) TURNS_LAYOUTS(T, 128, 128) TURNS_LAYOUTS(T, 192, 128)
