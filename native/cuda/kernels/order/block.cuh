// Radix sort of a row by one block, eight bits at a time from the lowest, each pass keeping what has the same digit in its order. Words stay in registers
// while they are ranked, and move through shared memory. Rows may have up to R * blockDim.x words.
#pragma once
#include "digit.cuh"
#include "words.cuh"

namespace block {

constexpr int DIGITS = 256;

__device__ __forceinline__ unsigned digit_at(unsigned long long word, int shift) { return static_cast<unsigned>(word >> shift) & (DIGITS - 1); }
__device__ __forceinline__ unsigned digit_at(unsigned word, int shift) { return word >> shift & (DIGITS - 1); }

// Exclusive sums of the 256 totals, by the first warp.
__device__ __forceinline__ void starts_of(unsigned* totals) {
  const int lane = threadIdx.x;
  unsigned own[DIGITS / 32], sum = 0;
#pragma unroll
  for (int i = 0; i < DIGITS / 32; i++) own[i] = totals[lane * (DIGITS / 32) + i], sum += own[i];
  unsigned before = sum;
#pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, before, offset);
    if (lane >= offset) before += other;
  }
  before -= sum;
#pragma unroll
  for (int i = 0; i < DIGITS / 32; i++) totals[lane * (DIGITS / 32) + i] = before, before += own[i];
}

// On return `sorted`, of R * blockDim.x words, holds the words of the row in order. k: word i of the row lies in register j of lane l of warp w,
// i = (w * R + j) * 32 + l; words past the end are LAST. counts: 256 of each warp, and 256 more.
template <class E, int R>
__device__ __forceinline__ void sort(words::Word<E> (&k)[R], words::Word<E>* sorted, unsigned* counts) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  unsigned *const own = counts + warp * DIGITS, *const totals = counts + warps * DIGITS;
#pragma unroll 1
  for (int shift = words::HALF<E>; shift < 2 * words::HALF<E>; shift += 8) {
    for (int d = lane; d < DIGITS; d += 32) own[d] = 0;
    // Two words in a register: of each, the lanes before this one with its digit, and 256 times all of them; then the words before it in the warp.
    unsigned rank[R / 2];
#pragma unroll
    for (int j = 0; j < R; j++) {
      const unsigned same = same_digit(digit_at(k[j], shift)), lanes = __popc(same & ((1u << lane) - 1)) | __popc(same) << 8;
      rank[j / 2] = j % 2 == 0 ? lanes : rank[j / 2] | lanes << 16;
    }
    __syncwarp();
#pragma unroll
    for (int j = 0; j < R; j++) {
      unsigned* const count = own + digit_at(k[j], shift);
      const unsigned before = *count, below = rank[j / 2] >> j % 2 * 16 & 0xffu, all = rank[j / 2] >> (j % 2 * 16 + 8) & 0xffu;
      __syncwarp();
      if (below == 0) *count = before + all;
      __syncwarp();
      rank[j / 2] = j % 2 == 0 ? (rank[j / 2] & 0xffff0000u) | (before + below) : (rank[j / 2] & 0xffffu) | (before + below) << 16;
    }
    __syncthreads();
    for (int d = threadIdx.x; d < DIGITS; d += blockDim.x) {
      unsigned total = 0;
#pragma unroll 8
      for (int w = 0; w < warps; w++) total += counts[w * DIGITS + d];
      totals[d] = total;
    }
    __syncthreads();
    if (warp == 0) starts_of(totals);
    __syncthreads();
    for (int d = threadIdx.x; d < DIGITS; d += blockDim.x) {
      unsigned start = totals[d];
#pragma unroll 8
      for (int w = 0; w < warps; w++) {
        const unsigned n = counts[w * DIGITS + d];
        counts[w * DIGITS + d] = start;
        start += n;
      }
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < R; j++) sorted[own[digit_at(k[j], shift)] + (rank[j / 2] >> j % 2 * 16 & 0xffffu)] = k[j];
    __syncthreads();
    if (shift + 8 == 2 * words::HALF<E>) return;
#pragma unroll
    for (int j = 0; j < R; j++) k[j] = sorted[(warp * R + j) * 32 + lane];
  }
}

}  // namespace block
