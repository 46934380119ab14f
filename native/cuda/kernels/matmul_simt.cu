// matmul in full f32 (no tensor cores), for every shape, layout and alignment. 256 threads; both operands lie K by MN in
// shared memory, filled by cp.async several stages deep, so the inner loop is wide loads and fused multiply-adds only.
// `a` repeats after `batches_a` products.
// How to build and run: scripts/gpu/kernels.sh.
#include "common/mma.cuh"
#include "common/tiles.cuh"

namespace {

constexpr int BK = 32, THREADS = 256, PAD = 4;

// KMAJOR: K is contiguous in memory, so elements are turned one by one on their way to shared memory.
template <int MN, bool KMAJOR>
__device__ __forceinline__ void load_tile(float* shared, const float* base, long long ld, int mn0, int mn, int k0, int k, bool aligned) {
  constexpr int STRIDE = MN + PAD;
  if (!KMAJOR && aligned) {
#pragma unroll
    for (int c = 0; c < MN * BK / 4 / THREADS; c++) {
      const int id = c * THREADS + threadIdx.x, row = id / (MN / 4), column = id % (MN / 4) * 4;
      const bool valid = k0 + row < k && mn0 + column < mn;
      copy_async_16(shared_address(shared + row * STRIDE + column), valid ? base + (k0 + row) * ld + mn0 + column : base, valid ? 16 : 0);
    }
  } else {
    // Copy c of a thread lies a fixed step behind copy c - 1: one pointer, no table of them in registers.
    constexpr int STEP_K = KMAJOR ? 0 : THREADS / MN, STEP_MN = KMAJOR ? THREADS / BK : 0;
    const int kk = KMAJOR ? threadIdx.x % BK : threadIdx.x / MN, i = KMAJOR ? threadIdx.x / BK : threadIdx.x % MN;
    const float* from = KMAJOR ? base + (mn0 + i) * ld + k0 + kk : base + (k0 + kk) * ld + mn0 + i;
    const long long step = (KMAJOR ? STEP_MN : STEP_K) * ld;
    const uint32_t to = shared_address(shared + kk * STRIDE + i);
    if (k0 + BK <= k && mn0 + MN <= mn) {  // no edge in this tile: nothing to compare
#pragma unroll
      for (int c = 0; c < MN * BK / THREADS; c++, from += step) copy_async_4(to + (c * STEP_K * STRIDE + c * STEP_MN) * 4, from, 4);
    } else {
#pragma unroll
      for (int c = 0; c < MN * BK / THREADS; c++, from += step) {
        const bool valid = k0 + kk + c * STEP_K < k && mn0 + i + c * STEP_MN < mn;
        copy_async_4(to + (c * STEP_K * STRIDE + c * STEP_MN) * 4, valid ? from : base, valid ? 4 : 0);
      }
    }
  }
}

// Each of 16 x 16 threads computes TM x TN outputs, in blocks of 4 that lie BM / 2 and BN / 2 apart.
template <int BM, int BN, int STAGES, bool TRANS_A, bool TRANS_B>
__device__ __forceinline__ void matmul(const float* a, const float* b, float* c, int m, int n, int k, int tiles_m, int tiles_n, float* shares, int splits, int batches_a) {
  constexpr int TM = BM / 16, TN = BN / 16, SA = BM + PAD, SB = BN + PAD;
  extern __shared__ __align__(16) float shared[];
  float* shared_a = shared;
  float* shared_b = shared + STAGES * BK * SA;
  const int tiles = tiles_m * tiles_n;
  const int split = blockIdx.x % splits, batch = blockIdx.x / splits / tiles, batches = gridDim.x / splits / tiles;
  int tm, tn;
  tile_of(blockIdx.x / splits % tiles, tiles_m, tiles_n, tm, tn);
  a += static_cast<long long>(batch % batches_a) * m * k;
  b += static_cast<long long>(batch) * k * n;
  const int m0 = tm * BM, n0 = tn * BN;
  const long long lda = TRANS_A ? m : k, ldb = TRANS_B ? k : n;
  const bool aligned_a = lda % 4 == 0, aligned_b = ldb % 4 == 0;
  // A warp covers 4 rows by 8 columns of threads: neighbours read the same of A, neighbours but one the same of B, so that half a warp is one pass of a wide load.
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int ty = warp / 2 * 4 + (lane >> 1 & 3), tx = warp % 2 * 8 + ((lane & 1) | (lane >> 2 & 6));
  // This block's share of k, in steps.
  const int all = (k + BK - 1) / BK, each = (all + splits - 1) / splits, first = split * each, steps = min(each, all - first);

  const auto load = [&](int step) {
    if (step < steps) {
      load_tile<BM, !TRANS_A>(shared_a + step % STAGES * BK * SA, a, lda, m0, m, (first + step) * BK, k, aligned_a);
      load_tile<BN, TRANS_B>(shared_b + step % STAGES * BK * SB, b, ldb, n0, n, (first + step) * BK, k, aligned_b);
    }
    copy_commit();
  };
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) load(s);

  float acc[TM][TN] = {};
  for (int step = 0; step < steps; step++) {
    copy_wait<STAGES - 2>();
    __syncthreads();
    load(step + STAGES - 1);
    const float* pa = shared_a + step % STAGES * BK * SA + ty * 4;
    const float* pb = shared_b + step % STAGES * BK * SB + tx * 4;
#pragma unroll
    for (int kk = 0; kk < BK; kk++) {
      float fa[TM], fb[TN];
#pragma unroll
      for (int i = 0; i < TM; i += 4) *reinterpret_cast<float4*>(fa + i) = *reinterpret_cast<const float4*>(pa + kk * SA + i * 16);
#pragma unroll
      for (int j = 0; j < TN; j += 4) *reinterpret_cast<float4*>(fb + j) = *reinterpret_cast<const float4*>(pb + kk * SB + j * 16);
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j++) acc[i][j] = fmaf(fa[i], fb[j], acc[i][j]);
    }
  }

  c = splits > 1 ? shares + (static_cast<long long>(split) * batches + batch) * m * n : c + static_cast<long long>(batch) * m * n;
#pragma unroll
  for (int i = 0; i < TM; i++) {
    const int row = m0 + ty * 4 + i / 4 * 64 + i % 4;
    if (row >= m) continue;
    float* out = c + static_cast<long long>(row) * n;
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const int column = n0 + tx * 4 + j * 16;
      if (n % 4 == 0 && column < n) {
        *reinterpret_cast<float4*>(out + column) = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
      } else {
#pragma unroll
        for (int l = 0; l < 4; l++)
          if (column + l < n) out[column + l] = acc[i][j + l];
      }
    }
  }
}

}  // namespace

// TILE 256: 256 x 128 outputs, 128 of them per thread, one block per multiprocessor. 64: for small products, which do little per step, so that more steps must be on their way to hide the
// latency of memory. 128_2 and 64_4 have fewer stages, for GPUs with less shared memory (matmul/choice.h).
#define MATMUL(TILE, BM, BN, STAGES, BLOCKS, LAYOUT, TA, TB)                                                                                \
  extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)                                                                             \
      matmul_simt_f32_##TILE##_##LAYOUT(const float* a, const float* b, float* c, int m, int n, int k, int tiles_m, int tiles_n, float* shares, int splits, int batches_a) { \
    matmul<BM, BN, STAGES, TA, TB>(a, b, c, m, n, k, tiles_m, tiles_n, shares, splits, batches_a);                                                                     \
  }
#define MATMUL_LAYOUTS(TILE, BM, BN, STAGES, BLOCKS)        \
  MATMUL(TILE, BM, BN, STAGES, BLOCKS, nn, false, false)    \
  MATMUL(TILE, BM, BN, STAGES, BLOCKS, nt, false, true)     \
  MATMUL(TILE, BM, BN, STAGES, BLOCKS, tn, true, false)     \
  MATMUL(TILE, BM, BN, STAGES, BLOCKS, tt, true, true)
MATMUL_LAYOUTS(256, 256, 128, 3, 1)
MATMUL_LAYOUTS(128, 128, 128, 3, 2)
MATMUL_LAYOUTS(128_2, 128, 128, 2, 2)
MATMUL_LAYOUTS(64, 64, 64, 6, 2)
MATMUL_LAYOUTS(64_4, 64, 64, 4, 2)
