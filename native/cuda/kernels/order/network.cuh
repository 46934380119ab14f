// Sorting networks over the registers of a group of lanes: Batcher's odd-even merges within a lane, bitonic merges between lanes
// (Batcher 1968, "Sorting networks and their applications"). gridDim.y is 1.
#pragma once

namespace network {

// 1, in a way that the compiler does not see: minima and comparisons take turns on a pipe of half the width, and products run beside them.
__device__ __forceinline__ unsigned one() { return gridDim.y; }

// `product`: the larger word as the sum of both less the smaller.
template <class W>
__device__ __forceinline__ void exchange(W& low, W& high, bool product) {
  const W a = low, b = high;
  if constexpr (sizeof(W) == 8) {
    const bool swap = b < a;
    low = swap ? b : a, high = swap ? a : b;
  } else if (product) {
    unsigned sum, larger;
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(one()), "r"(b));
    low = min(a, b);
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(larger) : "r"(low), "r"(0u - one()), "r"(sum));
    high = larger;
  } else {
    low = min(a, b), high = max(a, b);
  }
}
// Of three pairs, two by products: both pipes are busy alike.
__device__ __forceinline__ constexpr bool by_product(int i) { return i % 3 != 0; }

// The larger of both where `upper`, else the smaller.
template <class W>
__device__ __forceinline__ W keep(W own, W other, bool upper) {
  if constexpr (sizeof(W) == 8) {
    return (other < own) != upper ? other : own;
  } else {
    asm("{\n\t.reg .pred u, take;\n\tsetp.ne.u32 u, %2, 0;\n\tsetp.lt.xor.u32 take, %1, %0, u;\n\t@take mad.lo.u32 %0, %1, %3, 0;\n\t}"
        : "+r"(own)
        : "r"(other), "r"(static_cast<unsigned>(upper)), "r"(one()));
    return own;
  }
}

template <class W, int K, int P, int Q>
__device__ __forceinline__ void odd_even(W (&k)[K]) {
  if constexpr (P < K) {
    constexpr int first = Q % P;
#pragma unroll
    for (int i = first; i + Q < K; i++)
      if ((i - first) % (2 * Q) < Q && i / (2 * P) == (i + Q) / (2 * P)) exchange(k[i], k[i + Q], by_product(i));
    if constexpr (Q > 1) odd_even<W, K, P, Q / 2>(k);
    else odd_even<W, K, 2 * P, 2 * P>(k);
  }
}

template <class W, int K, int D = K / 2>
__device__ __forceinline__ void bitonic(W (&k)[K]) {
  if constexpr (D > 0) {
#pragma unroll
    for (int i = 0; i < K; i++)
      if ((i & D) == 0) exchange(k[i], k[i + D], by_product(i));
    bitonic<W, K, D / 2>(k);
  }
}

// Sorts the K * group words of each group of lanes, a power of two: lane l of a group gets those of ranks l * K to l * K + K - 1.
template <class W, int K>
__device__ __forceinline__ void sort_group(W (&k)[K], int group) {
  const int lane = threadIdx.x % 32;
  odd_even<W, K, 1, 1>(k);
  for (int width = 1; width < group; width *= 2) {
    // The first step compares each word with its mirror image, so that all runs ascend.
    const int mirror = 2 * width - 1;
    const bool upper = lane & width;
    if constexpr (K == 1) {
      k[0] = keep(k[0], __shfl_xor_sync(0xffffffffu, k[0], mirror), upper);
    } else {
#pragma unroll
      for (int j = 0; j < K / 2; j++) {
        const W a = __shfl_xor_sync(0xffffffffu, k[K - 1 - j], mirror), b = __shfl_xor_sync(0xffffffffu, k[j], mirror);
        k[j] = keep(k[j], a, upper), k[K - 1 - j] = keep(k[K - 1 - j], b, upper);
      }
    }
    for (int distance = width / 2; distance > 0; distance /= 2) {
      const bool above = lane & distance;
#pragma unroll
      for (int j = 0; j < K; j++) k[j] = keep(k[j], __shfl_xor_sync(0xffffffffu, k[j], distance), above);
    }
    bitonic<W, K>(k);
  }
}

}  // namespace network
