// Tiles of f32 products of which a multiprocessor has several at a time (matmul_f32_several.cu). WM x WN warps have the tile, SLICES of them a part of every stage each; a warp is TY x 32 / TY lanes, a thread has TM x TN results.
// Threads copy operands (matmul/f32_copies.cuh), STEP of k to a stage. Results of slices are added up in order, in shared memory.
#pragma once
#include "f32_held.cuh"

#ifdef OPSCOPE_WGMMA

template <int WM, int WN, int TY, int TM, int TN, int SLICES, int STAGES, int STEP>
struct SeveralProduct {
  static constexpr int TX = 32 / TY, ROWS = TY * TM, COLUMNS = TX * TN;  // of a warp's results
  static constexpr int BM = WM * ROWS, BN = WN * COLUMNS, WARPS = WM * WN, THREADS = WARPS * SLICES * 32, PITCH = BN + 4;

  static constexpr int PITCH_A = BM + COPIES_GAP, PITCH_B = BN + COPIES_GAP, STAGE = (PITCH_A + PITCH_B) * STEP;

  // Adds `steps` stages of a tile up, from stage `first` of k on.
  template <class Operands>
  static __device__ __forceinline__ void add_up(const Operands& operands, const F32Product& p, int batch, int m0, int n0, int first, int steps, float (&acc)[TM][TN]) {
    constexpr int CHUNKS = STEP / 4, PARTS = CHUNKS / SLICES;
    extern __shared__ __align__(16) float shared[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, slice = warp / WARPS, wm = warp % WARPS / WN, wn = warp % WN;
    // Half a warp reads at most eight vectors of either operand, so that it is one pass.
    const int tx = TY == 4 ? (lane & 1) | (lane >> 2 & 6) : (lane & 1) | (lane >> 3 & 2), ty = TY == 4 ? lane >> 1 & 3 : lane >> 1 & 7;
    auto ring = operands.template ring<BM, BN, STAGES, THREADS, PARTS, false, false, STEP>(shared, p, m0, n0, first * STEP, steps, batch < p.batches_a ? batch : batch % p.batches_a, batch);
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
#pragma unroll
      for (int part = 0; part < PARTS; part++) ring.fill(s, part);
      ring.filled();
    }

    for (int step = 0, at = 0; step < steps; step++, at = at == (STAGES - 1) * STAGE ? 0 : at + STAGE) {
      ring.wait(step);
      __syncthreads();  // all have read the stage before, which is filled next
      const float* a = shared + at + wm * ROWS + ty * 4;
      const float* b = shared + at + PITCH_A * STEP + wn * COLUMNS + tx * 4;
      const auto multiply = [&](int chunk) {  // of four of k
        float fb[4][TN];
#pragma unroll
        for (int kk = 0; kk < 4; kk++)
#pragma unroll
          for (int j = 0; j < TN; j += 4) {
            const float4 v = load_shared(b + (chunk * 4 + kk) * PITCH_B + j * TX);
            fb[kk][j] = v.x, fb[kk][j + 1] = v.y, fb[kk][j + 2] = v.z, fb[kk][j + 3] = v.w;
          }
#pragma unroll
        for (int i = 0; i < TM; i++) {  // one of k of four rows
          const float4 v = load_shared(a + (chunk * 4 + i % 4) * PITCH_A + i / 4 * (TY * 4));
          const float fa[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
          for (int e = 0; e < 4; e++)
#pragma unroll
            for (int j = 0; j < TN; j++) {
              const int column = e % 2 ? TN - 1 - j : j;  // there and back: the element of B at the turn is at hand
              acc[i / 4 * 4 + e][column] = fmaf(fa[e], fb[i % 4][column], acc[i / 4 * 4 + e][column]);
            }
        }
      };
      const int left = p.k - (first + step) * STEP;
      if constexpr (SLICES > 1) {
#pragma unroll
        for (int q = 0; q < PARTS; q++) {
          ring.fill(step + STAGES - 1, q);
          if ((q * SLICES + slice) * 4 < left) multiply(q * SLICES + slice);
        }
      } else {
        // Two chunks of code and all copies at once are faster here than all chunks with copies between them (NOTES.md).
#pragma unroll
        for (int q = 0; q < PARTS; q++) ring.fill(step + STAGES - 1, q);
        const int chunks = min(CHUNKS, (left + 3) / 4);
#pragma unroll 2
        for (int chunk = 0; chunk < chunks; chunk++) multiply(chunk);
      }
      ring.filled();
    }
    ring.end();
    to_be_stored(acc, p.m);
  }

  // Sums of a tile to `c`, the results of its product.
  static __device__ __forceinline__ void store(const float (&acc)[TM][TN], const F32Product& p, int m0, int n0, float* c) {
    extern __shared__ __align__(16) float shared[];
    const int m = p.m, n = p.n, lane = threadIdx.x % 32, warp = threadIdx.x / 32, slice = warp / WARPS, wm = warp % WARPS / WN, wn = warp % WN;
    const int tx = TY == 4 ? (lane & 1) | (lane >> 2 & 6) : (lane & 1) | (lane >> 3 & 2), ty = TY == 4 ? lane >> 1 & 3 : lane >> 1 & 7;
    const auto vector = [&](int i, int j) { return make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]); };
    const int row0 = wm * ROWS + ty * 4, column0 = wn * COLUMNS + tx * 4, rows = min(BM, m - m0), columns = min(BN, n - n0);
    const auto row_of = [&](int i) { return row0 + i / 4 * (TY * 4) + i % 4; };
    c += static_cast<long long>(m0) * n + n0;
    const bool wide = n % 4 == 0;
    if (SLICES == 1 && wide) {
#pragma unroll
      for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j += 4)
          if (row_of(i) < rows && column0 + j * TX < columns) *reinterpret_cast<float4*>(c + static_cast<long long>(row_of(i)) * n + column0 + j * TX) = vector(i, j);
      return;
    }
    constexpr int PART = BM * PITCH;
    static_assert(SLICES * PART <= STAGES * STAGE);
    __syncthreads();  // no stage is read any more
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
      for (int j = 0; j < TN; j += 4) *reinterpret_cast<float4*>(shared + slice * PART + row_of(i) * PITCH + column0 + j * TX) = vector(i, j);
    __syncthreads();
    if (wide) {
      constexpr int ACROSS = BN / 4;
#pragma unroll 4
      for (int v = threadIdx.x; v < BM * ACROSS; v += THREADS) {
        const int row = v / ACROSS, column = v % ACROSS * 4;
        float4 total = load_shared(shared + row * PITCH + column);
#pragma unroll
        for (int s = 1; s < SLICES; s++) {
          const float4 w = load_shared(shared + s * PART + row * PITCH + column);
          total.x += w.x, total.y += w.y, total.z += w.z, total.w += w.w;
        }
        if (row < rows && column < columns) *reinterpret_cast<float4*>(c + static_cast<long long>(row) * n + column) = total;
      }
      return;
    }
#pragma unroll 4
    for (int row = warp; row < rows; row += WARPS * SLICES)
#pragma unroll
      for (int j = lane; j < BN; j += 32) {
        float total = shared[row * PITCH + j];
#pragma unroll
        for (int s = 1; s < SLICES; s++) total += shared[s * PART + row * PITCH + j];
        if (j < columns) c[static_cast<long long>(row) * n + j] = total;
      }
  }

  // SHARES: blocks of row y of the grid have share y of k, whose results go to `shares`.
  template <bool SHARES, class Operands>
  static __device__ __forceinline__ void product(const Operands& operands, const F32Product& p, float* c, float* shares) {
    const int tiles = p.tiles_m * p.tiles_n, batch = blockIdx.x / tiles, all = (p.k + STEP - 1) / STEP;
    const int each = SHARES ? (all + static_cast<int>(gridDim.y) - 1) / static_cast<int>(gridDim.y) : all, first = SHARES ? static_cast<int>(blockIdx.y) * each : 0, steps = SHARES ? min(each, all - first) : all;
    int tm, tn;
    tile_of(blockIdx.x - batch * tiles, p.tiles_m, p.tiles_n, tm, tn);
    float acc[TM][TN] = {};
    add_up(operands, p, batch, tm * BM, tn * BN, first, steps, acc);
    if (SHARES) c = shares + static_cast<long long>(blockIdx.y) * (gridDim.x / tiles) * p.m * p.n;
    store(acc, p, tm * BM, tn * BN, c + static_cast<long long>(batch) * p.m * p.n);
  }
};

#endif
