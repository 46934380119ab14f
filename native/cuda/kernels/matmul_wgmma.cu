// matmul on Hopper's tensor cores by wgmma (sm_90a), for operands whose rows start on 16 bytes (others are copied so first: matmul.plan.cc).
// A persistent block per multiprocessor: one warp keeps the copy engine filling a ring of stages (128 bytes of K each),
// two warp groups multiply 64 x BN each, and the ring fills for the next tile while they store this one.
// f16 and bf16 read either layout of either operand; tf32 wants K contiguous, so others are turned first (matmul_parts.cu).
// Where there are fewer tiles than multiprocessors, shares of k go to f32 sums of their own, which matmul_join adds up (matmul_parts.cu).
// How to build and run: scripts/gpu/kernels.sh.
#include "common/tiles.cuh"
#include "common/turn.cuh"
#include "common/wgmma.cuh"

namespace {

struct alignas(64) TensorMap {
  char opaque[128];
};

#ifdef OPSCOPE_WGMMA

constexpr int BM = 128, ROW = 128;  // rows of A in a tile; bytes of K in a stage
constexpr int BOX = 64 * ROW;       // 64 elements of M or N by one stage of K, when K is not contiguous

template <int BN>
constexpr int STAGES = BN == 256 ? 4 : BN == 128 ? 6 : 8;
template <int BN>
constexpr int STAGE_BYTES = (BM + BN) * ROW;

template <int BN, int TA, int TB, class T>
__device__ __forceinline__ void multiply(float (&acc)[BN / 2], uint64_t a, uint64_t b, T t) {
  if constexpr (sizeof(T) == 4) {
    if constexpr (BN == 256) wgmma_m64n256(acc, a, b, t);
    else if constexpr (BN == 128) wgmma_m64n128(acc, a, b, t);
    else wgmma_m64n64(acc, a, b, t);
  } else {
    if constexpr (BN == 256) wgmma_m64n256<TA, TB>(acc, a, b, t);
    else if constexpr (BN == 128) wgmma_m64n128<TA, TB>(acc, a, b, t);
    else wgmma_m64n64<TA, TB>(acc, a, b, t);
  }
}

// Rows `row` and `row + 8` of the warp group's part; acc holds pairs of columns 8 apart.
template <int BN, class T>
__device__ __forceinline__ void store_tile(T* c, const float (&acc)[BN / 2], int row, int m, int column0, int n, int lane) {
  const bool wide = n % 8 == 0;
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int r = row + half * 8;
    T* out = c + static_cast<long long>(r) * n;
    if (!wide) {
#pragma unroll
      for (int j = 0; j < BN / 8; j++)
#pragma unroll
        for (int i = 0; i < 2; i++) {
          const int column = column0 + j * 8 + lane % 4 * 2 + i;
          if (r < m && column < n) out[column] = from_float<T>(acc[j * 4 + half * 2 + i]);
        }
    } else if constexpr (sizeof(T) == 4) {
#pragma unroll
      for (int j = 0; j < BN / 8; j++) {
        const int column = column0 + j * 8 + lane % 4 * 2;
        if (r < m && column < n) *reinterpret_cast<float2*>(out + column) = make_float2(acc[j * 4 + half * 2], acc[j * 4 + half * 2 + 1]);
      }
    } else {
#pragma unroll
      for (int j = 0; j < BN / 8; j += 4) {
        uint32_t w[4];
#pragma unroll
        for (int i = 0; i < 4; i++) w[i] = pack_pair(acc[(j + i) * 4 + half * 2], acc[(j + i) * 4 + half * 2 + 1], T());
        turn_quad(w, lane);
        const int column = column0 + (j + lane % 4) * 8;
        if (r < m && column < n) *reinterpret_cast<uint4*>(out + column) = make_uint4(w[0], w[1], w[2], w[3]);
      }
    }
  }
}

#endif

template <class T, int BN, int TA, int TB>
__device__ __forceinline__ void matmul(const TensorMap& map_a, const TensorMap& map_b, T* c, int m, int n, int k, int tiles_m, int tiles_n, int batches, float* shares, int splits, int batches_a) {
#ifdef OPSCOPE_WGMMA
  constexpr int S = STAGES<BN>, BK = ROW / sizeof(T), A_BYTES = BM * ROW;
  extern __shared__ __align__(1024) char shared[];
  const uint32_t base = (shared_address(shared) + 1023) & ~1023u;  // swizzled tiles repeat every 1024 bytes
  __shared__ __align__(8) uint64_t barriers[2 * S];
  const uint32_t full = shared_address(barriers), empty = full + 8 * S;
  const int all = (k + BK - 1) / BK, each = (all + splits - 1) / splits, tiles = tiles_m * tiles_n, group = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    for (int s = 0; s < S; s++) {
      barrier_init(full + 8 * s, 1);
      barrier_init(empty + 8 * s, 2);
    }
    fence_shared_for_async();
  }
  __syncthreads();

  int stage = 0, phase = 0;
  const auto advance = [&] {
    if (++stage == S) stage = 0, phase ^= 1;
  };
  if (group == 0) {
    if (threadIdx.x != 0) return;
    for (int t = blockIdx.x; t < tiles * batches * splits; t += gridDim.x) {
      int tm, tn;
      tile_of<16>(t / splits % tiles, tiles_m, tiles_n, tm, tn);
      const int batch = t / splits / tiles, m0 = tm * BM, n0 = tn * BN, from = t % splits * each, to = min(from + each, all);
      for (int step = from; step < to; step++, advance()) {
        const uint32_t bar = full + 8 * stage, a = base + stage * STAGE_BYTES<BN>, b = a + A_BYTES;
        barrier_wait(empty + 8 * stage, phase ^ 1);
        barrier_expect(bar, STAGE_BYTES<BN>);
        if constexpr (TA) {
          for (int i = 0; i < BM / 64; i++) bulk_load(a + i * BOX, &map_a, bar, m0 + i * 64, step * BK, batch % batches_a);
        } else {
          bulk_load(a, &map_a, bar, step * BK, m0, batch % batches_a);
        }
        if constexpr (TB) {
          for (int i = 0; i < BN / 64; i++) bulk_load(b + i * BOX, &map_b, bar, n0 + i * 64, step * BK, batch);
        } else {
          bulk_load(b, &map_b, bar, step * BK, n0, batch);
        }
      }
    }
    return;
  }

  const int consumer = group - 1, lane = threadIdx.x % 32, warp = threadIdx.x % 128 / 32;
  for (int t = blockIdx.x; t < tiles * batches * splits; t += gridDim.x) {
    int tm, tn;
    tile_of<16>(t / splits % tiles, tiles_m, tiles_n, tm, tn);
    const int batch = t / splits / tiles, split = t % splits, steps = min(each, all - split * each);
    float acc[BN / 2];
#pragma unroll
    for (int i = 0; i < BN / 2; i++) acc[i] = 0;
    int previous = -1;
    for (int step = 0; step < steps; step++, advance()) {
      const uint32_t a = base + stage * STAGE_BYTES<BN> + consumer * 64 * ROW, b = base + stage * STAGE_BYTES<BN> + A_BYTES;
      barrier_wait(full + 8 * stage, phase);
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < 4; i++) {
        // 32 bytes along a row when K is contiguous, else 16 rows of 128 bytes.
        const uint64_t da = wgmma_descriptor(a + i * (TA ? 16 * ROW : 32), TA ? BOX : 16, 1024), db = wgmma_descriptor(b + i * (TB ? 16 * ROW : 32), TB ? BOX : 16, 1024);
        multiply<BN, TA, TB>(acc, da, db, T());
      }
      wgmma_commit();
      // The product before this one is done: its stage may be filled again.
      wgmma_wait<1>();
      if (previous >= 0 && threadIdx.x % 128 == 0) barrier_arrive(empty + 8 * previous);
      previous = stage;
    }
    wgmma_wait<0>();
    if (threadIdx.x % 128 == 0) barrier_arrive(empty + 8 * previous);
    const int row = tm * BM + consumer * 64 + warp * 16 + lane / 4;
    if (splits > 1) store_tile<BN>(shares + (static_cast<long long>(split) * batches + batch) * m * n, acc, row, m, tn * BN, n, lane);
    else store_tile<BN>(c + static_cast<long long>(batch) * m * n, acc, row, m, tn * BN, n, lane);
  }
#endif
}

}  // namespace

// LAYOUT as in matmul_mma.cu. A "t" for A and an "n" for B mean that K is not contiguous.
#define MATMUL(T, BN, LAYOUT, TA, TB)                                                                                                                  \
  extern "C" __global__ void __launch_bounds__(384, 1) matmul_wgmma_##T##_##BN##_##LAYOUT(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, \
                                                                                          T* c, int m, int n, int k, int tiles_m, int tiles_n, int batches, float* shares, int splits, int batches_a) { \
    matmul<T, BN, TA, TB>(a, b, c, m, n, k, tiles_m, tiles_n, batches, shares, splits, batches_a);                                                                                     \
  }
#define MATMUL_LAYOUTS(T, BN)        \
  MATMUL(T, BN, nn, 0, 1)         \
  MATMUL(T, BN, nt, 0, 0)         \
  MATMUL(T, BN, tn, 1, 1)         \
  MATMUL(T, BN, tt, 1, 0)
MATMUL_LAYOUTS(f16, 64)
MATMUL_LAYOUTS(f16, 128)
MATMUL_LAYOUTS(f16, 256)
MATMUL_LAYOUTS(bf16, 64)
MATMUL_LAYOUTS(bf16, 128)
MATMUL_LAYOUTS(bf16, 256)
MATMUL(tf32, 64, nt, 0, 0)
MATMUL(tf32, 128, nt, 0, 0)
MATMUL(tf32, 256, nt, 0, 0)
