// Rows of 16-bit elements that start anywhere in memory, written from shared memory in pieces that start on 16 bytes.
#pragma once
#include <cstdint>

__device__ __forceinline__ uint32_t get_shared(uint32_t from) {
  uint32_t x;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(from) : "memory");
  return x;
}

__device__ __forceinline__ uint16_t get_shared_16(uint32_t from) {
  uint16_t x;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(x) : "r"(from) : "memory");
  return x;
}

// A piece of a row in 16 bits: the eight elements from `first` on of a row of `count` that begins at `row`, where `row + first` starts on 16 bytes. `from`: element `first` in shared memory. Of a piece
// that ends outside of the row, the elements inside.
template <class T>
__device__ __forceinline__ void store_piece(T* row, int first, int count, uint32_t from) {
  uint16_t* out = reinterpret_cast<uint16_t*>(row) + first;
  if (first >= 0 && first + 8 <= count) {
    const uint32_t words = from & ~3u, shift = from % 4 * 8;
    uint32_t w[5];
#pragma unroll
    for (int i = 0; i < 5; i++) w[i] = get_shared(words + i * 4);
#pragma unroll
    for (int i = 0; i < 4; i++) w[i] = __funnelshift_r(w[i], w[i + 1], shift);
    *reinterpret_cast<uint4*>(out) = make_uint4(w[0], w[1], w[2], w[3]);
  } else {
#pragma unroll 1
    for (int i = max(0, -first); i < min(8, count - first); i++) out[i] = get_shared_16(from + i * 2);
  }
}
// Elements that `row` is behind 16 bytes.
template <class T>
__device__ __forceinline__ int elements_behind(const T* row) { return static_cast<int>(reinterpret_cast<unsigned long long>(row) >> 1 & 7); }
