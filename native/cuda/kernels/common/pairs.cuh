// Two 16-bit elements in a word, for instructions that take both.
#pragma once
#include "vec.cuh"

__device__ __half2 pair_type(f16);
__device__ __nv_bfloat162 pair_type(bf16);

// f of the pairs in a and b, as a word.
template <class T, class F>
__device__ __forceinline__ uint32_t of_pairs(uint32_t a, uint32_t b, F f) {
  using Pair = decltype(pair_type(T()));
  const Pair pair = f(*reinterpret_cast<const Pair*>(&a), *reinterpret_cast<const Pair*>(&b));
  return *reinterpret_cast<const uint32_t*>(&pair);
}
