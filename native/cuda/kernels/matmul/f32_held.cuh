// Operands of f32 tiles that have k contiguous both, in any place, by way of registers.
#pragma once
#include "f32_copies.cuh"

#ifdef OPSCOPE_WGMMA

// An operand: a thread has all of four rows at one of k, neighbours are along k. Takes fewer lines of memory at a time than copies of words, and stores 16 bytes.
template <int TILE, int THREADS, int PARTS, int STEP>
struct HeldCopies {
  static constexpr int DOWN = THREADS / STEP, GROUPS = TILE / 4 / DOWN, PITCH = TILE + COPIES_GAP;
  static_assert(STEP <= 32 && DOWN * 4 * GROUPS == TILE);
  const float* from;
  int offset[GROUPS][4];  // of rows
  int left;               // of k from there on
  uint32_t to;
  float held[GROUPS][4];
  __device__ __forceinline__ HeldCopies(const float* x, int rows, int k, int row0, int k0, int end_k, bool) {
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

// Stages are filled one after the other: loads are issued before the multiply-adds of a stage, and stored after them.
template <int STAGES, int STAGE, int B_AT, class A, class B>
struct HeldRing {
  A a;
  B b;
  uint32_t ring, to;  // its first stage, and the one that is filled
  __device__ __forceinline__ HeldRing(const A& left, const B& right, uint32_t first) : a(left), b(right), ring(first), to(first) {}
  __device__ __forceinline__ void fill(int, int part) {
    a.copy(to, part);
    b.copy(to, part);
  }
  __device__ __forceinline__ void filled() {
    a.store(to);
    b.store(to + B_AT * 4);
    a.next(), b.next();
    to = to == ring + (STAGES - 1) * (STAGE * 4) ? ring : to + STAGE * 4;
  }
  __device__ __forceinline__ void wait(int) const {}
  __device__ __forceinline__ void end() const {}
};

#endif

// The addresses of both.
struct HeldOperands {
  const float *a, *b;
#ifdef OPSCOPE_WGMMA
  static constexpr int GAP = COPIES_GAP;
  static constexpr bool WINDOWS = false;
  template <int BM, int BN, int STAGES, int THREADS, int PARTS, bool A_ROWS, bool B_ROWS, int STEP = BK>
  __device__ __forceinline__ auto ring(float* shared, const F32Product& p, int m0, int n0, int k0, int steps, int batch_a, int batch) const {
    using A = HeldCopies<BM, THREADS, PARTS, STEP>;
    using B = HeldCopies<BN, THREADS, PARTS, STEP>;
    static_assert(!A_ROWS && !B_ROWS);
    const int end_k = min(p.k, k0 + steps * STEP);
    return HeldRing<STAGES, (BM + BN + 2 * GAP) * STEP, (BM + GAP) * STEP, A, B>(A(a + static_cast<long long>(batch_a) * p.m * p.k, p.m, p.k, m0, k0, end_k, false), B(b + static_cast<long long>(batch) * p.k * p.n, p.n, p.k, n0, k0, end_k, false), shared_address(shared));
  }
#endif
};
