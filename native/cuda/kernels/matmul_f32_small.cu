// matmul in full f32 (no tensor cores) of a few tiles, for every layout and alignment (matmul/f32.h says when it is used). A block has 32 x 32 results, its eight warps
// each take an eighth of a stage of k, 8 x 4 results of a thread, and what they have is added up in shared memory, in the order of the warps. In shared memory an
// operand lies as in memory: rows of k, or of the tile's elements. `a` repeats after `batches_a` products. Where tiles are fewer than multiprocessors, the blocks of a cluster share k, and each adds
// up some rows of the tile, in the order of the shares.
//   matmul_f32_small_<layout>[_shares]   layout as in matmul_simt.cu
//   matmul_f32_small_linear     B turned, with what follows a linear layer in the store (matmul/linear.h)
// How to build and run: scripts/gpu/kernels.sh.
#include "common/cluster.cuh"
#include "common/mma.cuh"
#include "common/start_early.cuh"
#include "common/tiles.cuh"
#include "matmul/linear_one.cuh"
#include "matmul/sizes.h"

namespace {

constexpr int SIDE = opscope::cuda::f32_small_tile, BK = opscope::cuda::f32_small_step, STAGES = opscope::cuda::f32_small_stages, WARPS = 8, THREADS = 32 * WARPS;
static_assert(SIDE == 32 && BK % (4 * WARPS) == 0);

// K: k is contiguous. Lanes of a warp read a vector of 16 bytes of as many rows, or of as many places of one row, as they have: neither meets a bank twice.
template <bool K>
struct Panel {
  static constexpr int PITCH = K ? BK + 4 : SIDE, LINES = K ? SIDE : BK, ACROSS = K ? BK : SIDE;

  // `rows`, `k`: what the operand has from this panel's first on; `pitch`: elements between lines.
  static __device__ __forceinline__ void load(float* to, const float* from, long long pitch, int rows, int k, bool aligned) {
    const int lines = K ? rows : k, columns = K ? k : rows;
    if (aligned) {
#pragma unroll
      for (int i = 0; i < LINES * ACROSS / 4 / THREADS; i++) {
        const int id = i * THREADS + threadIdx.x, line = id / (ACROSS / 4), column = id % (ACROSS / 4) * 4;
        const bool valid = line < lines && column < columns;
        copy_async_16(shared_address(to + line * PITCH + column), valid ? from + line * pitch + column : from, valid ? 16 : 0);
      }
    } else {
#pragma unroll 8
      for (int i = 0; i < LINES * ACROSS / THREADS; i++) {
        const int id = i * THREADS + threadIdx.x, line = id / ACROSS, column = id % ACROSS;
        const bool valid = line < lines && column < columns;
        copy_async_4(shared_address(to + line * PITCH + column), valid ? from + line * pitch + column : from, valid ? 4 : 0);
      }
    }
  }

  // The row of the tile that is number `i` of N of the lanes at `place` of 32 / (N / 8 * 4) along this side.
  template <int N>
  static __device__ __forceinline__ int row_of(int place, int i) { return K ? place + SIDE / N * i : i / 4 * (SIDE / N * 4) + place * 4 + i % 4; }

  // Four of k from `k0` on.
  template <int N>
  static __device__ __forceinline__ void fragment(float (&f)[4][N], const float* panel, int place, int k0) {
#pragma unroll
    for (int i = 0; i < N; i++) {
      const float4 v = *reinterpret_cast<const float4*>(K ? panel + row_of<N>(place, i) * PITCH + k0 : panel + (k0 + i % 4) * PITCH + row_of<N>(place, i / 4 * 4));
      const float e[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
      for (int j = 0; j < 4; j++) {
        if (K) f[j][i] = e[j];
        else f[i % 4][i / 4 * 4 + j] = e[j];
      }
    }
  }
};

// LINEAR: what is done with the results of one product beside storing them, as `linear` says. SHARES: k is split over the `splits` blocks of a cluster.
template <bool TRANS_A, bool TRANS_B, bool LINEAR = false, bool SHARES = false>
__device__ __forceinline__ void matmul(const float* a, const float* b, float* c, int m, int n, int k, int tiles_m, int tiles_n, int batches_a, int splits, const LinearStore& linear = {}) {
  using A = Panel<!TRANS_A>;
  using B = Panel<TRANS_B>;
  constexpr int TM = 8, TN = 4, SIZE_A = A::PITCH * A::LINES, STAGE = SIZE_A + B::PITCH * B::LINES;
  extern __shared__ __align__(16) float shared[];
  const int tiles = tiles_m * tiles_n, number = SHARES ? static_cast<int>(blockIdx.x) / splits : static_cast<int>(blockIdx.x), batch = number / tiles, lane = threadIdx.x % 32, warp = threadIdx.x / 32, ty = lane / 8, tx = lane % 8;
  int tm, tn;
  tile_of(number - batch * tiles, tiles_m, tiles_n, tm, tn);
  const int m0 = tm * SIDE, n0 = tn * SIDE, all = (k + BK - 1) / BK, each = SHARES ? (all + splits - 1) / splits : all, rank = SHARES ? static_cast<int>(cluster_rank()) : 0, first = rank * each, steps = min(all, first + each);
  const long long lda = TRANS_A ? m : k, ldb = TRANS_B ? k : n;
  a += static_cast<long long>(batch % batches_a) * m * k + (TRANS_A ? m0 : m0 * lda);
  b += static_cast<long long>(batch) * k * n + (TRANS_B ? n0 * ldb : n0);
  // Products of a batch, too, start on 16 bytes where their rows do.
  const bool aligned_a = lda % 4 == 0, aligned_b = ldb % 4 == 0;
  const auto load_a = [&](int step) {
    const int k0 = step * BK;
    if (step < steps) A::load(shared + step % STAGES * STAGE, TRANS_A ? a + k0 * lda : a + k0, lda, m - m0, k - k0, aligned_a);
  };
  const auto load_b = [&](int step) {
    const int k0 = step * BK;
    if (step < steps) B::load(shared + step % STAGES * STAGE + SIZE_A, TRANS_B ? b + k0 : b + k0 * ldb, ldb, n - n0, k - k0, aligned_b);
  };
  float bias = 0;
  if constexpr (LINEAR) {
    // Weights, which no launch before writes.
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) load_b(s);
    if (n0 + lane < n) bias = linear_bias<float>(linear, n0 + lane);
  }
  start_early();
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) {
    load_a(first + s);
    if constexpr (!LINEAR) load_b(first + s);
    copy_commit();
  }

  float acc[TM][TN] = {};
  for (int step = first; step < steps; step++) {
    copy_wait<STAGES - 2>();
    __syncthreads();
    load_a(step + STAGES - 1);
    load_b(step + STAGES - 1);
    copy_commit();
    const float* panel = shared + step % STAGES * STAGE;
    if (step * BK + warp * (BK / WARPS) >= k) continue;
#pragma unroll
    for (int q = 0; q < BK / WARPS; q += 4) {
      float fa[4][TM], fb[4][TN];
      A::template fragment<TM>(fa, panel, ty, warp * (BK / WARPS) + q);
      B::template fragment<TN>(fb, panel + SIZE_A, tx, warp * (BK / WARPS) + q);
#pragma unroll
      for (int kk = 0; kk < 4; kk++)
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
          for (int j = 0; j < TN; j++) acc[i][j] = fmaf(fa[kk][i], fb[kk][j], acc[i][j]);
    }
  }
  copy_wait<0>();
  __syncthreads();
  // [warp][row][column], rows spaced so that the lanes of a store meet different banks.
  constexpr int PITCH = !TRANS_B ? SIDE + 4 : TRANS_A ? SIDE + 2 : SIDE + 8, PART = SIDE * PITCH;
  static_assert(WARPS * PART <= STAGES * STAGE);
#pragma unroll
  for (int i = 0; i < TM; i++) {
    float* to = shared + warp * PART + A::template row_of<TM>(ty, i) * PITCH + B::template row_of<TN>(tx, 0);
    if constexpr (!TRANS_B) *reinterpret_cast<float4*>(to) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
    else
#pragma unroll
      for (int j = 0; j < TN; j++) to[SIDE / TN * j] = acc[i][j];
  }
  __syncthreads();
  c += static_cast<long long>(batch) * m * n;
  const auto total_of = [&](int row) {
    float total = 0;
#pragma unroll
    for (int w = 0; w < WARPS; w++) total += shared[w * PART + row * PITCH + lane];
    return total;
  };
  if constexpr (SHARES) {
    float* const totals = shared + WARPS * PART;
    static_assert(WARPS * PART + SIDE * SIDE <= STAGES * STAGE);
#pragma unroll
    for (int row = warp; row < SIDE; row += WARPS) totals[row * SIDE + lane] = total_of(row);
    cluster_arrive();
    cluster_wait();
    for (int row = rank + splits * warp; row < SIDE; row += splits * WARPS) {
      float total = 0;
      for (int r = 0; r < splits; r++) total += of_block(totals[row * SIDE + lane], r);
      if (m0 + row < m && n0 + lane < n) c[static_cast<long long>(m0 + row) * n + n0 + lane] = total;
    }
    // No block ends before the others have read what it has.
    cluster_arrive();
    cluster_wait();
  } else {
#pragma unroll
    for (int row = warp; row < SIDE; row += WARPS) {
      const float total = total_of(row);
      if (m0 + row >= m || n0 + lane >= n) continue;
      const long long at = static_cast<long long>(m0 + row) * n + n0 + lane;
      if constexpr (LINEAR) linear_store(c, linear, total + bias, linear_added<float>(linear, at), at, m0 + row, n0 + lane);
      else c[at] = total;
    }
  }
}

}  // namespace

#define MATMUL(LAYOUT, TA, TB)                                                                                                                                        \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) matmul_f32_small_##LAYOUT(const float* a, const float* b, float* c, int m, int n, int k, int tiles_m, int tiles_n, int batches_a) { \
    matmul<TA, TB>(a, b, c, m, n, k, tiles_m, tiles_n, batches_a, 1);                                                                                                 \
  }                                                                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(THREADS, 2) matmul_f32_small_##LAYOUT##_shares(const float* a, const float* b, float* c, int m, int n, int k, int tiles_m, int tiles_n, int batches_a, \
                                                                                              int splits) {                                                           \
    matmul<TA, TB, false, true>(a, b, c, m, n, k, tiles_m, tiles_n, batches_a, splits);                                                                               \
  }
MATMUL(nn, false, false)
MATMUL(nt, false, true)
MATMUL(tn, true, false)
MATMUL(tt, true, true)
extern "C" __global__ void __launch_bounds__(THREADS, 2) matmul_f32_small_linear(const float* a, const float* b, float* c, int m, int n, int k, int tiles_m, int tiles_n, const __grid_constant__ LinearStore linear) {
  matmul<false, true, true>(a, b, c, m, n, k, tiles_m, tiles_n, 1, 1, linear);
}
