// Sorting networks over the registers of a group of lanes: Batcher's odd-even merges within a lane, bitonic merges between lanes
// (Batcher 1968, "Sorting networks and their applications").
#pragma once

namespace network {

template <class W>
__device__ __forceinline__ void exchange(W& low, W& high) {
  const W a = low, b = high;
  if constexpr (sizeof(W) == 4) {
    low = min(a, b), high = max(a, b);
  } else {
    const bool swap = b < a;
    low = swap ? b : a, high = swap ? a : b;
  }
}

// The larger of both where `upper`, else the smaller.
template <class W>
__device__ __forceinline__ W keep(W own, W other, bool upper) {
  return (other < own) != upper ? other : own;
}

template <class W, int K, int P, int Q>
__device__ __forceinline__ void odd_even(W (&k)[K]) {
  if constexpr (P < K) {
    constexpr int first = Q % P;
#pragma unroll
    for (int i = first; i + Q < K; i++)
      if ((i - first) % (2 * Q) < Q && i / (2 * P) == (i + Q) / (2 * P)) exchange(k[i], k[i + Q]);
    if constexpr (Q > 1) odd_even<W, K, P, Q / 2>(k);
    else odd_even<W, K, 2 * P, 2 * P>(k);
  }
}

template <class W, int K, int D = K / 2>
__device__ __forceinline__ void bitonic(W (&k)[K]) {
  if constexpr (D > 0) {
#pragma unroll
    for (int i = 0; i < K; i++)
      if ((i & D) == 0) exchange(k[i], k[i + D]);
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
