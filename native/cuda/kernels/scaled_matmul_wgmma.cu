// scaled_matmul by wgmma (sm_90a), for rows that start on 16 bytes (others are copied so first: scaled_matmul.plan.cc). X is a [m, k], Y is b [n, k]; tiles, the
// ring of stages and shares of K as for matmul (matmul/wgmma.cuh). The tensor cores keep about 14 bits of a running sum of fp8 products: each stage of K (128
// elements) starts anew, and its sums are added up in f32.
//   scaled_matmul_wgmma_<dtype>_<rows of a tile>_<columns>
// How to build and run: scripts/gpu/kernels.sh.
#include "common/wgmma_bytes.cuh"
#include "matmul/wgmma.cuh"

namespace {

#ifdef OPSCOPE_WGMMA

// The sums of a tile by the stages of this block's share of K. `multiply(d, fresh)` waits for a stage and issues its products, `free_before()` and `free_last()` give back the
// stage before the last one that was issued, and that one.
template <int R, class Multiply, class FreeBefore, class FreeLast>
__device__ __forceinline__ void sum_stages(int (&acc)[R], int steps, const Multiply& multiply, const FreeBefore& free_before, const FreeLast& free_last) {
#pragma unroll
  for (int i = 0; i < R; i++) acc[i] = 0;
  for (int step = 0; step < steps; step++) {
    multiply(acc, false);
    wgmma_wait<1>();
    free_before();
  }
  wgmma_wait<0>();
  free_last();
  settle(acc);
}
template <int R>
__device__ __forceinline__ void add(float (&acc)[R], float (&part)[R]) {
  settle(part);
#pragma unroll
  for (int i = 0; i < R; i++) acc[i] += part[i];
}
// Two sets of sums, so that a stage is multiplied while the one before is added up; one where registers do not hold two.
template <int R, class Multiply, class FreeBefore, class FreeLast>
__device__ __forceinline__ void sum_stages(float (&acc)[R], int steps, const Multiply& multiply, const FreeBefore& free_before, const FreeLast& free_last) {
#pragma unroll
  for (int i = 0; i < R; i++) acc[i] = 0;
  float even[R];
  if constexpr (R > 64) {
    for (int step = 0; step < steps; step++) {
      multiply(even, true);
      wgmma_wait<0>();
      free_last();
      add(acc, even);
    }
  } else {
    float odd[R];
#pragma unroll
    for (int i = 0; i < R; i++) odd[i] = 0;
    int step = 0;
    for (; step + 1 < steps; step += 2) {
      multiply(even, true);
      wgmma_wait<1>();
      free_before();
      add(acc, odd);
      multiply(odd, true);
      wgmma_wait<1>();
      free_before();
      add(acc, even);
    }
    if (step < steps) {
      multiply(even, true);
      wgmma_wait<1>();
      free_before();
      add(acc, odd);
      wgmma_wait<0>();
      free_last();
      add(acc, even);
    } else {
      wgmma_wait<0>();
      free_last();
      add(acc, odd);
    }
  }
}

#endif

template <class T, int GROUPS, int BN>
__device__ __forceinline__ void scaled(const TensorMap& map_x, const TensorMap& map_y, const TensorMap& last_x, const TensorMap& last_y, const float* scale_a, const float* scale_b, bf16* c, float* shares, const WgmmaTask& s) {
#ifdef OPSCOPE_WGMMA
  constexpr int S = STAGES<GROUPS, BN>, BM = GROUPS * 64, X_BYTES = BM * ROW, BYTES = X_BYTES + BN * ROW;
  constexpr bool MANY_REGISTERS = GROUPS == 2 && BN >= 128;
  extern __shared__ __align__(1024) char shared[];
  const uint32_t base = shared_address(shared), staging = base + S * BYTES, full = staging + BM * wgmma_store_row(BN), empty = full + 8 * S;
  const int splits = static_cast<int>(s.splits.by), group = threadIdx.x / 128;
  start_ring<S>(map_x, map_y, full, empty, GROUPS);

  int stage = 0, phase = 0;
  const auto advance = [&] {
    if (++stage == S) stage = 0, phase ^= 1;
  };
  if (group == 0) {
    if constexpr (MANY_REGISTERS) give_registers<24>();
    if (threadIdx.x != 0) return;
    wait_for_last();  // operands that were copied first
    for (int t = blockIdx.x; t < s.work; t += gridDim.x) {
      const Place at = place_of(s, t);
      const Steps steps = steps_of(s, at);
      const int rows_x = min(BM, s.x - at.x * BM), rows_y = min(BN, s.y - at.y * BN);
      const TensorMap &this_x = rows_x < BM ? last_x : map_x, &this_y = rows_y < BN ? last_y : map_y;
      for (int step = steps.from; step < steps.to; step++, advance()) {
        const uint32_t bar = full + 8 * stage, x = base + stage * BYTES;
        barrier_wait(empty + 8 * stage, phase ^ 1);
        barrier_expect(bar, (rows_x + rows_y) * ROW);
        bulk_load(x, &this_x, bar, step * ROW, at.x * BM, 0);
        bulk_load(x + X_BYTES, &this_y, bar, step * ROW, at.y * BN, 0);
      }
    }
    return;
  }

  if constexpr (MANY_REGISTERS) take_registers<240>();
  const int consumer = group - 1, lane = threadIdx.x % 32, warp = static_cast<int>(threadIdx.x) / 32 - 4;
  for (int t = blockIdx.x; t < s.work; t += gridDim.x) {
    const Place at = place_of(s, t);
    const Steps steps = steps_of(s, at);
    int last = -1, before = -1;  // stages that were issued
    const auto multiply = [&](auto& d, bool fresh) {
      const uint32_t x = base + stage * BYTES + consumer * 64 * ROW, y = base + stage * BYTES + X_BYTES;
      barrier_wait(full + 8 * stage, phase);
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < 4; i++) multiply_bytes(d, wgmma_descriptor(x + i * 32, 16, 1024), wgmma_descriptor(y + i * 32, 16, 1024), i > 0 || !fresh, T());
      wgmma_commit();
      before = last;
      last = stage;
      advance();
    };
    const auto release = [&](int which) {
      if (which >= 0 && threadIdx.x % 128 == 0) barrier_arrive(empty + 8 * which);
    };
    ProductSum<T> sums[BN / 2];
    sum_stages(sums, steps.to - steps.from, multiply, [&] { release(before); }, [&] { release(last); });

    float acc[BN / 2];
#pragma unroll
    for (int i = 0; i < BN / 2; i++) acc[i] = static_cast<float>(sums[i]);
    settle(acc);  // before scales take registers
    const int row = at.x * BM + FromShared::row(warp, lane), column = at.y * BN + lane % 4 * 2;
    const float low = row < s.x ? scale_a[row] : 0, high = row + 8 < s.x ? scale_a[row + 8] : 0;
#pragma unroll
    for (int j = 0; j < BN / 8; j++)
#pragma unroll
      for (int i = 0; i < 2; i++) {
        const int to = column + j * 8 + i;
        const float by = to < s.y ? scale_b[to] : 0;
        acc[j * 4 + i] *= low * by;
        acc[j * 4 + 2 + i] *= high * by;
      }
    const long long results = static_cast<long long>(s.x) * s.y;
    if (s.joined) join_tile<GROUPS, BN>(base, acc, splits, [&](const float(&total)[16], int w, int column, int lane) { store_columns<FromShared, false>(c, total, at.x * BM + FromShared::row(w, lane), s.x, s.x, at.y * BN + column, s.y, lane); });
    else if (s.whole > 0 && at.part >= 0) store_tile<FromShared, false, BN>(shares + (static_cast<long long>(at.split) * s.parts + at.part) * (BM * BN), acc, staging, 0, BM, BM, 0, BN);
    else if (splits > 1 && at.part >= 0) store_tile<FromShared, false, BN>(shares + at.split * results, acc, staging, at.x * BM, s.x, s.x, at.y * BN, s.y);
    else store_tile<FromShared, false, BN>(c, acc, staging, at.x * BM, s.x, s.x, at.y * BN, s.y);
  }
#endif
}

}  // namespace

#define SCALED(T, dtype, GROUPS, BM, BN)                                                                                                                                                    \
  extern "C" __global__ void __launch_bounds__(128 + GROUPS * 128, 1) scaled_matmul_wgmma_##dtype##_##BM##_##BN(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap y,      \
                                                                                                                const __grid_constant__ TensorMap last_x, const __grid_constant__ TensorMap last_y, const float* scale_a, const float* scale_b, bf16* c, float* shares,          \
                                                                                                                const __grid_constant__ WgmmaTask task) {                                     \
    scaled<T, GROUPS, BN>(x, y, last_x, last_y, scale_a, scale_b, c, shares, task);                                                                                                                          \
  }
#define SCALED_TILES(T, dtype) SCALED(T, dtype, 2, 128, 192) SCALED(T, dtype, 2, 128, 128) SCALED(T, dtype, 2, 128, 64) SCALED(T, dtype, 1, 64, 64)
SCALED_TILES(e4m3, f8e4m3)
SCALED_TILES(int8, i8)
SCALED(int8, i8, 2, 128, 256)
