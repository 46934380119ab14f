// Operands of f32 tiles that threads copy themselves, in any place and layout. A stage lies in lines of the tile's elements, so that an operand with k contiguous is turned on its way, or where A_ROWS or B_ROWS ask for it in rows of k. A stage is
// copied in parts while the stage before is multiplied: all at once, copies would hold the loads of the multiply-adds up.
#pragma once
#include "f32.cuh"

#ifdef OPSCOPE_WGMMA

constexpr int COPIES_GAP = opscope::cuda::f32_gap;

// An operand with k contiguous: a warp copies words of eight of k of four rows at a time.
template <int TILE, int THREADS, int PARTS>
struct TurnedCopies {
  static constexpr int WARPS = THREADS / 32, EACH = TILE * BK / THREADS, PITCH = TILE + COPIES_GAP;
  const float* from;  // the first of k of this thread, of row 0
  int row, last, left;  // of the thread's first word; the operand's last; of k from the first word on
  int pitch;
  uint32_t to;        // the first word's place in a stage
  __device__ __forceinline__ TurnedCopies(const float* x, int rows, int k, int row0, int k0, int end_k, bool) : last(rows - 1), pitch(k) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    row = row0 + warp * 4 + lane / 8;
    from = x + k0 + lane % 8, left = end_k - k0 - lane % 8;
    to = (lane % 8 * PITCH + warp * 4 + lane / 8) * 4;
  }
  __device__ __forceinline__ void copy(uint32_t stage, int step, int part) const {
    const float* const here = from + step * BK;
    const int there = left - step * BK;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
      if (e * PARTS / EACH != part) continue;
      const int down = e / 4 * WARPS * 4, deep = e % 4 * 8;
      // Rows beyond the last are copies of it, whose results are not stored.
      copy_async_4(stage + to + (deep * PITCH + down) * 4, here + static_cast<long long>(min(row + down, last)) * pitch + deep, there > deep ? 4 : 0);
    }
  }
};

// An operand whose rows are contiguous: words, or 16 bytes where `wide`.
template <int TILE, int THREADS, int PARTS>
struct LineCopies {
  static constexpr int WARPS = THREADS / 32, PITCH = TILE + COPIES_GAP;
  static constexpr int GROUPS = TILE / 32, EACH = TILE * BK / THREADS;                                                               // words: of a line, of a thread
  static constexpr int ACROSS = TILE >= 128 ? 32 : TILE / 4, LINES = 32 / ACROSS, WIDE_GROUPS = TILE >= 128 ? TILE / 128 : 1, WIDE_EACH = EACH / 4;  // 16 bytes: lanes across a line, lines of a warp, of a line, of a thread
  const float* from;
  long long pitch;
  int rows, left;
  uint32_t to;
  bool wide;
  __device__ __forceinline__ LineCopies(const float* x, int rows_of_x, int, int row0, int k0, int end_k, bool whole) : pitch(rows_of_x), wide(whole) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int line = wide ? warp * LINES + lane / ACROSS : warp, column = wide ? lane % ACROSS * 4 : lane;
    from = x + (k0 + line) * pitch + row0 + column;
    rows = rows_of_x - row0 - column, left = end_k - k0 - line;
    to = (line * PITCH + column) * 4;
  }
  __device__ __forceinline__ void copy(uint32_t stage, int step, int part) const {
    const float* const here = from + step * BK * pitch;
    const int there = left - step * BK;
    if (wide) {
#pragma unroll
      for (int e = 0; e < WIDE_EACH; e++) {
        if (e * PARTS / WIDE_EACH != part) continue;
        const int line = e / WIDE_GROUPS * (WARPS * LINES), column = e % WIDE_GROUPS * 128;
        copy_async_16(stage + to + (line * PITCH + column) * 4, here + line * pitch + column, rows > column && there > line ? 16 : 0);
      }
    } else {
#pragma unroll
      for (int e = 0; e < EACH; e++) {
        if (e * PARTS / EACH != part) continue;
        const int line = e / GROUPS * WARPS, column = e % GROUPS * 32;
        copy_async_4(stage + to + (line * PITCH + column) * 4, here + line * pitch + column, rows > column && there > line ? 4 : 0);
      }
    }
  }
};

// An operand with k contiguous as it lies: rows of a stage's k, whose 16-byte chunks are swizzled.
template <int TILE, int THREADS, int PARTS>
struct RowCopies {
  static constexpr int EACH = TILE * BK / THREADS, STRIDE = THREADS / 32;  // words of a thread; rows between them
  const float* x;
  int rows, k, row0, k0, end_k;
  bool wide;
  __device__ __forceinline__ RowCopies(const float* operand, int rows_of_x, int all_k, int first_row, int first_k, int last_k, bool whole) : x(operand), rows(rows_of_x), k(all_k), row0(first_row), k0(first_k), end_k(last_k), wide(whole) {}
  // Places are computed anew, which takes fewer registers. Where eight rows are not a whole number of strides, a row's chunks are swizzled in another way.
  template <int WORDS, int COUNT, int DOWN>
  __device__ __forceinline__ void copy_words(uint32_t stage, int step, int part) const {
    const int column = threadIdx.x % (BK / WORDS) * WORDS, down = threadIdx.x / (BK / WORDS), left = rows - row0 - down;
    const bool inside = end_k - k0 - column > step * BK;
    const float* next = x + static_cast<long long>(row0 + down) * k + k0 + column + step * BK;
    const uint32_t to = (down * BK + ((column / 4 ^ (down & 7)) << 2 | (column & 3))) * 4;
#pragma unroll
    for (int e = 0; e < COUNT; e++, next += static_cast<long long>(DOWN) * k) {
      if (e * PARTS / COUNT != part) continue;
      const uint32_t at = stage + (to ^ (e * DOWN & 7) << 4) + e * DOWN * BK * 4;
      if constexpr (WORDS == 4) copy_async_16(at, next, inside && e * DOWN < left ? 16 : 0);
      else copy_async_4(at, next, inside && e * DOWN < left ? 4 : 0);
    }
  }
  __device__ __forceinline__ void copy(uint32_t stage, int step, int part) const {
    if (wide) copy_words<4, EACH / 4, STRIDE * 4>(stage, step, part);
    else copy_words<1, EACH, STRIDE>(stage, step, part);
  }
};

template <bool K_CONTIGUOUS, bool ROWS, int TILE, int THREADS, int PARTS>
struct CopiesOf {
  using type = LineCopies<TILE, THREADS, PARTS>;
};
template <int TILE, int THREADS, int PARTS>
struct CopiesOf<true, false, TILE, THREADS, PARTS> {
  using type = TurnedCopies<TILE, THREADS, PARTS>;
};
template <int TILE, int THREADS, int PARTS>
struct CopiesOf<true, true, TILE, THREADS, PARTS> {
  using type = RowCopies<TILE, THREADS, PARTS>;
};

// Beyond the last stage of a share zeros are copied.
template <int STAGES, int STAGE, int B_AT, class A, class B>
struct CopyRing {
  A a;
  B b;
  uint32_t ring;
  __device__ __forceinline__ void fill(int step, int part) const {
    const uint32_t to = ring + step % STAGES * (STAGE * 4);
    a.copy(to, step, part);
    b.copy(to + B_AT * 4, step, part);
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
  template <int BM, int BN, int STAGES, int THREADS, int PARTS, bool A_ROWS, bool B_ROWS>
  __device__ __forceinline__ auto ring(float* shared, const F32Product& p, int m0, int n0, int k0, int steps, int batch_a, int batch) const {
    using A = typename CopiesOf<A_K, A_ROWS, BM, THREADS, PARTS>::type;
    using B = typename CopiesOf<B_K, B_ROWS, BN, THREADS, PARTS>::type;
    static_assert((A_K || !A_ROWS) && (B_K || !B_ROWS));
    const int end_k = min(p.k, k0 + steps * BK);
    return CopyRing<STAGES, (BM + BN + 2 * GAP) * BK, (BM + GAP) * BK, A, B>{A(a + static_cast<long long>(batch_a) * p.m * p.k, p.m, p.k, m0, k0, end_k, wide_a), B(b + static_cast<long long>(batch) * p.k * p.n, p.n, p.k, n0, k0, end_k, wide_b),
                                                                        shared_address(shared)};
  }
#endif
};
