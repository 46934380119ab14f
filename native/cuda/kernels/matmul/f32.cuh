// Tiles of a product in full f32 (no tensor cores), on Hopper. Each warp sums 64 x 64 outputs, 128 x 32 or 32 x 128 of them where a side is narrow, 16 x 8 in a
// thread. A ring of stages, 32 of k each, is filled by the copy engine or by all threads (matmul/f32_copies.cuh). In shared memory an
// operand lies in rows of 32 elements of k, whose 16-byte chunks are swizzled, or in lines of the tile's elements. Which lanes share what they read, and the
// order of the multiply-adds, keep wide loads in half the passes and registers out of each other's banks.
#pragma once
#include "../common/stored.cuh"
#include "../common/tiles.cuh"
#include "../common/wgmma.cuh"
#include "f32_task.h"

struct alignas(64) TensorMap {
  char opaque[128];
};

using opscope::cuda::F32Product;

#ifdef OPSCOPE_WGMMA

constexpr int BK = 32, LINE = BK * 4;  // of k in a stage; its bytes

__device__ __forceinline__ float4 load_shared(const float* p) { return *reinterpret_cast<const float4*>(p); }

// What fills the ring of a block by the copy engine: stages of BM rows of A and BN of B, STAGES of them. Its share of k starts at `k0` and has `steps` stages.
template <int BM, int BN, int STAGES, bool A_ROWS, bool B_ROWS>
struct BulkRing {
  const TensorMap &map_a, &map_b;
  uint32_t ring, arrived;
  int m0, n0, k0, steps, batch_a, batch;
  // A stage is one copy, whatever the parts of the others.
  __device__ __forceinline__ void fill(int step, int part) const {
    if (part > 0 || threadIdx.x != 0 || step >= steps) return;
    constexpr int BYTES = (BM + BN) * LINE;
    const uint32_t to = ring + step % STAGES * BYTES, barrier = arrived + step % STAGES * 8;
    const int at = k0 + step * BK;
    barrier_expect(barrier, BYTES);
    bulk_load(to, &map_a, barrier, A_ROWS ? at : m0, A_ROWS ? m0 : at, batch_a);
    bulk_load(to + BM * LINE, &map_b, barrier, B_ROWS ? at : n0, B_ROWS ? n0 : at, batch);
  }
  __device__ __forceinline__ void filled() const {}
  __device__ __forceinline__ void wait(int step) const { barrier_wait(arrived + step % STAGES * 8, step / STAGES & 1); }
  __device__ __forceinline__ void end() const {}
};

#endif

// The operands as the copy engine describes them.
struct BulkOperands {
  static constexpr int GAP = 0;  // words between lines of a stage
  static constexpr bool WINDOWS = false;
  const TensorMap &a, &b;
#ifdef OPSCOPE_WGMMA
  template <int BM, int BN, int STAGES, int THREADS, int PARTS, bool A_ROWS, bool B_ROWS>
  __device__ __forceinline__ auto ring(float* shared, const F32Product&, int m0, int n0, int k0, int steps, int batch_a, int batch) const {
    __shared__ __align__(8) uint64_t arrived[STAGES];
    if (threadIdx.x == 0) {
      for (int s = 0; s < STAGES; s++) barrier_init(shared_address(&arrived[s]), 1);
      fence_shared_for_async();
    }
    __syncthreads();
    return BulkRing<BM, BN, STAGES, A_ROWS, B_ROWS>{a, b, shared_address(shared), shared_address(arrived), m0, n0, k0, steps, batch_a, batch};
  }
#endif
};

// Where results lie from the first of a product on: rows of `columns`, one after the other.
struct RowsOfResults {
  long long first, columns;
  // Whether four neighbours of a row start on 16 bytes.
  __device__ __forceinline__ bool wide() const { return columns % 4 == 0; }
  __device__ __forceinline__ long long row(int r) const { return r * columns; }
  __device__ __forceinline__ long long column(int c) const { return first + c; }
};

// WM x WN warps, SLICES of them for parts of a stage. A warp is TY x 32 / TY lanes, a thread has EACH x 8 results, and copies go between the multiply-adds. A_ROWS, B_ROWS: rows of k lie in a stage.
template <int WM, int WN, int TY, int EACH, int SLICES, int STAGES, bool A_ROWS, bool B_ROWS>
struct F32Tile {
  static constexpr int TX = 32 / TY, ROWS = TY * EACH, COLUMNS = TX * 8;  // of a warp's outputs
  static constexpr int BM = WM * ROWS, BN = WN * COLUMNS, WARPS = WM * WN;

#ifdef OPSCOPE_WGMMA
  // `steps` stages of a tile, from stage `first` of k on. `c` has [m][n] results of each product or, where PIECE and `piece` say so, the tile's alone, [BM][BN].
  template <bool PIECE, class Operands>
  static __device__ __forceinline__ void multiply(const Operands& operands, const F32Product& p, int tile, int first, int steps, float* c, bool piece) {
    constexpr int PITCH_A = BM + Operands::GAP, PITCH_B = BN + Operands::GAP, STAGE = (PITCH_A + PITCH_B) * BK, PARTS = 8 / SLICES;
    extern __shared__ __align__(1024) float shared[];
    const int m = p.m, n = p.n, tiles = p.tiles_m * p.tiles_n, batch = tile / tiles;
    int tm, tn;
    tile_of(tile % tiles, p.tiles_m, p.tiles_n, tm, tn);
    const int m0 = tm * BM, n0 = tn * BN;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, slice = warp / WARPS, wm = warp % WARPS / WN, wn = warp % WN;
    // Half a warp reads at most eight vectors of either operand, so that it is one pass. Of 4 by 8 lanes, neighbours read the same of A, neighbours but one the same of B.
    const int tx = TY == 4 ? (lane & 1) | (lane >> 2 & 6) : TY == 8 ? (lane & 1) | (lane >> 3 & 2) : lane >> 1, ty = TY == 4 ? lane >> 1 & 3 : TY == 8 ? lane >> 1 & 7 : lane & 1;

    auto ring = operands.template ring<BM, BN, STAGES, WARPS * SLICES * 32, PARTS, A_ROWS, B_ROWS>(shared, p, m0, n0, first * BK, steps, batch % p.batches_a, batch);
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
#pragma unroll
      for (int part = 0; part < PARTS; part++) ring.fill(s, part);
      ring.filled();
    }

    float acc[EACH][8] = {};
    for (int step = 0, at = 0; step < steps; step++, at = at == (STAGES - 1) * STAGE ? 0 : at + STAGE) {
      ring.wait(step);
      __syncthreads();  // all have read the stage before, which is filled next
      const float* a = shared + at + (A_ROWS ? (wm * ROWS + ty) * BK : wm * ROWS + ty * 4);
      const float* b = shared + at + PITCH_A * BK + (B_ROWS ? (wn * COLUMNS + tx) * BK : wn * COLUMNS + tx * 4);
      const auto multiply = [&](int chunk) {  // of four of k
        float fb[4][8];
#pragma unroll
        for (int j = 0; j < 8; j++) {
          if (B_ROWS) {
            const float4 v = load_shared(b + j * TX * BK + ((chunk ^ (tx & 7) ^ (j * TX & 7)) << 2));
            fb[0][j] = v.x, fb[1][j] = v.y, fb[2][j] = v.z, fb[3][j] = v.w;
          } else {
            const float4 v = load_shared(b + (chunk * 4 + j / 2) * PITCH_B + j % 2 * (TX * 4));
            float* to = fb[j / 2] + j % 2 * 4;
            to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
          }
        }
        // A vector of A at a time: four of k of a row, or one of k of four rows.
#pragma unroll
        for (int i = 0; i < EACH; i++) {
          const float4 v = load_shared(A_ROWS ? a + i * TY * BK + ((chunk ^ ty ^ (i * TY & 7)) << 2) : a + (chunk * 4 + i % 4) * PITCH_A + i / 4 * (TY * 4));
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
#pragma unroll
      for (int q = 0; q < PARTS; q++) {
        ring.fill(step + STAGES - 1, q);
        multiply(slice * PARTS + q);
      }
      ring.filled();
    }
    ring.end();
    to_be_stored(acc, m);

    // Each slice adds up and stores its part of the rows of every thread, in the same order every time.
    constexpr int PART = EACH / SLICES, SENT = PART * 8 * 32, PITCH = COLUMNS + 4;  // rows; elements of a warp
    const bool alone = PIECE && piece;
    const int rows = alone ? BM : m, columns = alone ? BN : n;
    const auto lie = [&] {
      if constexpr (Operands::WINDOWS) return operands.results(p, batch);
      else return RowsOfResults{alone ? 0 : static_cast<long long>(batch) * m * n, columns};
    }();
    const bool turns = B_ROWS || !lie.wide();
    const int row0 = (alone ? 0 : m0) + wm * ROWS, column0 = (alone ? 0 : n0) + wn * COLUMNS;
    const auto row_of = [&](int i) { return A_ROWS ? ty + TY * i : i / 4 * (TY * 4) + ty * 4 + i % 4; };
    const auto sent = [&](int to, int from) { return shared + ((to * (SLICES - 1) + from - (from > to)) * WARPS + warp % WARPS) * SENT + lane * 4; };
    static_assert((SLICES - 1) * SLICES * WARPS * SENT + SLICES * WARPS * PART * TY * PITCH <= STAGES * STAGE);
    if (SLICES > 1 || turns) __syncthreads();  // no stage is read any more
#pragma unroll
    for (int q = 0; q < SLICES; q++) {
      if (SLICES == 1 || slice == q) continue;
      float* const to = sent(q, slice);
#pragma unroll
      for (int i = 0; i < PART; i++)
#pragma unroll
        for (int j = 0; j < 8; j += 4) {
          const float* v = acc[q * PART + i] + j;
          *reinterpret_cast<float4*>(to + (i * 2 + j / 4) * 128) = make_float4(v[0], v[1], v[2], v[3]);
        }
    }
    if (SLICES > 1) __syncthreads();
#pragma unroll
    for (int q = 0; q < SLICES; q++) {
      if (SLICES > 1 && slice != q) continue;
#pragma unroll
      for (int other = 0; other < SLICES; other++) {
        if (other == q) continue;
        const float* const from = sent(q, other);
#pragma unroll
        for (int i = 0; i < PART; i++)
#pragma unroll
          for (int j = 0; j < 8; j += 4) {
            const float4 v = load_shared(from + (i * 2 + j / 4) * 128);
            float* to = acc[q * PART + i] + j;
            to[0] += v.x, to[1] += v.y, to[2] += v.z, to[3] += v.w;
          }
      }
      if (!turns) {
#pragma unroll
        for (int j = 0; j < 8; j += 4) {
          const int column = column0 + tx * 4 + j * TX;
          if (column >= columns) continue;
          float* const to = c + lie.column(column);
#pragma unroll
          for (int i = q * PART; i < (q + 1) * PART; i++)
            if (const int row = row0 + row_of(i); row < rows) *reinterpret_cast<float4*>(to + lie.row(row)) = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
        }
        continue;
      }
      // Through shared memory behind what slices sent, so that neighbours store what lies together.
      constexpr int DOWN = PART * TY;  // neighbouring rows of a warp
      float* const turned = shared + SLICES * (SLICES - 1) * WARPS * SENT + warp * (DOWN * PITCH);
#pragma unroll
      for (int i = q * PART; i < (q + 1) * PART; i++)
#pragma unroll
        for (int j = 0; j < 8; j += B_ROWS ? 1 : 4) {
          float* const to = turned + (row_of(i) - q * DOWN) * PITCH;
          if (B_ROWS) to[tx + TX * j] = acc[i][j];
          else *reinterpret_cast<float4*>(to + tx * 4 + j * TX) = make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
        }
      __syncwarp();
      float* to[COLUMNS / 32];
#pragma unroll
      for (int j = 0; j < COLUMNS / 32; j++) to[j] = c + lie.column(min(column0 + lane + j * 32, columns - 1));
      for (int i = 0; i < DOWN && row0 + q * DOWN + i < rows; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS / 32; j++)
          if (column0 + lane + j * 32 < columns) to[j][lie.row(row0 + q * DOWN + i)] = turned[i * PITCH + lane + j * 32];
    }
  }
#endif

  // A block has a tile and one of `splits` shares of its k, of which there are several in `shares`.
  template <class Operands>
  static __device__ __forceinline__ void product(const Operands& operands, const F32Product& p, float* c, float* shares, int splits) {
#ifdef OPSCOPE_WGMMA
    const int split = blockIdx.x % splits, all = (p.k + BK - 1) / BK, each = (all + splits - 1) / splits, first = split * each;
    const int batches = gridDim.x / splits / (p.tiles_m * p.tiles_n);
    multiply<false>(operands, p, blockIdx.x / splits, first, min(each, all - first), splits > 1 ? shares + static_cast<long long>(split) * batches * p.m * p.n : c, false);
#endif
  }
};

// The kernels of a tile, one for each layout of the operands, by MATMUL of the file that includes this. LAYOUT: k is contiguous in the left operand, in the right one.
#define MATMUL_LAYOUTS(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN)        \
  MATMUL(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN, nn, true, false)     \
  MATMUL(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN, nt, true, true)      \
  MATMUL(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN, tn, false, false)    \
  MATMUL(WM, WN, TY, SLICES, STAGES, BLOCKS, BM, BN, tt, false, true)
