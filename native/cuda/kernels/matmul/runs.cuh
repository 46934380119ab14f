// Tiles of f32 products whose blocks have warps that multiply and FEED threads that bring operands (matmul/f32_feed.cuh): those that multiply have nothing else to do, no barrier of the block stops them, and the next
// tile's operands are on their way while a tile is stored. WM x WN warps have the tile; a warp is 4 x 8 lanes, a thread has TM x TN results. A ring has STAGES of STEP of k.
#pragma once
#include "../common/wgmma_pair.cuh"
#include "f32_feed.cuh"
#include "../common/stored.cuh"
#include "runs_sizes.h"
#include "runs_task.h"

using opscope::cuda::F32Runs;

#ifdef OPSCOPE_WGMMA

template <int WM, int WN, int TM, int TN, int STAGES, int STEP>
struct RunsProduct {
  static constexpr int TY = opscope::cuda::runs_warp_rows, TX = 32 / TY, ROWS = TY * TM, COLUMNS = TX * TN;  // of a warp's results
  static constexpr int BM = WM * ROWS, BN = WN * COLUMNS, WARPS = WM * WN, MATH = WARPS * 32;
  static constexpr int PITCH_A = BM + COPIES_GAP, PITCH_B = BN + COPIES_GAP, B_AT = PITCH_A * STEP, STAGE = (PITCH_A + PITCH_B) * STEP;
  static constexpr int OUT_PITCH = COLUMNS + 4, OUT = TY * 4 * OUT_PITCH;  // of what a warp turns to store it
  static constexpr int CHUNKS = STEP / 4, VECTORS = TM * TN / 4;

  // Stages of a tile that a block adds up: `steps` of `all`, from `first` on. `shared_tile`: its number among those that runs share.
  struct Part {
    int tile, shared_tile, first, steps, all;
  };

  struct Work {
    const F32Product& p;
    const F32Runs& r;
    int all, from, at, end;  // stages of a tile; of the run: the first, and of what is left the first (before the run are whole tiles) and the end
    __device__ __forceinline__ int first_of(int run) const { return run * r.stages + min(run, r.longer); }
    __device__ __forceinline__ int run_of(int stage) const {
      const int of_longer = r.longer * (r.stages + 1);
      return stage < of_longer ? stage / (r.stages + 1) : r.longer + (stage - of_longer) / r.stages;
    }
    __device__ __forceinline__ Work(const F32Product& product, const F32Runs& runs) : p(product), r(runs) {
      const int block = static_cast<int>(blockIdx.x);
      all = (p.k + STEP - 1) / STEP, from = first_of(block), at = from - r.rounds * all, end = first_of(block + 1);
    }
    __device__ __forceinline__ bool next(Part& part) {
      if (at >= end) return false;
      const int blocks = static_cast<int>(gridDim.x);
      part = {static_cast<int>(blockIdx.x) + ((from - at) / all - 1) * blocks, 0, 0, all, all};
      if (at >= from) part.shared_tile = at / all, part.first = at - part.shared_tile * all, part.steps = min(all - part.first, end - at), part.tile = r.rounds * blocks + part.shared_tile;
      at += part.steps;
      return true;
    }
    __device__ __forceinline__ void place(int tile, int& batch, int& m0, int& n0) const {
      const int each = p.tiles_m * p.tiles_n;
      int tm, tn;
      batch = tile / each;
      tile_of(tile - batch * each, p.tiles_m, p.tiles_n, tm, tn);
      m0 = tm * BM, n0 = tn * BN;
    }
  };

  template <class A, class B>
  static __device__ __forceinline__ void feed(const float* a, const float* b, bool wide_a, bool wide_b, Work work, uint32_t ring, uint32_t full, uint32_t empty) {
    const F32Product& p = work.p;
    int slot = 0, phase = 1;
    for (Part part; work.next(part);) {
      int batch, m0, n0;
      work.place(part.tile, batch, m0, n0);
      const int k0 = part.first * STEP, end_k = min(p.k, k0 + part.steps * STEP);
      A left(a + static_cast<long long>(batch < p.batches_a ? batch : batch % p.batches_a) * p.m * p.k, p.m, p.k, m0, k0, end_k, wide_a);
      B right(b + static_cast<long long>(batch) * p.k * p.n, p.n, p.k, n0, k0, end_k, wide_b);
#pragma unroll 1
      for (int step = 0; step < part.steps; step++) {
        const uint32_t to = ring + slot * (STAGE * 4);
        // What goes through registers is on its way before there is room for it; of two operands one.
        left.load();
        if (A::ASYNC) right.load();
        barrier_wait(empty + slot * 8, phase);
        left.copy(to), right.copy(to + B_AT * 4);
        copy_commit();
        left.store(to);
        if (!A::ASYNC) right.load();
        right.store(to + B_AT * 4);
        left.next(), right.next();
        copy_wait<0>();
        barrier_arrive(full + slot * 8);
        if (++slot == STAGES) slot = 0, phase ^= 1;
      }
    }
  }

  // Whether `x` holds for any of the threads that multiply, all of which have arrived.
  static __device__ __forceinline__ bool any(bool x) {
    int y;
    asm volatile("{\n.reg .pred p, q;\nsetp.ne.s32 p, %1, 0;\nbarrier.cta.red.or.pred q, 1, %2, p;\nselp.s32 %0, 1, 0, q;\n}" : "=r"(y) : "r"(static_cast<int>(x)), "n"(MATH) : "memory");
    return y != 0;
  }

  // Sums of a tile to `c`, the results of its product. `out`: shared memory of this warp.
  static __device__ __forceinline__ void store(const float (&acc)[TM][TN], int m, int n, int row0, int column0, int tx, int ty, float* c, float* out) {
    const auto vector = [&](int i, int j) { return make_float4(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]); };
    const int rows = m - row0, columns = n - column0, lane = threadIdx.x % 32;
    c += static_cast<long long>(row0) * n + column0;
    if (n % 4 == 0) {
#pragma unroll
      for (int i = 0; i < TM; i++) {
        const int row = i / 4 * (TY * 4) + ty * 4 + i % 4;
#pragma unroll
        for (int j = 0; j < TN; j += 4)
          if (row < rows && tx * 4 + j * TX < columns) *reinterpret_cast<float4*>(c + static_cast<long long>(row) * n + tx * 4 + j * TX) = vector(i, j);
      }
      return;
    }
    // Through shared memory, so that neighbours store what lies together.
#pragma unroll
    for (int i = 0; i < TM; i += 4) {
      __syncwarp();
#pragma unroll
      for (int e = 0; e < 4; e++)
#pragma unroll
        for (int j = 0; j < TN; j += 4) *reinterpret_cast<float4*>(out + (ty * 4 + e) * OUT_PITCH + tx * 4 + j * TX) = vector(i + e, j);
      __syncwarp();
      float* const to = c + static_cast<long long>(i * TY) * n;
#pragma unroll 4
      for (int row = 0; row < TY * 4; row++)
#pragma unroll
        for (int j = lane; j < COLUMNS; j += 32)
          if (row + i * TY < rows && j < columns) to[static_cast<long long>(row) * n + j] = out[row * OUT_PITCH + j];
    }
  }

  // Where a tile belongs to several runs: its sums to `pieces` and, in the last block to arrive, those of the others added to them in the order of k. Whether this block has them all.
  static __device__ __forceinline__ bool join(float (&acc)[TM][TN], const Work& work, const Part& part, float4* pieces, unsigned* arrivals) {
    const int block = static_cast<int>(blockIdx.x), begin = part.shared_tile * part.all, from = work.run_of(begin), to = work.run_of(begin + part.all - 1);
    const unsigned parts = static_cast<unsigned>(to - from + 1);
    const auto piece_of = [&](int run, bool begins) { return pieces + (2ll * run + begins) * (VECTORS * MATH) + (threadIdx.x - FEED); };
    unsigned* const arrived = arrivals + part.shared_tile;
    // Where the other of two has arrived this one's sums need not be stored, and the counter is left at zero.
    unsigned there = 0;
    if (parts == 2 && threadIdx.x == FEED) {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(__cvta_generic_to_global(arrived)) : "memory");
      if (there == 1) *arrived = 0;
    }
    if (parts != 2 || !any(there == 1)) {
      float4* const own = piece_of(block, part.first == 0);
#pragma unroll
      for (int v = 0; v < VECTORS; v++) {
        const float* x = acc[v / (TN / 4)] + v % (TN / 4) * 4;
        own[v * MATH] = make_float4(x[0], x[1], x[2], x[3]);
      }
      any(false);
      unsigned before = parts;
      if (threadIdx.x == FEED) asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(__cvta_generic_to_global(arrived)), "r"(parts - 1) : "memory");
      if (!any(before == parts - 1)) return false;
    }
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
      for (int j = 0; j < TN; j++) acc[i][j] = parts > 2 ? 0.0f : acc[i][j];
    for (int run = from; run <= to; run++) {
      if (parts == 2 && run == block) continue;  // of two the order is the same either way
      const float4* const other = piece_of(run, run == from);
#pragma unroll
      for (int v = 0; v < VECTORS; v++) {
        const float4 w = __ldcg(other + v * MATH);
        float* x = acc[v / (TN / 4)] + v % (TN / 4) * 4;
        x[0] += w.x, x[1] += w.y, x[2] += w.z, x[3] += w.w;
      }
    }
    return true;
  }

  static __device__ __forceinline__ void multiply(float* c, float4* pieces, unsigned* arrivals, Work work, const float* shared, float* out, uint32_t full, uint32_t empty) {
    const F32Product& p = work.p;
    const int lane = threadIdx.x % 32, warp = (threadIdx.x - FEED) / 32, wm = warp / WN, wn = warp % WN;
    // Half a warp reads at most eight vectors of either operand, so that it is one pass.
    const int tx = (lane & 1) | (lane >> 2 & 6), ty = lane >> 1 & 3;
    const float* const own_a = shared + wm * ROWS + ty * 4;
    const float* const own_b = shared + B_AT + wn * COLUMNS + tx * 4;
    int slot = 0, phase = 0;
    for (Part part; work.next(part);) {
      float acc[TM][TN] = {};
#pragma unroll 1
      for (int step = 0; step < part.steps; step++) {
        barrier_wait(full + slot * 8, phase);
        const float *const a = own_a + slot * STAGE, *const b = own_b + slot * STAGE;
        // Two chunks of code are faster than all four: blocks of a multiprocessor are at different places of it.
#pragma unroll 2
        for (int chunk = 0; chunk < CHUNKS; chunk++) {  // of four of k
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
        }
        barrier_arrive(empty + slot * 8);
        if (++slot == STAGES) slot = 0, phase ^= 1;
      }
      to_be_stored(acc, p.m);
      if (part.steps < part.all && !join(acc, work, part, pieces, arrivals)) continue;
      int batch, m0, n0;
      work.place(part.tile, batch, m0, n0);
      store(acc, p.m, p.n, m0 + wm * ROWS, n0 + wn * COLUMNS, tx, ty, c + static_cast<long long>(batch) * p.m * p.n, out + warp * OUT);
    }
  }

  // RESIDENT: blocks of a multiprocessor.
  template <int RESIDENT, class A, class B>
  static __device__ __forceinline__ void product(const float* a, const float* b, float* c, const F32Product& p, bool wide_a, bool wide_b, float4* pieces, unsigned* arrivals, const F32Runs& runs) {
    extern __shared__ __align__(16) float shared[];
    __shared__ __align__(8) uint64_t barriers[2 * STAGES];
    const uint32_t full = shared_address(barriers), empty = full + STAGES * 8;
    // Every thread arrives for itself: racecheck does not see that an arrival of one after __syncwarp stands for its warp.
    if (threadIdx.x == 0)
      for (int s = 0; s < STAGES; s++) {
        barrier_init(full + s * 8, FEED);
        barrier_init(empty + s * 8, MATH);
      }
    __syncthreads();
    const Work work(p, runs);
    if (threadIdx.x < FEED) {
      give_registers<opscope::cuda::runs_feed_registers(RESIDENT)>();
      feed<A, B>(a, b, wide_a, wide_b, work, shared_address(shared), full, empty);
    } else {
      take_registers<opscope::cuda::runs_math_registers(RESIDENT)>();
      multiply(c, pieces, arrivals, work, shared, shared + STAGES * STAGE, full, empty);
    }
  }
};

#endif
