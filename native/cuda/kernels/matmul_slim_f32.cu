// matmul of f32 where m or n is at most 72, whatever the alignment of rows (matmul/slim.h says when): tiles as wide as the short side, where those of square products would be empty for the most
// part. A block copies 128 of the long side and all of the short one to shared memory, 32 of k at a time, two stages ahead, by words where rows do not start on 16 bytes. Sums in the order of k; k
// may be split over blocks.
//   matmul_slim_f32_<few>_<n|t><n|t>   of the short and the long side: k is contiguous (n) or not (t)
// How to build and run: scripts/gpu/kernels.sh.
#include "common/mma.cuh"
#include "matmul/skinny.h"
#include "matmul/slim_task.h"

namespace {

using opscope::cuda::SlimTask;
constexpr int THREADS = opscope::cuda::slim_threads, TILE = opscope::cuda::slim_tile, STEP = opscope::cuda::slim_step, STAGES = opscope::cuda::slim_stages;

// Of ROWS elements of a side: [row][k] with 16 bytes between rows, or [k][row]. Zero behind ends.
template <int ROWS, bool K>
struct Panel {
  static constexpr int PITCH = K ? STEP + 4 : ROWS, BYTES = opscope::cuda::slim_panel(ROWS, K);
  const float* from;
  long long pitch;  // elements between rows of memory
  int rows;
  bool wide;

  template <int WORDS, bool WHOLE>
  __device__ __forceinline__ void copy(float* to, long long first, int count) const {
    // Threads beyond the last row, or the last one of a round, copy nothing.
    constexpr int SPAN = K ? STEP : opscope::cuda::slim_span(ROWS), ACROSS = SPAN / WORDS, DOWN = THREADS / ACROSS, LINES = K ? ROWS : STEP;
    const int mine = static_cast<int>(threadIdx.x) % ACROSS * WORDS, line0 = static_cast<int>(threadIdx.x) / ACROSS;
    if (!K && SPAN > ROWS && mine >= ROWS) return;
    const float* source = from + (K ? line0 * pitch + first + mine : (first + line0) * pitch + mine);
    const uint32_t at = shared_address(to + line0 * PITCH + mine);
#pragma unroll 8
    for (int i = 0; i < (LINES + DOWN - 1) / DOWN; i++, source += DOWN * pitch) {
      const int line = line0 + i * DOWN;
      if (LINES % DOWN != 0 && line >= LINES) break;
      const bool there = WHOLE || (K ? line < rows && mine < count : line < count && mine < rows);
      const float* piece = there ? source : from;
      if constexpr (WORDS == 4) copy_async_16(at + i * DOWN * PITCH * 4, piece, there ? 16 : 0);
      else copy_async_4(at + i * DOWN * PITCH * 4, piece, there ? 4 : 0);
    }
  }
  // `count` of k from `first` on.
  __device__ __forceinline__ void load(float* to, long long first, int count) const {
    const bool whole = count == STEP && rows == ROWS;
    if (wide && whole) copy<4, true>(to, first, count);
    else if (wide) copy<4, false>(to, first, count);
    else if (whole) copy<1, true>(to, first, count);
    else copy<1, false>(to, first, count);
  }
};

// Of T elements that a thread of group g, of G, has: vectors of four where rows are contiguous, and single ones behind them.
template <bool K, int T, int G>
__device__ __forceinline__ int row_of(int g, int i) { return K || i >= T / 4 * 4 ? g + G * i : (g + G * (i / 4)) * 4 + i % 4; }

// Four of k.
template <int ROWS, bool K, int T, int G>
__device__ __forceinline__ void read(float (&v)[T][4], const float* panel, int g, int k) {
  if constexpr (K) {
#pragma unroll
    for (int i = 0; i < T; i++) {
      const float4 w = *reinterpret_cast<const float4*>(panel + row_of<K, T, G>(g, i) * (STEP + 4) + k);
      v[i][0] = w.x, v[i][1] = w.y, v[i][2] = w.z, v[i][3] = w.w;
    }
  } else {
#pragma unroll
    for (int c = 0; c < 4; c++) {
#pragma unroll
      for (int i = 0; i < T / 4 * 4; i += 4) {
        const float4 w = *reinterpret_cast<const float4*>(panel + (k + c) * ROWS + row_of<K, T, G>(g, i));
        v[i][c] = w.x, v[i + 1][c] = w.y, v[i + 2][c] = w.z, v[i + 3][c] = w.w;
      }
#pragma unroll
      for (int i = T / 4 * 4; i < T; i++) v[i][c] = panel[(k + c) * ROWS + row_of<K, T, G>(g, i)];
    }
  }
}

template <int FEW, bool FEW_K, bool LONG_K>
__device__ __forceinline__ void product(const SkinnyArguments& a, const SlimTask& t) {
  // Results of a thread, and groups of threads, along both sides.
  constexpr int X = FEW == 16 ? 4 : FEW / 8, Y = FEW == 16 ? 4 : 8, GX = FEW / X, GY = TILE / Y;
  extern __shared__ __align__(16) float shared[];
  using Few = Panel<FEW, FEW_K>;
  using Long = Panel<TILE, LONG_K>;
  constexpr int STAGE = (Few::BYTES + Long::BYTES) / 4;
  // Neighbouring lanes read the same of one side, neighbours but one the same of the other: half a warp is one pass of a wide load.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int gx = (lane & 1) | (lane >> 2 & 1) << 1 | (GX == 8 ? lane >> 4 << 2 : 0), gy = (lane >> 1 & 1) | (lane >> 3 & 1) << 1 | (GX == 8 ? warp << 2 : (lane >> 4 | warp << 1) << 2);
  const int batch = static_cast<int>(blockIdx.x / a.tiles);
  const long long first = (blockIdx.x - batch * a.tiles) * TILE, from = blockIdx.y * a.share, to = min(a.k, from + a.share);
  const int rows = static_cast<int>(min(static_cast<long long>(TILE), a.length - first));
  const Few few = {reinterpret_cast<const float*>(a.vectors) + batch * a.vectors_batch, FEW_K ? a.k : a.few, a.few, t.wide_few != 0};
  const Long matrix = {reinterpret_cast<const float*>(a.matrix) + batch * a.matrix_batch + (LONG_K ? first * a.k : first), LONG_K ? a.k : a.length, rows, t.wide_long != 0};
  const int steps = static_cast<int>((to - from + STEP - 1) / STEP);
  const auto load = [&](int step) {
    if (step < steps) {
      float* stage = shared + step % STAGES * STAGE;
      const long long k = from + static_cast<long long>(step) * STEP;
      const int count = static_cast<int>(min(static_cast<long long>(STEP), to - k));
      few.load(stage, k, count), matrix.load(stage + Few::BYTES / 4, k, count);
    }
    copy_commit();
  };
  float sum[Y][X] = {};
#pragma unroll 1
  for (int step = 1 - STAGES; step < steps; step++) {
    if (step >= 0) {
      copy_wait<STAGES - 2>();
      __syncthreads();
    }
    load(step + STAGES - 1);
    if (step < 0) continue;
    const float* stage = shared + step % STAGES * STAGE;
    // Only what there is of k.
    const int there = static_cast<int>(min(static_cast<long long>(STEP), to - from - static_cast<long long>(step) * STEP));
#pragma unroll 2
    for (int k = 0; k < there; k += 4) {
      float x[X][4], y[Y][4];
      read<FEW, FEW_K, X, GX>(x, stage, gx, k);
      read<TILE, LONG_K, Y, GY>(y, stage + Few::BYTES / 4, gy, k);
#pragma unroll
      for (int c = 0; c < 4; c++)
#pragma unroll
        for (int j = 0; j < Y; j++)
#pragma unroll
          for (int i = 0; i < X; i++) sum[j][i] = fmaf(y[j][c], x[i][c], sum[j][i]);
    }
  }
  copy_wait<0>();
  __syncthreads();
  // Through shared memory, so that neighbouring threads store neighbours.
  constexpr int PITCH = FEW + 1;
#pragma unroll
  for (int j = 0; j < Y; j++)
#pragma unroll
    for (int i = 0; i < X; i++) shared[row_of<LONG_K, Y, GY>(gy, j) * PITCH + row_of<FEW_K, X, GX>(gx, i)] = sum[j][i];
  __syncthreads();
  const int batches = static_cast<int>(gridDim.x / a.tiles);
  float* out = gridDim.y == 1 ? reinterpret_cast<float*>(a.out) + batch * a.out_batch : reinterpret_cast<float*>(a.shares) + (static_cast<long long>(blockIdx.y) * batches + batch) * a.out_batch;
  if (a.out_few == 1) {
    out += first * a.few;
    const int down = THREADS / a.few, across = THREADS - down * a.few;
    int row = static_cast<int>(threadIdx.x) / a.few, column = static_cast<int>(threadIdx.x) - row * a.few;
    for (int e = threadIdx.x; e < rows * a.few; e += THREADS) {
      out[e] = shared[row * PITCH + column];
      row += down, column += across;
      if (column >= a.few) column -= a.few, row++;
    }
  } else if (threadIdx.x < rows) {
    out += first + threadIdx.x;
    for (int i = 0; i < a.few; i++) out[static_cast<long long>(i) * a.out_few] = shared[threadIdx.x * PITCH + i];
  }
}

}  // namespace

#define KERNEL(FEW, NAME, FEW_K, LONG_K) \
  extern "C" __global__ void __launch_bounds__(THREADS, FEW >= 64 ? 2 : 3) matmul_slim_f32_##FEW##_##NAME(const SkinnyArguments a, const SlimTask t) { product<FEW, FEW_K, LONG_K>(a, t); }
#define LAYOUTS(FEW) KERNEL(FEW, nn, true, true) KERNEL(FEW, nt, true, false) KERNEL(FEW, tn, false, true) KERNEL(FEW, tt, false, false)
LAYOUTS(16)
LAYOUTS(24)
LAYOUTS(32)
LAYOUTS(40)
LAYOUTS(48)
LAYOUTS(56)
LAYOUTS(64)
LAYOUTS(72)
