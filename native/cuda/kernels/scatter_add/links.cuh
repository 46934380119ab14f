// Tiles of rows and lists of their indices in shared memory. For scatter_range.cu, scatter_tile.cu and scatter_packed.cu.
#pragma once
#include "../scatter_range.h"
#include "ordered.cuh"

// Numbered indices, and what follows each in its list. The head of a list and what follows are 0, or a number and 1.
struct Links {
  const unsigned* places;
  const unsigned short* next;
};

// out = x + the sum of the indices of the list that begins with `head`, in their order. False, and nothing done, where these are more than `most_listed`.
template <int BYTES, class T>
__device__ __forceinline__ bool add_links(const Links& links, unsigned head, const T* __restrict__ x, const T* __restrict__ src, T* __restrict__ out, long long row, int dim, int lane, int lanes) {
  int listed = 0;
  const Four first = next_four(0, [&](auto see) {
    for (unsigned at = head; at != 0 && listed <= most_listed; at = links.next[at - 1], listed++) see(links.places[at - 1]);
  });
  if (listed > most_listed) return false;
  const auto visit = [&](auto see) {
    for (unsigned at = head; at != 0; at = links.next[at - 1]) see(links.places[at - 1]);
  };
  add_indices<BYTES>(listed, first, visit, x, src, out, row, dim, lane, lanes);
  return true;
}

// `elements` of x from `base` on, which lie on 16 bytes, to shared memory.
template <int THREADS, class T>
__device__ __forceinline__ void bring_elements(uint4* memory, const T* __restrict__ x, long long base, int elements) {
  constexpr int L = LANES<T>, U = 4;
  const int t = threadIdx.x, vectors = elements / L;
  for (int from = t; from < vectors; from += U * THREADS) {
    uint4 v[U];
#pragma unroll
    for (int u = 0; u < U; u++)
      if (from + u * THREADS < vectors) v[u] = load16_once(x + base + (from + u * THREADS) * L);
#pragma unroll
    for (int u = 0; u < U; u++)
      if (from + u * THREADS < vectors) memory[from + u * THREADS] = v[u];
  }
  for (int i = vectors * L + t; i < elements; i += THREADS) reinterpret_cast<T*>(memory)[i] = x[base + i];
}
