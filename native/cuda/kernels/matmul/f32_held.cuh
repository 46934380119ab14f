// Operands of f32 tiles that have k contiguous, by way of registers: loads are issued before the multiply-adds of a stage, and stored after them. The other operand of a tile may be copied as before.
#pragma once
#include "f32_copies.cuh"

#ifdef OPSCOPE_WGMMA

// An operand in any place: a thread has all of four rows at one of k, neighbours are along k. Takes fewer lines of memory at a time than copies of words, and stores 16 bytes.
template <int TILE, int THREADS, int PARTS, int STEP>
struct WordsHeld {
  static constexpr bool ASYNC = false;
  static constexpr int DOWN = THREADS / STEP, GROUPS = TILE / 4 / DOWN, PITCH = TILE + COPIES_GAP;
  static_assert(STEP <= 32 && DOWN * 4 * GROUPS == TILE);
  const float* from;
  int offset[GROUPS][4];  // of rows
  int left;               // of k from there on
  uint32_t to;
  float held[GROUPS][4];
  __device__ __forceinline__ WordsHeld(const float* x, int rows, int k, int row0, int k0, int end_k, bool) {
    const int at = threadIdx.x % STEP, row = threadIdx.x / STEP * 4;
    from = x + static_cast<long long>(row0) * k + k0 + at;
    // Rows beyond the last are copies of it, whose results are not stored.
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
#pragma unroll
      for (int j = 0; j < 4; j++) offset[g][j] = min(row + g * (DOWN * 4) + j, rows - 1 - row0) * k;
    left = end_k - k0 - at;
    to = (at * PITCH + row) * 4;
  }
  __device__ __forceinline__ void copy(uint32_t, int part) {
    if (part != 0) return;
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
#pragma unroll
      for (int j = 0; j < 4; j++) held[g][j] = left > 0 ? __ldg(from + offset[g][j]) : 0.0f;
  }
  __device__ __forceinline__ void store(uint32_t stage) const {
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
      asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(stage + to + g * (DOWN * 16)), "f"(held[g][0]), "f"(held[g][1]), "f"(held[g][2]), "f"(held[g][3]) : "memory");
  }
  __device__ __forceinline__ void next() { from += STEP, left -= STEP; }
};

// An operand whose rows start on 16 bytes: a thread has 16 bytes along k of four rows (two, where the tile has few), turned as they are stored. Lanes that store together, eight of 16 bytes or sixteen of 8, have two
// places along k, so that they meet all banks.
template <int TILE, int THREADS, int PARTS, int STEP>
struct VectorsHeld {
  static constexpr bool ASYNC = false;
  static constexpr int VECTORS = STEP / 4, ROWS = TILE * VECTORS / 4 >= THREADS ? 4 : 2, ITEMS = TILE / ROWS * VECTORS, GROUPS = (ITEMS + THREADS - 1) / THREADS, DOWN = THREADS / VECTORS * ROWS, PITCH = TILE + COPIES_GAP;
  static_assert(VECTORS == 2 || VECTORS == 4 || VECTORS == 8);
  const float* from;
  int row, last, pitch, left;  // the first row; the last one of the operand; of rows; of k from there on
  uint32_t to;
  float held[GROUPS][ROWS][4];
  __device__ __forceinline__ VectorsHeld(const float* x, int rows, int k, int row0, int k0, int end_k, bool) {
    constexpr int GROUP = ROWS == 4 ? 2 : 3, DEEP = VECTORS == 2 ? 1 : VECTORS == 4 ? 2 : 3;  // bits of the rows of lanes that store together; of vectors
    const int t = threadIdx.x, vector = (t & 1) | (t >> (1 + GROUP) & (VECTORS / 2 - 1)) << 1;
    row = ((t >> 1 & ((1 << GROUP) - 1)) | t >> (GROUP + DEEP) << GROUP) * ROWS;
    from = x + static_cast<long long>(row0) * k + k0 + vector * 4;
    last = rows - 1 - row0, pitch = k, left = end_k - k0 - vector * 4;
    to = (vector * 4 * PITCH + row) * 4;
  }
  static __device__ __forceinline__ bool has(int g) { return g < ITEMS / THREADS || threadIdx.x < ITEMS % THREADS; }
  __device__ __forceinline__ void copy(uint32_t, int part) {
    if (part != 0) return;
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
      if (!has(g)) continue;
#pragma unroll
      for (int j = 0; j < ROWS; j++) {
        // Rows beyond the last are copies of it, whose results are not stored.
        const float4 v = left > 0 ? __ldg(reinterpret_cast<const float4*>(from + min(row + g * DOWN + j, last) * pitch)) : make_float4(0, 0, 0, 0);
        held[g][j][0] = v.x, held[g][j][1] = v.y, held[g][j][2] = v.z, held[g][j][3] = v.w;
      }
    }
  }
  __device__ __forceinline__ void store(uint32_t stage) const {
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
      if (!has(g)) continue;
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const uint32_t at = stage + to + (i * PITCH + g * DOWN) * 4;
        if constexpr (ROWS == 4) asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(at), "f"(held[g][0][i]), "f"(held[g][1][i]), "f"(held[g][2][i]), "f"(held[g][3][i]) : "memory");
        else asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at), "f"(held[g][0][i]), "f"(held[g][1][i]) : "memory");
      }
    }
  }
  __device__ __forceinline__ void next() { from += STEP, left -= STEP; }
};

// Stages are filled one after the other, each operand in its way.
template <int STAGES, int STAGE, int B_AT, class A, class B>
struct MixedRing {
  static constexpr bool ASYNC = A::ASYNC || B::ASYNC;
  A a;
  B b;
  uint32_t ring, to;  // its first stage, and the one that is filled
  __device__ __forceinline__ MixedRing(const A& left, const B& right, uint32_t first) : a(left), b(right), ring(first), to(first) {}
  __device__ __forceinline__ void fill(int, int part) {
    a.copy(to, part);
    b.copy(to + B_AT * 4, part);
  }
  __device__ __forceinline__ void filled() {
    a.store(to);
    b.store(to + B_AT * 4);
    a.next(), b.next();
    to = to == ring + (STAGES - 1) * (STAGE * 4) ? ring : to + STAGE * 4;
    if (ASYNC) copy_commit();
  }
  __device__ __forceinline__ void wait(int) const {
    if (ASYNC) copy_wait<STAGES - 2>();
  }
  __device__ __forceinline__ void end() const {
    if (ASYNC) copy_wait<0>();
  }
};

#endif

// The addresses of operands, each copied by A or B. Whether rows that are contiguous start on 16 bytes.
template <template <int, int, int, int> class A, template <int, int, int, int> class B>
struct MixedOperands {
  const float *a, *b;
  bool wide_a, wide_b;
#ifdef OPSCOPE_WGMMA
  static constexpr int GAP = COPIES_GAP;
  static constexpr bool WINDOWS = false;
  template <int BM, int BN, int STAGES, int THREADS, int PARTS, bool A_ROWS, bool B_ROWS, int STEP = BK>
  __device__ __forceinline__ auto ring(float* shared, const F32Product& p, int m0, int n0, int k0, int steps, int batch_a, int batch) const {
    using Left = A<BM, THREADS, PARTS, STEP>;
    using Right = B<BN, THREADS, PARTS, STEP>;
    static_assert(!A_ROWS && !B_ROWS);
    const int end_k = min(p.k, k0 + steps * STEP);
    return MixedRing<STAGES, (BM + BN + 2 * GAP) * STEP, (BM + GAP) * STEP, Left, Right>(Left(a + static_cast<long long>(batch_a) * p.m * p.k, p.m, p.k, m0, k0, end_k, wide_a), Right(b + static_cast<long long>(batch) * p.k * p.n, p.n, p.k, n0, k0, end_k, wide_b), shared_address(shared));
  }
#endif
};
