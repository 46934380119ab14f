// matmul on tensor cores by mma.sync, for every shape, layout and alignment (matmul.plan.cc says when it is used).
// f16, bf16: m16n8k16; tf32: m16n8k8 with operands rounded to nearest. f32 accumulation. cp.async pipeline of 4 or 8 stages;
// operands that do not start every row on 16 bytes go through registers instead.
// How to build and run: scripts/gpu/kernels.sh.
#include "common/mma.cuh"
#include "common/tiles.cuh"

namespace {

constexpr int ROW_BYTES = 64;  // of K in one stage

// One operand's tile in shared memory: MN rows (or columns) by 64 bytes of K. KMAJOR: K is contiguous in memory.
template <class T, int MN, bool KMAJOR>
struct Operand {
  static constexpr int BK = ROW_BYTES / sizeof(T);
  static constexpr int L = 16 / sizeof(T);
  static constexpr int BYTES = MN * ROW_BYTES;
  static constexpr int CHUNKS_PER_ROW = KMAJOR ? 4 : MN / L;

  // Byte offset of a 16-byte chunk; the exclusive or spreads the rows that one access touches over all banks.
  static __device__ __forceinline__ int offset(int row, int chunk) {
    int flip;
    if constexpr (KMAJOR)
      flip = (row >> 1) & 3;
    else if constexpr (sizeof(T) == 2)
      flip = row & 7;
    else
      flip = (row & 3) << 1;
    return row * (CHUNKS_PER_ROW * 16) + (chunk ^ flip) * 16;
  }

  template <int THREADS>
  static __device__ __forceinline__ void load(char* shared, const T* base, long long ld, int mn0, int mn, int k0, int k, bool aligned) {
    constexpr int CHUNKS = BYTES / 16;
#pragma unroll
    for (int c = 0; c < CHUNKS / THREADS; c++) {
      const int id = c * THREADS + threadIdx.x;
      const int row = id / CHUNKS_PER_ROW, chunk = id % CHUNKS_PER_ROW;
      const int outer = (KMAJOR ? mn0 : k0) + row, inner = (KMAJOR ? k0 : mn0) + chunk * L;
      const int outer_end = KMAJOR ? mn : k, inner_end = KMAJOR ? k : mn;
      const int valid = outer < outer_end ? min(L, max(0, inner_end - inner)) : 0;
      const T* from = valid > 0 ? base + outer * ld + inner : base;
      char* to = shared + offset(row, chunk);
      if (aligned) {
        copy_async_16(shared_address(to), from, valid * static_cast<int>(sizeof(T)));
      } else {
        T part[L];
#pragma unroll
        for (int j = 0; j < L; j++) part[j] = j < valid ? from[j] : from_float<T>(0.0f);
        *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(part);
      }
    }
  }

  // Fragments of 16 rows by 32 bytes of K at (mn, byte offset 32 * step of K). Order of the four 8 x 16-byte parts:
  // A: (low mn, low k), (high mn, low k), (low, high), (high, high); B: mn and k swapped.
  template <bool IS_A>
  static __device__ __forceinline__ void fragment(uint32_t (&r)[4], const char* shared, int mn, int step, int lane) {
    const int part = lane >> 3, high_mn = IS_A ? part & 1 : part >> 1, high_k = IS_A ? part >> 1 : part & 1;
    if constexpr (KMAJOR) {
      ldmatrix(r, shared_address(shared + offset(mn + high_mn * 8 + (lane & 7), step * 2 + high_k)));
    } else if constexpr (sizeof(T) == 2) {
      ldmatrix_trans(r, shared_address(shared + offset(step * 16 + high_k * 8 + (lane & 7), mn / 8 + high_mn)));
    } else {
      // ldmatrix cannot transpose 32-bit elements.
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int row = step * 8 + (lane & 3) + (IS_A ? i >> 1 : i & 1) * 4, column = mn + (lane >> 2) + (IS_A ? i & 1 : i >> 1) * 8;
        r[i] = *reinterpret_cast<const uint32_t*>(shared + offset(row, column / 4) + column % 4 * 4);
      }
    }
    if constexpr (sizeof(T) == 4) {
#pragma unroll
      for (int i = 0; i < 4; i++) r[i] = round_tf32(r[i]);
    }
  }
};

template <class T>
__device__ __forceinline__ void store_pair(T* c, float x, float y, bool pair, bool both) {
  if (pair && both) {
    if constexpr (sizeof(T) == 4)
      *reinterpret_cast<float2*>(c) = make_float2(x, y);
    else
      *reinterpret_cast<uint32_t*>(c) = pack_pair(x, y, T());
  } else {
    c[0] = from_float<T>(x);
    if (both) c[1] = from_float<T>(y);
  }
}

// WM x WN warps, each computing (BM / WM) x (BN / WN).
template <class T, int BM, int BN, int WM, int WN, bool TRANS_A, bool TRANS_B>
__device__ __forceinline__ void matmul(const T* a, const T* b, T* c, int m, int n, int k, int tiles_m, int tiles_n) {
  using A = Operand<T, BM, !TRANS_A>;
  using B = Operand<T, BN, TRANS_B>;
  // Small tiles do little per step, so more steps must be on their way to hide the latency of memory.
  constexpr int STAGES = BM == 64 ? 8 : 4, THREADS = WM * WN * 32, MT = BM / WM / 16, NT = BN / WN / 8, BK = A::BK;
  extern __shared__ __align__(128) char shared[];
  char* shared_a = shared;
  char* shared_b = shared + STAGES * A::BYTES;

  const int tiles = tiles_m * tiles_n;
  const int batch = blockIdx.x / tiles;
  int tm, tn;
  tile_of(blockIdx.x % tiles, tiles_m, tiles_n, tm, tn);
  a += static_cast<long long>(batch) * m * k;
  b += static_cast<long long>(batch) * k * n;
  c += static_cast<long long>(batch) * m * n;
  const int m0 = tm * BM, n0 = tn * BN;
  const long long lda = TRANS_A ? m : k, ldb = TRANS_B ? k : n;
  const bool aligned_a = lda % A::L == 0, aligned_b = ldb % B::L == 0;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int wm = warp % WM * (BM / WM), wn = warp / WM * (BN / WN);
  const int steps = (k + BK - 1) / BK;

  const auto load = [&](int step) {
    if (step < steps) {
      A::template load<THREADS>(shared_a + step % STAGES * A::BYTES, a, lda, m0, m, step * BK, k, aligned_a);
      B::template load<THREADS>(shared_b + step % STAGES * B::BYTES, b, ldb, n0, n, step * BK, k, aligned_b);
    }
    copy_commit();
  };
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) load(s);

  float acc[MT][NT][4] = {};
  for (int step = 0; step < steps; step++) {
    copy_wait<STAGES - 2>();
    __syncthreads();
    load(step + STAGES - 1);
    const char* pa = shared_a + step % STAGES * A::BYTES;
    const char* pb = shared_b + step % STAGES * B::BYTES;
#pragma unroll
    for (int s = 0; s < 2; s++) {
      uint32_t fa[MT][4], fb[NT / 2][4];
#pragma unroll
      for (int i = 0; i < MT; i++) A::template fragment<true>(fa[i], pa, wm + i * 16, s, lane);
#pragma unroll
      for (int j = 0; j < NT / 2; j++) B::template fragment<false>(fb[j], pb, wn + j * 16, s, lane);
#pragma unroll
      for (int i = 0; i < MT; i++)
#pragma unroll
        for (int j = 0; j < NT; j++) mma(acc[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1], T());
    }
  }

  const bool pair = n % 2 == 0;
#pragma unroll
  for (int i = 0; i < MT; i++)
#pragma unroll
    for (int j = 0; j < NT; j++) {
      const int row = m0 + wm + i * 16 + lane / 4, column = n0 + wn + j * 8 + lane % 4 * 2;
      if (column >= n) continue;
      const bool both = column + 1 < n;
      if (row < m) store_pair(c + static_cast<long long>(row) * n + column, acc[i][j][0], acc[i][j][1], pair, both);
      if (row + 8 < m) store_pair(c + static_cast<long long>(row + 8) * n + column, acc[i][j][2], acc[i][j][3], pair, both);
    }
}

}  // namespace

#define MATMUL(T, TILE, BM, BN, WM, WN, LAYOUT, TA, TB)                                                               \
  extern "C" __global__ void __launch_bounds__(WM * WN * 32, 2)                                                       \
      matmul_mma_##T##_##TILE##_##LAYOUT(const T* a, const T* b, T* c, int m, int n, int k, int tiles_m, int tiles_n) { \
    matmul<T, BM, BN, WM, WN, TA, TB>(a, b, c, m, n, k, tiles_m, tiles_n);                                            \
  }
#define MATMUL_LAYOUTS(T, TILE, BM, BN, WM, WN)              \
  MATMUL(T, TILE, BM, BN, WM, WN, nn, false, false)          \
  MATMUL(T, TILE, BM, BN, WM, WN, nt, false, true)           \
  MATMUL(T, TILE, BM, BN, WM, WN, tn, true, false)           \
  MATMUL(T, TILE, BM, BN, WM, WN, tt, true, true)
#define MATMUL_TILES(T)                      \
  MATMUL_LAYOUTS(T, 128, 128, 128, 2, 4)     \
  MATMUL_LAYOUTS(T, 64, 64, 64, 2, 2)
MATMUL_TILES(f16)
MATMUL_TILES(bf16)
MATMUL_TILES(tf32)
