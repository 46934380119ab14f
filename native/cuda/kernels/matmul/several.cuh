// Tiles of f32 products of which a multiprocessor has several at a time (matmul_f32_several.cu). WM x WN warps have the tile, SLICES of them a part of every stage each; a warp is TY x 32 / TY lanes, a thread has TM x TN results.
// Threads copy operands (matmul/f32_copies.cuh), STEP of k to a stage. Results of slices are added up in order, in shared memory.
#pragma once
#include "f32_held.cuh"
#include "runs_task.h"

using opscope::cuda::F32Runs;

#ifdef OPSCOPE_WGMMA

// Whether the other of two blocks has arrived: then the counter is left at zero, and what it wrote is visible. This function and the next return the answer from a barrier, without shared memory of their own.
__device__ __forceinline__ bool other_arrived(unsigned* counter) {
  unsigned count = 0;
  if (threadIdx.x == 0) {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(count) : "l"(__cvta_generic_to_global(counter)) : "memory");
    if (count == 1) *counter = 0;
  }
  return __syncthreads_or(count == 1) != 0;
}

// Whether this block is the last of `total` to arrive.
__device__ __forceinline__ bool last_here(unsigned* counter, unsigned total) {
  unsigned before = total;
  __syncthreads();
  if (threadIdx.x == 0) asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(__cvta_generic_to_global(counter)), "r"(total - 1) : "memory");
  return __syncthreads_or(before == total - 1) != 0;
}

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

  // Every block has `rounds` tiles and then a run of the stages of the others. Runs have the same length. The last block to arrive at a tile of several runs adds the sums of the others up, in the order of k.
  // `pieces`: [blocks][2] tiles; `arrivals`: one of a tile that runs share.
  template <class Operands>
  static __device__ __forceinline__ void runs(const Operands& operands, const F32Product& p, float* c, float4* pieces, unsigned* arrivals, const F32Runs& r) {
    static_assert(SLICES == 1);
    constexpr int VECTORS = TM * TN / 4;
    const int all = (p.k + STEP - 1) / STEP, each = p.tiles_m * p.tiles_n, block = static_cast<int>(blockIdx.x), blocks = static_cast<int>(gridDim.x);
    const auto first_of = [&](int run) { return run * r.stages + min(run, r.longer); };
    const auto run_of = [&](int stage) {
      const int of_longer = r.longer * (r.stages + 1);
      return stage < of_longer ? stage / (r.stages + 1) : r.longer + (stage - of_longer) / r.stages;
    };
    const auto piece_of = [&](int run, bool begins) { return pieces + (2ll * run + begins) * (VECTORS * THREADS) + threadIdx.x; };
    int at = first_of(block) - r.rounds * all;
    const int end = first_of(block + 1);
    while (at < end) {
      // Stages before the run are those of whole tiles.
      const bool whole = at < first_of(block);
      int shared_tile = 0, tile, first = 0, steps = all;
      if (whole) {
        tile = block + ((first_of(block) - at) / all - 1) * blocks;
      } else {
        shared_tile = at / all, first = at - shared_tile * all, steps = min(all - first, end - at), tile = r.rounds * blocks + shared_tile;
      }
      const int batch = tile / each;
      int tm, tn;
      tile_of(tile - batch * each, p.tiles_m, p.tiles_n, tm, tn);
      float acc[TM][TN] = {};
      add_up(operands, p, batch, tm * BM, tn * BN, first, steps, acc);
      at += steps;
      bool stores = true;
      if (steps < all) {
        const int begin = shared_tile * all, from = run_of(begin), to = run_of(begin + all - 1), parts = to - from + 1;
        // Where the other one has arrived this one's sums need not be stored: of two the order is the same either way.
        if (parts > 2 || !other_arrived(arrivals + shared_tile)) {
          float4* const own = piece_of(block, first == 0);
#pragma unroll
          for (int v = 0; v < VECTORS; v++) {
            const float* x = acc[v / (TN / 4)] + v % (TN / 4) * 4;
            own[v * THREADS] = make_float4(x[0], x[1], x[2], x[3]);
          }
          stores = last_here(arrivals + shared_tile, static_cast<unsigned>(parts));
        }
        if (stores) {
#pragma unroll
          for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j++) acc[i][j] = parts > 2 ? 0.0f : acc[i][j];
          for (int run = from; run <= to; run++) {
            if (parts == 2 && run == block) continue;
            const float4* const other = piece_of(run, run == from);
#pragma unroll
            for (int v = 0; v < VECTORS; v++) {
              const float4 w = __ldcg(other + v * THREADS);
              float* x = acc[v / (TN / 4)] + v % (TN / 4) * 4;
              x[0] += w.x, x[1] += w.y, x[2] += w.z, x[3] += w.w;
            }
          }
        }
      }
      if (stores) store(acc, p, tm * BM, tn * BN, c + static_cast<long long>(batch) * p.m * p.n);
      __syncthreads();  // all have read what the next tile's copies overwrite
    }
  }
};

#endif
