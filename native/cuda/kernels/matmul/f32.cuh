// Tiles of a product in full f32 (no tensor cores), on Hopper. Each warp sums 64 x 64 outputs, 128 x 32 or 32 x 128 of them where a side is narrow, 16 x 8 in a
// thread, or 32 x 64 with 8 x 8. A ring of stages, 32 of k each, is filled by the copy engine, or by all threads, a word at a time where rows do not start on 16 bytes. In shared memory an
// operand lies as in memory: rows of 32 elements of k, whose 16-byte chunks are swizzled, or rows of the tile's elements. Which lanes share what they read, and the
// order of the multiply-adds, keep wide loads in half the passes and registers out of each other's banks.
// `a` repeats after `batches_a` products.
#pragma once
#include "../common/tiles.cuh"
#include "../common/wgmma.cuh"

struct alignas(64) TensorMap {
  char opaque[128];
};

#ifdef OPSCOPE_WGMMA

constexpr int BK = 32, LINE = BK * 4;  // of k in a stage; its bytes

__device__ __forceinline__ float4 load_shared(const float* p) { return *reinterpret_cast<const float4*>(p); }

#endif

#ifdef OPSCOPE_WGMMA

// WORDS that lie together at a time, by THREADS threads: neighbours copy what lies together. K_ROWS: k is contiguous; else the rows of the operand are.
template <int TILE, int THREADS, bool K_ROWS, int WORDS>
struct WordCopies {
  // Threads across a line of a stage and down its lines, lines of a thread.
  static constexpr int ACROSS = WORDS == 1 ? 32 : (K_ROWS ? BK : TILE) / WORDS, GROUPS = WORDS == 1 && !K_ROWS ? TILE / 32 : 1, STRIDE = THREADS / ACROSS / GROUPS, EACH = (K_ROWS ? TILE : BK) / STRIDE;
  static_assert(STRIDE > 0 && (!K_ROWS || (STRIDE & (STRIDE - 1)) == 0));
  const float* from;    // of this thread's first word
  long long pitch;      // of rows in memory
  int k;                // of k from this thread's first word on
  int rows;             // rows of the operand from this thread's first word on
  uint32_t to;          // its place in a stage
  __device__ __forceinline__ WordCopies(const float* x, int rows_of_x, int all_k, int row0, int k0) {
    const int across = threadIdx.x % ACROSS * WORDS, down = threadIdx.x / ACROSS;
    const int row = K_ROWS ? down : down % GROUPS * 32 + across, column = K_ROWS ? across : down / GROUPS;  // of the tile, of k
    pitch = K_ROWS ? all_k : rows_of_x;
    from = x + (K_ROWS ? (row0 + row) * pitch + k0 + column : (k0 + column) * pitch + row0 + row);
    k = all_k - k0 - column, rows = rows_of_x - row0 - row;
    to = (K_ROWS ? row * BK + ((column / 4 ^ (row & 7)) << 2 | (column & 3)) : column * TILE + row) * 4;
  }
  __device__ __forceinline__ void copy(uint32_t stage, int step) const {
    const float* next = from + (K_ROWS ? static_cast<long long>(step) * BK : step * BK * pitch);
    const int left = k - step * BK;
#pragma unroll
    for (int e = 0; e < EACH; e++, next += STRIDE * pitch) {
      // Where eight rows are not a whole number of strides, a line's chunks are swizzled in another way.
      const uint32_t at = stage + (K_ROWS ? to ^ (e * STRIDE & 7) << 4 : to) + e * STRIDE * (K_ROWS ? BK : TILE) * 4;
      const bool inside = K_ROWS ? left > 0 && e * STRIDE < rows : rows > 0 && e * STRIDE < left;
      if constexpr (WORDS == 4) copy_async_16(at, next, inside ? 16 : 0);
      else copy_async_4(at, next, inside ? 4 : 0);
    }
  }
};

// The same where rows start on 16 bytes or do not, as the launch says.
template <int TILE, int THREADS, bool K_ROWS>
struct EitherCopies {
  const float* x;
  int rows, k, row0, k0;
  bool wide;
  __device__ __forceinline__ void copy(uint32_t stage, int step) const {
    if (wide) WordCopies<TILE, THREADS, K_ROWS, 4>(x, rows, k, row0, k0).copy(stage, step);
    else WordCopies<TILE, THREADS, K_ROWS, 1>(x, rows, k, row0, k0).copy(stage, step);
  }
};

// What fills the ring of a block: stages of BM rows of A and BN of B, STAGES of them. Its share of k starts at `k0` and has `steps` stages.
template <int BM, int BN, int STAGES, int THREADS, bool A_ROWS, bool B_ROWS>
struct BulkRing {
  const TensorMap &map_a, &map_b;
  uint32_t ring, arrived;
  int m0, n0, k0, steps, batch_a, batch;
  __device__ __forceinline__ void fill(int step) const {
    if (threadIdx.x != 0 || step >= steps) return;
    constexpr int BYTES = (BM + BN) * LINE;
    const uint32_t to = ring + step % STAGES * BYTES, barrier = arrived + step % STAGES * 8;
    const int at = k0 + step * BK;
    barrier_expect(barrier, BYTES);
    bulk_load(to, &map_a, barrier, A_ROWS ? at : m0, A_ROWS ? m0 : at, batch_a);
    bulk_load(to + BM * LINE, &map_b, barrier, B_ROWS ? at : n0, B_ROWS ? n0 : at, batch);
  }
  __device__ __forceinline__ void wait(int step) const { barrier_wait(arrived + step % STAGES * 8, step / STAGES & 1); }
};
template <int BM, int BN, int STAGES, class A, class B>
struct WordRing {
  A a;
  B b;
  uint32_t ring;
  int steps;
  __device__ __forceinline__ void fill(int step) const {
    if (step < steps) {
      const uint32_t to = ring + step % STAGES * ((BM + BN) * LINE);
      a.copy(to, step);
      b.copy(to + BM * LINE, step);
    }
    copy_commit();
  }
  __device__ __forceinline__ void wait(int) const { copy_wait<STAGES - 2>(); }
};

#endif

// The operands as the copy engine describes them.
struct BulkOperands {
  const TensorMap &a, &b;
#ifdef OPSCOPE_WGMMA
  template <int BM, int BN, int STAGES, int THREADS, bool A_ROWS, bool B_ROWS>
  __device__ __forceinline__ auto ring(float* shared, int, int, int, int m0, int n0, int k0, int steps, int batch_a, int batch) const {
    __shared__ __align__(8) uint64_t arrived[STAGES];
    if (threadIdx.x == 0) {
      for (int s = 0; s < STAGES; s++) barrier_init(shared_address(&arrived[s]), 1);
      fence_shared_for_async();
    }
    __syncthreads();
    return BulkRing<BM, BN, STAGES, THREADS, A_ROWS, B_ROWS>{a, b, shared_address(shared), shared_address(arrived), m0, n0, k0, steps, batch_a, batch};
  }
#endif
};
// Their addresses, and whether rows start on 16 bytes.
struct EitherOperands {
  const float *a, *b;
  bool wide_a, wide_b;
#ifdef OPSCOPE_WGMMA
  template <int BM, int BN, int STAGES, int THREADS, bool A_ROWS, bool B_ROWS>
  __device__ __forceinline__ auto ring(float* shared, int m, int n, int k, int m0, int n0, int k0, int steps, int batch_a, int batch) const {
    return WordRing<BM, BN, STAGES, EitherCopies<BM, THREADS, A_ROWS>, EitherCopies<BN, THREADS, B_ROWS>>{{a + static_cast<long long>(batch_a) * m * k, m, k, m0, k0, wide_a}, {b + static_cast<long long>(batch) * k * n, n, k, n0, k0, wide_b}, shared_address(shared), steps};
  }
#endif
};

// WM x WN warps, SLICES of them for parts of a stage. A warp is TY x 32 / TY lanes, a thread has EACH x 8 results. A_ROWS, B_ROWS: k is contiguous in the operand.
template <int WM, int WN, int TY, int EACH, int SLICES, int STAGES, bool A_ROWS, bool B_ROWS, class Operands>
__device__ __forceinline__ void matmul(const Operands& operands, float* c, int m, int n, int k, int tiles_m, int tiles_n, float* shares, int splits, int batches_a) {
#ifdef OPSCOPE_WGMMA
  constexpr int TX = 32 / TY, ROWS = TY * EACH, COLUMNS = TX * 8;  // of a warp's outputs
  constexpr int BM = WM * ROWS, BN = WN * COLUMNS, WARPS = WM * WN, STAGE = (BM + BN) * BK;
  extern __shared__ __align__(1024) float shared[];
  const int tiles = tiles_m * tiles_n;
  const int split = blockIdx.x % splits, batch = blockIdx.x / splits / tiles, batches = gridDim.x / splits / tiles;
  int tm, tn;
  tile_of(blockIdx.x / splits % tiles, tiles_m, tiles_n, tm, tn);
  const int m0 = tm * BM, n0 = tn * BN;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, slice = warp / WARPS, wm = warp % WARPS / WN, wn = warp % WN;
  // Half a warp reads at most eight vectors of either operand, so that it is one pass. Of 4 by 8 lanes, neighbours read the same of A, neighbours but one the same of B.
  const int tx = TY == 4 ? (lane & 1) | (lane >> 2 & 6) : TY == 8 ? (lane & 1) | (lane >> 3 & 2) : lane >> 1, ty = TY == 4 ? lane >> 1 & 3 : TY == 8 ? lane >> 1 & 7 : lane & 1;
  // This block's share of k, in steps.
  const int all = (k + BK - 1) / BK, each = (all + splits - 1) / splits, first = split * each, steps = min(each, all - first);

  const auto ring = operands.template ring<BM, BN, STAGES, WARPS * SLICES * 32, A_ROWS, B_ROWS>(shared, m, n, k, m0, n0, first * BK, steps, batch % batches_a, batch);
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) ring.fill(s);

  float acc[EACH][8] = {};
  for (int step = 0; step < steps; step++) {
    ring.wait(step);
    __syncthreads();  // all have read the stage before, which is filled next
    ring.fill(step + STAGES - 1);
    const float* a = shared + step % STAGES * STAGE + (A_ROWS ? (wm * ROWS + ty) * BK : wm * ROWS + ty * 4);
    const float* b = shared + step % STAGES * STAGE + BM * BK + (B_ROWS ? (wn * COLUMNS + tx) * BK : wn * COLUMNS + tx * 4);
    const auto multiply = [&](int chunk) {  // of four of k
      float fb[4][8];
#pragma unroll
      for (int j = 0; j < 8; j++) {
        if (B_ROWS) {
          const float4 v = load_shared(b + j * TX * BK + ((chunk ^ (tx & 7) ^ (j * TX & 7)) << 2));
          fb[0][j] = v.x, fb[1][j] = v.y, fb[2][j] = v.z, fb[3][j] = v.w;
        } else {
          const float4 v = load_shared(b + (chunk * 4 + j / 2) * BN + j % 2 * (TX * 4));
          float* to = fb[j / 2] + j % 2 * 4;
          to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
        }
      }
      // A vector of A at a time: four of k of a row, or one of k of four rows.
#pragma unroll
      for (int i = 0; i < EACH; i++) {
        const float4 v = load_shared(A_ROWS ? a + i * TY * BK + ((chunk ^ ty ^ (i * TY & 7)) << 2) : a + (chunk * 4 + i % 4) * BM + i / 4 * (TY * 4));
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
    };
    if constexpr (EACH == 16) {
#pragma unroll
      for (int q = 0; q < 8 / SLICES; q++) multiply(slice * (8 / SLICES) + q);
    } else {
      // Only what there is of k.
      const int chunks = min(8, (k - (first + step) * BK + 3) / 4);
#pragma unroll 2
      for (int chunk = 0; chunk < chunks; chunk++) multiply(chunk);
    }
  }

  // Slices add up by halves, in the same order every time.
#pragma unroll
  for (int far = SLICES / 2; far > 0; far /= 2) {
    float* sums = shared + (slice % far * WARPS + warp % WARPS) * (EACH * 8 * 32) + lane;
    __syncthreads();
    if (slice >= far && slice < 2 * far) {
#pragma unroll
      for (int i = 0; i < EACH * 8; i++) sums[i * 32] = acc[i / 8][i % 8];
    }
    __syncthreads();
    if (slice < far) {
#pragma unroll
      for (int i = 0; i < EACH * 8; i++) acc[i / 8][i % 8] += sums[i * 32];
    }
  }
  if (slice > 0) return;

  c = splits > 1 ? shares + (static_cast<long long>(split) * batches + batch) * m * n : c + static_cast<long long>(batch) * m * n;
  const int row0 = m0 + wm * ROWS, column0 = n0 + wn * COLUMNS;
  const auto row_of = [&](int i) { return A_ROWS ? ty + TY * i : i / 4 * (TY * 4) + ty * 4 + i % 4; };
  if (!B_ROWS && n % 4 == 0) {
#pragma unroll
    for (int i = 0; i < EACH; i++)
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
        const int row = row0 + row_of(i), column = column0 + tx * 4 + j * TX;
        if (row < m && column < n) *reinterpret_cast<float4*>(c + static_cast<long long>(row) * n + column) = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
      }
    return;
  }
  // Through shared memory, so that neighbours store what lies together. The slices' last barrier, or this one: no stage is read any more.
  constexpr int PITCH = COLUMNS + 4;
  if (SLICES == 1) __syncthreads();
  else asm volatile("bar.sync 1, %0;" ::"n"(WARPS * 32) : "memory");
  float* turned = shared + warp % WARPS * (ROWS * PITCH);
#pragma unroll
  for (int i = 0; i < EACH; i++)
#pragma unroll
    for (int j = 0; j < 8; j += B_ROWS ? 1 : 4) {
      if (B_ROWS) turned[row_of(i) * PITCH + tx + TX * j] = acc[i][j];
      else *reinterpret_cast<float4*>(turned + row_of(i) * PITCH + tx * 4 + j * TX) = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
    }
  __syncwarp();
  for (int i = 0; i < ROWS && row0 + i < m; i++)
#pragma unroll
    for (int j = lane; j < COLUMNS; j += 32)
      if (column0 + j < n) c[static_cast<long long>(row0 + i) * n + column0 + j] = turned[i * PITCH + j];
#endif
}

// The kernels of a tile, one for each layout of the operands, by MATMUL of the file that includes this.
#define MATMUL_LAYOUTS(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN)        \
  MATMUL(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN, nn, true, false)     \
  MATMUL(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN, nt, true, true)      \
  MATMUL(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN, tn, false, false)    \
  MATMUL(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN, tt, false, true)
