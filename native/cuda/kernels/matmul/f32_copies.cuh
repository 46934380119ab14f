// Operands of f32 tiles that threads copy themselves, in any place and layout. A stage lies in lines of the tile's elements, so that an operand with k contiguous is turned on its way. A stage is copied in
// parts while the stage before is multiplied: all at once, copies would hold the loads of large tiles' multiply-adds up. Places advance by additions: multiplications would take the unit of the multiply-adds.
#pragma once
#include "f32.cuh"

#ifdef OPSCOPE_WGMMA

constexpr int COPIES_GAP = opscope::cuda::f32_gap;

// An operand with k contiguous: a warp copies words of eight of k of four rows at a time.
template <int TILE, int THREADS, int PARTS, int STEP>
struct TurnedCopies {
  static constexpr bool ASYNC = true;
  static constexpr int WARPS = THREADS / 32, GROUPS = TILE / (WARPS * 4), DEEP = STEP / 8, EACH = GROUPS * DEEP, PITCH = TILE + COPIES_GAP;
  const float* from[GROUPS];  // the first of k of this thread, of its row of each group
  int left;                   // of k from there on
  uint32_t to;                // the first word's place in a stage
  __device__ __forceinline__ TurnedCopies(const float* x, int rows, int k, int row0, int k0, int end_k, bool) {
    const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 4 + lane / 8;
    // Rows beyond the last are copies of it, whose results are not stored.
#pragma unroll
    for (int g = 0; g < GROUPS; g++) from[g] = x + static_cast<long long>(min(row0 + row + g * (WARPS * 4), rows - 1)) * k + k0 + lane % 8;
    left = end_k - k0 - lane % 8;
    to = (lane % 8 * PITCH + row) * 4;
  }
  __device__ __forceinline__ void copy(uint32_t stage, int part) {
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      if (e * PARTS / EACH != part) continue;
      const int group = e / DEEP, deep = e % DEEP * 8;
      copy_async_4(stage + to + (deep * PITCH + group * (WARPS * 4)) * 4, from[group] + deep, left > deep ? 4 : 0);
    }
  }
  __device__ __forceinline__ void next() {
#pragma unroll
    for (int g = 0; g < GROUPS; g++) from[g] += STEP;
    left -= STEP;
  }
  __device__ __forceinline__ void store(uint32_t) const {}
};

// An operand whose rows are contiguous: words, or 16 bytes where `wide`.
template <int TILE, int THREADS, int PARTS, int STEP>
struct LineCopies {
  static constexpr bool ASYNC = true;
  static constexpr int WARPS = THREADS / 32, PITCH = TILE + COPIES_GAP;
  static constexpr int GROUPS = TILE / 32, EACH = TILE * STEP / THREADS;                                                               // words: of a line, of a thread
  static constexpr int ACROSS = TILE % 128 == 0 ? 32 : TILE % 64 == 0 ? 16 : 8, LINES = 32 / ACROSS, WIDE_GROUPS = TILE / (ACROSS * 4), WIDE_EACH = EACH / 4;  // 16 bytes: lanes across a line, lines of a warp, of a line, of a thread
  const float* from;  // of the next line
  long long down;     // to the line after it
  int rows, left;     // from there on
  uint32_t to;
  bool wide;
  __device__ __forceinline__ LineCopies(const float* x, int rows_of_x, int, int row0, int k0, int end_k, bool whole) : wide(whole) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int line = wide ? warp * LINES + lane / ACROSS : warp, column = wide ? lane % ACROSS * 4 : lane;
    from = x + static_cast<long long>(k0 + line) * rows_of_x + row0 + column;
    down = static_cast<long long>(wide ? WARPS * LINES : WARPS) * rows_of_x;
    rows = rows_of_x - row0 - column, left = end_k - k0 - line;
    to = (line * PITCH + column) * 4;
  }
  __device__ __forceinline__ void copy(uint32_t stage, int part) {
    if (wide) {
#pragma unroll
      for (int e = 0; e < WIDE_EACH; e++) {
        if (e * PARTS / WIDE_EACH != part) continue;
        const int line = e / WIDE_GROUPS * (WARPS * LINES), column = e % WIDE_GROUPS * (ACROSS * 4);
        copy_async_16(stage + to + (line * PITCH + column) * 4, from + column, rows > column && left > 0 ? 16 : 0);
        if (e % WIDE_GROUPS == WIDE_GROUPS - 1) from += down, left -= WARPS * LINES;
      }
    } else {
#pragma unroll
      for (int e = 0; e < EACH; e++) {
        if (e * PARTS / EACH != part) continue;
        const int line = e / GROUPS * WARPS, column = e % GROUPS * 32;
        copy_async_4(stage + to + (line * PITCH + column) * 4, from + column, rows > column && left > 0 ? 4 : 0);
        if (e % GROUPS == GROUPS - 1) from += down, left -= WARPS;
      }
    }
  }
  __device__ __forceinline__ void store(uint32_t) const {}
  __device__ __forceinline__ void next() {}  // all lines of a stage lead to the next one
};

template <bool K_CONTIGUOUS, int TILE, int THREADS, int PARTS, int STEP>
struct CopiesOf {
  using type = LineCopies<TILE, THREADS, PARTS, STEP>;
};
template <int TILE, int THREADS, int PARTS, int STEP>
struct CopiesOf<true, TILE, THREADS, PARTS, STEP> {
  using type = TurnedCopies<TILE, THREADS, PARTS, STEP>;
};

// Stages are filled one after the other, each in PARTS parts; beyond the last one of a share zeros are copied.
template <int STAGES, int STAGE, int B_AT, int PARTS, class A, class B>
struct CopyRing {
  A a;
  B b;
  uint32_t ring, to;  // its first stage, and the one that is filled
  __device__ __forceinline__ CopyRing(const A& left, const B& right, uint32_t first) : a(left), b(right), ring(first), to(first) {}
  __device__ __forceinline__ void fill(int, int part) {
    a.copy(to, part);
    b.copy(to + B_AT * 4, part);
    if (part < PARTS - 1) return;
    a.next(), b.next();
    to = to == ring + (STAGES - 1) * (STAGE * 4) ? ring : to + STAGE * 4;
  }
  __device__ __forceinline__ void filled() const { copy_commit(); }
  __device__ __forceinline__ void wait(int) const { copy_wait<STAGES - 2>(); }
  __device__ __forceinline__ void end() const { copy_wait<0>(); }
};

#endif

// The addresses of operands, and whether rows start on 16 bytes. A_K, B_K: k is contiguous.
template <bool A_K, bool B_K>
struct CopiedOperands {
  const float *a, *b;
  bool wide_a, wide_b;
#ifdef OPSCOPE_WGMMA
  static constexpr int GAP = COPIES_GAP;
  static constexpr bool WINDOWS = false;
  template <int BM, int BN, int STAGES, int THREADS, int PARTS, bool A_ROWS, bool B_ROWS, int STEP = BK>
  __device__ __forceinline__ auto ring(float* shared, const F32Product& p, int m0, int n0, int k0, int steps, int batch_a, int batch) const {
    using A = typename CopiesOf<A_K, BM, THREADS, PARTS, STEP>::type;
    using B = typename CopiesOf<B_K, BN, THREADS, PARTS, STEP>::type;
    static_assert(!A_ROWS && !B_ROWS);
    const int end_k = min(p.k, k0 + steps * STEP);
    return CopyRing<STAGES, (BM + BN + 2 * GAP) * STEP, (BM + GAP) * STEP, PARTS, A, B>(A(a + static_cast<long long>(batch_a) * p.m * p.k, p.m, p.k, m0, k0, end_k, wide_a), B(b + static_cast<long long>(batch) * p.k * p.n, p.n, p.k, n0, k0, end_k, wide_b),
                                                                               shared_address(shared));
  }
#endif
};
