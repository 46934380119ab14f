// What a reduction of reduction/table.h is to its kernels: <op>_of, which VALUES and PLACES make of its line. VALUES leaves the structure open.
#pragma once
#include "../elementwise/functions.cuh"

namespace {

// What a reduction of values keeps on the way, and how it ends.
struct Values {
  using Part = float;
  template <class T>
  using Out = T;
  static constexpr bool pair = false, placed = false;
  static __device__ __forceinline__ float moved(float p, unsigned) { return p; }
};

// The largest element and its place in one word, so that the larger word is the larger element or the first of equals: the
// element's bits in an order that integers share, NaN above all, then the complement of its place.
struct Places {
  using Part = unsigned long long;
  template <class T>
  using Out = int;
  static constexpr bool pair = false, placed = true;
  static __device__ __forceinline__ Part start() { return 0; }
  static __device__ __forceinline__ unsigned order_of(float x) {
    const unsigned bits = __float_as_uint(x);
    return x != x ? ~0u : bits ^ (static_cast<int>(bits) < 0 ? ~0u : 0x80000000u);
  }
  static __device__ __forceinline__ Part ranked(float x, unsigned place) { return static_cast<Part>(order_of(x)) << 32 | ~place; }
  static __device__ __forceinline__ Part join(Part p, Part q) { return p > q ? p : q; }
  static __device__ __forceinline__ Part moved(Part p, unsigned by) { return p - by; }
  template <class T>
  static __device__ __forceinline__ void put(int* out, Part p, long long) { *out = static_cast<int>(~static_cast<unsigned>(p)); }
};

}  // namespace

#define VALUES(op, from, element_of, joined, result)                                                                                                               \
  struct op##_of : Values {                                                                                                                                        \
    static __device__ __forceinline__ float start() { return from; }                                                                                               \
    static __device__ __forceinline__ float element(float a, [[maybe_unused]] float b, unsigned) { return element_of; }                                            \
    static __device__ __forceinline__ float join(float p, float q) { return joined; }                                                                              \
    template <class T, class N>                                                                                                                                    \
    static __device__ __forceinline__ void put(T* out, float p, [[maybe_unused]] N n) {                                                                            \
      *out = from_float<T>(result);                                                                                                                                \
    }
#define PLACES(op, element_of)                                                                                                                                     \
  struct op##_of : Places {                                                                                                                                        \
    static __device__ __forceinline__ float value(float a) { return element_of; }                                                                                  \
    static __device__ __forceinline__ Part element(float a, float, unsigned place) { return ranked(value(a), place); }                                             \
  }
