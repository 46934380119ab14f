// matmul in full f32 (no tensor cores) for operands whose rows start on 16 bytes (others are copied so first: matmul.plan.cc), on Hopper. Each
// warp sums 64 x 64 outputs, 16 x 8 in a thread; the copy engine fills a ring of stages, 32 of k each. In shared memory an operand
// lies as in memory: rows of 32 elements of k, whose 16-byte chunks the copy engine swizzles, or rows of the tile's elements. Which lanes
// share what they read, and the order of the multiply-adds, keep wide loads in half the passes and registers out of each other's banks.
// `a` repeats after `batches_a` products.
//   matmul_f32_<tile>_<layout>   tile 256: 256 x 128 outputs; 128: 128 x 128, two blocks of a multiprocessor; 64: 128 x 64, where four times as
//                                many warps each take a quarter of every stage (matmul/f32.h)
// How to build and run: scripts/gpu/kernels.sh.
#include "common/tiles.cuh"
#include "common/wgmma.cuh"

namespace {

struct alignas(64) TensorMap {
  char opaque[128];
};

#ifdef OPSCOPE_WGMMA

constexpr int BK = 32, LINE = BK * 4;  // of k in a stage; its bytes

__device__ __forceinline__ float4 load_shared(const float* p) { return *reinterpret_cast<const float4*>(p); }

#endif

// WM x WN warps of 64 x 64 outputs, SLICES of them for parts of a stage. A_ROWS, B_ROWS: k is contiguous in the operand.
template <int WM, int WN, int SLICES, int STAGES, bool A_ROWS, bool B_ROWS>
__device__ __forceinline__ void matmul(const TensorMap& map_a, const TensorMap& map_b, float* c, int m, int n, int k, int tiles_m, int tiles_n, float* shares, int splits, int batches_a) {
#ifdef OPSCOPE_WGMMA
  constexpr int BM = WM * 64, BN = WN * 64, WARPS = WM * WN, STAGE = (BM + BN) * BK;
  extern __shared__ __align__(1024) float shared[];
  __shared__ __align__(8) uint64_t arrived[STAGES];
  const int tiles = tiles_m * tiles_n;
  const int split = blockIdx.x % splits, batch = blockIdx.x / splits / tiles, batches = gridDim.x / splits / tiles;
  int tm, tn;
  tile_of(blockIdx.x / splits % tiles, tiles_m, tiles_n, tm, tn);
  const int m0 = tm * BM, n0 = tn * BN;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, slice = warp / WARPS, wm = warp % WARPS / WN, wn = warp % WN;
  // 4 by 8 lanes: neighbours read the same of A, neighbours but one the same of B, so that half a warp is one pass.
  const int tx = (lane & 1) | (lane >> 2 & 6), ty = lane >> 1 & 3;
  // This block's share of k, in steps.
  const int all = (k + BK - 1) / BK, each = (all + splits - 1) / splits, first = split * each, steps = min(each, all - first);

  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) barrier_init(shared_address(&arrived[s]), 1);
    fence_shared_for_async();
  }
  __syncthreads();
  const auto load = [&](int step) {
    if (threadIdx.x != 0 || step >= steps) return;
    const uint32_t to = shared_address(shared) + step % STAGES * STAGE * 4, barrier = shared_address(&arrived[step % STAGES]);
    const int k0 = (first + step) * BK;
    barrier_expect(barrier, STAGE * 4);
    bulk_load(to, &map_a, barrier, A_ROWS ? k0 : m0, A_ROWS ? m0 : k0, batch % batches_a);
    bulk_load(to + BM * LINE, &map_b, barrier, B_ROWS ? k0 : n0, B_ROWS ? n0 : k0, batch);
  };
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) load(s);

  float acc[16][8] = {};
  for (int step = 0; step < steps; step++) {
    barrier_wait(shared_address(&arrived[step % STAGES]), step / STAGES & 1);
    __syncthreads();  // all have read the stage before, which is filled next
    load(step + STAGES - 1);
    const float* a = shared + step % STAGES * STAGE + (A_ROWS ? (wm * 64 + ty) * BK : wm * 64 + ty * 4);
    const float* b = shared + step % STAGES * STAGE + BM * BK + (B_ROWS ? (wn * 64 + tx) * BK : wn * 64 + tx * 4);
#pragma unroll
    for (int q = 0; q < 8 / SLICES; q++) {
      const int chunk = slice * (8 / SLICES) + q;  // four of k
      float fb[4][8];
#pragma unroll
      for (int j = 0; j < 8; j++) {
        if (B_ROWS) {
          const float4 v = load_shared(b + j * 8 * BK + ((chunk ^ tx) << 2));
          fb[0][j] = v.x, fb[1][j] = v.y, fb[2][j] = v.z, fb[3][j] = v.w;
        } else {
          const float4 v = load_shared(b + (chunk * 4 + j / 2) * BN + j % 2 * 32);
          float* to = fb[j / 2] + j % 2 * 4;
          to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
        }
      }
      // A vector of A at a time: four of k of a row, or one of k of four rows.
#pragma unroll
      for (int i = 0; i < 16; i++) {
        const float4 v = load_shared(A_ROWS ? a + i * 4 * BK + ((chunk ^ ty ^ (i % 2 * 4)) << 2) : a + (chunk * 4 + i % 4) * BM + i / 4 * 16);
        const float fa[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int e = 0; e < 4; e++) {
          const int row = A_ROWS ? i : i / 4 * 4 + e, kk = A_ROWS ? e : i % 4;
#pragma unroll
          for (int j = 0; j < 8; j++) {
            // There and back: the element of B at the turn is at hand.
            const int column = !A_ROWS && e % 2 ? 7 - j : j;
            acc[row][column] = fmaf(fa[e], fb[kk][column], acc[row][column]);
          }
        }
      }
    }
  }

  // Slices add up by halves, in the same order every time.
#pragma unroll
  for (int far = SLICES / 2; far > 0; far /= 2) {
    float* sums = shared + (slice % far * WARPS + warp % WARPS) * 4096 + lane;
    __syncthreads();
    if (slice >= far && slice < 2 * far) {
#pragma unroll
      for (int i = 0; i < 128; i++) sums[i * 32] = acc[i / 8][i % 8];
    }
    __syncthreads();
    if (slice < far) {
#pragma unroll
      for (int i = 0; i < 128; i++) acc[i / 8][i % 8] += sums[i * 32];
    }
  }
  if (slice > 0) return;

  c = splits > 1 ? shares + (static_cast<long long>(split) * batches + batch) * m * n : c + static_cast<long long>(batch) * m * n;
  const int row0 = m0 + wm * 64, column0 = n0 + wn * 64;
  const auto row_of = [&](int i) { return A_ROWS ? ty + 4 * i : i / 4 * 16 + ty * 4 + i % 4; };
  if (!B_ROWS && n % 4 == 0) {
#pragma unroll
    for (int i = 0; i < 16; i++)
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
        const int row = row0 + row_of(i), column = column0 + tx * 4 + j * 8;
        if (row < m && column < n) *reinterpret_cast<float4*>(c + static_cast<long long>(row) * n + column) = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
      }
    return;
  }
  // Through shared memory, so that neighbours store what lies together. The slices' last barrier, or this one: no stage is read any more.
  constexpr int PITCH = 68;
  if (SLICES == 1) __syncthreads();
  else asm volatile("bar.sync 1, %0;" ::"n"(WARPS * 32) : "memory");
  float* turned = shared + warp % WARPS * (64 * PITCH);
#pragma unroll
  for (int i = 0; i < 16; i++)
#pragma unroll
    for (int j = 0; j < 8; j += B_ROWS ? 1 : 4) {
      if (B_ROWS) turned[row_of(i) * PITCH + tx + 8 * j] = acc[i][j];
      else *reinterpret_cast<float4*>(turned + row_of(i) * PITCH + tx * 4 + j * 8) = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
    }
  __syncwarp();
  for (int i = 0; i < 64 && row0 + i < m; i++)
#pragma unroll
    for (int j = lane; j < 64; j += 32)
      if (column0 + j < n) c[static_cast<long long>(row0 + i) * n + column0 + j] = turned[i * PITCH + j];
#endif
}

}  // namespace

#define MATMUL(TILE, WM, WN, SLICES, STAGES, BLOCKS, LAYOUT, A_ROWS, B_ROWS)                                                                                                                                   \
  extern "C" __global__ void __launch_bounds__(WM * WN * SLICES * 32, BLOCKS) matmul_f32_##TILE##_##LAYOUT(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float* c, int m, int n, \
                                                                                                     int k, int tiles_m, int tiles_n, float* shares, int splits, int batches_a) {                     \
    matmul<WM, WN, SLICES, STAGES, A_ROWS, B_ROWS>(a, b, c, m, n, k, tiles_m, tiles_n, shares, splits, batches_a);                                                                                     \
  }
#define MATMUL_LAYOUTS(TILE, WM, WN, SLICES, STAGES, BLOCKS)        \
  MATMUL(TILE, WM, WN, SLICES, STAGES, BLOCKS, nn, true, false)     \
  MATMUL(TILE, WM, WN, SLICES, STAGES, BLOCKS, nt, true, true)      \
  MATMUL(TILE, WM, WN, SLICES, STAGES, BLOCKS, tn, false, false)    \
  MATMUL(TILE, WM, WN, SLICES, STAGES, BLOCKS, tt, false, true)
MATMUL_LAYOUTS(256, 4, 2, 1, 4, 1)
MATMUL_LAYOUTS(128, 2, 2, 1, 3, 2)
MATMUL_LAYOUTS(64, 2, 1, 4, 6, 1)
