// Operands of f32 tiles that warps of their own bring to shared memory (matmul/runs.cuh), in any place and layout. A stage lies in lines of the tile's elements, so that an operand with k contiguous is turned on its
// way. Those warps have few registers: places of rows are worked out again for every stage.
#pragma once
#include "f32_copies.cuh"
#include "runs_sizes.h"

#ifdef OPSCOPE_WGMMA

constexpr int FEED = opscope::cuda::runs_feed;  // threads that bring operands

// The compiler is not to know that `x` is the same in every stage, or it would keep all that follows from it in registers.
__device__ __forceinline__ void forget(int& x) { asm volatile("" : "+r"(x)); }

// An operand whose rows are contiguous: words, or 16 bytes where `wide`.
template <int TILE, int STEP>
struct LinesFed {
  static constexpr bool ASYNC = true;
  static constexpr int WARPS = FEED / 32, PITCH = TILE + COPIES_GAP, WORDS = TILE / 32;                                                                     // words of a lane in a line
  static constexpr int ACROSS = TILE % 128 == 0 ? 32 : TILE % 64 == 0 ? 16 : 8, LINES = 32 / ACROSS, VECTORS = TILE / (ACROSS * 4);  // lanes across a line, lines of a warp, vectors of a lane in a line
  const float* from;  // of the next line
  long long down;     // to the line after it
  int rows, left;     // from there on
  uint32_t to;
  bool wide;
  __device__ __forceinline__ LinesFed(const float* x, int rows_of_x, int, int row0, int k0, int end_k, bool whole) : wide(whole) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, line = wide ? warp * LINES + lane / ACROSS : warp, column = wide ? lane % ACROSS * 4 : lane;
    from = x + static_cast<long long>(k0 + line) * rows_of_x + row0 + column;
    down = static_cast<long long>(wide ? WARPS * LINES : WARPS) * rows_of_x;
    rows = rows_of_x - row0 - column, left = end_k - k0 - line;
    to = (line * PITCH + column) * 4;
  }
  __device__ __forceinline__ void load() {}
  __device__ __forceinline__ void copy(uint32_t stage) {
    forget(rows);
    if (wide) {
#pragma unroll
      for (int line = 0; line < STEP; line += WARPS * LINES) {
#pragma unroll
        for (int v = 0; v < VECTORS; v++) copy_async_16(stage + to + (line * PITCH + v * (ACROSS * 4)) * 4, from + v * (ACROSS * 4), rows > v * (ACROSS * 4) && left > 0 ? 16 : 0);
        from += down, left -= WARPS * LINES;
      }
    } else {
      uint32_t at = stage + to;
#pragma unroll 1
      for (int line = 0; line < STEP; line += WARPS, at += WARPS * PITCH * 4) {
#pragma unroll
        for (int w = 0; w < WORDS; w++) copy_async_4(at + w * 128, from + w * 32, rows > w * 32 && left > 0 ? 4 : 0);
        from += down, left -= WARPS;
      }
    }
  }
  __device__ __forceinline__ void store(uint32_t) const {}
  __device__ __forceinline__ void next() {}  // all lines of a stage lead to the next one
};

// An operand with k contiguous in any place: a warp copies words of eight of k of four rows at a time.
template <int TILE, int STEP>
struct TurnedFed {
  static constexpr bool ASYNC = true;
  static constexpr int DOWN = FEED / 8, GROUPS = TILE / DOWN, PITCH = TILE + COPIES_GAP;
  const char* from;
  int row, last, pitch, left;  // the first row; the last one of the operand; bytes of one; of k from there on
  uint32_t to;
  __device__ __forceinline__ TurnedFed(const float* x, int rows, int k, int row0, int k0, int end_k, bool) {
    const int at = threadIdx.x % 8;
    from = reinterpret_cast<const char*>(x + static_cast<long long>(row0) * k + k0 + at);
    row = threadIdx.x / 8, last = rows - 1 - row0, pitch = k * 4, left = end_k - k0 - at;
    to = (at * PITCH + row) * 4;
  }
  __device__ __forceinline__ void load() {}
  // Rows beyond the last are copies of it, whose results are not stored.
  __device__ __forceinline__ void copy(uint32_t stage) {
    forget(row);
#pragma unroll
    for (int g = 0; g < GROUPS; g++) {
      const float* const x = reinterpret_cast<const float*>(from + static_cast<long long>(min(row + g * DOWN, last)) * pitch);
#pragma unroll
      for (int deep = 0; deep < STEP; deep += 8) copy_async_4(stage + to + (deep * PITCH + g * DOWN) * 4, x + deep, left > deep ? 4 : 0);
    }
  }
  __device__ __forceinline__ void store(uint32_t) const {}
  __device__ __forceinline__ void next() { from += STEP * 4, left -= STEP; }
};

// The same by way of registers: a thread has all of four rows at one of k, neighbours are along k.
template <int TILE, int STEP>
struct WordsFed {
  static constexpr bool ASYNC = false;
  static constexpr int DOWN = FEED / STEP * 4, GROUPS = TILE / DOWN, PITCH = TILE + COPIES_GAP;
  static_assert(STEP <= 32 && DOWN * GROUPS == TILE);
  const char* from;
  int row, last, pitch, left;  // the first row; the last one of the operand; bytes of one; of k from there on
  uint32_t to;
  float held[GROUPS][4];
  __device__ __forceinline__ WordsFed(const float* x, int rows, int k, int row0, int k0, int end_k, bool) {
    const int at = threadIdx.x % STEP;
    from = reinterpret_cast<const char*>(x + static_cast<long long>(row0) * k + k0 + at);
    row = threadIdx.x / STEP * 4, last = rows - 1 - row0, pitch = k * 4, left = end_k - k0 - at;
    to = (at * PITCH + row) * 4;
  }
  // Rows beyond the last are copies of it, whose results are not stored.
  __device__ __forceinline__ void load() {
    forget(row);
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
#pragma unroll
      for (int j = 0; j < 4; j++) held[g][j] = left > 0 ? __ldg(reinterpret_cast<const float*>(from + static_cast<long long>(min(row + g * DOWN + j, last)) * pitch)) : 0.0f;
  }
  __device__ __forceinline__ void copy(uint32_t) const {}
  __device__ __forceinline__ void store(uint32_t stage) const {
#pragma unroll
    for (int g = 0; g < GROUPS; g++)
      asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(stage + to + g * (DOWN * 4)), "f"(held[g][0]), "f"(held[g][1]), "f"(held[g][2]), "f"(held[g][3]) : "memory");
  }
  __device__ __forceinline__ void next() { from += STEP * 4, left -= STEP; }
};

#endif
