// The word in which an index goes to a bin with its elements. For scatter_packed.cu and scatter_spans.cu.
#pragma once
#include "../scatter_packed.h"
#include "../common/vec.cuh"

template <int N>
struct Words {
  using Type = uint2;
};
template <>
struct Words<1> {
  using Type = unsigned;
};
// The row in the lower half of the first of N words, and elements of BYTES in all behind it: from the second word on where there is room.
template <int BYTES>
struct Packed {
  static constexpr int N = packed_word(BYTES) / 4, H = BYTES / 2, first = 2 * N - H > 1 ? 2 : 1;
  typename Words<N>::Type w;

  static __device__ __forceinline__ Packed of(unsigned row, const unsigned short (&halves)[H]) {
    unsigned v[N] = {row};
#pragma unroll
    for (int h = 0; h < H; h++) v[(first + h) / 2] |= static_cast<unsigned>(halves[h]) << (first + h) % 2 * 16;
    Packed p;
    if constexpr (N == 1) p.w = v[0];
    else p.w = make_uint2(v[0], v[1]);
    return p;
  }
  static __device__ __forceinline__ Packed load_once(const Packed* p) {
    Packed own;
    own.w = __ldcs(&p->w);
    return own;
  }
  __device__ __forceinline__ unsigned word(int k) const {
    if constexpr (N == 1) return w;
    else return k == 0 ? w.x : w.y;
  }
  __device__ __forceinline__ unsigned row() const { return word(0) & 0xffff; }
  // The bits of element c.
  template <class T>
  __device__ __forceinline__ unsigned bits(int c) const {
    if constexpr (sizeof(T) == 4) return word(1 + c);
    else return word((first + c) / 2) >> (first + c) % 2 * 16 & 0xffff;
  }
};

template <class T>
__device__ __forceinline__ float value_of(unsigned bits) {
  if constexpr (sizeof(T) == 4) {
    return __uint_as_float(bits);
  } else {
    const auto half = static_cast<unsigned short>(bits);
    return to_float(*reinterpret_cast<const T*>(&half));
  }
}
